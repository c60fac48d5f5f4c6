// Agents with models that are functions.
import assert from "node:assert/strict";
import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import * as ptc from "ptc-lisp";
import { failure, sleep } from "./support.mjs";

const TOTAL = "(return {:total (reduce + (map #(tool/price {:of %}) data/items))})";
const SIGNATURE = "(items [:string]) -> {total :int}";

const price = ptc.tool({
  name: "price",
  description: "Price of an item.",
  takes: { type: "object", properties: { of: { type: "string" } }, required: ["of"] },
  call: async ({ of }) => sleep(1, { tea: 3, cake: 5 }[of]),
});

function agent(options) {
  return new ptc.Agent("What do {{items}} cost together?", { signature: SIGNATURE, tools: [price], ...options });
}

test("a model is a function", async () => {
  const requests = [];
  const model = (request) => {
    requests.push(request);
    return TOTAL;
  };
  const step = await agent().run({ items: ["tea", "cake"] }, { model });
  assert.deepEqual([step.value, step.ok, step.usage.turns], [{ total: 8 }, true, 1]);
  const [request] = requests;
  assert.match(request.system, /tool\/price/);
  assert.deepEqual([request.turn, request.chat[0].role], [1, "system"]);
  assert.ok(step.turns[0].program);
  assert.deepEqual(step.toJSON().return, { total: 8 });
});

test("a model may be asynchronous, and return an object", async () => {
  const model = async () => sleep(1, { content: TOTAL });
  assert.deepEqual((await agent().run({ items: ["tea"] }, { model })).value, { total: 3 });
});

test("a wrong program is mended in the next turn", async () => {
  const replies = ["(tool/prize {})", TOTAL];
  const step = await agent({ max_turns: 3 }).run({ items: ["tea"] }, { model: () => replies.shift() });
  assert.deepEqual([step.value, step.usage.turns], [{ total: 3 }, 2]);
});

test("a mission that fails", async () => {
  const once = agent({ max_turns: 1, retry_turns: 0 });
  const error = await failure(() => once.run({ items: ["tea"] }, { model: () => "(return {:total nil})" }));
  assert.ok(error instanceof ptc.AgentError && !error.step.ok);
  assert.equal(error.reason, error.step.reason);
  const broken = () => Promise.reject(new Error("out of tokens"));
  assert.match((await failure(() => agent().run({ items: [] }, { model: broken }))).message, /out of tokens/);
  assert.match((await failure(() => agent().run({ items: [] }, { model: () => 7 }))).message, /a model returns a text/);
  assert.equal((await failure(() => agent().run({ items: [] }))).reason, "llm_required");
});

test("events tell what happens", async () => {
  const events = await Array.fromAsync?.(agent().stream({ items: ["tea"] }, { model: () => TOTAL })) ?? [];
  if (events.length === 0) {
    for await (const event of agent().stream({ items: ["tea"] }, { model: () => TOTAL })) events.push(event);
  }
  assert.deepEqual([events[0].kind, events.at(-1).kind], ["turnBegan", "ended"]);
  const called = events.find((event) => event.kind === "toolCalled");
  assert.deepEqual([called.name, called.args], ["price", { of: "tea" }]);
  assert.equal(events.find((event) => event.kind === "toolAnswered").answer, 3);
  assert.deepEqual(events.at(-1).step.value, { total: 3 });
});

test("many missions at once", async () => {
  const one = agent();
  const steps = await Promise.all(
    Array.from({ length: 20 }, () => one.run({ items: ["tea"] }, { model: async () => sleep(5, TOTAL) })),
  );
  assert.ok(steps.every((step) => step.value.total === 3));
});

test("a stream that is not read to its end", async () => {
  for await (const event of agent().stream({ items: ["tea"] }, { model: () => TOTAL })) {
    assert.equal(event.kind, "turnBegan");
    break;
  }
});

test("a signal ends a mission", async () => {
  const signal = AbortSignal.timeout(50);
  const error = await failure(() => agent().run({ items: ["tea"] }, { model: () => new Promise(() => {}), signal }));
  assert.ok(error instanceof ptc.AgentError);
  assert.equal(error.reason, "cancelled");
});

test("an agent from a file", async () => {
  const path = join(mkdtempSync(join(tmpdir(), "ptc-")), "sum.toml");
  writeFileSync(path, `name = "sum"\nprompt = "Cost of {{items}}?"\nsignature = "${SIGNATURE}"\n`);
  const made = ptc.Agent.fromFile(path, { tools: [price] });
  assert.deepEqual([made.name, made.prompt, made.warnings], ["sum", "Cost of {{items}}?", []]);
  assert.deepEqual((await made.run({ items: ["cake"] }, { model: () => TOTAL })).value, { total: 5 });
  writeFileSync(path, 'prompt = "x"\nmax_turn = 1');
  assert.throws(() => ptc.Agent.fromFile(path), /did you mean `max_turns`/);
  assert.throws(() => new ptc.Agent("x", { max_turn: 1 }), /did you mean `max_turns`/);
});
