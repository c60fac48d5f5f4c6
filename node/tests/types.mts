// What TypeScript must accept, and what it must not. Checked by `tsc`, never run.
import * as ptc from "ptc-lisp";
import whole, { type Limits, PtcError, run } from "ptc-lisp";
import { codeMode, programTool } from "ptc-lisp/ai";
import { clientTools, registerProgramTool } from "ptc-lisp/mcp";
import type { Client } from "@modelcontextprotocol/sdk/client/index.js";
import type { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { generateText, type LanguageModel, tool as aiTool } from "ai";
import { z } from "zod";

const limits: Limits = { fuel: 1000 };
const price = ({ of }: { of: string }) => of.length;
const value: number = await run("(+ 1 2)", { data: { n: 1n }, tools: { price }, limits, signal: AbortSignal.timeout(1) });
const same: number = whole.runSync("(+ 1 2)") + value;

const find = ptc.tool({
  name: "find",
  takes: z.object({ country: z.string(), limit: z.int().default(3) }),
  answers: { type: "array" },
  call: ({ country, limit }, { signal }) => [country.toUpperCase(), limit.toFixed(), signal.aborted],
});
const outcome: ptc.Outcome = await ptc.execute("1", { tools: [find] });
const fuel: number = outcome.fuel + same;

const program = new ptc.Program("1", { data: { rows: ptc.freeze([]) } });
const called: ptc.Run = program.start({ a: 1 }, {});
const [call] = called.step();
called.answer(call!, { any: call!.args["name"] });
const bytes: Buffer = called.toBytes();
const loaded = ptc.Run.fromBytes(new Uint8Array(bytes), { grants: { a: 1 } });
await loaded.finish();

const gross = program.function("gross");
await gross(1, "a");
gross.sync(1);

try {
  await ptc.batch(program, (async function* () { yield { a: fuel }; })(), { onError: "null" });
} catch (error) {
  if (error instanceof PtcError) error.frames.map((frame) => frame.line?.toFixed());
  if (error instanceof ptc.ToolFailed) console.log(error.cause);
}

const agent = new ptc.Agent("Cost of {{items}}?", { signature: "() -> :int", tools: { price }, max_turns: 3 });
for await (const event of agent.stream({}, { model: async (request) => request.system })) {
  if (event.kind === "ended") event.step.usage;
  else if (event.kind === "toolCalled") event.name.length;
  // @ts-expect-error: only some events have a text.
  event.text;
}

declare const model: LanguageModel;
const tools = { find_orders: aiTool({ inputSchema: z.object({ country: z.string() }), execute: async () => [] }) };
await generateText({ model, prompt: "?", tools: codeMode(tools, { keep: (name) => name === "x" }) });
await generateText({ model, prompt: "?", tools: { run: programTool(tools, { limits }) } });

declare const client: Client;
declare const server: McpServer;
registerProgramTool(server, await clientTools(client), { name: "run" });

// @ts-expect-error: a program is a text.
new ptc.Program(7);
// @ts-expect-error: outcomes are made by runs.
new ptc.Outcome();
// @ts-expect-error: an effect is "read" or "write".
ptc.tool({ call: price, effect: "reed" });
// @ts-expect-error: a tool has a function.
ptc.tool({ name: "x" });
// @ts-expect-error: limits are numbers.
ptc.runSync("1", { limits: { fuel: "much" } });
// @ts-expect-error: results are not changed.
outcome.fuel = 1;
