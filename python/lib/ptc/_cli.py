"""The command ``ptc``, which is in the native half."""

from __future__ import annotations

import signal
import sys

from ._ptc import command


def main() -> None:
    """Runs the command with the arguments of the process."""
    # Python only notes Ctrl-C until the interpreter runs again, which it does not before the command has ended.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    sys.stdout.flush()
    sys.exit(command(sys.argv))
