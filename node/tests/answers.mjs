// What a program gave, in one form: in Node, and as the command tells it.
import { execFileSync } from "node:child_process";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import * as ptc from "ptc-lisp";

/** Returns what the command tells of each case, by id. */
export function ofCases(cases, limits) {
  const bin = join(dirname(createRequire(import.meta.url).resolve("ptc-lisp/package.json")), "bin", "ptc.js");
  const own = process.env.PTC_TEST_COMMAND;
  const words = own ? [own] : [process.execPath, bin];
  const flags = ["eval", "--jsonl", "--fuel", String(limits.fuel), "--timeout", "20s"];
  const lines = cases.map(({ id, program, context }) => JSON.stringify({ id, program, context: context ?? {} }));
  const options = { input: lines.join("\n"), encoding: "utf8", maxBuffer: 2 ** 30 };
  const output = execFileSync(words[0], [...words.slice(1), ...flags], options);
  const answers = output.split("\n").filter(Boolean).map((line) => JSON.parse(line));
  return new Map(answers.map((answer) => [answer.id, answer]));
}

export function ofError(error) {
  if (!(error instanceof ptc.PtcError)) throw error;
  const { kind, problem, line, prints, fuel, compileFuel } = error;
  return { ok: false, kind, message: problem, line, prints, fuel, compileFuel };
}

export function ofOutcome(outcome) {
  try {
    const { text, prints, fuel, compileFuel } = outcome;
    return { ok: true, value: text, prints, fuel, compileFuel };
  } catch (error) {
    return { ok: false, kind: error.kind, message: error.problem };
  }
}

export function ofCommand({ ok, value, error, prints, fuel, compile_fuel: compileFuel }) {
  if (ok) return { ok, value, prints, fuel, compileFuel };
  return { ok, kind: error.kind, message: error.message, line: error.line, prints, fuel, compileFuel };
}
