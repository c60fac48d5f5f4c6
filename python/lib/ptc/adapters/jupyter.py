"""Magics for Jupyter and IPython: ``%load_ext ptc.adapters.jupyter``, then ``%%ptc`` before a program.

The variables of the notebook are ``data/<name>``, its functions ``tool/<name>``. Programs of a notebook see each
other's definitions. ``%%ptc total`` puts the value into the variable ``total``.
"""

from __future__ import annotations

import re
import sys
from typing import Any

from IPython.core.magic import Magics, line_cell_magic, magics_class

from .._errors import PtcError
from .._run import Session

_USED = re.compile(r"\b(data|tool)/([\w-]+)")


@magics_class
class PtcMagics(Magics):
    """The magic ``%%ptc``."""

    def __init__(self, shell: Any) -> None:
        super().__init__(shell)
        self.session: Session | None = None
        self.tools: dict[str, Any] = {}

    @line_cell_magic
    def ptc(self, line: str, cell: str | None = None) -> Any:
        """Runs a program: ``%ptc (+ 1 2)`` or a cell that begins with ``%%ptc [variable]``."""
        source, variable = (line, "") if cell is None else (cell, line.strip())
        assert self.shell is not None
        namespace = self.shell.user_ns
        used = {(kind, name) for kind, name in _USED.findall(source)}
        tools = {name: namespace[_python(name)] for kind, name in used if kind == "tool" and _python(name) in namespace}
        data = {name: namespace[_python(name)] for kind, name in used if kind == "data" and _python(name) in namespace}
        session = self._session(tools)
        session.grant(data)
        try:
            outcome = session.execute(source)
        except PtcError as error:
            print(error, file=sys.stderr)
            return None
        for text in outcome.prints:
            print(text)
        for warning in outcome.warnings:
            print(warning, file=sys.stderr)
        if variable:
            namespace[variable] = outcome.value
            return None
        return outcome.value

    def _session(self, tools: dict[str, Any]) -> Session:
        """Returns the session; new tools need another engine, which keeps the definitions."""
        if self.session is None or any(self.tools.get(name) is not tool for name, tool in tools.items()):
            self.tools = {**self.tools, **tools}
            self.session = Session(tools=self.tools) if self.session is None else self.session.with_tools(self.tools)
        return self.session


def _python(name: str) -> str:
    return name.replace("-", "_")


def load_ipython_extension(shell: Any) -> None:
    """Registers the magics."""
    shell.register_magics(PtcMagics)
