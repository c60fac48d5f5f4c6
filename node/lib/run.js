"use strict";
// Runs: programs under way, which suspend at tool calls.

const { CORE, PARTS, hide } = require("./core.js");
const { unpack } = require("./data.js");
const { drive, driveSync, supply, supplyError } = require("./drive.js");
const { ToolError, checked } = require("./errors.js");
const { Outcome } = require("./outcome.js");

/** A tool call that waits for a result. */
class Call {
  #args;

  constructor(parts) {
    this.id = parts.id;
    this.name = parts.name;
    this.origin = parts.origin;
    this.#args = parts.args;
  }

  /** Arguments of the call, by name. */
  get args() {
    return unpack(this.#args);
  }
}

/** A program under way. It can be saved as bytes until its calls have results. */
class Run {
  #outcome;

  /** Programs, sessions and `Run.fromBytes` make runs. */
  constructor(core, calls, cancelled) {
    hide(this, CORE, core);
    // Errors of tools are `causes`: a failure names the one that ended the program by its index.
    hide(this, PARTS, { calls, cancelled, causes: [] });
  }

  /** Loads a run that `toBytes` wrote, perhaps in another process. */
  static fromBytes(bytes, options = {}) {
    return require("./program.js").loadRun(bytes, options);
  }

  /** Computes until the program ends or everything in it waits for tools, and returns the calls that wait. */
  step() {
    while (this[CORE].advance(false) === 2);
    return this.calls;
  }

  get calls() {
    return this[CORE].calls().map((parts) => new Call(parts));
  }

  /** Supplies the result of a call that waits. */
  answer(call, value) {
    // It was the caller who gave this value, not a tool that failed.
    supply(this, idOf(call), value);
  }

  /** Makes a call that waits fail with an error or a message, which the program may catch. */
  fail(call, error) {
    supplyError(this, idOf(call), typeof error === "string" ? new ToolError(error) : error);
  }

  /** Runs to the end, calling tools. */
  async finish() {
    try {
      if (!this.done) await drive(this);
    } finally {
      this[PARTS].cancelled.release();
    }
    return this.outcome;
  }

  /** Runs to the end, calling tools that return no promises. */
  finishSync() {
    try {
      if (!this.done) driveSync(this);
    } finally {
      this[PARTS].cancelled.release();
    }
    return this.outcome;
  }

  get done() {
    return this[CORE].done;
  }

  /** Result of a run that has ended; throws its error if it failed. */
  get outcome() {
    if (this.#outcome) return this.#outcome;
    const told = this[CORE].outcome();
    const { cancelled, causes } = this[PARTS];
    if (told.failure === "Cancelled" && cancelled.signal?.aborted) {
      checked({ ...told, cause: 0 }, [cancelled.signal.reason]);
    }
    this.#outcome = new Outcome(checked(told, causes));
    return this.#outcome;
  }

  /** Fuel spent so far. */
  get fuel() {
    return this[CORE].done ? this.outcome.fuel : this[CORE].fuel;
  }

  /** Writes the run to bytes, to continue it later or in another process. */
  toBytes() {
    return checked(this[CORE].toBytes());
  }

  /** Ends the run: what computes it fails with `Cancelled`. */
  cancel() {
    this[CORE].cancel();
  }
}

function idOf(call) {
  if (call instanceof Call) return call.id;
  if (typeof call === "string") return call;
  throw new TypeError("name a call by its object or by its id");
}

module.exports = { Call, Run };
