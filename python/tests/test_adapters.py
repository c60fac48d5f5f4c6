"""The adapters, each with the real library and its model for tests. No network, no key."""

import asyncio
import json
import textwrap

import pytest

import ptc

PROGRAM = """
(->> (tool/find_orders {:country "DE"})
     (pmap (fn [o] (assoc o :status (tool/find_parcel {:order (:id o)}))))
     (filter #(= (:status %) "lost"))
     (mapv :customer))
"""


async def find_orders(country: str) -> list[dict]:
    """Finds the open orders of a country."""
    return [{"id": 1, "customer": "Ada"}, {"id": 2, "customer": "Bo"}] if country == "DE" else []


def find_parcel(order: int) -> str:
    """Finds the status of an order's parcel."""
    return "lost" if order == 1 else "sent"


def test_pydantic_ai():
    pytest.importorskip("pydantic_ai")
    from pydantic_ai import Agent, FunctionToolset, ModelRetry
    from pydantic_ai.messages import ModelResponse, TextPart, ToolCallPart
    from pydantic_ai.models.function import FunctionModel

    from ptc.adapters.pydantic_ai import CodeMode

    def refuse() -> str:
        """Refuses."""
        raise ModelRetry("ask later")

    seen = []

    def model(messages, info):
        seen.append((messages, info))
        programs = [PROGRAM, "(tool/refuse {})", '(tool/find_parcel {:order "x"})']
        if len(seen) <= len(programs):
            return ModelResponse([ToolCallPart("run_program", {"program": programs[len(seen) - 1]})])
        returns = [part.content for m in messages for part in m.parts if part.part_kind == "tool-return"]
        return ModelResponse([TextPart(json.dumps(returns))])

    agent = Agent(FunctionModel(model), toolsets=[CodeMode(FunctionToolset([find_orders, find_parcel, refuse]))])
    first, second, third = json.loads(agent.run_sync("Who waits for a lost parcel?").output)
    assert json.loads(first) == ["Ada"]
    assert "ask later" in second and "tool_error" in second
    assert "refuses its arguments" in third
    [tool] = seen[0][1].function_tools
    assert tool.name == "run_program" and "(tool/find_parcel {:order integer})" in tool.description


def test_pydantic_ai_keeps_some_tools():
    pytest.importorskip("pydantic_ai")
    from pydantic_ai import Agent, FunctionToolset
    from pydantic_ai.models.test import TestModel

    from ptc.adapters.pydantic_ai import CodeMode

    code = CodeMode(FunctionToolset([find_orders, find_parcel]), keep=lambda tool: tool.name == "find_parcel")
    model = TestModel(call_tools=["find_parcel"])
    agent = Agent(model, toolsets=[code])
    assert "find_parcel" in agent.run_sync("x").output
    assert {tool.name for tool in model.last_model_request_parameters.function_tools} == {"run_program", "find_parcel"}


def test_langchain():
    pytest.importorskip("langchain_core")
    from langchain_core.tools import tool

    from ptc.adapters.langchain import program_tool

    made = program_tool([tool(find_orders), tool(find_parcel)])
    assert "(tool/find_orders {:country string})" in made.description
    assert json.loads(asyncio.run(made.ainvoke({"program": PROGRAM}))) == ["Ada"]
    assert json.loads(made.invoke({"program": "(tool/find_parcel {:order 2})"})) == "sent"
    assert "unknown_tool" in made.invoke({"program": "(tool/find_parcels {})"})


def test_langgraph():
    pytest.importorskip("langgraph")
    from langchain_core.language_models.fake_chat_models import GenericFakeChatModel
    from langchain_core.messages import AIMessage
    from langchain_core.tools import tool
    from langgraph.prebuilt import create_react_agent

    from ptc.adapters.langchain import program_tool

    class Model(GenericFakeChatModel):
        def bind_tools(self, tools, **options):
            assert [tool.name for tool in tools] == ["run_program"]
            return self

    call = {"name": "run_program", "args": {"program": PROGRAM}, "id": "1"}
    model = Model(messages=iter([AIMessage("", tool_calls=[call]), AIMessage("Ada does.")]))
    agent = create_react_agent(model, tools=[program_tool([tool(find_orders), tool(find_parcel)])])
    done = asyncio.run(agent.ainvoke({"messages": [("user", "Who waits?")]}))
    assert json.loads(done["messages"][-2].content) == ["Ada"]


def test_openai_agents():
    agents = pytest.importorskip("agents")
    from agents.items import ModelResponse
    from agents.models.interface import Model
    from agents.usage import Usage
    from openai.types.responses import (
        ResponseFunctionToolCall,
        ResponseOutputMessage,
        ResponseOutputText,
    )

    from ptc.adapters.openai_agents import program_tool

    class Scripted(Model):
        def __init__(self, outputs):
            self.outputs, self.inputs = outputs, []

        async def get_response(self, system_instructions, input, *args, **options):
            self.inputs.append(input)
            return ModelResponse(output=[self.outputs.pop(0)], usage=Usage(), response_id=None)

        def stream_response(self, *args, **options):
            raise NotImplementedError

    call = ResponseFunctionToolCall(
        arguments=json.dumps({"program": PROGRAM}), call_id="1", name="run_program", type="function_call", id="1"
    )
    text = ResponseOutputText(text="Ada does.", type="output_text", annotations=[])
    message = ResponseOutputMessage(id="2", content=[text], role="assistant", status="completed", type="message")
    model = Scripted([call, message])
    tools = [agents.function_tool(find_orders), agents.function_tool(find_parcel)]
    made = program_tool(tools)
    assert "(tool/find_orders {:country string})" in made.description
    agent = agents.Agent(name="Orders", tools=[made], model=model)
    config = agents.RunConfig(tracing_disabled=True)
    done = asyncio.run(agents.Runner.run(agent, "Who waits?", run_config=config))
    assert done.final_output == "Ada does."
    [output] = [item for item in model.inputs[1] if item.get("type") == "function_call_output"]
    assert json.loads(output["output"]) == ["Ada"]


def test_fastmcp():
    fastmcp = pytest.importorskip("fastmcp")

    from ptc.adapters.fastmcp import CodeMode

    server = fastmcp.FastMCP("orders", transforms=[CodeMode()])
    server.tool(find_orders)
    server.tool(find_parcel)

    @server.tool
    def broken() -> str:
        """Fails."""
        raise fastmcp.exceptions.ToolError("out of order")

    async def main():
        async with fastmcp.Client(server) as client:
            [tool] = await client.list_tools()
            assert tool.name == "run_program" and "tool/find_parcel" in tool.description
            right = await client.call_tool("run_program", {"program": PROGRAM})
            wrong = await client.call_tool("run_program", {"program": "(tool/broken {})"})
            return right.data, wrong.data

    right, wrong = asyncio.run(main())
    assert json.loads(right) == ["Ada"]
    assert "out of order" in wrong


def test_jupyter(capsys):
    pytest.importorskip("IPython")
    from IPython.core.interactiveshell import InteractiveShell

    shell = InteractiveShell()
    shell.run_line_magic("load_ext", "ptc.adapters.jupyter")
    shell.user_ns.update(orders=[{"total": 3}, {"total": 4}], find_parcel=find_parcel)
    assert shell.run_cell_magic("ptc", "", "(sum-by :total data/orders)") == 7
    assert shell.run_line_magic("ptc", "(inc *1)") == 8
    assert shell.run_cell_magic("ptc", "total", "(defn f [n] (tool/find-parcel {:order n})) (f 1)") is None
    assert shell.user_ns["total"] == "lost"
    assert shell.run_line_magic("ptc", "(f 2)") == "sent"
    shell.run_line_magic("ptc", '(println "seen") (sum-by :totl data/orders)')
    assert "did you mean `:total`?" in capsys.readouterr().err


pytest_plugins = ["pytester"]


def test_pytest_plugin(pytester):
    pytester.makefile(".clj", shop="(ns shop) (defn price [item] (tool/price {:of item}))")
    pytester.makefile(
        ".clj",
        shop_test=textwrap.dedent(
            """\
            (stub-tool 'price 3)
            (deftest gives-a-price (is (= 3 (shop/price "tea"))))
            (deftest is-wrong (testing "cake" (is (= 5 (shop/price "cake")))))
            """
        ),
    )
    pytester.makeini("[pytest]\nptc_args = --fuel 100000\n")
    done = pytester.runpytest_subprocess("-v")
    done.assert_outcomes(passed=1, failed=1)
    done.stdout.fnmatch_lines(["*shop_test.clj::gives-a-price PASSED*", "*line 3: cake: (= 5 (shop/price*"])


def test_a_description_is_not_too_long():
    assert len(ptc.card()) < 20_000
