// Tools: calls of functions, and their errors.
import assert from "node:assert/strict";
import { test } from "node:test";
import * as ptc from "ptc-lisp";
import { z } from "zod";
import { failure } from "./support.mjs";

const BOTH = [ptc.run, ptc.runSync];

test("a tool is called with one object", async () => {
  const price = ({ of, amount = 1 }) => ({ of, price: amount * 3 });
  for (const run of BOTH) {
    const value = await run('(tool/price {:of "tea" :amount 2})', { tools: { price } });
    assert.deepEqual(value, { of: "tea", price: 6 });
  }
  const byId = { "find-user": ({ user_id }) => user_id };
  assert.equal(await ptc.run("(tool/find-user {:user-id 7})", { tools: byId }), 7);
  assert.equal(await ptc.run("(tool/nothing {})", { tools: new Map([["nothing", () => undefined]]) }), null);
});

test("arguments are checked before anything runs", async () => {
  const price = ptc.tool({
    name: "price",
    call: () => assert.fail("it was called"),
    takes: z.object({ of: z.string(), amount: z.int().optional() }).strict(),
    answers: z.object({ total: z.number() }),
  });
  for (const program of ["(tool/price {})", "(tool/price {:of 7})", '(tool/price {:of "a" :amout 2})']) {
    const error = await failure(() => ptc.run(program, { tools: [price] }));
    assert.ok(error instanceof ptc.CompileError);
    assert.match(error.message, /refuses its arguments/);
  }
  assert.equal((await failure(() => ptc.run("(tool/prize {})", { tools: [price] }))).kind, "unknown_tool");
  assert.match((await failure(() => ptc.run('(:totl (tool/price {:of "a"}))', { tools: [price] }))).message, /totl/);
  assert.deepEqual(price.takes.required, ["of"]);
});

test("a schema of Zod parses arguments", async () => {
  const find = ptc.tool({
    takes: z.object({ country: z.string().max(2).transform((text) => text.toUpperCase()), limit: z.int().default(5) }),
    call: ({ country, limit }) => [country, limit],
  });
  for (const run of BOTH) {
    assert.deepEqual(await run('(tool/find {:country "de"})', { tools: { find } }), ["DE", 5]);
    const error = await failure(() => run('(tool/find {:country (str "d" "eu")})', { tools: { find } }));
    assert.ok(error instanceof ptc.RunError);
    assert.match(error.problem, /^country: /);
    assert.ok(error.cause instanceof ptc.ToolError);
  }
});

test("an error is a fault that a program may catch", async () => {
  const weather = ({ city }) => {
    if (city === "Atlantis") throw new RangeError("no such city");
    return 21;
  };
  const tools = { weather };
  const caught = '(try (tool/weather {:city "Atlantis"}) (catch Exception e (ex-message e)))';
  for (const run of BOTH) {
    assert.match(await run(caught, { tools }), /no such city/);
    const error = await failure(() => run('(tool/weather {:city "Atlantis"})', { tools }));
    assert.ok(error instanceof ptc.ToolFailed);
    assert.equal(error.kind, "tool_error");
    assert.equal(error.problem, "`tool/weather` failed: RangeError: no such city");
    assert.ok(error.cause instanceof RangeError);
  }
});

for (const [what, thrown, told] of [
  ["a text", "plain text", "plain text"],
  ["an object", { code: 7 }, '{"code":7}'],
  ["nothing", undefined, "undefined"],
  ["null", null, "null"],
  ["a bigint", 7n, "something that has no text was thrown"],
  ["half a character", new Error("a\ud800"), "Error: a\ufffd"],
]) {
  test(`a tool may throw ${what}, or reject with it`, async () => {
    const tools = {
      throws: () => {
        throw thrown;
      },
      rejects: () => Promise.reject(thrown),
    };
    for (const [name, run] of [["throws", ptc.run], ["throws", ptc.runSync], ["rejects", ptc.run]]) {
      const error = await failure(() => run(`(tool/${name} {})`, { tools }));
      assert.equal(error.problem, `\`tool/${name}\` failed: ${told}`);
      assert.equal(error.cause, thrown);
    }
  });
}

test("the cause is the error that ended the run", async () => {
  const fail = ({ n }) => {
    throw new Error(`number ${n}`);
  };
  const tools = { fail };
  let error = await failure(() =>
    ptc.run("(try (tool/fail {:n 1}) (catch Exception e nil)) (tool/fail {:n 2})", { tools }),
  );
  assert.equal(error.cause.message, "number 2");
  error = await failure(() => ptc.runSync("(try (tool/fail {:n 1}) (catch Exception e nil)) (+ 1 nil)", { tools }));
  assert.ok(error instanceof ptc.RunError && error.cause === undefined);
  error = await failure(() => ptc.run("(pmap (fn [n] (tool/fail {:n n})) [5 6 7])", { tools }));
  assert.ok(error instanceof ptc.ToolFailed);
  assert.equal(error.cause.message, "number 5");
});

test("a tool error has a hint", async () => {
  const get = ({ shelf }) => {
    throw new ptc.ToolError(`no shelf ${shelf}`, { hint: "shelves: a, b", isMistake: true });
  };
  const error = await failure(() => ptc.run('(tool/get {:shelf "x"})', { tools: { get } }));
  assert.deepEqual([error.kind, error.problem, error.hint], ["runtime_error", "no shelf x", "shelves: a, b"]);
});

test("a result that is no data is a fault", async () => {
  for (const run of BOTH) {
    const error = await failure(() => run("(tool/odd {})", { tools: { odd: () => ({ a: Buffer.alloc(1) }) } }));
    assert.ok(error instanceof ptc.ToolFailed && error.cause instanceof TypeError);
    assert.match(error.message, /the result\.a: bytes are no data/);
  }
});

test("a tool may run a program", async () => {
  const inner = new ptc.Program("(* 2 data/n)");
  assert.equal(await ptc.run("(tool/double {:n 21})", { tools: { double: (args) => inner.call(args) } }), 42);
  assert.equal(ptc.runSync("(tool/double {:n 21})", { tools: { double: (args) => inner.callSync(args) } }), 42);
});

test("a frozen result is shared", async () => {
  const rows = ptc.freeze(Array.from({ length: 1000 }, (_, n) => n));
  const tools = { rows: () => rows };
  for (const run of BOTH) assert.equal(await run("(+ (count (tool/rows {})) (count (tool/rows {})))", { tools }), 2000);
});

test("private tools are for preludes", async () => {
  const tools = { secret: new ptc.Tool({ call: () => 7, private: true }) };
  const shop = ptc.Prelude.compile("(ns shop) (defn secret [] (tool/secret {}))");
  assert.equal(await ptc.run("(shop/secret)", { tools, preludes: [shop] }), 7);
  await assert.rejects(ptc.run("(tool/secret {})", { tools, preludes: [shop] }), ptc.CompileError);
});

test("wrong tools are refused", () => {
  assert.throws(() => ptc.runSync("1", { tools: [() => 1] }), /a tool in an array has a name/);
  assert.throws(() => ptc.runSync("1", { tools: { a: 7 } }), /a function `call`/);
  assert.throws(() => ptc.runSync("1", { tools: "a" }), /tools are an object of functions/);
  assert.throws(() => ptc.tool({ call: () => 1, effect: "reed" }), /an effect is "read" or "write"/);
  assert.throws(() => ptc.tool({ call: () => 1, takes: "string" }), /a schema is a JSON Schema/);
});

test("a promise in a synchronous run is a mistake of the host", async () => {
  const tools = { later: async () => 1, fails: async () => Promise.reject(new Error("unseen")) };
  for (const name of ["later", "fails"]) {
    const program = `(try (tool/${name} {}) (catch Exception e :caught))`;
    assert.throws(() => ptc.runSync(program, { tools }), /returned a promise: use `run` instead of `runSync`/);
  }
});
