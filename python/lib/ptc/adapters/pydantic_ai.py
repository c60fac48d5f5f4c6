"""Code mode for pydantic-ai: gives the tools of a toolset to programs.

::

    agent = Agent(model, toolsets=[CodeMode(FunctionToolset([find_orders, find_parcel]))])

The model sees one tool, ``run_program``, whose description is the reference of the language and of the tools.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, cast

from pydantic import TypeAdapter
from pydantic_ai import RunContext
from pydantic_ai.exceptions import ModelRetry
from pydantic_ai.messages import ToolReturn
from pydantic_ai.tools import AgentDepsT, ToolDefinition
from pydantic_ai.toolsets import ToolsetTool, WrapperToolset
from pydantic_core import SchemaValidator
from typing_extensions import TypedDict

from .._errors import ToolError
from .._ptc import Prelude
from .._tools import Tool
from ._program import NAME, ProgramTool, tool_of


class _Arguments(TypedDict):
    program: str


_ARGUMENTS = TypeAdapter(_Arguments)


@dataclass
class CodeMode(WrapperToolset[AgentDepsT]):
    """A toolset with one tool, which runs a program over the tools of another toolset.

    Tools that need approval or are carried out elsewhere stay as they are. ``keep`` says which others do.
    """

    limits: Mapping[str, int] | None = None
    preludes: list[Prelude] = field(default_factory=list)
    keep: Callable[[ToolDefinition], bool] = lambda tool: False
    max_retries: int = 3

    async def get_tools(self, ctx: RunContext[AgentDepsT]) -> dict[str, ToolsetTool[AgentDepsT]]:
        """Returns the tool that runs programs, and those that stay as they are."""
        inner = await self.wrapped.get_tools(ctx)
        given = {name: tool for name, tool in inner.items() if self._is_given(tool.tool_def)}
        made = ToolDefinition(
            name=NAME,
            description=self._programs(given, ctx).description,
            parameters_json_schema=_ARGUMENTS.json_schema(),
        )
        program: ToolsetTool[AgentDepsT] = ToolsetTool(
            toolset=self,
            tool_def=made,
            max_retries=self.max_retries,
            args_validator=cast(SchemaValidator, _ARGUMENTS.validator),
        )
        return {NAME: program, **{name: tool for name, tool in inner.items() if name not in given}}

    async def call_tool(
        self, name: str, tool_args: dict[str, Any], ctx: RunContext[AgentDepsT], tool: ToolsetTool[AgentDepsT]
    ) -> Any:
        """Runs a program, or calls a tool that stayed as it is."""
        if name != NAME:
            return await self.wrapped.call_tool(name, tool_args, ctx, tool)
        inner = await self.wrapped.get_tools(ctx)
        given = {name: tool for name, tool in inner.items() if self._is_given(tool.tool_def)}
        return await self._programs(given, ctx).run(tool_args["program"])

    def _is_given(self, tool: ToolDefinition) -> bool:
        return tool.kind == "function" and not self.keep(tool)

    def _programs(self, tools: Mapping[str, ToolsetTool[AgentDepsT]], ctx: RunContext[AgentDepsT]) -> ProgramTool:
        made = {name: self._tool(name, tool, ctx) for name, tool in tools.items()}
        return ProgramTool(made, limits=self.limits, preludes=self.preludes)

    def _tool(self, name: str, tool: ToolsetTool[AgentDepsT], ctx: RunContext[AgentDepsT]) -> Tool:
        async def call(**arguments: Any) -> Any:
            try:
                valid = tool.args_validator.validate_python(arguments)
                result = await self.wrapped.call_tool(name, valid, ctx, tool)
            except ModelRetry as retry:
                # The model that wrote the program reads this, and can try again.
                raise ToolError(retry.message) from retry
            return result.return_value if isinstance(result, ToolReturn) else result

        about = tool.tool_def
        return tool_of(name, call, about.description, about.parameters_json_schema)
