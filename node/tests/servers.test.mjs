// MCP servers as tools, with a small server that is a program of Node.
import assert from "node:assert/strict";
import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import * as ptc from "ptc-lisp";

const SERVER = `
const schema = { type: "object", properties: { of: { type: "string" } }, required: ["of"] };
const tool = { name: "price", description: "Price of an item.", inputSchema: schema };
const results = {
  initialize: ({ protocolVersion }) => ({
    protocolVersion, capabilities: { tools: {} }, serverInfo: { name: "shop", version: "1" },
  }),
  "tools/list": () => ({ tools: [tool] }),
  "tools/call": (params) => {
    const value = { price: params.arguments.of.length };
    return { content: [{ type: "text", text: JSON.stringify(value) }], structuredContent: value };
  },
};
require("node:readline").createInterface({ input: process.stdin }).on("line", (line) => {
  const { id, method, params } = JSON.parse(line);
  if (id === undefined) return;
  console.log(JSON.stringify({ jsonrpc: "2.0", id, result: results[method]?.(params) ?? {} }));
});
`;
const CALL = '(get-in (tool/call {:server "shop" :tool "price" :args {:of "tea"}}) [:value :price])';

let servers;

before(async () => {
  const folder = mkdtempSync(join(tmpdir(), "ptc-"));
  writeFileSync(join(folder, "server.cjs"), SERVER);
  const shop = { transport: "mcp_stdio", command: process.execPath, args: [join(folder, "server.cjs")] };
  servers = await ptc.Servers.start({ config: { upstreams: { shop } }, freeze: true });
});

after(() => servers.stop());

test("a program calls a server", async () => {
  assert.deepEqual(servers.names, ["shop"]);
  assert.deepEqual(await servers.load(), []);
  assert.match(servers.describe(), /price/);
  const limits = { timeout_ms: 10_000 };
  assert.equal(await ptc.run(CALL, { servers, limits }), 3);
  assert.equal(ptc.runSync(CALL, { servers, limits }), 3);
});

test("servers beside tools and in sessions", async () => {
  const session = new ptc.Session({ tools: { double: async ({ n }) => n * 2 }, servers });
  assert.equal(await session.run(`(tool/double {:n ${CALL}})`), 6);
});

test("calls run concurrently", async () => {
  assert.deepEqual(await ptc.run(`(pmap (fn [_] ${CALL}) (range 5))`, { servers }), [3, 3, 3, 3, 3]);
});

test("a wrong configuration", async () => {
  await assert.rejects(ptc.Servers.start({ config: { upstreams: 7 } }));
  await assert.rejects(ptc.Servers.start({ path: "/nowhere/servers.json" }));
});
