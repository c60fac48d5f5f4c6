"""What the adapters share: one tool that runs a program over many tools."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from .._errors import PtcError
from .._ptc import Outcome, Prelude
from .._run import card, execute_async
from .._tools import Tool

#: Name of the tool that runs programs.
NAME = "run_program"

_HEAD = (
    "Runs a PTC-Lisp program in a sandbox and returns its value. Write one program that calls several tools, and "
    "filters, joins and counts what they return, instead of calling them one by one: only the value of the program "
    "comes back."
)


class ProgramTool:
    """Runs programs that models write over these tools, and answers with text for the model."""

    def __init__(
        self,
        tools: Mapping[str, Tool],
        *,
        limits: Mapping[str, int] | None = None,
        preludes: list[Prelude] | None = None,
        most: int = 20_000,
    ) -> None:
        self.tools = dict(tools)
        self.limits = limits
        self.preludes = preludes or []
        self.most = most

    @property
    def description(self) -> str:
        """Description of the tool for models: what it is for, the language, and the tools that programs call."""
        return f"{_HEAD}\n\n{card(self.tools, preludes=self.preludes)}"

    async def run(self, program: str, data: Mapping[str, Any] | None = None) -> str:
        """Runs a program, and returns its value, or an error that says how to fix it."""
        try:
            outcome = await execute_async(program, data, tools=self.tools, limits=self.limits, preludes=self.preludes)
        except PtcError as error:
            return self._cut(_with_prints(str(error), error.prints))
        return self._cut(_with_prints(_text(outcome), outcome.prints))

    def _cut(self, text: str) -> str:
        """Cuts a text that is too long for a model, and says so."""
        if len(text) <= self.most:
            return text
        return f"{text[: self.most]}\n… {len(text) - self.most} more characters; return less"


def _text(outcome: Outcome) -> str:
    try:
        return outcome.json()
    except PtcError:
        # A value without a JSON form, such as a function.
        return outcome.text


def _with_prints(text: str, prints: list[str]) -> str:
    return "\n".join([*prints, text]) if prints else text


def tool_of(
    name: str,
    call: Callable[..., Any],
    description: str | None,
    takes: Mapping[str, Any] | None,
    answers: Mapping[str, Any] | None = None,
) -> Tool:
    """Makes a tool with a schema that another library knows."""
    return Tool(call, name, description=description, takes=takes or {"type": "object"}, answers=answers)
