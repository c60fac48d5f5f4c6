"use strict";
// Preludes: libraries for programs.

const { existsSync, readFileSync } = require("node:fs");
const { fileURLToPath } = require("node:url");
const native = require("./native.js");
const { CORE, hide } = require("./core.js");
const { checked } = require("./errors.js");

/** A library that programs call like builtins: compiled from source, or loaded from a `.ptcp` file. */
class Prelude {
  constructor(core) {
    hide(this, CORE, core);
  }

  /** Compiles a prelude from its source, which may require the namespaces of the preludes in `uses`. */
  static compile(source, { uses = [] } = {}) {
    const cores = uses.map((prelude) => prelude[CORE]);
    return new Prelude(checked(native.PreludeCore.compile(source, cores)));
  }

  /** Loads a prelude from a `.ptcp` file. With `trusted` and no `signature`, the signature is the file beside it. */
  static load(path, options = {}) {
    const file = path instanceof URL ? fileURLToPath(path) : path;
    const beside = `${file}.sig`;
    const isBeside = options.trusted !== undefined && options.signature === undefined && existsSync(beside);
    const signature = isBeside ? readFileSync(beside, "utf8") : options.signature;
    return Prelude.fromBytes(readFileSync(file), { ...options, signature });
  }

  /** Loads a prelude from the bytes of a `.ptcp` file, which is fully verified. */
  static fromBytes(bytes, { signature, trusted, pin, recompile = true } = {}) {
    const buffer = Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes);
    return new Prelude(checked(native.PreludeCore.load(buffer, { signature, trusted, pin, recompile })));
  }

  toBytes() {
    return this[CORE].toBytes();
  }

  /** Signs the bytes of the file with a private key of 64 hexadecimal digits, and returns the signature. */
  sign(key) {
    return checked(this[CORE].sign(key));
  }

  get namespaces() {
    return this[CORE].namespaces;
  }

  get exports() {
    return this[CORE].exports;
  }

  get hash() {
    return this[CORE].hash;
  }

  get interfaceHash() {
    return this[CORE].interfaceHash;
  }

  get inventory() {
    return this[CORE].inventory ?? undefined;
  }
}

/** Returns the public key of a private key of 64 hexadecimal digits. */
function publicKey(key) {
  return checked(native.publicKey(key));
}

module.exports = { Prelude, publicKey };
