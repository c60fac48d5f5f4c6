// Data in and out: exactly, or not at all.
import assert from "node:assert/strict";
import { test } from "node:test";
import * as ptc from "ptc-lisp";

const text = (value) => ptc.executeSync("data/it", { data: { it: value } }).text;
const back = (value) => ptc.runSync("data/it", { data: { it: value } });

test("what goes in comes out", () => {
  const values = [
    null, true, false, 0, -7, 1.5, -0, NaN, Infinity, 2 ** 53 - 1, 1e300, "", "é ü 🎉", 12345678901234567890n,
    [], [1, [2, [3]]], {}, { a: { b: [{}] } }, new Set([1, "a"]), new Map([[1, "a"], [null, 2]]),
    new Date("2031-04-03T10:20:30.456Z"), new Date(-1), { constructor: 1, toString: 2 },
  ];
  for (const value of values) assert.deepEqual(back(value), value);
});

test("numbers are integers or floats as they are written", () => {
  assert.equal(text([1, 1.5, -0, 1e21, 10n, 2n ** 70n]), "[1 1.5 -0.0 1.0E21 10 1180591620717411303424]");
  assert.equal(back(10n), 10);
  assert.equal(back(2n ** 53n), 2n ** 53n);
  assert.equal(back(-(2n ** 63n)), -(2n ** 63n));
});

test("keys of records", () => {
  assert.equal(text({ a: 1, "b c": 2 }), '{"a" 1 "b c" 2}');
  const tricky = JSON.parse('{"__proto__": 1, "constructor": {"prototype": 2}}');
  assert.equal(JSON.stringify(back(tricky)), JSON.stringify(tricky));
  assert.deepEqual(back(Object.assign(Object.create(null), { a: 1 })), { a: 1 });
  const rows = Array.from({ length: 50 }, (_, n) => ({ id: n, "größe": `${n}🎉`, 中: [n] }));
  assert.deepEqual(back(rows), rows);
});

test("what is undefined is absent", () => {
  assert.deepEqual(back({ a: undefined, b: [undefined] }), { b: [null] });
  assert.deepEqual(ptc.check("data/a", { data: { a: undefined } }).length, 1);
});

test("maps and sets of all kinds", () => {
  assert.deepEqual(back(new Map([["a", 1]])), { a: 1 });
  assert.deepEqual(ptc.runSync("{[1 2] :pair}"), new Map([[[1, 2], "pair"]]));
  assert.deepEqual(ptc.runSync("#{[1] [2]}"), new Set([[1], [2]]));
  assert.throws(() => ptc.runSync('{:a 1 "a" 2}'), /keys that JavaScript does not tell apart/);
  assert.throws(() => ptc.runSync('#{:a "a"}'), /items that JavaScript does not tell apart/);
});

test("classes, and what has its own JSON", () => {
  class Point {
    constructor(x, y) {
      this.x = x;
      this.y = y;
    }
  }
  class Money {
    #cents = 5;
    toJSON() {
      return { cents: this.#cents };
    }
  }
  assert.deepEqual(back([new Point(1, 2), new Money()]), [{ x: 1, y: 2 }, { cents: 5 }]);
  assert.deepEqual(back(new URL("https://example.org/a")), "https://example.org/a");
  assert.deepEqual(back(new Float64Array([1, 2.5])), [1, 2.5]);
  assert.deepEqual(back(new BigInt64Array([1n])), [1]);
});

test("days, durations and times", () => {
  assert.equal(ptc.runSync('(LocalDate/parse "2031-04-03")'), "2031-04-03");
  const times = { from: new Date("2031-04-03T00:00:00Z"), to: new Date("2031-04-03T00:00:01.500Z") };
  assert.equal(ptc.runSync("(< data/from data/to)", { data: times }), true);
  assert.throws(() => back(new Date(NaN)), /data\.it: this date is invalid/);
});

test("what is no data is refused, with its place", () => {
  const self = [];
  self.push(self);
  const cases = [
    [{ a: [1, () => 1] }, /data\.it\.a\[1\]: functions are no data; pass them as `tools`/],
    [[Symbol("x")], /data\.it\[0\]: symbols are no data/],
    [{ "b c": Buffer.from("x") }, /data\.it\["b c"\]: bytes are no data.*base64/],
    [new ArrayBuffer(1), /bytes are no data/],
    [Promise.resolve(1), /await it first/],
    [/x/, /regular expression is no data/],
    [new Error("x"), /an error is no data/],
    [[1].values(), /iterator .* is no data; pass `\[\.\.\.value\]`/],
    [new WeakMap(), /`WeakMap` without fields/],
    [self, /nested deeper than 400 levels; does it contain itself\?/],
    [["a\ud800b"], /half a character; use `text\.toWellFormed\(\)`/],
    [new Set([[() => 1]]), /an item of the set/],
    [new Map([[() => 1, 1]]), /a key of the map/],
    [[ptc.freeze(1)], /frozen data stands alone/],
  ];
  for (const [value, message] of cases) {
    assert.throws(() => back(value), (error) => error instanceof TypeError && message.test(error.message), String(message));
  }
  const thrown = new RangeError("from a getter");
  assert.throws(() => back({ get a() { throw thrown; } }), (error) => error === thrown);
});

test("deep and large results", () => {
  const deep = ptc.runSync("(reduce (fn [x _] [x]) 1 (range 2000))");
  let depth = 0;
  for (let at = deep; Array.isArray(at); at = at[0]) depth++;
  assert.equal(depth, 2000);
  assert.equal(ptc.runSync("(mapv (fn [n] {:n n}) (range 20000))").length, 20_000);
});
