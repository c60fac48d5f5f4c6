"""Checks the links of a book that is built: `check.py target/book`."""

import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit


class Page(HTMLParser):
    def __init__(self, path):
        super().__init__()
        self.ids, self.links = set(), []
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag, attributes):
        for name, value in attributes:
            if name in ("id", "name"):
                self.ids.add(value)
            elif name in ("href", "src", "srcset") and value and tag != "base":
                self.links.append(value)


root = Path(sys.argv[1]).resolve()
# The print page repeats all others, and the 404 page is served from any folder.
files = [path for path in root.rglob("*.html") if path.name not in ("print.html", "404.html", "toc.html")]
pages = {path: Page(path) for path in files}
dead = []
for path, page in pages.items():
    for link in page.links:
        parts = urlsplit(link)
        if parts.scheme or parts.netloc:
            continue
        target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
        if target.is_dir():
            target /= "index.html"
        heading = unquote(parts.fragment)
        if not target.exists() or (heading and target in pages and heading not in pages[target].ids):
            dead.append(f"{path.relative_to(root)}: {link}")
print(f"{len(pages)} pages, {len(dead)} dead links")
print("\n".join(sorted(set(dead))))
sys.exit(bool(dead))
