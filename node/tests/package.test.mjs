// The package as it is installed: its version, its names, its command, its types and the examples of its pages.
import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import * as ptc from "ptc-lisp";
import { ROOT } from "./support.mjs";

const require = createRequire(import.meta.url);
const HERE = dirname(fileURLToPath(import.meta.url));
const MANIFEST = require("ptc-lisp/package.json");
const FOLDER = dirname(require.resolve("ptc-lisp/package.json"));

test("one version", () => {
  const table = readFileSync(join(ROOT, "Cargo.toml"), "utf8");
  const [, wanted] = /\[workspace\.package\]\s*version = "([^"]+)"/.exec(table);
  const crate = readFileSync(join(ROOT, "node", "Cargo.toml"), "utf8");
  assert.match(crate, new RegExp(`^version = "${wanted}"$`, "m"));
  assert.deepEqual([MANIFEST.version, ptc.version], [wanted, wanted]);
});

test("`import` and `require` give the same objects", () => {
  const required = require("ptc-lisp");
  const { default: whole, ...named } = ptc;
  assert.equal(whole, required);
  assert.deepEqual(Object.keys(named).sort(), Object.keys(required).sort());
  for (const [name, value] of Object.entries(named)) assert.equal(value, required[name]);
});

test("the types name what is there", () => {
  const types = readFileSync(join(FOLDER, "lib", "index.d.ts"), "utf8");
  const declared = [...types.matchAll(/^export (?:class|const|function) (\w+)/gm)].map((found) => found[1]);
  assert.deepEqual([...new Set(declared)].sort(), Object.keys(require("ptc-lisp")).sort());
  for (const [, name, body] of types.matchAll(/^export class (\w+).*?\{\n(.*?)^\}/gms)) {
    const { prototype } = ptc[name];
    for (const [, member] of body.matchAll(/^ {2}(?:get )?(\w+)\(.*\): /gm)) {
      assert.ok(member in prototype, `${name}.${member}`);
    }
    for (const [, member] of body.matchAll(/^ {2}static (\w+)\(/gm)) assert.ok(member in ptc[name], `${name}.${member}`);
  }
});

test("the types fit programs", () => {
  const compiler = require.resolve("typescript/package.json");
  const tsc = join(dirname(compiler), Object.values(require(compiler).bin).find((path) => path.endsWith("tsc")));
  for (const file of ["types.mts", "types.cts"]) {
    const flags = ["--noEmit", "--strict", "--skipLibCheck", "--target", "es2023", "--module", "nodenext", "--types", "node"];
    const done = spawnSync(process.execPath, [tsc, ...flags, join(HERE, file)], { encoding: "utf8" });
    assert.deepEqual([done.status, done.stdout + done.stderr], [0, ""]);
  }
});

test("the command", () => {
  const bin = join(FOLDER, MANIFEST.bin["ptc-lisp"]);
  const run = (...words) => spawnSync(process.execPath, [bin, ...words], { encoding: "utf8" });
  assert.equal(MANIFEST.bin.ptc, MANIFEST.bin["ptc-lisp"]);
  assert.equal(run("eval", "-e", "(+ 1 2)").stdout, "3\n");
  const failed = run("eval", "-e", "(+ 1 nil)");
  assert.equal(failed.status, 1);
  assert.match(failed.stderr, /type_error/);
  assert.equal(run("evaal").status, 2);
});

test("a process ends although there are programs that wait", () => {
  const code = 'require("ptc-lisp").run("(tool/hang {})", { tools: { hang: () => new Promise(() => {}) } })';
  const done = spawnSync(process.execPath, ["-e", code], { cwd: HERE, timeout: 20_000, encoding: "utf8" });
  // Node's code for a promise that nothing will settle, or none.
  assert.ok([0, 13].includes(done.status), done.stderr);
});

for (const page of ["node/README.md", "docs/guide/node.md"]) {
  test(`the examples of ${page}`, () => {
    const text = readFileSync(join(ROOT, page), "utf8");
    const blocks = [...text.matchAll(/```js\n(.*?)```/gs)].map((found) => found[1]);
    assert.ok(blocks.length > 0);
    const wrong = "console.assert = (truth) => { if (!truth) throw new Error('wrong'); };\n";
    const file = join(HERE, `example-${process.pid}.mjs`);
    writeFileSync(file, wrong + blocks.filter((block) => !block.startsWith("// not run")).join("\n"));
    try {
      execFileSync(process.execPath, [file], { stdio: ["ignore", "ignore", "pipe"] });
    } finally {
      rmSync(file);
    }
  });
}
