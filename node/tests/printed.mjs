// Values as PTC-Lisp prints them, read as plain JavaScript: what a test expects of `Outcome.value`.

/** Stands for a value that has no data form, such as a function, or that is printed as a text; equal to anything. */
const ANYTHING = Symbol("anything");

const TOKEN =
  /[\s,]*(#duration\[[^\]]*\]|#fn\[[^\]]*\]|#fn|#<[^>]*>|#\{|#"(?:\\.|[^"\\])*"|##-?\w+|#'[^\s,[\](){}"]+|"(?:\\.|[^"\\])*"|[[\](){}]|[^\s,[\](){}"]+)/gsu;
const ESCAPES = { n: "\n", t: "\t", r: "\r", b: "\b", f: "\f", e: "\x1b", a: "\x07", 0: "\0" };
const ENDS = { "[": "]", "(": ")", "{": "}", "#{": "}" };

/** The entries of a map, in any order. */
class Pairs extends Array {}

/** The items of a set, in any order. */
class Items extends Array {}

/** Reads one printed value. */
export function read(text) {
  const tokens = [...text.matchAll(TOKEN)].map((found) => found[1]);
  const [value, rest] = valueAt(tokens, 0);
  if (rest !== tokens.length) throw new Error(`more than one value: ${text}`);
  return value;
}

function valueAt(tokens, from) {
  const token = tokens[from];
  if (!(token in ENDS)) return [leaf(token), from + 1];
  const items = [];
  let at = from + 1;
  while (tokens[at] !== ENDS[token]) {
    const [item, next] = valueAt(tokens, at);
    items.push(item);
    at = next;
  }
  if (token === "{") {
    const pairs = new Pairs();
    for (let index = 0; index < items.length; index += 2) pairs.push([items[index], items[index + 1]]);
    return [pairs, at + 1];
  }
  return [token === "#{" ? Items.from(items) : items, at + 1];
}

function leaf(token) {
  if (token.startsWith('"')) return token.slice(1, -1).replace(/\\(u[0-9a-fA-F]{4}|.)/gsu, unescaped);
  if (/^(#fn|#<|#"|#'|#duration)/.test(token)) return ANYTHING;
  if (token.startsWith("##")) return { "##Inf": Infinity, "##-Inf": -Infinity, "##NaN": NaN }[token];
  if (/^[+-]?\d+N?$/.test(token)) return integer(BigInt(token.replace(/N$/, "").replace(/^\+/, "")));
  if (/^[+-]?\d/.test(token)) {
    const number = Number(token.replace(/M$/, ""));
    // A date or a time, which prints as text.
    return Number.isNaN(number) ? ANYTHING : number;
  }
  return { nil: null, true: true, false: false }[token] ?? (token === "nil" ? null : token.replace(/^[:']+/, ""));
}

function integer(large) {
  const small = Number(large);
  return Number.isSafeInteger(small) ? small : large;
}

function unescaped(_, escaped) {
  if (escaped.length === 5) return String.fromCharCode(Number.parseInt(escaped.slice(1), 16));
  return ESCAPES[escaped] ?? escaped;
}

/** True if a plain value is the one that was printed. */
export function same(got, wanted) {
  if (wanted === ANYTHING) return true;
  if (wanted instanceof Pairs) {
    const entries = got instanceof Map ? [...got] : Object.entries(got);
    return entries.length === wanted.length && matched(entries, wanted);
  }
  if (wanted instanceof Items) return got instanceof Set && got.size === wanted.length && matched([...got], wanted);
  if (Array.isArray(wanted)) {
    return Array.isArray(got) && got.length === wanted.length && wanted.every((item, at) => same(got[at], item));
  }
  if (typeof wanted === "number" && typeof got === "number") {
    return got === wanted || Object.is(got, wanted) || Math.abs(got - wanted) <= 1e-9 * Math.abs(wanted);
  }
  // A time, which prints as text.
  if (typeof wanted === "string" && got instanceof Date) return true;
  return got === wanted;
}

function matched(got, wanted) {
  const left = [...wanted];
  return got.every((item) => {
    const at = left.findIndex((other) => same(item, other));
    if (at >= 0) left.splice(at, 1);
    return at >= 0;
  });
}
