"use strict";
// Tools: functions that programs call.

const { ToolError } = require("./errors.js");
const { schemaOf } = require("./schema.js");

/** A function that programs call as `(tool/<name> {...})`, with all that is known about it. */
class Tool {
  constructor({ name, call, description, takes, answers, effect, private: isPrivate = false }) {
    if (typeof call !== "function") throw new TypeError(`a tool has a function \`call\`, not ${typeof call}`);
    if (effect !== undefined && effect !== "read" && effect !== "write") {
      throw new RangeError(`an effect is "read" or "write", not ${JSON.stringify(effect)}`);
    }
    const given = takes === undefined ? undefined : schemaOf(takes, "input");
    this.name = name;
    this.call = given?.parse ? async (args, context) => call(await given.parse(args), context) : call;
    if (given?.parseSync) this.callSync = (args, context) => call(given.parseSync(args), context);
    this.description = description;
    this.takes = given?.json;
    this.answers = answers === undefined ? undefined : schemaOf(answers, "output").json;
    this.effect = effect;
    this.private = isPrivate;
    Object.freeze(this);
  }
}

/** Makes a tool of a function and what is known about it. */
function tool(options) {
  return new Tool(options);
}

/** Makes the tools of an engine: what the native half reads, and the functions by name. */
function toolsOf(given) {
  if (given === undefined || given === null) return { specs: undefined, calls: new Map() };
  const calls = new Map();
  const specs = entries(given).map(([name, call]) => {
    const made = call instanceof Tool ? call : new Tool(typeof call === "function" ? { call } : call);
    calls.set(name, made);
    return specOf(name, made);
  });
  return { specs, calls };
}

function entries(given) {
  if (!Array.isArray(given)) {
    if (typeof given !== "object") {
      throw new TypeError("tools are an object of functions by name, such as `{ price: ({ of }) => 3 }`");
    }
    return given instanceof Map ? [...given] : Object.entries(given);
  }
  return given.map((one) => {
    if (!one?.name) throw new TypeError("a tool in an array has a name; or pass `{ name: function }`");
    return [one.name, one];
  });
}

function specOf(name, made) {
  return {
    name,
    takes: made.takes && JSON.stringify(made.takes),
    answers: made.answers && JSON.stringify(made.answers),
    effect: made.effect,
    description: made.description,
    isPrivate: made.private,
  };
}

/** Makes what a program is told of anything that a tool threw. */
function toolFailure(thrown) {
  if (thrown instanceof ToolError) {
    return { message: thrown.message, hint: thrown.hint, isMistake: thrown.isMistake };
  }
  if (thrown instanceof Error) {
    const message = thrown.message ? `${thrown.name}: ${thrown.message}` : thrown.name;
    return { message: message.toWellFormed(), isMistake: false };
  }
  return { message: textOf(thrown).toWellFormed(), isMistake: false };
}

function textOf(thrown) {
  try {
    return typeof thrown === "string" ? thrown : (JSON.stringify(thrown) ?? String(thrown));
  } catch {
    return "something that has no text was thrown";
  }
}

module.exports = { Tool, tool, toolFailure, toolsOf };
