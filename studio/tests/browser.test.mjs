// The studio in a real browser (Debian's Chromium), run by `.ci/run studio`. $PTC_COMMAND is the command, and screenshots
// go to $PTC_SCREENSHOTS if it is set.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import fs from "node:fs";
import { createRequire } from "node:module";
import os from "node:os";
import path from "node:path";
import { after, before, test } from "node:test";

const require = createRequire(import.meta.url);
const { chromium } = require(path.join(process.env.NODE_PATH, "playwright-core"));
const axe = fs.readFileSync(require.resolve(path.join(process.env.NODE_PATH, "axe-core")), "utf8");
const root = path.join(import.meta.dirname, "../..");
const folder = fs.mkdtempSync(path.join(os.tmpdir(), "studio-"));
const trace = fs.readFileSync(path.join(root, "examples/traces/late-orders.jsonl"), "utf8");
const hostile = [
  "<script>document.title='owned'</script>", "</script><img src=x onerror=document.title='owned'>", "\"'><svg onload=alert(1)>",
  "javascript:document.title='owned'", "{{data}}", "\u202eevil", "${document.title='owned'}",
];

let studio, base, browser;

before(async () => {
  fs.writeFileSync(path.join(folder, "late.jsonl"), trace);
  fs.writeFileSync(path.join(folder, "other.jsonl"), trace.replaceAll("refund", "return"));
  const bad = hostile[1].replaceAll('"', '\\"');
  fs.writeFileSync(path.join(folder, "hostile.jsonl"), trace.replaceAll("DE", bad).replaceAll("late", hostile[0].replaceAll('"', '\\"')));
  studio = spawn(process.env.PTC_COMMAND, ["studio", "--traces", folder], { stdio: ["ignore", "pipe", "inherit"] });
  base = await new Promise((found, failed) => {
    studio.stdout.on("data", (text) => found(text.toString().trim()));
    studio.on("exit", () => failed(new Error("ptc studio ended")));
  });
  assert.match(base, /^http:\/\/127\.0\.0\.1:\d+\/[\w-]{32}\/$/);
  browser = await chromium.launch({ executablePath: process.env.PTC_CHROMIUM ?? "/usr/bin/chromium", args: ["--no-sandbox"] });
});

after(async () => {
  await browser?.close();
  studio?.kill();
  fs.rmSync(folder, { recursive: true });
});

/** A page of the studio, which must not ask anybody else, complain or be taken over. */
async function open(options = {}, hash = "#run") {
  const page = await browser.newPage({ viewport: { width: 1280, height: 800 }, ...options });
  page.setDefaultTimeout(120000); // Machines that build at the same time are slow.
  page.wrong = [];
  page.on("request", (request) => { if (!request.url().startsWith(base) && !request.url().startsWith("data:")) page.wrong.push(request.url()); });
  page.on("console", (line) => { if (["error", "warning"].includes(line.type())) page.wrong.push(line.text()); });
  page.on("pageerror", (error) => page.wrong.push(String(error)));
  page.on("dialog", (dialog) => { page.wrong.push(`a dialog: ${dialog.message()}`); dialog.dismiss(); });
  await page.goto(`${base}${hash}`);
  await page.locator("main > section:not([hidden])").waitFor();
  return page;
}

async function close(page) {
  assert.deepEqual(page.wrong, []);
  assert.equal(await page.title(), "PTC studio");
  await page.close();
}

const result = (page) => page.locator("#result");

async function type(page, text) {
  await page.locator("#program").fill(text);
}

test("a program runs with data and tools, by keyboard alone", async () => {
  const page = await open();
  await page.keyboard.press("Alt+1");
  await page.keyboard.press("Tab");
  await page.keyboard.type("(println \"hello\") (tool/find {:n data/n})");
  await page.keyboard.press("Escape");
  await page.keyboard.press("Tab");
  await page.keyboard.type('{"n": 7}');
  await page.keyboard.press("Tab");
  await page.keyboard.type('{"find": {"found": true}}');
  await page.keyboard.press("Control+Enter");
  await page.getByText("Value", { exact: true }).waitFor();
  const text = await result(page).innerText();
  for (const part of ['{"found" true}', "hello", "find", '{"n":7}', "Running", "fuel"]) assert.ok(text.includes(part), `${part} in ${text}`);
  await close(page);
});

test("errors have frames and a place, warnings and fixes are offered", async () => {
  const page = await open();
  await type(page, "(defn half [x]\n  (/ x 0))\n(map half [1 2])");
  await page.getByRole("button", { name: "Run", exact: true }).click();
  await result(page).locator(".found").waitFor();
  const text = await result(page).innerText();
  for (const part of ["Error", "line 2", "half"]) assert.ok(text.includes(part), `${part} in ${text}`);
  await page.getByRole("button", { name: "Show in the program" }).first().click();
  const selected = await page.evaluate(() => { const e = document.activeElement; return e.value.slice(e.selectionStart, e.selectionEnd); });
  assert.equal(selected, "(/ x 0)");

  await type(page, "(str \"🦀\" (fliter odd? [1 2]))");
  await page.getByText("1 error: line 1").waitFor();
  assert.equal(await page.locator("#paint .u-error").innerText(), "fliter");
  await page.getByRole("button", { name: "Run", exact: true }).click();
  await page.getByRole("button", { name: "Fix" }).click();
  assert.equal(await page.locator("#program").inputValue(), "(str \"🦀\" (filter odd? [1 2]))");
  await type(page, "(+ 1 2))");
  await page.getByText("1 warning: line 1").waitFor();
  await page.locator("#data").fill("{oops");
  await page.getByRole("button", { name: "Run", exact: true }).click();
  await page.getByText("Cannot run").waitFor();
  await close(page);
});

test("texts of programs and data are only texts", async () => {
  const page = await open();
  for (const text of hostile) {
    const asText = JSON.stringify(text);
    await type(page, `(println ${asText}) {${asText} data/x :calls (tool/t {:a ${asText}}) :error ${asText}}`);
    await page.locator("#data").fill(JSON.stringify({ x: text }));
    await page.locator("#stubs").fill(JSON.stringify({ t: text }));
    await page.getByRole("button", { name: "Run", exact: true }).click();
    await page.getByText("done", { exact: true }).waitFor();
    assert.ok((await result(page).locator("pre").nth(1).textContent()).includes(text), text);
    await type(page, `(throw (ex-info ${asText} {}))`);
    await page.getByRole("button", { name: "Run", exact: true }).click();
    await page.getByText("failed", { exact: true }).waitFor();
    assert.equal(await page.locator("#result img, #result svg, #result script").count(), 0);
  }
  await close(page);
});

test("documentation is found", async () => {
  const page = await open({}, "#library");
  await page.keyboard.press("/");
  await page.keyboard.type("str/join");
  await page.getByRole("article").first().getByText("(join sep coll)").waitFor();
  await page.locator("#words").fill("");
  await page.locator("#namespace").selectOption("clojure.set");
  await page.getByRole("article").filter({ hasText: "union" }).first().waitFor();
  await close(page);
});

test("a trace says why, follows a mission and is compared with another", async () => {
  const lines = trace.trim().split("\n");
  const live = path.join(folder, "live.jsonl");
  fs.writeFileSync(live, lines.slice(0, 6).join("\n") + "\n");
  const page = await open({}, "#traces");
  await page.getByRole("button", { name: /^live\.jsonl/ }).click();
  const frame = page.frameLocator("iframe");
  await frame.getByRole("treeitem").first().waitFor();
  const before = await frame.getByRole("treeitem").count();
  fs.appendFileSync(live, lines.slice(6).join("\n") + "\n");
  await page.waitForFunction((before) => document.querySelector("iframe").contentDocument.querySelectorAll("[role=treeitem]").length > before, before);
  await page.getByRole("button", { name: /^hostile\.jsonl/ }).click();
  await page.frameLocator('iframe[title="Trace hostile.jsonl"]').getByRole("treeitem").first().waitFor();
  assert.equal(await page.frameLocator("iframe").locator("img, svg").count(), 0);
  await page.getByRole("checkbox", { name: "Compare late.jsonl" }).check();
  await page.getByRole("checkbox", { name: "Compare other.jsonl" }).check();
  await page.getByRole("button", { name: "Compare two" }).click();
  await page.locator(".compared .plus").first().waitFor();
  await close(page);
});

test("views are accessible in both themes and both widths", async () => {
  const shots = process.env.PTC_SCREENSHOTS;
  if (shots) fs.mkdirSync(shots, { recursive: true });
  for (const colorScheme of ["light", "dark"]) {
    for (const width of [1280, 390]) {
      const page = await open({ colorScheme, viewport: { width, height: width === 390 ? 844 : 800 } });
      const look = async (name) => {
        await page.evaluate(axe);
        const { violations } = await page.evaluate(() => window.axe.run(document, { resultTypes: ["violations"] }));
        const serious = violations.filter((one) => ["serious", "critical"].includes(one.impact));
        assert.deepEqual(serious.map((one) => [name, one.id, one.nodes.map((node) => node.html).slice(0, 3)]), []);
        const wide = await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth);
        assert.ok(wide <= 0, `${name} is ${wide} pixels too wide at ${width}`);
        if (shots) await page.screenshot({ path: path.join(shots, `${name}-${colorScheme}-${width}.png`), fullPage: width === 390 });
      };
      await type(page, ";; Totals by country\n(def orders data/orders)\n(println \"rows\" (count orders))\n(->> orders\n     (group-by :country)\n     (map (fn [[c rows]] [c (reduce + (map :total rows))]))\n     (into {}))");
      await page.locator("#data").fill('{"orders": [{"country": "DE", "total": 12}, {"country": "FR", "total": 30}]}');
      await page.getByRole("button", { name: "Run", exact: true }).click();
      await page.getByText("done", { exact: true }).waitFor();
      await look("run");
      await type(page, "(defn half [x]\n  (/ x 0))\n(map half [1 2])\n(fliter odd? [1])");
      await page.getByRole("button", { name: "Run", exact: true }).click();
      await page.getByText("failed", { exact: true }).waitFor();
      await look("error");
      await page.getByRole("tab", { name: "Library" }).click();
      await page.locator("#words").fill("group");
      await page.getByRole("article").first().waitFor();
      await look("library");
      await page.getByRole("tab", { name: "Traces" }).click();
      await page.getByRole("button", { name: /^late\.jsonl/ }).click();
      await page.frameLocator("iframe").getByRole("treeitem").first().waitFor();
      await look("trace");
      page.wrong = page.wrong.filter((text) => !text.includes("axe"));
      await close(page);
    }
  }
});
