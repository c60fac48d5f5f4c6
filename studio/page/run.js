// Writing and running a program.

import { ask, button, by, make, number, painted } from "./dom.js";

const program = by("program");
let marks = [];
let asking = null;
let leaves = false;

export function begin(start) {
  program.value = start.program ?? "";
  by("data").value = start.data ?? "";
  by("stubs").value = start.stubs ?? "";
  paint();
  if (program.value) check();
  const spaces = start.preludes ?? [];
  by("result").replaceChildren(make("p", "empty", spaces.length
    ? `The result appears here. Programs may use ${spaces.map((name) => `${name}/`).join(", ")}.`
    : "The result appears here: value, prints, calls of tools, and what it took."));
}

export function shown() { paint(); }

/** Colours lie below the text that is typed, which itself has none. */
function paint() {
  const text = program.value;
  // A last empty line has no height otherwise.
  by("paint").replaceChildren(text.length <= 100000 ? painted(text, marks) : text, "\n");
  follow();
}

function follow() { by("paint").scrollTop = program.scrollTop; by("paint").scrollLeft = program.scrollLeft; }

/** The members of a JSON text, or an error that says which text it is. */
function members(id, what) {
  const text = by(id).value.trim();
  if (!text) return {};
  let value;
  try { value = JSON.parse(text); } catch (error) { throw new Error(`${what}: ${error.message}`); }
  if (value === null || typeof value !== "object" || Array.isArray(value)) throw new Error(`${what}: write an object, such as {"name": 1}`);
  return value;
}

const asked = () => ({ program: program.value, data: members("data", "Data"), stubs: members("stubs", "Tools") });

let timer;
function checkSoon() { clearTimeout(timer); timer = setTimeout(check, 150); }

async function check() {
  asking?.abort();
  asking = new AbortController();
  let body;
  try { body = asked(); } catch { body = { program: program.value }; }
  try {
    const { found } = await ask("check", body, asking.signal);
    if (body.program !== program.value) return;
    marks = found.filter((one) => one.range).map((one) => ({ from: one.range[0], to: one.range[1], warning: one.warning }));
    by("run-state").textContent = said(found);
    paint();
  } catch (error) {
    if (error.name !== "AbortError") by("run-state").textContent = error.message;
  }
}

function said(found) {
  const count = (list, what) => list.length ? `${list.length} ${what}${list.length > 1 ? "s" : ""}` : "";
  const [first] = found;
  const counts = [count(found.filter((one) => !one.warning), "error"), count(found.filter((one) => one.warning), "warning")];
  return first ? `${counts.filter(Boolean).join(", ")}: ${first.line ? `line ${first.line}: ` : ""}${first.message}` : "";
}

async function run() {
  by("go").disabled = true;
  by("run-state").textContent = "running…";
  try {
    const result = await ask("run", asked());
    by("run-state").textContent = result.ok ? "done" : "failed";
    by("result").replaceChildren(report(result));
    by("result").scrollTop = 0;
  } catch (error) {
    by("run-state").textContent = "";
    by("result").replaceChildren(make("div", "found", make("b", "", "Cannot run"), make("p", "", error.message)));
  } finally {
    by("go").disabled = false;
  }
}

function report(result) {
  const page = document.createDocumentFragment();
  for (const error of result.errors ?? []) page.append(finding(error));
  if (result.value !== undefined && result.value !== null) {
    const value = make("pre", "value");
    value.append(result.value.length <= 50000 ? painted(result.value) : result.value);
    page.append(make("h2", "", "Value"), value);
    if (result.cut) page.append(make("p", "soft", "The rest of the value is left out."));
  }
  for (const warning of result.warnings ?? []) page.append(finding(warning));
  if (result.prints.length) {
    page.append(make("h2", "", "Printed"), make("pre", "", result.prints.join("\n")));
    if (result.prints_left_out) page.append(make("p", "soft", `${number(result.prints_left_out)} further lines are left out.`));
  }
  if (result.calls.length) page.append(make("h2", "", "Calls"), calls(result));
  page.append(make("h2", "", "What it took"), meters(result));
  return page;
}

function calls(result) {
  const rows = result.calls.map((call) => make("tr", "", make("td", "mono", call.tool), make("td", "mono", call.args)));
  const head = make("tr", "", make("th", "", "Tool"), make("th", "", "Arguments"));
  const table = make("table", "", make("thead", "", head), make("tbody", "", ...rows));
  return result.calls_left_out ? make("div", "", table, make("p", "soft", `${number(result.calls_left_out)} further calls are left out.`)) : table;
}

function meters(result) {
  const box = make("div", "meters");
  for (const [label, spent, limit] of [["Running", result.fuel, result.fuel_limit], ["Compiling", result.compile_fuel, result.compile_fuel_limit]]) {
    const meter = make("meter");
    Object.assign(meter, { min: 0, max: limit, value: spent });
    meter.setAttribute("aria-label", `${label}: ${spent} of ${limit} units of fuel`);
    box.append(make("span", "", label), meter, make("span", "soft", `${number(spent)} of ${number(limit)} fuel`));
  }
  box.append(make("span", "", "Time"), make("span"), make("span", "soft", `${result.ms < 10 ? result.ms.toFixed(2) : number(result.ms)} ms`));
  return box;
}

function finding(found) {
  const box = make("div", found.warning ? "found warning" : "found");
  const place = found.line ? ` · line ${found.line}, column ${found.column}` : "";
  box.append(make("b", "", found.warning ? "Warning" : "Error"), ` ${found.label} ${found.reason}${place}`, make("p", "", found.message));
  if (found.hint) box.append(make("p", "soft", `Hint: ${found.hint}`));
  if (found.frames.length) box.append(make("ul", "mono", ...found.frames.map((frame) => make("li", "", frame))));
  if (found.range) box.append(button("Show in the program", () => select(found.range)));
  if (found.fix) box.append(button("Fix", () => fix(found.fix)));
  return box;
}

function select([from, to]) {
  program.focus();
  program.setSelectionRange(from, Math.max(to, from));
  const line = program.value.slice(0, from).split("\n").length - 1;
  program.scrollTop = Math.max(0, line * 20 - program.clientHeight / 2);
  follow();
}

function fix([from, to, text]) {
  program.focus();
  program.setRangeText(text, from, to, "end");
  changed();
}

function changed() { marks = []; paint(); checkSoon(); }

program.addEventListener("input", changed);
program.addEventListener("scroll", follow);
for (const id of ["data", "stubs"]) by(id).addEventListener("input", checkSoon);
by("go").addEventListener("click", run);
for (const id of ["program", "data", "stubs"]) {
  by(id).addEventListener("keydown", (event) => {
    if ((event.ctrlKey || event.metaKey) && event.key === "Enter") { event.preventDefault(); run(); }
    // Nobody is caught in the editor: after Escape, Tab moves on.
    if (event.key === "Escape") leaves = true;
    else if (event.key === "Tab" && !event.shiftKey && !leaves && id === "program") {
      event.preventDefault();
      program.setRangeText("  ", program.selectionStart, program.selectionEnd, "end");
      changed();
    } else if (event.key !== "Shift") leaves = false;
  });
}
program.addEventListener("focus", () => { leaves = false; });
