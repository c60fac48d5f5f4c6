"use strict";

/** Key of the native half of an object. */
exports.CORE = Symbol("ptc.core");
