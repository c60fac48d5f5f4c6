// What several tests use.
import assert from "node:assert/strict";
import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

/** The repository: the tests may have been copied out of it. */
export const ROOT = process.env.PTC_ROOT ?? fileURLToPath(new URL("../..", import.meta.url));

/** Returns the error that a call throws or rejects with. */
export async function failure(call) {
  try {
    await call();
  } catch (error) {
    return error;
  }
  assert.fail("nothing was thrown");
}

export function sleep(millis, value) {
  return new Promise((resolve) => setTimeout(resolve, millis, value));
}

/** Reads the conformance corpus, which tests of all bindings share. */
export function cases() {
  const folder = join(ROOT, "snapshots", "conformance");
  const files = readdirSync(folder).filter((name) => name.endsWith(".jsonl")).sort();
  const lines = files.flatMap((name) => readFileSync(join(folder, name), "utf8").split("\n"));
  return lines.filter((line) => line.trim()).map((line) => JSON.parse(line));
}
