"""Values as PTC-Lisp prints them, read as plain Python: what a test expects of ``Outcome.value``."""

import math
import re

#: Stands for a value that has no data form, such as a function; equal to anything.
ANYTHING = object()

_TOKEN = re.compile(
    r'[\s,]*(?P<token>#duration\[[^\]]*\]|#fn\[[^\]]*\]|#fn|#<[^>]*>|#\{|#"(?:\\.|[^"\\])*"|##-?\w+|#\'[^\s,\[\](){}"]+'
    r'|"(?:\\.|[^"\\])*"|[\[\](){}]|[^\s,\[\](){}"]+)',
    re.S,
)
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f", "e": "\x1b", "a": "\a", "0": "\0"}
_ENDS = {"[": "]", "(": ")", "{": "}", "#{": "}"}


def read(text):
    """Reads one printed value."""
    tokens = _TOKEN.findall(text)
    value, rest = _value(tokens, 0)
    assert rest == len(tokens), text
    return value


def _value(tokens, at):
    token = tokens[at]
    if token not in _ENDS:
        return _leaf(token), at + 1
    items, at = [], at + 1
    while tokens[at] != _ENDS[token]:
        item, at = _value(tokens, at)
        items.append(item)
    if token == "{":
        return Pairs(zip(items[::2], items[1::2], strict=True)), at + 1
    return (Items(items) if token == "#{" else items), at + 1


class Pairs(list):
    """The entries of a map, in any order."""


class Items(list):
    """The items of a set, in any order."""


def _leaf(token):
    if token.startswith('"'):
        return re.sub(r"\\(u([0-9a-fA-F]{4})|.)", _unescaped, token[1:-1], flags=re.S)
    if token.startswith(("#fn", "#<", '#"', "#'", "#duration")):
        return ANYTHING
    if token.startswith("##"):
        return float(token[2:].lower())
    if re.fullmatch(r"[+-]?\d+N?", token):
        return int(token.rstrip("N"))
    if re.match(r"[+-]?\d", token):
        try:
            return float(token.rstrip("M"))
        except ValueError:
            return ANYTHING
    return {"nil": None, "true": True, "false": False}.get(token, token.lstrip(":'"))


def _unescaped(found):
    if found[2]:
        return chr(int(found[2], 16))
    return _ESCAPES.get(found[1], found[1])


def same(got, wanted):
    """True if a plain value is the one that was printed. Collections that are keys have become tuples."""
    if wanted is ANYTHING:
        return True
    if isinstance(wanted, Pairs):
        entries = list(got.items() if isinstance(got, dict) else got)
        return len(entries) == len(wanted) and _matched(entries, [list(pair) for pair in wanted])
    if isinstance(wanted, Items):
        return isinstance(got, (set, frozenset)) and len(got) == len(wanted) and _matched(list(got), wanted)
    if isinstance(wanted, list):
        return isinstance(got, (list, tuple)) and len(got) == len(wanted) and all(map(same, got, wanted))
    if isinstance(wanted, float) and isinstance(got, float):
        return got == wanted or (math.isnan(got) and math.isnan(wanted)) or math.isclose(got, wanted, rel_tol=1e-9)
    if isinstance(wanted, str) and not isinstance(got, (str, bool, int, float, type(None))):
        # A date or a duration, which prints as text.
        return True
    return type(got) is type(wanted) and got == wanted


def _matched(got, wanted):
    left = list(wanted)
    for item in got:
        for index, other in enumerate(left):
            if same(item, other):
                del left[index]
                break
        else:
            return False
    return not left
