"""``python -m ptc``: the command ``ptc``."""

from ._cli import main

main()
