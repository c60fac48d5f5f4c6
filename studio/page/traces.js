// Traces of missions: a list that follows the folder, the page of each, and two side by side.

import { ask, button, by, make, number } from "./dom.js";

let has = false;
let listed = "";
let chosen = null;
let timer;
const picked = new Set();

export function begin(start) {
  has = Boolean(start.traces);
  empty(has ? "Choose a trace." : "Start the studio with a folder of traces: ptc studio --traces DIR. `ptc agent run --trace DIR/NAME.jsonl` writes one; a mission that is still running is followed.");
}

export function shown() {
  clearTimeout(timer);
  if (has) follow();
  else by("traces-state").textContent = "no folder";
}

/** While the view is open, the list is read again every other second. */
async function follow() {
  await list();
  if (!by("traces").hidden) timer = setTimeout(follow, 2000);
}

async function list() {
  try {
    const { traces, left_out } = await ask("traces");
    by("traces-state").textContent = `${number(traces.length)} traces${left_out ? `, ${number(left_out)} older ones left out` : ""}`;
    const now = JSON.stringify(traces);
    if (now === listed) return;
    listed = now;
    const focused = document.activeElement?.dataset?.name;
    by("trace-list").replaceChildren(...traces.map(row));
    if (focused) [...by("trace-list").querySelectorAll("button")].find((one) => one.dataset.name === focused)?.focus();
    const wanted = location.hash.match(/^#traces\/(.+)$/);
    if (chosen === null && wanted) show(decodeURIComponent(wanted[1]));
  } catch (error) {
    by("traces-state").textContent = error.message;
  }
}

function row(trace) {
  const box = make("input");
  box.type = "checkbox";
  box.checked = picked.has(trace.name);
  box.setAttribute("aria-label", `Compare ${trace.name}`);
  box.addEventListener("change", () => {
    if (box.checked) picked.add(trace.name); else picked.delete(trace.name);
    by("compare").disabled = picked.size !== 2;
  });
  const when = new Date(trace.modified).toLocaleString();
  const go = button(trace.name, () => show(trace.name));
  go.dataset.name = trace.name;
  go.append(make("span", "soft", `${when} · ${number(Math.ceil(trace.bytes / 1000))} kB`));
  if (trace.name === chosen) go.setAttribute("aria-current", "true");
  return make("li", "", box, go);
}

function show(name) {
  chosen = name;
  for (const one of by("trace-list").querySelectorAll("button")) {
    if (one.dataset.name === name) one.setAttribute("aria-current", "true"); else one.removeAttribute("aria-current");
  }
  history.replaceState(null, "", `#traces/${encodeURIComponent(name)}`);
  const frame = make("iframe");
  frame.title = `Trace ${name}`;
  frame.src = `trace/${encodeURIComponent(name)}`;
  by("trace-view").replaceChildren(frame);
}

async function compare() {
  const [a, b] = [...picked];
  try {
    const { rows, left_out } = await ask("compare", { a, b });
    const page = make("div", "compared", make("h2", "", `${a} and ${b}`));
    page.append(make("p", "soft", "Lines with − are only in the first, lines with + only in the second."));
    for (const turn of rows) {
      const title = (side) => side ? side.title + (side.failed ? " (failed)" : "") : "none";
      const text = make("pre");
      for (const [sign, line] of turn.lines) text.append(make("span", sign === "+" ? "plus" : sign === "-" ? "minus" : "", `${sign === "-" ? "−" : sign} ${line}`));
      const isSame = turn.lines.every(([sign]) => sign === " ");
      page.append(make("h2", "", title(turn.a) === title(turn.b) ? title(turn.a) : `${title(turn.a)} · ${title(turn.b)}`, make("span", "soft", isSame ? "  the same" : "")), text);
    }
    if (left_out) page.append(make("p", "soft", `${number(left_out)} further turns are left out.`));
    by("trace-view").replaceChildren(page);
    by("trace-view").scrollTop = 0;
  } catch (error) {
    empty(error.message);
  }
}

function empty(text) { by("trace-view").replaceChildren(make("p", "empty", text)); }

by("refresh").addEventListener("click", () => { listed = ""; if (has) list(); });
by("compare").addEventListener("click", compare);
