// The examples of the documentation: values, errors and fuel as in Rust, and as the command gives them.
//
// The tests in Rust run them and write down what they gave, into the file that `PTC_TEST_EXAMPLES` names.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import * as ptc from "ptc-lisp";
import { ofCases, ofCommand, ofError, ofOutcome } from "./answers.mjs";

const FILE = process.env.PTC_TEST_EXAMPLES;
const skip = FILE ? false : "PTC_TEST_EXAMPLES names no file of examples";
const EXAMPLES = FILE ? readFileSync(FILE, "utf8").split("\n").filter(Boolean).map((line) => JSON.parse(line)) : [];
const LIMITS = { fuel: 100_000_000, timeout_ms: 20_000 };

/** Starts the session of an example, whose tools always answer the same. */
function session({ data, tools, takes, prelude }, callOf) {
  const made = Object.entries(tools).map(([name, answer]) => ptc.tool({ name, takes: takes[name], call: callOf(answer) }));
  const preludes = prelude ? [ptc.Prelude.fromBytes(Buffer.from(prelude, "base64"))] : [];
  return new ptc.Session({ data, tools: made, preludes });
}

function difference(example, index, found) {
  const wanted = ofRust(example.programs[index]);
  const shared = Object.fromEntries(Object.keys(found).map((name) => [name, wanted[name]]));
  try {
    assert.deepEqual(found, shared);
    return [];
  } catch {
    return [{ id: example.id, found, wanted: shared }];
  }
}

function ofRust({ ok, value, reason: kind, message, line, prints, fuel, compile_fuel: compileFuel }) {
  if (ok) return { ok, value, prints, fuel, compileFuel };
  return { ok, kind, message, line: line ?? undefined, prints, fuel, compileFuel };
}

test("there are many", { skip }, () => {
  assert.ok(EXAMPLES.flatMap((example) => example.programs).length > 300);
});

test("examples, synchronous", { skip }, () => {
  const wrong = [];
  for (const example of EXAMPLES) {
    const running = session(example, (answer) => () => answer);
    for (const [index, { program }] of example.programs.entries()) {
      let found;
      try {
        found = ofOutcome(running.executeSync(program));
      } catch (error) {
        found = ofError(error);
      }
      wrong.push(...difference(example, index, found));
    }
  }
  assert.deepEqual(wrong, []);
});

test("examples, asynchronous", { skip }, async () => {
  const one = async (example) => {
    const wrong = [];
    const running = session(example, (answer) => async () => answer);
    for (const [index, { program }] of example.programs.entries()) {
      const found = await running.execute(program).then(ofOutcome, ofError);
      wrong.push(...difference(example, index, found));
    }
    return wrong;
  };
  assert.deepEqual((await Promise.all(EXAMPLES.map(one))).flat(), []);
});

test("examples, by the command", { skip }, () => {
  // The first program of each that needs nothing but data, which is what the command can be given.
  const alone = EXAMPLES.filter(({ tools, prelude }) => !prelude && Object.keys(tools).length === 0);
  const cases = alone.map(({ id, data, programs }) => ({ id, context: data, program: programs[0].program }));
  const told = ofCases(cases, LIMITS);
  assert.ok(alone.length > 100);
  assert.deepEqual(alone.flatMap((one) => difference(one, 0, ofCommand(told.get(one.id)))), []);
});
