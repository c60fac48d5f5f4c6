// The conformance corpus through Node, synchronous and asynchronous: the same values, errors and fuel as the command gives.
//
// The command is that of the package, or the one that `PTC_TEST_COMMAND` names. That it gives what the corpus expects is
// for the tests in Rust; here its values as plain JavaScript are compared with the corpus, too.
import assert from "node:assert/strict";
import { test } from "node:test";
import * as ptc from "ptc-lisp";
import { ofCases, ofCommand, ofError, ofOutcome } from "./answers.mjs";
import { read, same } from "./printed.mjs";
import { cases } from "./support.mjs";

const CASES = cases();
const LIMITS = { fuel: 100_000_000, timeout_ms: 20_000 };

const TOLD = ofCases(CASES, LIMITS);

/** Returns what differs. */
function difference(id, found) {
  const wanted = ofCommand(TOLD.get(id));
  const shared = Object.fromEntries(Object.keys(found).map((name) => [name, wanted[name]]));
  try {
    assert.deepEqual(found, shared);
    return [];
  } catch {
    return [{ id, found, wanted: shared }];
  }
}

/** Compares the value as plain JavaScript with what the corpus expects. */
function strange({ id, expect }, outcome) {
  if (expect === undefined || expect === null) return [];
  let value;
  try {
    value = outcome.value;
  } catch (error) {
    // A map or a set that JavaScript cannot hold.
    return /does not tell apart/.test(error.message) ? [] : [{ id, error: String(error) }];
  }
  return same(value, read(expect)) ? [] : [{ id, value, expect }];
}

test("the corpus is whole", () => {
  assert.ok(CASES.length >= 2_713 && new Set(CASES.map(({ id }) => id)).size === CASES.length);
});

test("synchronous", () => {
  const wrong = CASES.flatMap((one) => {
    let outcome;
    try {
      outcome = ptc.executeSync(one.program, { data: one.context, limits: LIMITS });
    } catch (error) {
      return difference(one.id, ofError(error));
    }
    return [...difference(one.id, ofOutcome(outcome)), ...strange(one, outcome)];
  });
  assert.deepEqual(wrong, []);
});

test("asynchronous", async () => {
  const one = async ({ id, program, context }) => {
    try {
      return difference(id, ofOutcome(await ptc.execute(program, { data: context, limits: LIMITS })));
    } catch (error) {
      return difference(id, ofError(error));
    }
  };
  const wrong = [];
  for (let from = 0; from < CASES.length; from += 100) {
    wrong.push(...(await Promise.all(CASES.slice(from, from + 100).map(one))).flat());
  }
  assert.deepEqual(wrong, []);
});

test("in steps and through bytes, every tenth", async () => {
  const wrong = [];
  for (const { id, program, context } of CASES.filter((_, index) => index % 10 === 0)) {
    let found;
    try {
      const started = new ptc.Program(program, { tools: {}, limits: LIMITS }).start(context ?? {});
      const loaded = ptc.Run.fromBytes(started.toBytes(), { grants: context, tools: {}, limits: LIMITS });
      found = ofOutcome(await loaded.finish());
    } catch (error) {
      found = ofError(error);
    }
    // A run out of bytes was compiled before.
    delete found.compileFuel;
    wrong.push(...difference(id, found));
  }
  assert.deepEqual(wrong, []);
});
