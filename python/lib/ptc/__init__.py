"""Runs PTC-Lisp programs, mostly written by language models, in a sandbox.

A program computes, reads the data it was given and calls the tools it was given, within exact limits:

>>> import ptc
>>> def price(of: str) -> int:
...     return {"tea": 3, "cake": 5}[of]
>>> ptc.run('(reduce + (map #(tool/price {:of %}) data/items))', {"items": ["tea", "cake"]}, tools={"price": price})
8
"""

from __future__ import annotations

import os as _os

from ._errors import (
    Cancelled,
    CompileError,
    LimitError,
    ProgramFailed,
    PtcError,
    RunError,
    SnapshotError,
    ToolError,
    ToolFailed,
)
from ._ptc import (
    BatchResult,
    Call,
    Cancel,
    Diagnostic,
    Frame,
    Frozen,
    Outcome,
    Prelude,
    Run,
    Servers,
    __version__,
    after_fork,
    default_limits,
    freeze,
    public_key,
)
from ._run import Function, Program, Session, card, check, execute, execute_async, run, run_async
from ._tools import Tool, tool

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ._agent import Agent, AgentError, Event, Step, Usage
    from ._batch import Batch, batch

# Threads stay behind when a process is forked, so the child must use others.
if hasattr(_os, "register_at_fork"):
    _os.register_at_fork(after_in_child=after_fork)

#: Names that are imported when they are first used, so that importing the package costs next to nothing.
_LATER = {
    "Agent": "_agent",
    "AgentError": "_agent",
    "Event": "_agent",
    "Step": "_agent",
    "Usage": "_agent",
    "Batch": "_batch",
    "batch": "_batch",
}


def __getattr__(name: str) -> object:
    module = _LATER.get(name)
    if module is None:
        raise AttributeError(f"module 'ptc' has no attribute {name!r}")
    from importlib import import_module

    value = getattr(import_module(f"ptc.{module}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_LATER} - {"after_fork", "annotations"})


__all__ = [
    "Agent",
    "AgentError",
    "Batch",
    "BatchResult",
    "Call",
    "Cancel",
    "Cancelled",
    "CompileError",
    "Diagnostic",
    "Event",
    "Frame",
    "Frozen",
    "Function",
    "LimitError",
    "Outcome",
    "Prelude",
    "Program",
    "ProgramFailed",
    "PtcError",
    "Run",
    "RunError",
    "Servers",
    "Session",
    "SnapshotError",
    "Step",
    "Tool",
    "ToolError",
    "ToolFailed",
    "Usage",
    "__version__",
    "batch",
    "card",
    "check",
    "default_limits",
    "execute",
    "execute_async",
    "freeze",
    "public_key",
    "run",
    "run_async",
    "tool",
]
