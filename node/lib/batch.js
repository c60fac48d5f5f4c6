"use strict";
// Batches: one program over many records, on all cores.

const native = require("./native.js");
const { askTools } = require("./ask.js");
const { CORE, PARTS } = require("./core.js");
const { cancelOf } = require("./cancel.js");
const { lend, unpack } = require("./data.js");
const { Cancelled, diagnosticsOf, errorOf } = require("./errors.js");
const { Program } = require("./program.js");

/**
 * Runs a program over records, on all cores and without blocking the event loop. The program reads a record as
 * `data/row` and its members as `data/<member>`.
 */
async function batch(program, rows, options = {}) {
  const { data, onError, threads, signal, ...made } = options;
  const compiled = typeof program === "string" ? new Program(program, { ...made, tools: made.tools ?? {} }) : program;
  return new Batch(compiled, { data, onError, threads }).run(rows, { signal });
}

/** A program to be run over many arrays of records. */
class Batch {
  #program;
  #grants;
  #spec;

  constructor(program, { data, onError = "throw", threads } = {}) {
    if (onError !== "throw" && onError !== "null") {
      throw new RangeError(`onError is "throw" or "null", not ${JSON.stringify(onError)}`);
    }
    this.#program = program;
    this.#grants = program[PARTS].grants(data);
    this.#spec = { threads, failFast: onError === "throw" };
  }

  /** Runs the program over every record of an array, an iterable or an async iterable. */
  async run(rows, { signal } = {}) {
    const { engine, code } = this.#program[PARTS];
    const lines = new native.Rows();
    let index = 0;
    for await (const row of rows) lend(row, `row ${index++}`, (numbers, text) => lines.add(numbers, text));
    const cancelled = cancelOf(signal);
    try {
      if (engine.calls.size > 0) engine[CORE].serve(askTools(engine.calls, { signal }));
      const made = native.BatchCore.make(engine[CORE], code, lines, this.#grants, cancelled.cancel, this.#spec);
      return new BatchResult(await made.finish(), this.#spec.failFast, signal);
    } finally {
      cancelled.release();
    }
  }
}

/** Values of the records, and the errors of those that have none. */
class BatchResult {
  constructor(parts, failFast, signal) {
    const failures = parts.failures.map(({ row, failure }) => Object.assign(errorOf(failure), { row }));
    if (failFast && failures.length > 0) throw failures[0];
    if (signal?.aborted) throw new Cancelled("the batch was cancelled", { cause: signal.reason });
    /** Values in the order of the records; `null` for one that failed. */
    this.values = unpack(parts.values);
    /** Errors of records that have no value; `row` is the index of the record. */
    this.failures = failures;
    /** Warnings about fields that the program reads but no record has. */
    this.warnings = diagnosticsOf(parts.warnings);
    this.seconds = parts.seconds;
  }

  [Symbol.iterator]() {
    return this.values[Symbol.iterator]();
  }
}

module.exports = { Batch, BatchResult, batch };
