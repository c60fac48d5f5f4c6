// Documentation of the language and of preludes.

import { ask, by, make, painted } from "./dom.js";

let asking = null;
let timer;

export function begin() {}

export function shown() { search(); }

async function search() {
  asking?.abort();
  asking = new AbortController();
  const query = { words: by("words").value, namespace: by("namespace").value };
  try {
    const answer = await ask("search", query, asking.signal);
    spaces(answer.namespaces);
    by("entries").replaceChildren(...answer.found.map(entry));
    const count = answer.found.length;
    by("library-state").textContent = count
      ? `${count} found${answer.left_out ? `, ${answer.left_out} left out` : ""}`
      : query.words || query.namespace ? "nothing found" : "search, or choose a namespace";
  } catch (error) {
    if (error.name !== "AbortError") by("library-state").textContent = error.message;
  }
}

function spaces(names) {
  const select = by("namespace");
  if (select.options.length) return;
  const option = (value, text) => { const one = make("option", "", text); one.value = value; return one; };
  select.append(option("", "All namespaces"), ...names.map((name) => option(name, name)));
}

function entry(found) {
  const box = make("article", "entry", make("h3", "", found.signatures.join("\n") || found.name), make("p", "", found.description));
  if (found.example) { const example = make("pre"); example.append(painted(found.example)); box.append(example); }
  box.append(make("p", "soft", found.place + (found.prelude ? " · prelude" : "")));
  return box;
}

const soon = () => { clearTimeout(timer); timer = setTimeout(search, 120); };
by("words").addEventListener("input", soon);
by("namespace").addEventListener("change", search);
document.addEventListener("keydown", (event) => {
  const isTyping = event.target instanceof HTMLInputElement || event.target instanceof HTMLTextAreaElement;
  if (event.key === "/" && !isTyping && !by("library").hidden) { event.preventDefault(); by("words").focus(); }
});
