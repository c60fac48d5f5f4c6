// Programs, their errors and their limits.
import assert from "node:assert/strict";
import { test } from "node:test";
import * as ptc from "ptc-lisp";
import { failure } from "./support.mjs";

test("a value is plain JavaScript", () => {
  const program = '{:n 1 "big" 123456789012345678901234567890 :x 1.5 :t "é" :list [1 nil true] :set #{1 2} :k :word}';
  assert.deepEqual(ptc.runSync(program), {
    n: 1,
    big: 123456789012345678901234567890n,
    x: 1.5,
    t: "é",
    list: [1, null, true],
    set: new Set([1, 2]),
    k: "word",
  });
});

test("data is read by name", async () => {
  const orders = [{ total: 3 }, { total: 4 }];
  assert.equal(await ptc.run("(reduce + (map :total data/orders))", { data: { orders } }), 7);
  assert.equal(ptc.runSync("data/unit-price", { data: new Map([["unit-price", 3]]) }), 3);
  assert.throws(() => ptc.runSync("1", { data: [1] }), /data is an object of names and values/);
});

test("an outcome has everything", async () => {
  const outcome = await ptc.execute('(println "adding") (+ 1 2))');
  assert.deepEqual([outcome.value, outcome.text, outcome.json()], [3, "3", "3"]);
  assert.deepEqual(outcome.prints, ["adding"]);
  assert.ok(outcome.fuel > 0 && outcome.compileFuel > 0);
  assert.equal(outcome.toolCalls, 0);
  assert.deepEqual(
    outcome.warnings.map((warning) => [warning.kind, warning.isWarning]),
    [["surplus_bracket", true]],
  );
  assert.deepEqual(JSON.parse(ptc.executeSync("{:a [1 2.5 nil]}").json()), { a: [1, 2.5, null] });
});

test("a misspelt field is refused before anything runs", async () => {
  const data = { orders: [{ id: 1, total: 5 }] };
  const error = await failure(() => ptc.run("(sum-by :totl data/orders)", { data }));
  assert.ok(error instanceof ptc.CompileError && error instanceof ptc.PtcError && error instanceof Error);
  assert.deepEqual([error.kind, error.code, error.line, error.column], ["unknown_field", "E0211", 1, 9]);
  assert.equal(error.hint, "did you mean `:total`?");
  assert.match(error.message, /\(line 1, column 9\)/);
  assert.equal(error.name, "CompileError");
});

test("an error has frames, prints and fuel", async () => {
  const source = '(defn inner [x] (+ x nil))\n(defn outer [x] (inc (inner x)))\n(println "here")\n(outer 1)';
  const error = await failure(() => ptc.runSync(source));
  assert.ok(error instanceof ptc.RunError);
  assert.deepEqual([error.kind, error.line], ["type_error", 1]);
  assert.deepEqual(
    error.frames.map((frame) => [frame.function, frame.line]),
    [["inner", 2], ["outer", 4]],
  );
  assert.deepEqual(error.prints, ["here"]);
  assert.ok(error.fuel > 0 && error.source === source);
});

test("several errors come together", async () => {
  const error = await failure(() => ptc.runSync("(fliter odd? [1])\n(mpa inc [1])"));
  assert.deepEqual(error.diagnostics.map((told) => told.line), [1, 2]);
  assert.match(String(error.diagnostics[1]), /mpa/);
});

test("a program can fail with a value", async () => {
  const error = await failure(() => ptc.run('(fail {:reason "no stock" :left 0})'));
  assert.ok(error instanceof ptc.ProgramFailed);
  assert.deepEqual(error.value, { reason: "no stock", left: 0 });
});

for (const [limits, program, kind] of [
  [{ fuel: 10_000 }, "(loop [i 0] (recur (inc i)))", "fuel_exceeded"],
  [{ memory_bytes: 100_000 }, "(mapv str (range 100000))", "memory_exceeded"],
  [{ timeout_ms: 50 }, "(loop [i 0] (recur (inc i)))", "timeout"],
  [{ source_bytes: 5 }, "(+ 1 2 3)", "program_too_large"],
]) {
  test(`the limit ${Object.keys(limits)[0]} ends programs`, async () => {
    for (const run of [ptc.run, ptc.runSync]) {
      const error = await failure(() => run(program, { limits }));
      assert.ok(error instanceof ptc.LimitError);
      assert.equal(error.kind, kind);
    }
  });
}

test("a wrong limit is refused", () => {
  assert.throws(() => ptc.runSync("1", { limits: { fule: 1 } }), /there is no limit `fule`/);
  assert.throws(() => ptc.runSync("1", { limits: { fuel: -1 } }), /must be an integer/);
  assert.throws(() => ptc.runSync("1", { limits: { fuel: "1" } }), /must be an integer/);
  assert.throws(() => ptc.runSync("1", { limits: { parallel_depth: 1000 } }), /at most/);
  assert.equal(ptc.defaultLimits().fuel, 200_000_000);
});

test("a program is compiled once", async () => {
  const program = new ptc.Program("{:total (* data/price data/amount)}");
  assert.deepEqual(await program.call({ price: 3, amount: 4 }), { total: 12 });
  assert.deepEqual(program.callSync({ price: 5, amount: 2 }), { total: 10 });
  await assert.rejects(program.call({ price: 5 }), /data\/amount/);
  assert.deepEqual(program.warnings, []);
  assert.ok(program.source.startsWith("{:total"));
  assert.throws(() => new ptc.Program(7), /a program is a string/);
});

test("a long program is compiled on another thread", async () => {
  const source = `(+ ${"1 ".repeat(15_000)})`;
  assert.equal(await ptc.run(source), 15_000);
  await assert.rejects(ptc.run(`(fliter ${"1 ".repeat(15_000)})`), ptc.CompileError);
  const made = await ptc.Program.compile(`(+ data/n ${"1 ".repeat(15_000)})`, { data: { n: 1 } });
  assert.equal(await made.call(), 15_001);
});

test("data of a program is granted to every call", async () => {
  const rows = ptc.freeze(Array.from({ length: 1000 }, (_, n) => ({ n })));
  const program = new ptc.Program("(+ data/more (count data/rows))", { data: { rows } });
  for (let more = 0; more < 3; more++) assert.equal(await program.call({ more }), 1000 + more);
  assert.ok(rows.bytes > 1000);
  assert.deepEqual(rows.thaw()[7], { n: 7 });
  assert.equal(ptc.freeze(rows), rows);
});

test("functions of a program", async () => {
  const source =
    '(def rates {:de 1.19}) (defn gross "Adds tax." [country net] (* net (get rates (keyword country) 1.0)))';
  const gross = new ptc.Program(source, { tools: {} }).function("gross");
  assert.equal(await gross("de", 100), 119);
  assert.equal(gross.sync("ch", 100), 100);
  assert.equal(gross.name, "gross");
  assert.equal((await failure(() => gross("de"))).kind, "arity_mismatch");
  assert.throws(() => new ptc.Program(source, { tools: {} }).function("grss"), ptc.CompileError);
  assert.throws(() => new ptc.Program(source, { tools: {} }).function("gross 1) (+ 1"), /not the name of a function/);
});

test("a session remembers", async () => {
  const session = new ptc.Session({ data: { rate: 0.25 } });
  await session.run("(defn vat [x] (* x data/rate))");
  assert.equal(await session.run("(vat 100)"), 25);
  assert.equal(session.runSync("(inc *1)"), 26);
  await assert.rejects(session.run("(def vat nil) (+ 1 nil)"), ptc.RunError);
  assert.equal(await session.run("(vat 4)"), 1);
  assert.deepEqual(session.names, ["vat"]);
  assert.ok(session.has("vat") && !session.has("x"));
  await session.run("(def limit 12)");
  assert.equal(session.get("limit"), 12);
  const other = session.copy();
  await other.run("(def limit 13)");
  assert.deepEqual([session.get("limit"), other.get("limit")], [12, 13]);
  session.grant({ rate: 0.5 });
  assert.equal(await session.run("(vat 4)"), 2);
  assert.equal(await session.function("vat")(10), 5);
  assert.equal(session.get("nothing"), undefined);
  const tooled = session.withTools({ seven: () => 7 });
  assert.equal(await tooled.run("(vat (tool/seven {}))"), 3.5);
});

test("a session that grows too large is unchanged", async () => {
  const session = new ptc.Session({ limits: { granted_bytes: 10_000 } });
  await session.run("(def a 1)");
  const error = await failure(() => session.run("(def a (mapv str (range 5000)))"));
  assert.ok(error instanceof ptc.LimitError);
  assert.match(error.message, /all definitions/);
  assert.equal(session.get("a"), 1);
});

test("check runs nothing", () => {
  const price = new ptc.Tool({
    call: () => assert.fail("it was called"),
    takes: { type: "object", properties: { of: { type: "string" } }, required: ["of"], additionalProperties: false },
  });
  const tools = { price };
  assert.deepEqual(ptc.check("(tool/price {:of data/item})", { data: { item: "tea" }, tools }), []);
  assert.deepEqual(ptc.check("(tool/price {:off 7})", { tools }).map((told) => told.kind), ["refused_arguments"]);
  assert.equal(ptc.check("(tool/prize {})", { tools })[0].kind, "unknown_tool");
  assert.deepEqual(ptc.check("(+ 1 2))").map((told) => told.isWarning), [true]);
});

test("the card tells of tools and data", () => {
  const price = ptc.tool({
    call: ({ of }) => of.length,
    description: "Price of an item.",
    takes: { type: "object", properties: { of: { type: "string" } }, required: ["of"] },
    answers: { type: "integer" },
  });
  const card = ptc.card({ tools: { price }, data: { orders: [] } });
  assert.match(card, /group-by/);
  assert.match(card, /\(tool\/price \{:of string\}\) -> integer ; Price of an item\./);
  assert.ok(card.endsWith("Data: data/orders"));
});
