"use strict";
// Programs: run once, or compile once and call often.

const native = require("./native.js");
const { CORE, PARTS, hide } = require("./core.js");
const { cancelOf } = require("./cancel.js");
const { checked, diagnosticsOf } = require("./errors.js");
const { freeze, grantsOf, limitsOf, members } = require("./grants.js");
const { Run } = require("./run.js");
const { toolsOf } = require("./tools.js");

/** Length of a program that is compiled on another thread, so that the event loop stays free. */
const LONG = 20_000;

/** Tools, limits, preludes and servers of programs: the native engine, and the functions of the tools. */
class Engine {
  constructor({ tools, limits, preludes = [], trusted, servers } = {}) {
    const { specs, calls } = toolsOf(tools);
    this.calls = calls;
    const cores = preludes.map((prelude) => prelude[CORE]);
    const spec = { tools: specs, limits: limitsOf(limits), trusted };
    hide(this, CORE, checked(native.Engine.make(spec, cores, servers?.[CORE])));
  }

  /** Makes a run by `start`, which gets the handle that cancels it. */
  run(signal, start) {
    const cancelled = cancelOf(signal);
    try {
      return new Run(checked(start(cancelled.cancel)), this.calls, cancelled);
    } catch (error) {
      cancelled.release();
      throw error;
    }
  }
}

/** A compiled program: call it any number of times. */
class Program {
  #engine;
  #code;
  #data;

  constructor(source, options = {}, code = undefined) {
    if (typeof source !== "string") throw new TypeError(`a program is a string, not ${typeof source}`);
    this.source = source;
    this.#engine = options instanceof Engine ? options : new Engine(options);
    this.#code = code ?? checked(this.#engine[CORE].compile(source));
    this.#data = members(options.data).map(([name, value]) => [name, freeze(value)]);
    const grants = (data) => this.#grants(data);
    hide(this, PARTS, { engine: this.#engine, code: this.#code, grants });
  }

  /** Compiles on another thread, and checks what the constructor checks. */
  static async compile(source, options = {}) {
    if (typeof source !== "string" || source.length < LONG) return new Program(source, options);
    const engine = new Engine(options);
    const code = checked(await engine[CORE].compileLater(source));
    return new Program(source, Object.assign(engine, { data: options.data }), code);
  }

  get warnings() {
    return diagnosticsOf(this.#code.warnings());
  }

  async call(data, options) {
    return (await this.execute(data, options)).value;
  }

  callSync(data, options) {
    return this.executeSync(data, options).value;
  }

  async execute(data, options) {
    return this.start(data, options).finish();
  }

  executeSync(data, options) {
    return this.start(data, options).finishSync();
  }

  /** Makes a run before its first step, for hosts that answer its calls themselves or save it. */
  start(data, { signal } = {}) {
    const grants = this.#grants(data);
    return this.#engine.run(signal, (cancel) => this.#engine[CORE].start(this.#code, grants, cancel));
  }

  /** Runs the program once, and returns a function that it defines. */
  function(name) {
    const { Session } = require("./session.js");
    const session = new Session(this.#engine, this.#data);
    session.executeSync(this.source);
    return session.function(name);
  }

  /** Makes a batch that runs the program over many records. */
  batch(options) {
    const { Batch } = require("./batch.js");
    return new Batch(this, options);
  }

  #grants(data) {
    return this.#data.length === 0 ? grantsOf(members(data)) : grantsOf(this.#data, members(data));
  }
}

/** Runs a program and returns its value as plain JavaScript. */
async function run(program, options) {
  return (await execute(program, options)).value;
}

/** Runs a program on this thread, with tools that return no promises. */
function runSync(program, options) {
  return executeSync(program, options).value;
}

/** Runs a program as `run` does, and returns its outcome: value, prints, fuel and warnings. */
async function execute(program, options = {}) {
  const made = await Program.compile(program, once(options));
  return made.execute(options.data, options);
}

/** Runs a program as `runSync` does, and returns its outcome. */
function executeSync(program, options = {}) {
  return new Program(program, once(options)).executeSync(options.data, options);
}

function once({ data: _, tools, ...options }) {
  return { ...options, tools: tools ?? {} };
}

/** Checks a program without running it, and returns errors and warnings. */
function check(program, options = {}) {
  const engine = new Engine(options);
  return diagnosticsOf(engine[CORE].check(program, grantsOf(members(options.data))));
}

/** Returns the reference card of the language for a prompt, with the tools, preludes and data that a program has. */
function card({ tools = {}, preludes = [], data } = {}) {
  const engine = new Engine({ tools, preludes });
  const lines = engine[CORE].toolLines().map((line) => {
    const name = line.slice("(tool/".length).split(" ", 1)[0];
    const note = engine.calls.get(name)?.description;
    return note ? `- ${line} ; ${note}` : `- ${line}`;
  });
  const parts = [native.card()];
  if (engine.calls.size > 0) parts.push(["Tools, called with one map of arguments:", ...lines].join("\n"));
  const { inventory } = engine[CORE];
  if (inventory) parts.push(inventory.trimEnd());
  const names = members(data).map(([name]) => `data/${name}`);
  if (names.length > 0) parts.push(`Data: ${names.join(", ")}`);
  return parts.join("\n\n");
}

/** Loads a run that `Run.toBytes` wrote. */
function loadRun(bytes, { grants, signal, ...options } = {}) {
  const engine = new Engine(options);
  const granted = grantsOf(members(grants));
  const buffer = Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes);
  return engine.run(signal, (cancel) => engine[CORE].load(buffer, granted, cancel));
}

module.exports = { Engine, Program, card, check, execute, executeSync, loadRun, run, runSync };
