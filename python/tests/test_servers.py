"""MCP servers as tools, with a small server that is a Python program."""

import json
import sys

import pytest

import ptc

SERVER = """
import json, sys
TOOL = {"name": "price", "description": "Price of an item.", "inputSchema": {
    "type": "object", "properties": {"of": {"type": "string"}}, "required": ["of"]}}
for line in sys.stdin:
    request = json.loads(line)
    method, params = request.get("method"), request.get("params", {})
    if "id" not in request:
        continue
    if method == "initialize":
        result = {"protocolVersion": params["protocolVersion"], "capabilities": {"tools": {}},
                  "serverInfo": {"name": "shop", "version": "1"}}
    elif method == "tools/list":
        result = {"tools": [TOOL]}
    elif method == "tools/call":
        value = {"price": len(params["arguments"]["of"])}
        result = {"content": [{"type": "text", "text": json.dumps(value)}], "structuredContent": value}
    else:
        result = {}
    print(json.dumps({"jsonrpc": "2.0", "id": request["id"], "result": result}), flush=True)
"""


@pytest.fixture
def servers(tmp_path):
    script = tmp_path / "server.py"
    script.write_text(SERVER)
    config = {"upstreams": {"shop": {"transport": "mcp_stdio", "command": sys.executable, "args": [str(script)]}}}
    path = tmp_path / "servers.json"
    path.write_text(json.dumps(config))
    started = ptc.Servers.start(path=path, freeze=True)
    yield started
    started.stop()


CALL = '(get-in (tool/call {:server "shop" :tool "price" :args {:of "tea"}}) [:value :price])'


def test_a_program_calls_a_server(servers):
    assert servers.names == ["shop"] and servers.load() == []
    assert "price" in servers.describe()
    assert ptc.run(CALL, servers=servers, limits={"timeout_ms": 10_000}) == 3


def test_servers_beside_tools_and_in_sessions(servers):
    def double(n: int) -> int:
        return n * 2

    session = ptc.Session(tools=[double], servers=servers)
    assert session.run(f"(tool/double {{:n {CALL}}})") == 6


def test_async(servers):
    import asyncio

    program = f"(pmap (fn [_] {CALL}) (range 5))"
    assert asyncio.run(ptc.run_async(program, servers=servers)) == [3] * 5


def test_a_wrong_configuration():
    with pytest.raises(ValueError):
        ptc.Servers.start(text='{"upstreams": 7}')
