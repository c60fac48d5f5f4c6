"use strict";
// Agents: missions that a model works on by writing programs.

const { fileURLToPath } = require("node:url");
const native = require("./native.js");
const { askTools } = require("./ask.js");
const { cancelOf } = require("./cancel.js");
const { CORE } = require("./core.js");
const { lend, unpack } = require("./data.js");
const { members } = require("./grants.js");
const { toolFailure, toolsOf } = require("./tools.js");

/** An agent: a mission in words, a signature that gives its result a type, and tools. */
class Agent {
  #core;

  /** Makes an agent from options with the names that agent files use, such as `signature` and `max_turns`. */
  constructor(prompt, { tools, ...options } = {}, path = undefined) {
    const { specs, calls } = toolsOf(tools ?? {});
    const json = path === undefined ? JSON.stringify({ ...options, prompt }) : undefined;
    this.#core = native.AgentCore.make(path, json, specs, askTools(calls));
  }

  /** Reads an agent from a TOML or JSON file. `tools` are added to those of the file. */
  static fromFile(path, { tools } = {}) {
    return new Agent(undefined, { tools }, path instanceof URL ? fileURLToPath(path) : path);
  }

  get name() {
    return this.#core.name ?? undefined;
  }

  get prompt() {
    return this.#core.prompt;
  }

  get signature() {
    return this.#core.signature;
  }

  get warnings() {
    return this.#core.warnings;
  }

  /** Works on the mission and returns its result; rejects with an `AgentError` if it failed. */
  async run(data, options) {
    for await (const event of this.stream(data, options)) {
      if (event.kind !== "ended") continue;
      if (!event.step.ok) throw new AgentError(event.step);
      return event.step;
    }
    throw new Error("the mission ended without a result");
  }

  /** Works on the mission while its events are read. The last is of the kind `ended`, with the `step`. */
  async *stream(data, { model, servers, signal } = {}) {
    const cancelled = cancelOf(signal);
    const named = typeof model === "string" ? model : undefined;
    const ask = typeof model === "function" ? askModel(model, signal) : undefined;
    const mission = lend(Object.fromEntries(members(data)), "data", (numbers, text) =>
      this.#core.stream(numbers, text, ask, named, servers?.[CORE], cancelled.cancel),
    );
    try {
      for (;;) {
        const event = await mission.next();
        if (!event) return;
        yield eventOf(event);
      }
    } finally {
      mission.close();
      cancelled.release();
    }
  }
}

/** Makes the function that asks a model for native threads. It never rejects. */
function askModel(model, signal) {
  return async (_, { text }) => {
    try {
      const reply = await model(new Request(JSON.parse(text)), { signal });
      const told = typeof reply === "string" ? { content: reply } : reply;
      if (told === null || typeof told !== "object") {
        throw new TypeError(`a model returns a text or an object with \`content\`, not ${typeof reply}`);
      }
      return { value: { numbers: new Float64Array(0), text: JSON.stringify(told) } };
    } catch (error) {
      return { failure: toolFailure(error) };
    }
  };
}

/** A request to a model: `system`, `messages`, `turn`, `tools` and what else the mission says. */
class Request {
  constructor(fields) {
    // Fields that say nothing are left out.
    Object.assign(this, { tools: [] }, fields);
  }

  /** The conversation in the form of most chat APIs. */
  get chat() {
    const turns = this.messages.map(({ role, content }) => ({ role, content }));
    return [{ role: "system", content: this.system }, ...turns];
  }
}

function eventOf(event) {
  const { depth, agent } = event;
  if (event instanceof native.StepCore) {
    return { kind: "ended", step: new Step(event), depth, agent: agent ?? undefined };
  }
  return { kind: event.kind, ...JSON.parse(event.fields), depth, agent, turn: event.turn };
}

/** Result of a mission. */
class Step {
  #core;
  #fields;

  constructor(core) {
    this.#core = core;
  }

  /** Value of the mission as plain JavaScript. */
  get value() {
    const value = this.#core.value();
    return value ? unpack(value) : undefined;
  }

  get ok() {
    return !this.#core.failure;
  }

  get reason() {
    return this.#core.failure?.[0];
  }

  get message() {
    return this.#core.failure?.[1];
  }

  /** Time, turns, tokens and cost. */
  get usage() {
    return this.toJSON().usage;
  }

  /** The turns, each with its request, program and result. */
  get turns() {
    return this.toJSON().turns ?? [];
  }

  /** Returns everything about the mission as plain data. */
  toJSON() {
    this.#fields ??= JSON.parse(this.#core.json());
    return this.#fields;
  }
}

/** A mission that failed. `step` is all that is known about it. */
class AgentError extends Error {
  constructor(step) {
    super(`${step.reason}: ${step.message}`);
    this.name = "AgentError";
    this.step = step;
    this.reason = step.reason;
  }
}

module.exports = { Agent, AgentError, Request, Step };
