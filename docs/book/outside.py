"""Preprocessor of mdBook: a link that leaves docs/ becomes its text, and its path in the repository."""

import json
import posixpath
import re
import sys

LINK = re.compile(r"(?<!!)\[([^\]]*)\]\(([^)\s]+)\)")
FENCE = re.compile(r"(^```.*?^```$)", re.M | re.S)


def replace(page, match):
    text, target = match.groups()
    file = target.split("#")[0]
    path = posixpath.normpath(posixpath.join(posixpath.dirname(page), file))
    if "://" in target or not file or not path.startswith("../"):
        return match.group(0)
    outside = path[len("../"):]
    return text if text.strip("`") == outside else f"{text} (`{outside}`)"


def rewrite(chapter):
    parts = FENCE.split(chapter["content"])
    # Fences are at odd places.
    parts[::2] = [LINK.sub(lambda match: replace(chapter["path"], match), part) for part in parts[::2]]
    chapter["content"] = "".join(parts)


def walk(items):
    for item in items:
        if isinstance(item, dict) and "Chapter" in item:
            chapter = item["Chapter"]
            if chapter.get("path"):
                rewrite(chapter)
            walk(chapter["sub_items"])


if sys.argv[1:2] == ["supports"]:
    sys.exit(0)
_, book = json.load(sys.stdin)
# The list is called `sections` up to mdBook 0.4, `items` from 0.5 on.
walk(book.get("items") or book.get("sections") or [])
json.dump(book, sys.stdout)
