// Memory that stays: a process that runs many programs does not grow.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { dirname } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

const CODE = `
const ptc = require("ptc-lisp");
const rows = Array.from({ length: 500 }, (_, n) => ({ n, name: "row " + n }));
const limits = { timeout_ms: 60_000 };
const tools = { get: async ({ n }) => rows[n], fail: () => { throw new Error("no"); } };
const program = new ptc.Program("(map :name (pmap #(tool/get {:n %}) (range 20)))", { tools, limits });
async function round() {
  const caught = "(try (tool/fail {}) (catch Exception e data/rows))";
  await Promise.all([program.call(), ptc.run(caught, { tools, limits, data: { rows } }), ptc.run("(+ 1 nil)").catch(() => {})]);
  const run = new ptc.Program("(tool/wait {})").start();
  run.step();
  run.toBytes();
  const ended = new AbortController();
  const waiting = ptc.run("(tool/hang {})", { tools: { hang: () => new Promise(() => {}) }, signal: ended.signal, limits });
  ended.abort();
  await waiting.catch(() => {});
}
async function used(rounds) {
  for (let n = 0; n < rounds; n++) await round();
  for (let n = 0; n < 3; n++) {
    gc();
    await new Promise(setImmediate);
  }
  return process.memoryUsage().rss;
}
(async () => {
  const before = await used(300);
  const after = await used(600);
  console.log(after - before);
})();
`;

test("memory does not grow with the number of programs", () => {
  const cwd = dirname(fileURLToPath(import.meta.url));
  const told = execFileSync(process.execPath, ["--expose-gc", "-e", CODE], { cwd, encoding: "utf8" });
  // A leak of the 500 rows alone would be more than 20 MB.
  assert.ok(Number(told) < 15_000_000, `${told} bytes more`);
});
