// Runs everything at once for a while and watches the memory: `node --expose-gc tests/stress.mjs [seconds]`, or with
// `--slowly [seconds]` everything in turn, for tools that slow it down: `.ci/run node_valgrind`.
//
// Programs that call tools, fail, are cancelled, suspend and go to bytes run beside each other, some of them in worker threads
// that are ended while they compute. It fails if a value is wrong, something hangs, or memory grows after the first third.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { Worker } from "node:worker_threads";
import * as ptc from "ptc-lisp";

/** Tools such as valgrind make a program twenty times slower. */
const LIMITS = { timeout_ms: 600_000 };
const ROWS = ptc.freeze(Array.from({ length: 500 }, (_, n) => ({ n, tag: String(n % 7) })));

class Broken extends Error {}

const dice = (count) => Math.floor(Math.random() * count);

function double({ n }) {
  if (n % 13 === 0) throw new Broken(String(n));
  return n * 2;
}

async function later({ n }) {
  await new Promise((resolve) => setTimeout(resolve, Math.random() * 2));
  return double({ n });
}

const PROGRAM = new ptc.Program("(mapv (fn [n] (tool/double {:n n})) data/ns)", { tools: { double }, limits: LIMITS });
const COUNTS = new ptc.Program("(frequencies (map :tag data/rows))", { data: { rows: ROWS }, tools: {}, limits: LIMITS });
const ENDLESS = new ptc.Program("(loop [i 0] (recur (inc i)))", { limits: { ...LIMITS, fuel: 1e15 } });

/** Each of these is one round of work. */
const WORK = {
  async tools() {
    const ns = Array.from({ length: 20 }, () => dice(200));
    const isLucky = ns.every((n) => n % 13 !== 0);
    const check = (value) => assert.ok(isLucky && value.every((n, at) => n === ns[at] * 2));
    const fails = (error) => assert.ok(!isLucky && error instanceof ptc.ToolFailed && error.cause instanceof Broken);
    await PROGRAM.call({ ns }).then(check, fails);
  },

  async synchronous() {
    assert.deepEqual(PROGRAM.callSync({ ns: [1, 2] }), [2, 4]);
    assert.throws(() => PROGRAM.callSync({ ns: [13] }), ptc.ToolFailed);
    assert.throws(() => ptc.runSync("(+ 1 nil)", { limits: LIMITS }), ptc.RunError);
    assert.throws(() => ptc.runSync("(fliter odd? [])", { limits: LIMITS }), ptc.CompileError);
  },

  async concurrent() {
    const count = 1 + dice(30);
    const program = "(reduce + (pmap (fn [n] (try (tool/later {:n n}) (catch Exception e 0))) (range data/c)))";
    const wanted = Array.from({ length: count }, (_, n) => (n % 13 === 0 ? 0 : n * 2)).reduce((a, b) => a + b);
    assert.equal(await ptc.run(program, { data: { c: count }, tools: { later }, limits: LIMITS }), wanted);
  },

  async cancelled() {
    await assert.rejects(ENDLESS.execute({}, { signal: AbortSignal.timeout(dice(20)) }), ptc.Cancelled);
    const ended = new AbortController();
    const hang = (_, { signal }) => new Promise((_resolve, reject) => signal.addEventListener("abort", () => reject(signal.reason)));
    const waiting = ptc.run("(pmap (fn [n] (tool/hang {:n n})) (range 5))", { tools: { hang }, limits: LIMITS, signal: ended.signal });
    setTimeout(() => ended.abort(), dice(5));
    await assert.rejects(waiting, ptc.Cancelled);
  },

  async suspended() {
    let run = new ptc.Program("(reduce + (pmap (fn [n] (tool/ask {:n n})) (range 5)))", { limits: LIMITS }).start();
    for (let calls = run.step(); calls.length > 0; calls = run.step()) {
      run.answer(calls[dice(calls.length)], 1);
      run = ptc.Run.fromBytes(run.toBytes(), { limits: LIMITS });
    }
    assert.equal(run.outcome.value, 5);
    const bytes = new ptc.Program("(tool/ask {})", { limits: LIMITS }).start().toBytes();
    bytes[dice(bytes.length)] ^= 1 << dice(8);
    // A changed bit is found, unless it makes another run that is as good.
    try {
      ptc.Run.fromBytes(bytes, { limits: LIMITS }).cancel();
    } catch (error) {
      assert.ok(error instanceof ptc.PtcError, error);
    }
  },

  async tables() {
    const rows = Array.from({ length: 200 }, () => ({ n: dice(100) }));
    const { values } = await ptc.batch("(* 2 data/n)", rows, { limits: LIMITS });
    assert.deepEqual(values, rows.map(({ n }) => n * 2));
    const counts = await COUNTS.call();
    assert.equal(Object.values(counts).reduce((a, b) => a + b), 500);
  },

  async sessions() {
    const session = new ptc.Session({ limits: LIMITS });
    await session.run("(defn f [x] (* x 2)) (def a [1 2 3])");
    for (let n = 0; n < 5; n++) await session.run(`(def a (conj a ${n}))`);
    assert.equal(await session.function("f")(session.get("a").length), 16);
  },

  async garbage() {
    // Objects that own programs and agents whose tools refer to them.
    const shop = { price: ({ n }) => (shop.program ? double({ n }) : 0) };
    shop.program = new ptc.Program("(tool/price {:n 1})", { tools: { price: shop.price }, limits: LIMITS });
    shop.run = new ptc.Program("(tool/price {:n 13})", { tools: { price: shop.price }, limits: LIMITS }).start();
    assert.equal(await shop.program.call(), 2);
    shop.error = await shop.run.finish().catch((error) => error);
    assert.ok(shop.error.cause instanceof Broken);
    shop.agent = new ptc.Agent("What is the price?", { signature: "() -> :int", tools: { price: shop.price } });
    const step = await shop.agent.run({}, { model: () => "(return (tool/price {:n 4}))" });
    assert.equal(step.value, 8);
  },

  async workers() {
    const code = `
      const { parentPort, workerData } = require("node:worker_threads");
      const ptc = require("ptc-lisp");
      if (workerData.n % 2) ptc.run("(loop [i 0] (recur (inc i)))", { limits: { fuel: 1e15, timeout_ms: 600_000 } });
      ptc.run("(reduce + (pmap #(tool/t {:n %}) (range 10)))", { tools: { t: async ({ n }) => n + 1 } })
        .then((value) => parentPort.postMessage(value));`;
    const worker = new Worker(code, { eval: true, workerData: { n: dice(2) } });
    const value = await new Promise((resolve, reject) => worker.on("message", resolve).on("error", reject));
    assert.equal(value, 55);
    await worker.terminate();
  },
};

/** Returns the memory of the process in bytes, after collecting what nobody refers to. */
async function resident() {
  for (let n = 0; n < 3; n++) {
    globalThis.gc?.();
    await new Promise(setImmediate);
  }
  const [, pages] = readFileSync("/proc/self/statm", "utf8").split(" ");
  return Number(pages) * 4096;
}

async function stress(seconds) {
  const started = performance.now();
  const elapsed = () => (performance.now() - started) / 1e3;
  const kinds = Object.entries(WORK);
  const rounds = Object.fromEntries(kinds.map(([name]) => [name, 0]));
  const loop = async () => {
    while (elapsed() < seconds) {
      // A worker takes as long as a hundred of the others.
      const [name, work] = kinds[dice(100) === 0 ? kinds.length - 1 : dice(kinds.length - 1)];
      await work();
      rounds[name]++;
    }
  };
  let settled = 0;
  const watch = setTimeout(async () => (settled = await resident()), (seconds / 3) * 1e3);
  await Promise.all(Array.from({ length: 4 }, loop));
  clearTimeout(watch);
  const last = await resident();
  console.log(Object.entries(rounds).map(([name, count]) => `${name} ${count}`).join(", "));
  console.log(`memory: ${last >> 20} MB, ${(last - settled) >> 10} kB more than after a third of the time`);
  if (last - settled > Math.max(30 << 20, settled / 4)) {
    console.error("memory grows");
    process.exitCode = 1;
  }
}

/** Does all work in turn, for so many seconds and at least once. */
async function slowly(seconds) {
  const until = performance.now() + seconds * 1e3;
  let rounds = 0;
  do {
    for (const work of Object.values(WORK)) await work();
    rounds++;
  } while (performance.now() < until);
  console.log(`${rounds} rounds of ${Object.keys(WORK).join(", ")}`);
}

const words = process.argv.slice(2);
const isSlow = words[0] === "--slowly";
await (isSlow ? slowly : stress)(Number(words[isSlow ? 1 : 0] ?? 60));
