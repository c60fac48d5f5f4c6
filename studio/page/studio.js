// The views and how they are chosen.

import { ask, by } from "./dom.js";
import * as library from "./library.js";
import * as run from "./run.js";
import * as traces from "./traces.js";

const views = { run, library, traces };
const names = Object.keys(views);

function show(name, focus) {
  for (const other of names) {
    const chosen = other === name;
    by(other).hidden = !chosen;
    by(`tab-${other}`).setAttribute("aria-selected", String(chosen));
    by(`tab-${other}`).tabIndex = chosen ? 0 : -1;
  }
  if (location.hash.slice(1).split("/")[0] !== name) history.replaceState(null, "", `#${name}`);
  views[name].shown();
  if (focus) by(`tab-${name}`).focus();
}

for (const name of names) by(`tab-${name}`).addEventListener("click", () => show(name));
by("tabs").addEventListener("keydown", (event) => {
  const now = names.findIndex((name) => by(`tab-${name}`).getAttribute("aria-selected") === "true");
  const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
  if (step) { event.preventDefault(); show(names[(now + step + names.length) % names.length], true); }
});
document.addEventListener("keydown", (event) => {
  if (event.altKey && ["1", "2", "3"].includes(event.key)) { event.preventDefault(); show(names[event.key - 1], true); }
});

const start = await ask("start").catch((error) => { by("run-state").textContent = error.message; return {}; });
for (const view of Object.values(views)) view.begin(start);
const wanted = location.hash.slice(1).split("/")[0];
show(names.includes(wanted) ? wanted : start.traces && !start.program ? "traces" : "run");
