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

/** Numbers that a writer may keep memory for between two values. */
const MOST_KEPT = 1 << 16;

/** Maximum nesting. Reading recurses, and an array may contain itself. */
const MAX_DEPTH = 400;

/** A value that is no data. */
class Refusal extends TypeError {}

/** A writer that is not in use: it has memory already. */
let idle;

/**
 * Packs a value for a program, and passes it on as numbers and text, which are only lent. An error names the place of
 * what is no data: `data.orders[3]`.
 */
function lend(value, name, use) {
  const writer = idle ?? new Writer();
  // A getter or a tool may pack something else meanwhile.
  idle = undefined;
  try {
    writer.begin();
    writer.write(value, 0);
    const text = writer.text();
    return use(writer.numbers.subarray(0, writer.at), text);
  } catch (error) {
    throw error instanceof Refusal ? new TypeError(`${name}${placeIn(value)}: ${error.message}`) : error;
  } finally {
    if (writer.at <= MOST_KEPT) idle = writer;
  }
}

/** Packs a value to keep. */
function pack(value, name) {
  return lend(value, name, (numbers, text) => ({ numbers: numbers.slice(), text }));
}

/** Finds the place of what is no data, by writing it once more. */
function placeIn(value) {
  const writer = new Writer();
  writer.begin();
  writer.path = [];
  try {
    writer.write(value, 0);
    writer.text();
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
  }
  // A very deep path says nothing more.
  return writer.path.slice(0, 12).join("");
}

class Writer {
  numbers = new Float64Array(64);
  /** Steps to the value being written; only kept if somebody wants to know. */
  path = undefined;

  begin() {
    this.at = 0;
    this.texts = [];
    this.names = undefined;
  }

  push(one, other) {
    if (this.at + 2 > this.numbers.length) {
      const larger = new Float64Array(this.numbers.length * 2);
      larger.set(this.numbers);
      this.numbers = larger;
    }
    this.numbers[this.at++] = one;
    this.numbers[this.at++] = other;
  }

  /** Writes a tag alone. */
  tag(tag) {
    this.push(tag, 0);
    this.at--;
  }

  write(value, depth) {
    switch (typeof value) {
      case "string":
        return this.str(STR, value);
      case "number":
        return this.push(Number.isSafeInteger(value) && !Object.is(value, -0) ? INT : FLOAT, value);
      case "boolean":
        return this.tag(value ? TRUE : FALSE);
      case "undefined":
        return this.tag(NIL);
      case "bigint":
        return this.str(BIG, value.toString());
      case "object":
        return value === null ? this.tag(NIL) : this.object(value, depth);
      case "function":
        throw new Refusal("functions are no data; pass them as `tools`");
      default:
        throw new Refusal("symbols are no data");
    }
  }

  str(tag, text) {
    this.push(tag, text.length);
    this.texts.push(text);
  }

  /** Writes the key of a record, which repeats. */
  name(name) {
    const names = (this.names ??= new Map());
    const index = names.get(name);
    if (index !== undefined) return this.push(AGAIN, index);
    names.set(name, names.size);
    this.str(NAME, name);
  }

  /** Returns all texts, one after the other. */
  text() {
    const text = this.texts.length === 1 ? this.texts[0] : this.texts.join("");
    if (text.isWellFormed()) return text;
    const broken = this.texts.find((text) => !text.isWellFormed()) ?? "";
    throw new Refusal(
      `the text ${JSON.stringify(broken.slice(0, 40))} has half a character; use \`text.toWellFormed()\``,
    );
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
    if (value instanceof Set) return this.items(SET, [...value], depth);
    if (ArrayBuffer.isView(value) || value instanceof ArrayBuffer) return this.binary(value, depth);
    return this.instance(value, depth);
  }

  items(tag, items, depth) {
    this.push(tag, items.length);
    for (let index = 0; index < items.length; index++) {
      this.path?.push(tag === SET ? "[an item of the set]" : `[${index}]`);
      this.write(items[index], depth + 1);
      this.path?.pop();
    }
  }

  /** Writes the members of an object. One that is undefined is one that is not there. */
  record(value, depth) {
    this.push(MAP, 0);
    const at = this.at - 1;
    let count = 0;
    for (const key of Object.keys(value)) {
      const member = value[key];
      if (member === undefined) continue;
      count++;
      this.name(key);
      this.path?.push(placeOf(key));
      this.write(member, depth + 1);
      this.path?.pop();
    }
    this.numbers[at] = count;
  }

  map(value, depth) {
    this.push(MAP, value.size);
    for (const [key, member] of value) {
      this.path?.push("[a key of the map]");
      if (typeof key === "string") this.name(key);
      else this.write(key, depth + 1);
      this.path?.pop();
      this.path?.push(placeOf(String(key)));
      this.write(member, depth + 1);
      this.path?.pop();
    }
  }

  instant(date) {
    const millis = date.getTime();
    if (Number.isNaN(millis)) throw new Refusal("this date is invalid");
    this.push(INSTANT, millis);
    this.tag(0);
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

module.exports = { lend, pack, unpack };
