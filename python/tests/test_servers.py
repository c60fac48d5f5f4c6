"""MCP servers and web services as tools, with small ones that are Python programs."""

import json
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

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
    started = ptc.Servers.start(path, freeze=True)
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


ORDERS = {
    "openapi": "3.0.3",
    "info": {"title": "Orders", "version": "1"},
    "paths": {
        "/orders/{id}": {
            "get": {
                "operationId": "order",
                "summary": "An order.",
                "parameters": [
                    {"name": "id", "in": "path", "required": True, "schema": {"type": "integer"}},
                    {"name": "currency", "in": "query", "schema": {"type": "string"}},
                ],
                "responses": {"200": {"description": "ok"}},
            },
            "delete": {"operationId": "remove", "responses": {"204": {"description": "gone"}}},
        }
    },
}


class Orders(BaseHTTPRequestHandler):
    """The web service that the description above is of."""

    def do_GET(self):
        path, _, query = self.path.partition("?")
        self.server.seen.append((self.path, self.headers.get("Authorization")))
        number = int(path.rpartition("/")[2])
        found = number < 10
        body = {"id": number, "total": number * 3, "query": query} if found else {"error": "there is no such order"}
        payload = json.dumps(body).encode()
        self.send_response(200 if found else 404)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(payload)))
        self.end_headers()
        self.wfile.write(payload)

    def log_message(self, *_):
        pass


@pytest.fixture
def service():
    server = ThreadingHTTPServer(("127.0.0.1", 0), Orders)
    server.seen = []
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield server
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture
def web(service, tmp_path):
    """The service as a server of programs: its description is a file, and its token a secret."""
    (tmp_path / "orders.json").write_text(json.dumps(ORDERS))
    entry = {
        "transport": "openapi",
        "base_url": f"http://127.0.0.1:{service.server_port}",
        "schema_file": str(tmp_path / "orders.json"),
        "include_operations": ["order"],
        "auth": [{"scheme": "bearer", "binding": "token"}],
        "allow_insecure_http": True,
        "allow_insecure_auth": True,
    }
    config = {"credentials": {"token": {"source": "literal", "value": "s3cret"}}, "upstreams": {"orders": entry}}
    with ptc.Servers.start(text=json.dumps(config), freeze=True) as started:
        yield started


def test_a_program_calls_a_web_service(web, service):
    assert web.names == ["orders"] and "order" in web.describe() and "remove" not in web.describe()
    program = """
    (->> (pmap (fn [id] (tool/call {:server "orders" :tool "order" :args {:id id :currency "EUR"}})) [1 2 40])
         (mapv (fn [r] (if (:ok r) (get (:value r) "total") (:reason r)))))
    """
    assert ptc.run(program, servers=web) == [3, 6, "tool_error"]
    assert sorted(service.seen) == [(f"/orders/{n}?currency=EUR", "Bearer s3cret") for n in (1, 2, 40)]


def test_an_operation_that_was_not_included_is_refused(web, service):
    with pytest.raises(ptc.PtcError, match="remove"):
        ptc.run('(tool/call {:server "orders" :tool "remove" :args {:id 1}})', servers=web)
    assert service.seen == []


def test_an_agent_calls_a_web_service(web):
    def model(request):
        return '(return (get (:value (tool/call {:server "orders" :tool "order" :args {:id data/id}})) "total"))'

    agent = ptc.Agent("What is the total of order {{id}}?", signature="(id :int) -> :int", servers=web)
    assert agent.run({"id": 7}, model=model).value == 21
    other = ptc.Agent("What is the total of order {{id}}?", signature="(id :int) -> :int")
    assert other.run({"id": 8}, model=model, servers=web).value == 24
