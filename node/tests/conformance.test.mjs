// The conformance corpus through Node, synchronous and asynchronous: the same values, errors and fuel as the command gives.
//
// The command is that of the package, or the one that `PTC_TEST_COMMAND` names. That it gives what the corpus expects is
// for the tests in Rust; here its values as plain JavaScript are compared with the corpus, too.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { test } from "node:test";
import * as ptc from "ptc-lisp";
import { read, same } from "./printed.mjs";
import { cases } from "./support.mjs";

const CASES = cases();
const LIMITS = { fuel: 100_000_000, timeout_ms: 20_000 };

/** What the command tells of each case, by id. */
function told() {
  const bin = join(dirname(createRequire(import.meta.url).resolve("ptc-lisp/package.json")), "bin", "ptc.js");
  const own = process.env.PTC_TEST_COMMAND;
  const words = own ? [own] : [process.execPath, bin];
  const flags = ["eval", "--jsonl", "--fuel", String(LIMITS.fuel), "--timeout", "20s"];
  const lines = CASES.map(({ id, program, context }) => JSON.stringify({ id, program, context: context ?? {} }));
  const options = { input: lines.join("\n"), encoding: "utf8", maxBuffer: 2 ** 30 };
  const output = execFileSync(words[0], [...words.slice(1), ...flags], options);
  const answers = output.split("\n").filter(Boolean).map((line) => JSON.parse(line));
  return new Map(answers.map((answer) => [answer.id, answer]));
}

const TOLD = told();

function ofError(error) {
  if (!(error instanceof ptc.PtcError)) throw error;
  const { kind, problem, line, prints, fuel, compileFuel } = error;
  return { ok: false, kind, message: problem, line, prints, fuel, compileFuel };
}

function ofOutcome(outcome) {
  try {
    const { text, prints, fuel, compileFuel } = outcome;
    return { ok: true, value: text, prints, fuel, compileFuel };
  } catch (error) {
    return { ok: false, kind: error.kind, message: error.problem };
  }
}

function ofCommand({ ok, value, error, prints, fuel, compile_fuel: compileFuel }) {
  if (ok) return { ok, value, prints, fuel, compileFuel };
  return { ok, kind: error.kind, message: error.message, line: error.line, prints, fuel, compileFuel };
}

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
