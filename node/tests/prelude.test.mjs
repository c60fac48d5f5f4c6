// Preludes: compiled, loaded, verified and attached.
import assert from "node:assert/strict";
import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import * as ptc from "ptc-lisp";
import { failure } from "./support.mjs";

const KEY = "07".repeat(32);
const SOURCE = '(ns shop "The shop.") (defn price "Price of an item." [item] (tool/price {:of item}))';
const tools = { price: ({ of }) => ({ tea: 3, cake: 5 })[of] };

test("a prelude is called like builtins", async () => {
  const shop = ptc.Prelude.compile(SOURCE);
  assert.deepEqual([shop.namespaces, shop.exports], [["shop"], ["shop/price"]]);
  assert.match(shop.inventory, /Price of an item\./);
  assert.deepEqual(await ptc.run('(map shop/price ["tea" "cake"])', { tools, preludes: [shop] }), [3, 5]);
  assert.match(ptc.card({ tools, preludes: [shop] }), /shop\/price/);
  await assert.rejects(ptc.run("1", { preludes: [shop] }), /requires granted tool `price`/);
  const run = new ptc.Program('(shop/price "tea")', { tools, preludes: [shop] }).start();
  assert.equal(run.step()[0].origin, "shop/price");
});

test("one prelude may use another", async () => {
  const shop = ptc.Prelude.compile(SOURCE);
  const tax = ptc.Prelude.compile("(ns tax (:require [shop :as s])) (defn gross [i] (* 2 (s/price i)))", { uses: [shop] });
  assert.equal(await ptc.run('(tax/gross "tea")', { tools, preludes: [shop, tax] }), 6);
});

test("a file is verified", () => {
  const shop = ptc.Prelude.compile(SOURCE);
  const folder = mkdtempSync(join(tmpdir(), "ptc-"));
  const path = join(folder, "shop.ptcp");
  writeFileSync(path, shop.toBytes());
  assert.equal(ptc.Prelude.load(path).hash, shop.hash);
  assert.equal(ptc.Prelude.load(path, { pin: shop.hash }).interfaceHash, shop.interfaceHash);
  assert.throws(() => ptc.Prelude.load(path, { pin: "0".repeat(64) }), ptc.CompileError);
  const damaged = shop.toBytes();
  damaged[damaged.length - 1] ^= 1;
  assert.throws(() => ptc.Prelude.fromBytes(damaged), ptc.CompileError);
  assert.throws(() => ptc.Prelude.load(join(folder, "nothing.ptcp")), { code: "ENOENT" });
});

test("only trusted keys", async () => {
  const shop = ptc.Prelude.compile(SOURCE);
  const path = join(mkdtempSync(join(tmpdir(), "ptc-")), "shop.ptcp");
  writeFileSync(path, shop.toBytes());
  const trusted = ptc.publicKey(KEY);
  assert.equal((await failure(() => ptc.Prelude.load(path, { trusted }))).kind, "untrusted");
  writeFileSync(`${path}.sig`, shop.sign(KEY));
  const signed = ptc.Prelude.load(path, { trusted });
  assert.equal(await new ptc.Program('(shop/price "tea")', { tools, preludes: [signed], trusted }).call(), 3);
  assert.throws(() => new ptc.Program("1", { tools, preludes: [shop], trusted }), ptc.CompileError);
  assert.throws(() => ptc.publicKey("7"), ptc.PtcError);
});

test("errors of a source have places", async () => {
  const error = await failure(() => ptc.Prelude.compile("(ns shop)\n(defn price [item]\n  (fliter odd? item))"));
  assert.equal(error.line, 3);
  assert.match(error.problem, /fliter/);
});
