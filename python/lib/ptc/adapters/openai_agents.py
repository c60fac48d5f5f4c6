"""A tool of the OpenAI Agents SDK that runs programs over other tools.

::

    agent = Agent(name="Orders", tools=[program_tool([find_orders, find_parcel])])

Make the inner tools with ``function_tool(failure_error_function=None)``: programs then see their exceptions as faults,
which they can catch, instead of as results.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from agents import FunctionTool
from agents.tool_context import ToolContext

from .._ptc import Prelude
from .._tools import Tool
from ._program import NAME, ProgramTool, tool_of


def program_tool(
    tools: Sequence[FunctionTool],
    *,
    name: str = NAME,
    limits: Mapping[str, int] | None = None,
    preludes: Sequence[Prelude] = (),
) -> FunctionTool:
    """Makes one tool of several: it runs a program that calls them."""

    def programs(context: ToolContext[Any] | None) -> ProgramTool:
        made = {tool.name: _tool(tool, context) for tool in tools}
        return ProgramTool(made, limits=limits, preludes=list(preludes))

    async def invoke(context: ToolContext[Any], arguments: str) -> str:
        return await programs(context).run(json.loads(arguments)["program"])

    schema = {
        "type": "object",
        "properties": {"program": {"type": "string", "description": "A PTC-Lisp program."}},
        "required": ["program"],
        "additionalProperties": False,
    }
    return FunctionTool(
        name=name,
        description=programs(None).description,
        params_json_schema=schema,
        on_invoke_tool=invoke,
    )


def _tool(tool: FunctionTool, context: ToolContext[Any] | None) -> Tool:
    async def call(**arguments: Any) -> Any:
        assert context is not None
        text = json.dumps(arguments, default=str)
        inner = replace(context, tool_name=tool.name, tool_arguments=text)
        result = await tool.on_invoke_tool(inner, text)
        # Results are texts for a model; programs want what is in them.
        try:
            return json.loads(result) if isinstance(result, str) else result
        except ValueError:
            return result

    return tool_of(tool.name, call, tool.description, tool.params_json_schema)
