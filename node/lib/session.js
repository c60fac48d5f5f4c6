"use strict";
// Sessions: programs that see each other's definitions.

const { CORE } = require("./core.js");
const { unpack } = require("./data.js");
const { checked } = require("./errors.js");
const { freeze, grantsOf, members } = require("./grants.js");
const { Engine } = require("./program.js");

/** Programs that see each other's definitions. A program that fails changes nothing. */
class Session {
  #engine;
  #data;
  #core;

  constructor(options = {}, data = frozen(options.data), core = undefined) {
    this.#engine = options instanceof Engine ? options : new Engine({ ...options, tools: options.tools ?? {} });
    this.#data = data;
    this.#core = core ?? this.#engine[CORE].session(grantsOf(data));
  }

  async run(source, options) {
    return (await this.execute(source, options)).value;
  }

  runSync(source, options) {
    return this.executeSync(source, options).value;
  }

  async execute(source, options) {
    return this.#commit(await this.#start(source, options).finish(), source);
  }

  executeSync(source, options) {
    return this.#commit(this.#start(source, options).finishSync(), source);
  }

  /** Grants more data to the programs from now on. */
  grant(data) {
    this.#data = [...new Map([...this.#data, ...frozen(data)])];
    this.#core.grant(grantsOf(this.#data));
  }

  /** Returns a function of the session as it is now; `.sync` calls it on this thread. */
  function(name) {
    const [engine, core, data] = [this.#engine, this.#core.copy(), this.#data];
    const start = (args) => {
      const grants = grantsOf(data, [["arguments", args]]);
      return engine.run(undefined, (cancel) => engine[CORE].startCall(core, name, grants, cancel));
    };
    // An unknown name should fail here, not at the first call.
    start([]);
    const call = async (...args) => (await start(args).finish()).value;
    call.sync = (...args) => start(args).finishSync().value;
    return Object.defineProperty(call, "name", { value: name });
  }

  /** Returns an independent session with the same definitions. */
  copy() {
    return new Session(this.#engine, this.#data, this.#core.copy());
  }

  /** Returns a session with the same definitions and data, and other tools and limits. */
  withTools(tools, { limits } = {}) {
    const engine = new Engine({ tools, limits });
    return new Session(engine, this.#data, checked(engine[CORE].sessionOf(this.#core)));
  }

  /** Names defined so far, sorted. */
  get names() {
    return this.#core.defined();
  }

  has(name) {
    return this.names.includes(name);
  }

  /** Value of a definition; `undefined` if there is none. */
  get(name) {
    const found = this.#core.definition(name);
    return found ? unpack(checked(found)) : undefined;
  }

  #start(source, { signal } = {}) {
    const engine = this.#engine;
    return engine.run(signal, (cancel) => engine[CORE].startIn(this.#core, source, cancel));
  }

  #commit(outcome, source) {
    checked(this.#core.commit(outcome[CORE], source) ?? undefined);
    return outcome;
  }
}

function frozen(data) {
  return members(data).map(([name, value]) => [name, freeze(value)]);
}

module.exports = { Session };
