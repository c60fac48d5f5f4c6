"use strict";
// What the adapters share: one tool that runs a program over many tools.

const { PtcError } = require("../errors.js");
const { card, execute } = require("../program.js");

/** Name of the tool that runs programs. */
const NAME = "run_program";

const HEAD =
  "Runs a PTC-Lisp program in a sandbox and returns its value. Write one program that calls several tools, and " +
  "filters, joins and counts what they return, instead of calling them one by one: only the value of the program " +
  "comes back.";

/** JSON Schema of the arguments of that tool. */
const ARGUMENTS = {
  type: "object",
  properties: { program: { type: "string", description: "A PTC-Lisp program." } },
  required: ["program"],
  additionalProperties: false,
};

/** Describes the tool for models: what it is for, the language, and the tools that programs call. */
function describe(tools, { preludes } = {}) {
  return `${HEAD}\n\n${card({ tools, preludes })}`;
}

/** Runs a program that a model wrote, and returns its value as text, or an error that says how to fix it. */
async function answer(program, tools, { limits, preludes, most = 20_000, signal } = {}) {
  try {
    const outcome = await execute(program, { tools, limits, preludes, signal });
    return { text: cut([...outcome.prints, textOf(outcome)].join("\n"), most), isError: false };
  } catch (error) {
    if (!(error instanceof PtcError)) throw error;
    return { text: cut([...error.prints, error.message].join("\n"), most), isError: true };
  }
}

function textOf(outcome) {
  try {
    return outcome.json();
  } catch (error) {
    if (!(error instanceof PtcError)) throw error;
    // A value without a JSON form, such as a function.
    return outcome.text;
  }
}

/** Cuts a text that is too long for a model, and says so. */
function cut(text, most) {
  if (text.length <= most) return text;
  return `${text.slice(0, most).toWellFormed()}\n… ${text.length - most} more characters; return less`;
}

module.exports = { ARGUMENTS, NAME, answer, describe };
