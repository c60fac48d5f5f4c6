"""Code mode for FastMCP: a transform that gives the tools of a server to programs.

::

    server = FastMCP("orders", transforms=[CodeMode()])

Clients see one tool, ``run_program``, whose description is the reference of the language and of the tools.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any

from fastmcp.server.context import Context
from fastmcp.server.transforms import GetToolNext
from fastmcp.server.transforms.catalog import CatalogTransform
from fastmcp.tools import Tool as ServerTool
from fastmcp.utilities.versions import VersionSpec
from pydantic import Field

from .._errors import ToolError
from .._ptc import Prelude
from .._tools import Tool
from ._program import NAME, ProgramTool, tool_of


class CodeMode(CatalogTransform):
    """Replaces the tools of a server by one that runs programs over them."""

    def __init__(
        self,
        *,
        name: str = NAME,
        limits: Mapping[str, int] | None = None,
        preludes: Sequence[Prelude] = (),
    ) -> None:
        super().__init__()
        self.name, self.limits, self.preludes = name, limits, list(preludes)

    async def transform_tools(self, tools: Sequence[ServerTool]) -> Sequence[ServerTool]:
        """Returns the tool that runs programs, described with the tools of the server."""
        return [self._program_tool(self._programs(tools, None).description)]

    async def get_tool(
        self, name: str, call_next: GetToolNext, *, version: VersionSpec | None = None
    ) -> ServerTool | None:
        """Finds a tool to be called: programs call the tools of the server by their names."""
        if name == self.name:
            return self._program_tool("Runs a PTC-Lisp program.")
        return await call_next(name, version=version)

    def _program_tool(self, description: str) -> ServerTool:
        async def run_program(
            program: Annotated[str, Field(description="A PTC-Lisp program.")],
            ctx: Context = None,  # type: ignore[assignment]
        ) -> str:
            tools = await self.get_tool_catalog(ctx)
            return await self._programs(tools, ctx).run(program)

        return ServerTool.from_function(fn=run_program, name=self.name, description=description)

    def _programs(self, tools: Sequence[ServerTool], ctx: Context | None) -> ProgramTool:
        made = {tool.name: _tool(tool, ctx) for tool in tools}
        return ProgramTool(made, limits=self.limits, preludes=self.preludes)


def _tool(tool: ServerTool, ctx: Context | None) -> Tool:
    async def call(**arguments: Any) -> Any:
        assert ctx is not None
        result = await ctx.fastmcp.call_tool(tool.name, arguments)
        value = result.structured_content
        if getattr(result, "is_error", False):
            raise ToolError("\n".join(getattr(part, "text", "") for part in result.content))
        if value is None:
            texts = [part.text for part in result.content if hasattr(part, "text")]
            return texts[0] if len(texts) == 1 else texts
        # A result that is no object was wrapped into one.
        return value["result"] if _is_wrapped(tool) else value

    takes = tool.parameters
    answers = tool.output_schema
    if answers is not None and _is_wrapped(tool):
        answers = answers["properties"]["result"]
    return tool_of(tool.name, call, tool.description, takes, answers)


def _is_wrapped(tool: ServerTool) -> bool:
    return bool((tool.output_schema or {}).get("x-fastmcp-wrap-result"))
