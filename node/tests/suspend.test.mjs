// Runs that wait for their host, in memory and as bytes.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import * as ptc from "ptc-lisp";
import { failure } from "./support.mjs";

function started() {
  const run = new ptc.Program("(if (tool/approve {:amount data/amount}) :sent :held)").start({ amount: 900 });
  const calls = run.step();
  assert.deepEqual(calls.map((call) => [call.name, call.args]), [["approve", { amount: 900 }]]);
  return run;
}

test("a run is stepped", async () => {
  const run = started();
  assert.ok(!run.done && run.calls.length === 1 && run.fuel > 0);
  run.answer(run.calls[0], true);
  assert.deepEqual(run.step(), []);
  assert.ok(run.done && run.outcome.value === "sent");
  assert.equal((await run.finish()).value, "sent");
  assert.throws(() => run.step(), /has ended/);
});

test("a run goes to bytes and back", async () => {
  const bytes = started().toBytes();
  assert.ok(Buffer.isBuffer(bytes));
  for (const [answer, wanted] of [[true, "sent"], [false, "held"]]) {
    const run = ptc.Run.fromBytes(new Uint8Array(bytes), { grants: { amount: 900 } });
    run.answer(run.calls[0].id, answer);
    assert.equal((await run.finish()).value, wanted);
  }
});

test("another process continues", () => {
  const code = `
    const ptc = require("ptc-lisp");
    const run = ptc.Run.fromBytes(require("node:fs").readFileSync(0), { grants: { amount: 900 } });
    run.answer(run.calls[0], true);
    console.log(run.finishSync().value);
  `;
  const cwd = fileURLToPath(new URL(".", import.meta.url));
  const told = execFileSync(process.execPath, ["-e", code], { input: started().toBytes(), encoding: "utf8", cwd });
  assert.equal(told.trim(), "sent");
});

test("forged bytes are refused", () => {
  const bytes = started().toBytes();
  const forged = Buffer.from(bytes);
  forged[forged.length >> 1] ^= 0xff;
  for (const wrong of [forged, Buffer.alloc(0), Buffer.from("junk"), bytes.subarray(0, -3)]) {
    assert.throws(() => ptc.Run.fromBytes(wrong, { grants: { amount: 900 } }), ptc.SnapshotError);
  }
});

test("calls in parallel wait together", async () => {
  const run = new ptc.Program("(pmap (fn [n] (tool/price {:of n})) [1 2 3])").start();
  const calls = run.step();
  assert.equal(new Set(calls.map((call) => call.id)).size, 3);
  for (const call of calls.reverse()) run.answer(call, call.args.of * 10);
  assert.deepEqual((await run.finish()).value, [10, 20, 30]);
});

test("a call may fail", async () => {
  let run = started();
  run.fail(run.calls[0], "nobody is there");
  assert.match((await failure(() => run.finish())).message, /nobody is there/);
  run = started();
  const cause = new RangeError("gone");
  run.fail(run.calls[0], cause);
  const error = await failure(() => run.finish());
  assert.ok(error instanceof ptc.ToolFailed && error.cause === cause);
  assert.equal(await failure(() => run.outcome).then((again) => again.cause), cause);
});

test("wrong answers are refused", async () => {
  const run = started();
  assert.throws(() => run.answer(run.calls[0], () => 1), /functions are no data/);
  assert.throws(() => run.answer("call.9", 1), /not waiting/);
  assert.throws(() => run.answer(7, 1), /name a call/);
  run.answer(run.calls[0], true);
  assert.throws(() => run.answer("call.0", true), /not waiting/);
  assert.equal((await run.finish()).value, "sent");
});

test("a run is cancelled", async () => {
  const run = started();
  run.cancel();
  await assert.rejects(run.finish(), ptc.Cancelled);
});

test("an ended run has no bytes", () => {
  const run = new ptc.Program("1").start();
  run.finishSync();
  assert.throws(() => run.toBytes(), /ended/);
});

test("a run has one driver", async () => {
  const run = new ptc.Program("(loop [i 0] (if (< i 1000000) (recur (inc i)) i))").start();
  const finished = run.finish();
  assert.throws(() => run.step(), /being computed/);
  assert.equal((await finished).value, 1_000_000);
});
