"use strict";
// Results of programs.

const { inspect } = require("node:util");
const { CORE, hide } = require("./core.js");
const { unpack } = require("./data.js");
const { checked, diagnosticsOf } = require("./errors.js");

/** A program that ended well: its value, and the facts of its run. */
class Outcome {
  constructor(core) {
    hide(this, CORE, core);
  }

  /** Value of the program as plain JavaScript; made anew by every access. */
  get value() {
    return unpack(checked(this[CORE].value()));
  }

  get text() {
    return checked(this[CORE].text());
  }

  json() {
    return checked(this[CORE].json());
  }

  get prints() {
    return this[CORE].prints();
  }

  get fuel() {
    return this[CORE].fuel;
  }

  get compileFuel() {
    return this[CORE].compileFuel;
  }

  get toolCalls() {
    return this[CORE].toolCalls;
  }

  get warnings() {
    return diagnosticsOf(this[CORE].warnings());
  }

  [inspect.custom]() {
    const { text } = this;
    return `Outcome ${text.length > 200 ? `${text.slice(0, 200)}…` : text} (fuel ${this.fuel})`;
  }
}

module.exports = { Outcome };
