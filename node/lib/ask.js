"use strict";
// Answers to native threads, which call tools in batches and missions.

const { pack, unpack } = require("./data.js");
const { Frozen } = require("./grants.js");
const { toolFailure } = require("./tools.js");

/** Makes the function that calls tools for native threads. It never rejects. */
function askTools(calls, context = {}) {
  return async (name, args) => {
    try {
      const result = await calls.get(name).call(unpack(args), context);
      return { value: pack(result instanceof Frozen ? result.thaw() : result, "the result") };
    } catch (error) {
      return { failure: toolFailure(error) };
    }
  };
}

module.exports = { askTools };
