// Measures PTC beside other sandboxes for Node: `node benches/peers.mjs [--quick]`, with `--no-node-snapshot` for isolated-vm.
//
// Each task is written in the language of each peer and gives the same value, which is checked before it is measured.
// Peers that are not installed are left out: `npm install quickjs-emscripten isolated-vm`.
import assert from "node:assert/strict";
import * as ptc from "ptc-lisp";
import { MANY, ORDERS, SMALL, SMALL_JAVASCRIPT } from "./programs.mjs";

const CALLS = 100;
const FETCH = (n) => Promise.resolve(n * 2);
const SECONDS = process.argv.includes("--quick") ? 0.3 : 2;

class Ptc {
  name = `ptc ${ptc.version}`;
  #tools = { fetch: ({ n }) => FETCH(n), price: ({ n }) => n + 1 };
  #program = new ptc.Program(SMALL, { tools: {}, limits: { memory_bytes: 100_000_000 } });
  #async = `(pmap (fn [n] (tool/fetch {:n n})) (range ${CALLS}))`;

  small(orders) {
    return ptc.run(SMALL, { data: { orders } });
  }

  records(orders) {
    return this.#program.call({ orders });
  }

  asyncTools() {
    return ptc.run(this.#async, { tools: this.#tools });
  }

  calls(count) {
    const source = `(loop [i 0 n 0] (if (< i ${count}) (recur (inc i) (tool/price {:n n})) n))`;
    return ptc.runSync(source, { tools: this.#tools, limits: { timeout_ms: 60_000 } });
  }
}

/** A context per program. Data crosses as JSON text, which is the fastest way. */
class QuickJs {
  static async make() {
    const { getQuickJS } = await import("quickjs-emscripten");
    return new QuickJs(await getQuickJS());
  }

  name = "quickjs-emscripten";
  #engine;
  #warm;

  constructor(engine) {
    this.#engine = engine;
    this.#warm = engine.newContext();
    this.#value(this.#warm, SMALL_JAVASCRIPT);
  }

  small(orders) {
    const context = this.#engine.newContext();
    this.#value(context, SMALL_JAVASCRIPT);
    const value = this.#main(context, orders);
    context.dispose();
    return value;
  }

  records(orders) {
    return this.#main(this.#warm, orders);
  }

  async asyncTools() {
    const context = this.#engine.newContext();
    this.#tool(context, "fetch", (n) => {
      const promise = context.newPromise();
      FETCH(n).then((value) => {
        context.newNumber(value).consume((handle) => promise.resolve(handle));
        promise.settled.then(() => context.runtime.executePendingJobs());
      });
      return promise.handle;
    });
    const source = `Promise.all(Array.from({ length: ${CALLS} }, (_, n) => fetch(n))).then(JSON.stringify)`;
    const handle = context.unwrapResult(context.evalCode(source));
    const settled = context.resolvePromise(handle);
    context.runtime.executePendingJobs();
    const text = context.unwrapResult(await settled).consume((value) => context.getString(value));
    handle.dispose();
    context.dispose();
    return JSON.parse(text);
  }

  calls(count) {
    const context = this.#engine.newContext();
    this.#tool(context, "price", (n) => context.newNumber(n + 1));
    const value = this.#value(context, `let n = 0; for (let i = 0; i < ${count}; i++) n = price(n); n`);
    context.dispose();
    return value;
  }

  #main(context, orders) {
    context.newString(JSON.stringify(orders)).consume((text) => context.setProp(context.global, "text", text));
    return JSON.parse(this.#value(context, "JSON.stringify(main(JSON.parse(text)))"));
  }

  #value(context, source) {
    return context.unwrapResult(context.evalCode(source)).consume((handle) => context.dump(handle));
  }

  #tool(context, name, call) {
    const made = context.newFunction(name, (n) => call(context.getNumber(n)));
    made.consume((handle) => context.setProp(context.global, name, handle));
  }
}

/** A context per program, in one isolate, which is kept warm. */
class IsolatedVm {
  static async make() {
    const { default: ivm } = await import("isolated-vm");
    return new IsolatedVm(ivm);
  }

  name = "isolated-vm";
  #ivm;
  #isolate;
  #warm;

  constructor(ivm) {
    this.#ivm = ivm;
    this.#isolate = new ivm.Isolate({ memoryLimit: 256 });
    this.#warm = this.#isolate.createContextSync();
    this.#warm.evalSync(SMALL_JAVASCRIPT);
  }

  async small(orders) {
    const context = await this.#isolate.createContext();
    await context.eval(SMALL_JAVASCRIPT);
    const value = await this.#main(context, orders);
    context.release();
    return value;
  }

  records(orders) {
    return this.#main(this.#warm, orders);
  }

  async asyncTools() {
    const context = await this.#isolate.createContext();
    const source = `Promise.all(Array.from({ length: ${CALLS} }, (_, n) =>
      $0.apply(undefined, [n], { result: { promise: true } })))`;
    const fetch = new this.#ivm.Reference(FETCH);
    const value = await context.evalClosure(source.replace(/^/, "return "), [fetch], {
      result: { promise: true, copy: true },
    });
    context.release();
    return value;
  }

  calls(count) {
    const context = this.#isolate.createContextSync();
    const price = new this.#ivm.Callback((n) => n + 1);
    const source = `let n = 0; for (let i = 0; i < ${count}; i++) n = $0(n); return n;`;
    const value = context.evalClosureSync(source, [price]);
    context.release();
    return value;
  }

  #main(context, orders) {
    const copy = new this.#ivm.ExternalCopy(orders).copyInto({ release: true });
    return context.evalClosure("return main($0)", [copy], { result: { copy: true } });
  }
}

const TASKS = {
  "40 lines, µs": { unit: 1e3, work: (peer) => peer.small(ORDERS) },
  "10,000 records, ms": { unit: 1, work: (peer) => peer.records(MANY) },
  "100 async tools, ms": { unit: 1, work: (peer) => peer.asyncTools() },
  "10,000 tool calls, ms": { unit: 1, work: (peer) => peer.calls(10_000) },
};

/** Returns the median time of a task in milliseconds, of as many as fit. */
async function median(work) {
  const times = [];
  const until = performance.now() + SECONDS * 1e3;
  while (times.length < 3 || performance.now() < until) {
    const started = performance.now();
    await work();
    times.push(performance.now() - started);
  }
  return times.sort((a, b) => a - b)[times.length >> 1];
}

async function peers() {
  const found = [new Ptc()];
  for (const kind of [QuickJs, IsolatedVm]) {
    try {
      found.push(await kind.make());
    } catch (error) {
      if (error.code !== "ERR_MODULE_NOT_FOUND") throw error;
      console.log(`left out: ${kind.name}`);
    }
  }
  return found;
}

const found = await peers();
console.log("".padEnd(24) + found.map((peer) => peer.name.padStart(20)).join(""));
let isAhead = true;
for (const [task, { unit, work }] of Object.entries(TASKS)) {
  const wanted = await work(found[0]);
  const times = [];
  for (const peer of found) {
    assert.deepEqual(await work(peer), wanted, `${peer.name}: ${task} gives another value`);
    times.push(await median(() => work(peer)));
  }
  isAhead &&= task.includes("tool calls") || times.slice(1).every((time) => time > times[0]);
  console.log(task.padEnd(24) + times.map((time) => (time * unit).toFixed(2).padStart(20)).join(""));
}
console.log(isAhead ? "ahead of each" : "not ahead of each");
