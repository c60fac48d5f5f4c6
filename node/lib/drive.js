"use strict";
// The drivers of runs: they compute, call tools, and supply what tools return.

const native = require("./native.js");
const { CORE, PARTS } = require("./core.js");
const { lend, unpack } = require("./data.js");
const { PtcError, checked } = require("./errors.js");
const { Frozen } = require("./grants.js");
const { toolFailure } = require("./tools.js");

const { Ended: ENDED, Waits: WAITS, Computes: COMPUTES } = native.Advanced;

/** Time after which a run whose tools return at once lets others use the event loop, in milliseconds. */
const TURN = 10;

/** Supplies what a tool returned. */
function supply(run, id, value) {
  const core = run[CORE];
  checked(
    value instanceof Frozen
      ? core.returnedFrozen(id, value[CORE])
      : lend(value, "the result", (numbers, text) => core.returnedData(id, numbers, text)),
  );
}

/** Supplies what a tool threw. */
function supplyError(run, id, thrown) {
  run[CORE].raised(id, toolFailure(thrown), run[PARTS].causes.push(thrown) - 1);
}

/** Supplies what a tool returned, or why that is no data. */
function supplyResult(run, id, value) {
  try {
    supply(run, id, value);
  } catch (error) {
    if (error instanceof PtcError) throw error;
    supplyError(run, id, error);
  }
}

/** Runs to the end on this thread. */
function driveSync(run) {
  const core = run[CORE];
  for (;;) {
    const state = core.advance(false);
    if (state === ENDED) return;
    if (state === WAITS) for (const call of core.newCalls()) callSync(run, call);
  }
}

function callSync(run, { id, name, args }) {
  if (!args) return void checked(run[CORE].dispatchSync(id));
  const tool = run[PARTS].calls.get(name);
  let result;
  try {
    result = (tool.callSync ?? tool.call)(unpack(args), new Context(run[PARTS].cancelled.signal));
  } catch (error) {
    return supplyError(run, id, error);
  }
  if (typeof result?.then === "function") {
    // Nobody will look at it any more.
    result.then(undefined, () => {});
    throw new TypeError(`tool \`${name}\` returned a promise: use \`run\` instead of \`runSync\``);
  }
  supplyResult(run, id, result);
}

/** Runs to the end without blocking the event loop: tools that return promises run concurrently. */
async function drive(run) {
  await new Driver(run).finish();
}

class Driver {
  constructor(run) {
    this.run = run;
    this.core = run[CORE];
    this.calls = run[PARTS].calls;
    this.signal = run[PARTS].cancelled.signal;
    this.waiting = 0;
    this.ready = [];
    this.wake = undefined;
    this.context = new Context(this.signal);
    this.turn = performance.now();
  }

  async finish() {
    const { signal } = this;
    const abort = () => this.wake?.();
    signal?.addEventListener("abort", abort, { once: true });
    try {
      for (;;) {
        // At first on this thread, since most runs take no time at all.
        let state = this.core.advance(true);
        while (state === COMPUTES) state = await this.core.advanceLater();
        if (state === ENDED) return;
        for (const call of this.core.newCalls()) this.begin(call);
        await this.someReady();
      }
    } finally {
      signal?.removeEventListener("abort", abort);
      // Calls that nobody waits for any more.
      this.context.end();
    }
  }

  begin({ id, name, args }) {
    if (!args) return this.wait(this.core.dispatch(id), (told) => checked(told));
    let result;
    try {
      result = this.calls.get(name).call(unpack(args), this.context);
    } catch (error) {
      return void this.ready.push(() => supplyError(this.run, id, error));
    }
    if (typeof result?.then !== "function") {
      return void this.ready.push(() => supplyResult(this.run, id, result));
    }
    this.wait(
      result,
      (value) => supplyResult(this.run, id, value),
      (error) => supplyError(this.run, id, error),
    );
  }

  /** Waits for a promise; what it gives is supplied between two slices. */
  wait(promise, supplied, failed) {
    this.waiting++;
    const done = (supply) => {
      this.waiting--;
      this.ready.push(supply);
      this.wake?.();
    };
    promise.then(
      (value) => done(() => supplied(value)),
      (error) => done(() => (failed ? failed(error) : raise(error))),
    );
  }

  /** Waits for some results and gives them to the run. */
  async someReady() {
    if (this.ready.length === 0 && this.waiting > 0 && !this.signal?.aborted) {
      await new Promise((resolve) => (this.wake = resolve));
      this.wake = undefined;
      this.turn = performance.now();
    } else if (performance.now() - this.turn > TURN) {
      await new Promise(setImmediate);
      this.turn = performance.now();
    }
    const ready = this.ready;
    this.ready = [];
    for (const supply of ready) supply();
  }
}

function raise(error) {
  throw error;
}

/** Second argument of a tool: a signal that is aborted once nobody waits for the tool. */
class Context {
  #outer;
  #controller;
  #hasEnded = false;

  constructor(outer) {
    this.#outer = outer;
  }

  get signal() {
    if (!this.#controller) {
      // Few tools ask for it.
      this.#controller = new AbortController();
      if (this.#hasEnded || this.#outer?.aborted) this.end();
      else this.#outer?.addEventListener("abort", () => this.end(), { signal: this.#controller.signal });
    }
    return this.#controller.signal;
  }

  end() {
    this.#hasEnded = true;
    this.#controller?.abort(this.#outer?.reason);
  }
}

module.exports = { drive, driveSync, supply, supplyError };
