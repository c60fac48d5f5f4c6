"use strict";
// Data that is granted to programs, and limits.

const native = require("./native.js");
const { CORE, hide } = require("./core.js");
const { lend, unpack } = require("./data.js");
const { checked } = require("./errors.js");

/** Data that was read once, and that any number of programs read without a copy. */
class Frozen {
  constructor(core) {
    hide(this, CORE, core);
  }

  /** Size in memory, in bytes. */
  get bytes() {
    return this[CORE].bytes;
  }

  /** Returns the data as plain JavaScript. */
  thaw() {
    return unpack(checked(this[CORE].thaw()));
  }
}

/** Reads data once, to be granted to many programs. */
function freeze(value) {
  return value instanceof Frozen ? value : new Frozen(lend(value, "data", native.FrozenCore.make));
}

/** Returns the members of data by name. */
function members(data) {
  if (data === undefined || data === null) return [];
  if (data instanceof Map) return [...data];
  if (typeof data !== "object" || Array.isArray(data) || data instanceof Frozen) {
    throw new TypeError("data is an object of names and values, such as `{ orders: [...] }`");
  }
  return Object.entries(data).filter(([, value]) => value !== undefined);
}

/** Makes what programs read as `data/<name>`; later members replace earlier ones. */
function grantsOf(...sources) {
  const grants = new native.Grants();
  const all = sources.length === 1 ? sources[0] : new Map(sources.flat());
  for (const [name, value] of all) {
    if (typeof name !== "string") throw new TypeError("the names of data are strings");
    if (value instanceof Frozen) grants.share(name, value[CORE]);
    else lend(value, `data.${name}`, (numbers, text) => grants.add(name, numbers, text));
  }
  return grants;
}

/** Checks limits, whose names are those of the reference. */
function limitsOf(limits) {
  if (limits === undefined || limits === null) return undefined;
  const known = native.defaultLimits();
  for (const [name, value] of Object.entries(limits)) {
    if (!(name in known)) {
      const names = Object.keys(known).sort().join(", ");
      throw new RangeError(`there is no limit \`${name}\`; the limits are ${names}`);
    }
    if (!Number.isSafeInteger(value) || value < 0) {
      throw new RangeError(`limits.${name} must be an integer from 0 on, not ${String(value)}`);
    }
  }
  return limits;
}

module.exports = { Frozen, freeze, grantsOf, limitsOf, members };
