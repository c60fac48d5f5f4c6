// Batches: a program over many records.
import assert from "node:assert/strict";
import { test } from "node:test";
import * as ptc from "ptc-lisp";
import { failure, sleep } from "./support.mjs";

const ROWS = [{ id: 1, price: 3, amount: 4 }, { id: 2, price: 5, amount: 2 }];

test("a program runs over records", async () => {
  const result = await ptc.batch("{:id data/id :sum (* data/price data/amount)}", ROWS);
  assert.deepEqual(result.values, [{ id: 1, sum: 12 }, { id: 2, sum: 10 }]);
  assert.deepEqual([...result], result.values);
  assert.deepEqual(result.failures, []);
  assert.ok(result.seconds > 0);
});

test("rows of any kind, and from anywhere", async () => {
  async function* later() {
    for (const n of [1, 2, 3]) yield sleep(1, n);
  }
  assert.deepEqual((await ptc.batch("(inc data/row)", later())).values, [2, 3, 4]);
  assert.deepEqual((await ptc.batch("(inc data/row)", new Set([1, 2]))).values, [2, 3]);
  assert.deepEqual((await ptc.batch("(inc data/row)", [])).values, []);
  assert.deepEqual((await ptc.batch("data/row", [12345678901234567890n, "é"])).values, [12345678901234567890n, "é"]);
});

test("a row that fails ends the batch, or has no value", async () => {
  const rows = [{ n: 1 }, { n: "x" }, { n: 3 }];
  const error = await failure(() => ptc.batch("(inc data/n)", rows));
  assert.ok(error instanceof ptc.RunError);
  assert.equal(error.row, 1);
  const result = await ptc.batch("(inc data/n)", rows, { onError: "null" });
  assert.deepEqual(result.values, [2, null, 4]);
  assert.deepEqual(result.failures.map((failed) => [failed.row, failed.kind]), [[1, "type_error"]]);
  await assert.rejects(ptc.batch("1", [() => 1]), /row 0: functions are no data/);
  await assert.rejects(ptc.batch("1", [], { onError: "skip" }), /onError is "throw" or "null"/);
});

test("tools are called from all threads", async () => {
  const price = async ({ of }) => sleep(1, of.length);
  const rows = Array.from({ length: 100 }, (_, n) => ({ of: "x".repeat(n) }));
  const result = await ptc.batch("(tool/price {:of data/of})", rows, { tools: { price }, threads: 4 });
  assert.deepEqual(result.values, rows.map(({ of }) => of.length));
});

test("a program and its data serve many batches", async () => {
  const double = new ptc.Program("(* data/by data/n)", { data: { by: 2 } }).batch();
  assert.deepEqual((await double.run([{ n: 1 }])).values, [2]);
  assert.deepEqual((await double.run([{ n: 2 }, { n: 3 }])).values, [4, 6]);
});

test("the event loop stays free", async () => {
  let ticks = 0;
  const ticking = setInterval(() => ticks++, 2);
  const rows = Array.from({ length: 2000 }, (_, n) => ({ n }));
  const result = await ptc.batch("(reduce + (range data/n))", rows, { threads: 1 });
  clearInterval(ticking);
  assert.equal(result.values.length, 2000);
  assert.ok(ticks > 2, `${ticks} ticks`);
});

test("a signal ends a batch", async () => {
  const rows = Array.from({ length: 20 }, () => ({ n: 1 }));
  const limits = { fuel: 10 ** 15, timeout_ms: 60_000 };
  const error = await failure(() => ptc.batch("(loop [] (recur))", rows, { signal: AbortSignal.timeout(50), limits }));
  assert.ok(error instanceof ptc.Cancelled);
});
