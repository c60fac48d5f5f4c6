// Asynchronous runs: concurrency, cancelling, and an event loop that stays free.
import assert from "node:assert/strict";
import { test } from "node:test";
import { Worker } from "node:worker_threads";
import * as ptc from "ptc-lisp";
import { failure, sleep } from "./support.mjs";

const ENDLESS = "(loop [i 0] (recur (inc i)))";
const LONG = { fuel: 10 ** 15, timeout_ms: 60_000 };

test("tools run concurrently", async () => {
  let active = 0;
  let most = 0;
  const fetch = async ({ n }) => {
    most = Math.max(most, ++active);
    await sleep(20);
    active--;
    return n * 2;
  };
  const value = await ptc.run("(pmap (fn [n] (tool/fetch {:n n})) (range 50))", { tools: { fetch }, limits: LONG });
  assert.deepEqual(value, Array.from({ length: 50 }, (_, n) => n * 2));
  assert.equal(most, 50);
});

test("the event loop stays free while a program computes", async () => {
  let ticks = 0;
  const ticking = setInterval(() => ticks++, 5);
  const program = "(loop [i 0] (if (< i 2000000) (recur (inc i)) i))";
  assert.equal(await ptc.run(program, { limits: LONG }), 2_000_000);
  clearInterval(ticking);
  assert.ok(ticks > 2, `${ticks} ticks`);
});

test("the event loop stays free while tools return at once", async () => {
  let ticks = 0;
  const ticking = setInterval(() => ticks++, 5);
  const program = "(loop [i 0] (if (< i 5000) (recur (tool/inc {:i i})) i))";
  assert.equal(await ptc.run(program, { tools: { inc: ({ i }) => i + 1 }, limits: LONG }), 5000);
  clearInterval(ticking);
  assert.ok(ticks > 2, `${ticks} ticks`);
});

test("an error aborts the other calls", async () => {
  const aborted = [];
  const fetch = ({ n }, { signal }) =>
    new Promise((_, reject) => {
      if (n === 0) setTimeout(reject, 10, new Error("no such thing"));
      else signal.addEventListener("abort", () => aborted.push(n));
    });
  const error = await failure(() => ptc.run("(pmap (fn [n] (tool/fetch {:n n})) (range 5))", { tools: { fetch } }));
  assert.ok(error instanceof ptc.ToolFailed);
  assert.equal(error.cause.message, "no such thing");
  assert.deepEqual(aborted.sort(), [1, 2, 3, 4]);
});

test("a signal ends a program that computes", async () => {
  const error = await failure(() => ptc.run(ENDLESS, { signal: AbortSignal.timeout(50), limits: LONG }));
  assert.ok(error instanceof ptc.Cancelled);
  assert.equal(error.cause.name, "TimeoutError");
});

test("a signal ends a program that waits, and its tools", async () => {
  const controller = new AbortController();
  let seen;
  const hang = (_, { signal }) => {
    signal.addEventListener("abort", () => (seen = signal.reason));
    return new Promise(() => {});
  };
  setTimeout(() => controller.abort("enough"), 30);
  const error = await failure(() => ptc.run("(tool/hang {})", { tools: { hang }, signal: controller.signal }));
  assert.ok(error instanceof ptc.Cancelled);
  assert.equal(error.cause, "enough");
  assert.equal(seen, "enough");
});

test("a signal that was aborted before", async () => {
  const signal = AbortSignal.abort("before");
  for (const run of [ptc.run, ptc.runSync]) {
    const error = await failure(() => run("(+ 1 2)", { signal }));
    assert.ok(error instanceof ptc.Cancelled);
    assert.equal(error.cause, "before");
  }
});

test("a tool may abort its own run", async () => {
  const controller = new AbortController();
  const tools = {
    stop: () => {
      controller.abort();
      return 1;
    },
  };
  for (const run of [ptc.run, ptc.runSync]) {
    await assert.rejects(async () => run("(tool/stop {}) (tool/stop {})", { tools, signal: controller.signal }), ptc.Cancelled);
  }
});

test("a signal may serve many runs, and keeps nothing of them", async () => {
  const { signal } = new AbortController();
  let listeners = 0;
  const [add, remove] = [signal.addEventListener, signal.removeEventListener];
  signal.addEventListener = (...args) => (listeners++, add.apply(signal, args));
  signal.removeEventListener = (...args) => (listeners--, remove.apply(signal, args));
  await Promise.all(Array.from({ length: 50 }, (_, n) => ptc.run(`(+ ${n} (tool/one {}))`, { tools: { one: async () => 1 }, signal, limits: LONG })));
  assert.equal(listeners, 0);
});

test("many runs at once", async () => {
  const program = new ptc.Program("(+ data/n (reduce + (pmap (fn [i] (tool/get {:i i})) (range 5))))", {
    tools: { get: ({ i }) => sleep(i % 3, i) },
    limits: LONG,
  });
  const values = await Promise.all(Array.from({ length: 500 }, (_, n) => program.call({ n })));
  assert.deepEqual(values, Array.from({ length: 500 }, (_, n) => n + 10));
});

test("more computing runs than threads", async () => {
  const program = new ptc.Program("(loop [i 0] (if (< i 300000) (recur (inc i)) data/n))", { limits: LONG });
  const values = await Promise.all(Array.from({ length: 12 }, (_, n) => program.call({ n })));
  assert.deepEqual(values, Array.from({ length: 12 }, (_, n) => n));
});

test("worker threads have engines of their own", async () => {
  const code = `
    const { parentPort, workerData } = require("node:worker_threads");
    const ptc = require("ptc-lisp");
    const tools = { price: async ({ of }) => of.length };
    ptc.run("(+ data/n (reduce + (pmap #(tool/price {:of %}) [\\"tea\\" \\"cake\\"])))", { data: workerData, tools })
      .then((value) => parentPort.postMessage(value));
  `;
  const one = (n) =>
    new Promise((resolve, reject) => {
      const worker = new Worker(code, { eval: true, workerData: { n } });
      worker.on("message", resolve).on("error", reject);
    });
  assert.deepEqual(await Promise.all([1, 2, 3, 4].map(one)), [8, 9, 10, 11]);
});

test("a worker that is terminated takes its programs along", async () => {
  const code = `
    const ptc = require("ptc-lisp");
    const limits = ${JSON.stringify(LONG)};
    ptc.run("${ENDLESS}", { limits }).catch(() => {});
    ptc.run("(tool/hang {})", { tools: { hang: () => new Promise(() => {}) } });
    require("node:worker_threads").parentPort.postMessage("started");
  `;
  const worker = new Worker(code, { eval: true });
  await new Promise((resolve, reject) => worker.on("message", resolve).on("error", reject));
  await worker.terminate();
});
