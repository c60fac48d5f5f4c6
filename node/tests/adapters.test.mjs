// Adapters, with the libraries themselves: their mock models and transports.
import assert from "node:assert/strict";
import { test } from "node:test";
import { z } from "zod";

const isOld = Number(process.versions.node.split(".")[0]) < 22;
const ORDERS = [{ id: 1, customer: "Ada" }, { id: 2, customer: "Bo" }];
const PROGRAM = '(count (tool/find_orders {:country "DE"}))';

test("Vercel AI SDK: a model calls all tools by one program", { skip: isOld && "the SDK needs Node 22" }, async () => {
  const { generateText, stepCountIs, tool } = await import("ai");
  const { codeMode } = await import("ptc-lisp/ai");
  const seen = [];
  const find_orders = tool({
    description: "Finds the open orders of a country.",
    inputSchema: z.object({ country: z.string().length(2) }),
    execute: async ({ country }, { toolCallId, abortSignal }) => {
      seen.push([country, toolCallId, abortSignal instanceof AbortSignal]);
      return ORDERS;
    },
  });
  const refund = tool({ inputSchema: z.object({}), needsApproval: true, execute: () => 1 });
  const elsewhere = tool({ inputSchema: z.object({}) });
  const tools = codeMode({ find_orders, refund, elsewhere }, { keep: (name) => name === "kept" });
  assert.deepEqual(Object.keys(tools), ["run_program", "refund", "elsewhere"]);
  assert.match(tools.run_program.description, /tool\/find_orders \{:country string\}/);

  const model = await mock([["(tool/find_ordrs {})"], [PROGRAM], '(tool/find_orders {:country (str "D" "EU")})', "Two orders."]);
  const result = await generateText({ model, tools, prompt: "How many?", stopWhen: stepCountIs(9) });
  assert.equal(result.text, "Two orders.");
  const outputs = result.steps.flatMap((step) => step.toolResults.map((one) => one.output));
  assert.match(outputs[0], /did you mean `tool\/find_orders`|unknown_tool/);
  assert.equal(outputs[1], "2");
  assert.match(outputs[2], /runtime_error|country/);
  assert.deepEqual(seen, [["DE", "call-1", true]]);
});

/** Makes a model that replies with programs, and at last with a text. */
async function mock(replies) {
  const { MockLanguageModelV4 } = await import("ai/test");
  const usage = {
    inputTokens: { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 },
    outputTokens: { total: 1, text: 1, reasoning: 0 },
  };
  let turn = 0;
  return new MockLanguageModelV4({
    doGenerate: async () => {
      const reply = replies[turn];
      const isLast = turn === replies.length - 1;
      const input = JSON.stringify({ program: Array.isArray(reply) ? reply[0] : reply });
      const call = { type: "tool-call", toolCallId: `call-${turn++}`, toolName: "run_program", input };
      return {
        content: [isLast ? { type: "text", text: reply } : call],
        finishReason: { unified: isLast ? "stop" : "tool-calls", raw: undefined },
        usage,
        warnings: [],
      };
    },
  });
}

/** Connects a client to a server with two tools. */
async function connected() {
  const { Client } = await import("@modelcontextprotocol/sdk/client/index.js");
  const { InMemoryTransport } = await import("@modelcontextprotocol/sdk/inMemory.js");
  const { McpServer } = await import("@modelcontextprotocol/sdk/server/mcp.js");
  const server = new McpServer({ name: "shop", version: "1" });
  const schemas = { inputSchema: { country: z.string() }, outputSchema: { orders: z.array(z.any()) } };
  server.registerTool("find_orders", { description: "Finds orders.", ...schemas }, ({ country }) => {
    if (country === "XX") return { content: [{ type: "text", text: "no such country" }], isError: true };
    return { content: [], structuredContent: { orders: ORDERS } };
  });
  server.registerTool("greet", { annotations: { readOnlyHint: true } }, () => ({ content: [{ type: "text", text: "hi" }] }));
  const client = new Client({ name: "test", version: "1" });
  const [one, other] = InMemoryTransport.createLinkedPair();
  return { server, client, connect: () => Promise.all([server.connect(one), client.connect(other)]) };
}

test("MCP SDK: tools of a client", async () => {
  const ptc = await import("ptc-lisp");
  const { clientTools } = await import("ptc-lisp/mcp");
  const { client, connect } = await connected();
  await connect();
  const tools = await clientTools(client);
  assert.deepEqual(tools.map((tool) => [tool.name, tool.effect]), [["find_orders", undefined], ["greet", "read"]]);
  const program = '[(count (:orders (tool/find_orders {:country "DE"}))) (tool/greet {})]';
  assert.deepEqual(await ptc.run(program, { tools }), [2, "hi"]);
  await assert.rejects(ptc.run('(tool/find_orders {:country "XX"})', { tools }), /no such country/);
  await assert.rejects(ptc.run("(tool/find_orders {})", { tools }), ptc.CompileError);
  await client.close();
});

test("MCP SDK: a server's tool that runs programs", async () => {
  const { registerProgramTool } = await import("ptc-lisp/mcp");
  const { server, client, connect } = await connected();
  registerProgramTool(server, { find_orders: async () => ORDERS }, { limits: { fuel: 100_000 } });
  await connect();
  const listed = (await client.listTools()).tools.find((tool) => tool.name === "run_program");
  assert.match(listed.description, /tool\/find_orders/);
  const call = (program) => client.callTool({ name: "run_program", arguments: { program } });
  assert.deepEqual(await call(`(println "x") ${PROGRAM}`), { content: [{ type: "text", text: "x\n2" }], isError: false });
  const wrong = await call("(loop [] (recur))");
  assert.ok(wrong.isError);
  assert.match(wrong.content[0].text, /fuel_exceeded/);
  await client.close();
});
