"use strict";
// What an object is made of, for the other files of this package.

/** Key of the native half of an object. */
const CORE = Symbol("ptc.core");

/** Key of the other parts of an object that other files need. */
const PARTS = Symbol("ptc.parts");

/** Sets a property that does not show. */
function hide(object, key, value) {
  Object.defineProperty(object, key, { value });
}

module.exports = { CORE, PARTS, hide };
