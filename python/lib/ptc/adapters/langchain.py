"""A LangChain tool that runs programs over other tools, for agents of LangChain and LangGraph.

::

    agent = create_agent(model, tools=[program_tool([find_orders, find_parcel])])
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any

from langchain_core.tools import BaseTool, StructuredTool

from .._ptc import Prelude
from .._tools import Tool
from ._program import NAME, ProgramTool, tool_of


def program_tool(
    tools: Sequence[BaseTool],
    *,
    name: str = NAME,
    limits: Mapping[str, int] | None = None,
    preludes: Sequence[Prelude] = (),
) -> StructuredTool:
    """Makes one tool of several: it runs a program that calls them."""
    programs = ProgramTool({tool.name: _tool(tool) for tool in tools}, limits=limits, preludes=list(preludes))

    async def later(program: str) -> str:
        return await programs.run(program)

    def now(program: str) -> str:
        return asyncio.run(programs.run(program))

    return StructuredTool.from_function(
        now, later, name=name, description=programs.description, args_schema=_arguments()
    )


def _arguments() -> dict[str, Any]:
    text = {"type": "string", "description": "A PTC-Lisp program."}
    return {"title": NAME, "type": "object", "properties": {"program": text}, "required": ["program"]}


def _tool(tool: BaseTool) -> Tool:
    async def call(**arguments: Any) -> Any:
        return await tool.ainvoke(arguments)

    schema: Any = tool.tool_call_schema
    takes = schema if isinstance(schema, dict) else schema.model_json_schema()
    return tool_of(tool.name, call, tool.description, takes)
