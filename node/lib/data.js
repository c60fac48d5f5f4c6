"use strict";
// Data of programs as values of JavaScript, exactly or not at all. A value crosses as a list of numbers and one text;
// `src/packed.rs` and `src/reader.rs` are the other side.

const NIL = 0;
const TRUE = 1;
const FALSE = 2;
const INT = 3;
const FLOAT = 4;
const BIG = 5;
const STR = 6;
const NAME = 7;
const AGAIN = 8;
const VECTOR = 9;
const MAP = 10;
const SET = 11;
const INSTANT = 12;

/** Maximum nesting. Reading recurses, and an array may contain itself. */
const MAX_DEPTH = 400;

/** A value that is no data, and its place from the inside out. */
class Refusal extends TypeError {
  path = [];

  inside(step) {
    // A very deep path says nothing more.
    if (this.path.length < 12) this.path.push(step);
    return this;
  }
}

/** Packs a value for a program. An error names the place of what is no data: `data.orders[3]`. */
function pack(value, name) {
  const writer = new Writer();
  try {
    writer.write(value, 0);
    const text = writer.texts.join("");
    if (!text.isWellFormed()) throw writer.halfCharacter();
    return { numbers: new Float64Array(writer.numbers), text };
  } catch (error) {
    if (error instanceof Refusal) {
      throw new TypeError(`${name}${error.path.reverse().join("")}: ${error.message}`);
    }
    throw error;
  }
}

class Writer {
  numbers = [];
  texts = [];
  names = new Map();

  write(value, depth) {
    switch (typeof value) {
      case "string":
        return this.text(STR, value);
      case "number":
        if (Number.isSafeInteger(value) && !Object.is(value, -0)) this.numbers.push(INT, value);
        else this.numbers.push(FLOAT, value);
        return;
      case "boolean":
        return void this.numbers.push(value ? TRUE : FALSE);
      case "undefined":
        return void this.numbers.push(NIL);
      case "bigint":
        return this.text(BIG, value.toString());
      case "object":
        return value === null ? void this.numbers.push(NIL) : this.object(value, depth);
      default:
        throw new Refusal(
          typeof value === "function" ? "functions are no data; pass them as `tools`" : "symbols are no data",
        );
    }
  }

  text(tag, text) {
    this.numbers.push(tag, text.length);
    this.texts.push(text);
  }

  /** Writes the key of a record, which repeats. */
  name(name) {
    const index = this.names.get(name);
    if (index !== undefined) return void this.numbers.push(AGAIN, index);
    this.names.set(name, this.names.size);
    this.text(NAME, name);
  }

  object(value, depth) {
    if (depth >= MAX_DEPTH) {
      throw new Refusal(`data nested deeper than ${MAX_DEPTH} levels; does it contain itself?`);
    }
    if (Array.isArray(value)) return this.items(VECTOR, value, depth);
    const kind = Object.getPrototypeOf(value);
    if (kind === Object.prototype || kind === null) return this.record(value, depth);
    if (value instanceof Date) return this.instant(value);
    if (value instanceof Map) return this.map(value, depth);
    if (value instanceof Set) return this.items(SET, [...value], depth, "an item of the set");
    if (ArrayBuffer.isView(value) || value instanceof ArrayBuffer) return this.binary(value, depth);
    return this.instance(value, depth);
  }

  items(tag, items, depth, place) {
    this.numbers.push(tag, items.length);
    for (let index = 0; index < items.length; index++) {
      try {
        this.write(items[index], depth + 1);
      } catch (error) {
        throw error instanceof Refusal ? error.inside(place ? `[${place}]` : `[${index}]`) : error;
      }
    }
  }

  /** Writes the members of an object. One that is undefined is one that is not there. */
  record(value, depth) {
    const at = this.numbers.push(MAP, 0) - 1;
    let count = 0;
    for (const key of Object.keys(value)) {
      const member = value[key];
      if (member === undefined) continue;
      count++;
      this.name(key);
      try {
        this.write(member, depth + 1);
      } catch (error) {
        throw error instanceof Refusal ? error.inside(placeOf(key)) : error;
      }
    }
    this.numbers[at] = count;
  }

  map(value, depth) {
    this.numbers.push(MAP, value.size);
    for (const [key, member] of value) {
      try {
        if (typeof key === "string") this.name(key);
        else this.write(key, depth + 1);
      } catch (error) {
        throw error instanceof Refusal ? error.inside("[a key of the map]") : error;
      }
      try {
        this.write(member, depth + 1);
      } catch (error) {
        throw error instanceof Refusal ? error.inside(placeOf(String(key))) : error;
      }
    }
  }

  instant(date) {
    const millis = date.getTime();
    if (Number.isNaN(millis)) throw new Refusal("this date is invalid");
    this.numbers.push(INSTANT, millis, 0);
  }

  binary(value, depth) {
    const isNumeric =
      ArrayBuffer.isView(value) && !(value instanceof DataView) && !(value instanceof Uint8Array);
    if (isNumeric) return this.items(VECTOR, value, depth);
    throw new Refusal('bytes are no data; decode them, or use `buffer.toString("base64")`');
  }

  /** Writes an object of a class: as its own `toJSON` says, or the fields that it has. */
  instance(value, depth) {
    if (value instanceof (frozenClass ??= require("./grants.js").Frozen)) {
      throw new Refusal("frozen data stands alone; grant it under a name of its own");
    }
    if (typeof value.toJSON === "function") return this.write(value.toJSON(), depth + 1);
    const name = value.constructor?.name ?? "this class";
    if (value instanceof Promise) throw new Refusal("a promise is no data; await it first");
    if (value instanceof Error) throw new Refusal("an error is no data; pass `String(error)`");
    if (value instanceof RegExp) throw new Refusal("a regular expression is no data; pass its `source`");
    if (typeof value[Symbol.iterator] === "function" || typeof value[Symbol.asyncIterator] === "function") {
      throw new Refusal(`an iterator of class \`${name}\` is no data; pass \`[...value]\``);
    }
    if (Object.keys(value).length === 0) {
      throw new Refusal(`an object of class \`${name}\` without fields is no data; pass a plain object`);
    }
    return this.record(value, depth);
  }

  halfCharacter() {
    const broken = this.texts.find((text) => !text.isWellFormed()) ?? "";
    const refusal = new Refusal(
      `the text ${JSON.stringify(broken.slice(0, 40))} has half a character; use \`text.toWellFormed()\``,
    );
    return refusal;
  }
}

let frozenClass;

function placeOf(key) {
  return /^[A-Za-z_$][\w$]*$/.test(key) ? `.${key}` : `[${JSON.stringify(key)}]`;
}

/** Makes a value of JavaScript of what a program gave. */
function unpack({ numbers, text }) {
  const stack = [];
  const names = [];
  let at = 0;
  for (let index = 0; index < numbers.length; ) {
    switch (numbers[index++]) {
      case NIL:
        stack.push(null);
        break;
      case TRUE:
        stack.push(true);
        break;
      case FALSE:
        stack.push(false);
        break;
      case INT:
      case FLOAT:
        stack.push(numbers[index++]);
        break;
      case BIG:
        stack.push(BigInt(text.slice(at, (at += numbers[index++]))));
        break;
      case STR:
        stack.push(text.slice(at, (at += numbers[index++])));
        break;
      case NAME: {
        const name = text.slice(at, (at += numbers[index++]));
        names.push(name);
        stack.push(name);
        break;
      }
      case AGAIN:
        stack.push(names[numbers[index++]]);
        break;
      case INSTANT:
        stack.push(dateOf(numbers[index++], numbers[index++]));
        break;
      case VECTOR: {
        const count = numbers[index++];
        const items = count === 0 ? [] : stack.splice(stack.length - count, count);
        stack.push(items);
        break;
      }
      case MAP:
        collect(stack, numbers[index++]);
        break;
      case SET:
        collectSet(stack, numbers[index++]);
        break;
      default:
        throw new Error("the value is damaged");
    }
  }
  return stack.pop();
}

/** Replaces keys and values at the top of the stack by an object, or by a `Map` if a key is no string. */
function collect(stack, count) {
  const from = stack.length - 2 * count;
  let isRecord = true;
  for (let at = from; at < stack.length; at += 2) isRecord &&= typeof stack[at] === "string";
  const made = isRecord ? recordOf(stack, from) : mapOf(stack, from);
  const size = isRecord ? Object.keys(made).length : made.size;
  if (size !== count) throw new TypeError(alike("a map", "keys", "a vector of pairs: `(vec the-map)`"));
  stack.length = from;
  stack.push(made);
}

function recordOf(stack, from) {
  const made = {};
  for (let at = from; at < stack.length; at += 2) {
    const key = stack[at];
    // As an assignment it would change the prototype.
    if (key === "__proto__") define(made, key, stack[at + 1]);
    else made[key] = stack[at + 1];
  }
  return made;
}

function define(object, key, value) {
  Object.defineProperty(object, key, { value, enumerable: true, configurable: true, writable: true });
}

function mapOf(stack, from) {
  const made = new Map();
  for (let at = from; at < stack.length; at += 2) made.set(stack[at], stack[at + 1]);
  return made;
}

function collectSet(stack, count) {
  const made = new Set(count === 0 ? [] : stack.splice(stack.length - count, count));
  if (made.size !== count) throw new TypeError(alike("a set", "items", "a vector: `(vec the-set)`"));
  stack.push(made);
}

function alike(what, parts, instead) {
  return (
    `the result has ${what} with ${parts} that JavaScript does not tell apart, such as \`:a\` and "a", or 1 and 1.0; ` +
    `return ${instead}`
  );
}

function dateOf(millis, micros) {
  const date = new Date(millis);
  if (micros !== 0 || Number.isNaN(date.getTime())) {
    throw new TypeError("the result has a time that is no `Date` exactly; return it as text: `(str the-time)`");
  }
  return date;
}

module.exports = { pack, unpack };
