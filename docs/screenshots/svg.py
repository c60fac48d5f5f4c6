"""Turns what tmux has on its screen (`capture-pane -e`), on standard input, into SVG: `svg.py light|dark COLUMNS`."""

import re
import sys
from html import escape

THEMES = {
    "light": ("#ffffff", "#1f2328", "#d1d9e0", ["#1f2328", "#cf222e", "#116329", "#7d4e00", "#0969da", "#8250df", "#1b7c83", "#59636e"],
              ["#59636e", "#a40e26", "#1a7f37", "#633c01", "#218bff", "#a475f9", "#3192aa", "#818b98"]),
    "dark": ("#0d1117", "#e6edf3", "#3d444d", ["#484f58", "#ff7b72", "#3fb950", "#d29922", "#58a6ff", "#bc8cff", "#39c5cf", "#b1bac4"],
             ["#9198a1", "#ffa198", "#56d364", "#e3b341", "#79c0ff", "#d2a8ff", "#56d4dd", "#ffffff"]),
}
WIDTH, HEIGHT, MARGIN = 8.0, 18, 16
background, ink, border, dark, bright = THEMES[sys.argv[1]]
columns = int(sys.argv[2])


def indexed(n):
    """One of the 256 colours."""
    if n < 8:
        return dark[n]
    if n < 16:
        return bright[n - 8]
    if n >= 232:
        return "#" + f"{8 + 10 * (n - 232):02x}" * 3
    steps = [0, 95, 135, 175, 215, 255]
    n -= 16
    return "#" + "".join(f"{steps[i]:02x}" for i in (n // 36, n // 6 % 6, n % 6))


def styled(state, codes):
    codes = [int(code) if code else 0 for code in codes.replace(":", ";").split(";")]
    while codes:
        code = codes.pop(0)
        if code == 0:
            state = {}
        elif code in (1, 2, 3, 4):
            state = state | {("bold", "dim", "italic", "underline")[code - 1]: True}
        elif code in (22, 23, 24):
            gone = {22: ("bold", "dim"), 23: ("italic",), 24: ("underline",)}[code]
            state = {key: value for key, value in state.items() if key not in gone}
        elif 30 <= code <= 37:
            state = state | {"fill": dark[code - 30]}
        elif 90 <= code <= 97:
            state = state | {"fill": bright[code - 90]}
        elif code == 39:
            state = {key: value for key, value in state.items() if key != "fill"}
        elif code in (38, 48) and codes:
            kind = codes.pop(0)
            value = indexed(codes.pop(0)) if kind == 5 else "#" + "".join(f"{codes.pop(0):02x}" for _ in range(3))
            state = state | ({"fill": value} if code == 38 else {})
    return state


def attributes(state):
    found = f' fill="{state["fill"]}"' if "fill" in state else ""
    found += ' font-weight="bold"' if "bold" in state else ""
    found += ' opacity="0.65"' if "dim" in state else ""
    found += ' font-style="italic"' if "italic" in state else ""
    return found + (' text-decoration="underline"' if "underline" in state else "")


lines = sys.stdin.read().rstrip().split("\n")
# The prompt that waits for the next command says nothing.
while lines and re.sub(r"\x1b\[[\d;:]*m", "", lines[-1]).strip() in ("$", "ptc>"):
    lines.pop()
state, out = {}, []
for number, line in enumerate(lines):
    column, y = 0, MARGIN + HEIGHT * number + 13
    for part in re.split(r"(\x1b\[[\d;:]*m|\x1b\([AB0]|\x0e|\x0f)", line):
        if part.startswith("\x1b["):
            state = styled(state, part[2:-1])
        elif part and not part.startswith(("\x1b", "\x0e", "\x0f")):
            if part.strip():
                text = escape(part.rstrip() if part.endswith("  ") else part, quote=False)
                length = f'{len(part.rstrip() if part.endswith("  ") else part) * WIDTH:g}'
                out.append(f'<text x="{MARGIN + column * WIDTH:g}" y="{y}" textLength="{length}"{attributes(state)}>{text}</text>')
            column += len(part)
width, height = 2 * MARGIN + columns * WIDTH, 2 * MARGIN + HEIGHT * len(lines)
print(f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:g} {height}" width="{width:g}" height="{height}" role="img">')
print(f'<rect width="{width - 1:g}" height="{height - 1}" x="0.5" y="0.5" rx="8" fill="{background}" stroke="{border}"/>')
print(f'<g font-family="ui-monospace, SFMono-Regular, Menlo, Consolas, monospace" font-size="13" fill="{ink}" xml:space="preserve" style="white-space: pre">')
print("\n".join(out))
print("</g>\n</svg>")
