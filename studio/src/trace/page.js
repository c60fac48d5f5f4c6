"use strict";
// Everything shown comes from `data` and is written as text, never as markup.
const data = JSON.parse(document.getElementById("data").textContent);
const spans = data.spans;
const by = (id) => document.getElementById(id);
const make = (tag, name, text) => {
  const element = document.createElement(tag);
  if (name) element.className = name;
  if (text !== undefined && text !== null) element.textContent = text;
  return element;
};

spans.forEach((span) => { span.children = []; });
spans.forEach((span, at) => { if (span.parent >= 0) spans[span.parent].children.push(at); });
const words = spans.map((span) => {
  const said = span.parts.map((part) =>
    Array.isArray(part.body) ? part.body.map((message) => message.text).join(" ") : part.body);
  return [span.name, span.status || "", ...said].join("\n").toLowerCase();
});

// The head.
by("mission").textContent = data.mission || "";
for (const [label, value, bad] of data.figures) {
  const pair = make("div");
  pair.append(make("dt", "", label), make("dd", bad ? "bad" : "", value));
  by("figures").append(pair);
}
for (const note of data.notes) by("notes").append(make("li", "", note));
by("notes").hidden = data.notes.length === 0;

// The scale.
const total = data.end > 0 ? data.end : 1;
const unit = (ms) => ms === 0 ? "0" : ms < 1 ? Math.round(ms * 1000) + " µs" : ms < 10 ? ms.toFixed(1) + " ms" : ms < 1000 ? Math.round(ms) + " ms" : ms < 100000 ? (ms / 1000).toFixed(1) + " s" :
  Math.floor(ms / 60000) + ":" + String(Math.floor(ms / 1000) % 60).padStart(2, "0") + " min";
const ticks = make("div", "ticks");
for (let i = 0; i <= 4; i++) ticks.append(make("span", "", unit(total * i / 4)));
by("scale").append(ticks);

// Which rows are open. A long run begins with agents and turns only.
const open = spans.map((span) => span.children.length > 0 && (spans.length <= 60 || span.kind === "run" && span.depth < 2));
let shown = [];
let chosen = 0;
const tree = by("tree");
const rows = new Map();

function stretch(span, name) {
  const part = make("i", name);
  part.style.left = Math.min(99.8, 100 * span.from / total) + "%";
  part.style.width = Math.max(0.15, Math.min(100, 100 * span.ms / total)) + "%";
  return part;
}

function program(span) {
  const found = span.parts.find((part) => part.title === "Program");
  return found ? found.body.slice(0, 200).replace(/\s+/g, " ") : "";
}

function row(at) {
  const span = spans[at];
  const line = make("div", "row " + span.kind + (span.failed ? " failed" : ""));
  line.id = "r" + at;
  line.setAttribute("role", "treeitem");
  line.setAttribute("aria-level", Math.min(span.depth, 99) + 1);
  const name = make("div", "name");
  name.style.paddingLeft = Math.min(span.depth, 16) * 14 + "px";
  const twist = make("span", "twist");
  twist.setAttribute("aria-hidden", "true");
  const chip = make("span", "kind k-" + span.kind);
  chip.title = span.kind;
  name.append(twist, chip, make("span", "label", span.name));
  const glance = program(span);
  if (glance) name.append(make("span", "glance", glance));
  const tail = [];
  if (span.kind === "llm" && span.tokens) tail.push(span.tokens[0] + " → " + span.tokens[1]);
  if (span.cached) tail.push("cached");
  if (span.effect) tail.push(span.effect);
  if (!span.ended && span.kind !== "other") tail.push("not ended");
  if (tail.length) name.append(make("span", "tail", tail.join(" · ")));
  const bar = make("div", "bar");
  bar.title = "after " + span.after + ", took " + span.took;
  bar.append(stretch(span, "k-" + span.kind));
  // What a turn waited for is seen without opening it.
  if (span.kind === "turn") {
    for (const child of span.children.slice(0, 200)) {
      const below = spans[child];
      bar.append(stretch(below, below.failed ? "k-bad" : "k-" + below.kind));
    }
  }
  line.append(name, bar, make("div", "took", span.took));
  twist.addEventListener("click", (event) => { event.stopPropagation(); toggle(at); });
  line.addEventListener("click", () => choose(at));
  line.addEventListener("dblclick", () => toggle(at));
  return line;
}

function draw() {
  const query = by("search").value.trim().toLowerCase();
  const failed = by("failed").checked;
  const filtered = query !== "" || failed;
  let keep = null;
  let hits = 0;
  if (filtered) {
    keep = new Set();
    spans.forEach((span, at) => {
      if ((query && !words[at].includes(query)) || (failed && !span.failed)) return;
      hits++;
      for (let up = at; up >= 0 && !keep.has(up); up = spans[up].parent) keep.add(up);
    });
  }
  shown = [];
  // Spans stand before what is below them, so one pass shows what has no closed row above.
  const visible = new Array(spans.length).fill(false);
  spans.forEach((span, at) => {
    const up = span.parent;
    visible[at] = up < 0 || (visible[up] && (open[up] || filtered));
    if (visible[at] && (!keep || keep.has(at))) shown.push(at);
  });
  const page = document.createDocumentFragment();
  for (const at of shown) {
    if (!rows.has(at)) rows.set(at, row(at));
    const line = rows.get(at);
    const has = spans[at].children.length > 0;
    const is = open[at] || filtered;
    line.firstChild.firstChild.textContent = has ? (is ? "▾" : "▸") : "";
    if (has) line.setAttribute("aria-expanded", String(is));
    page.append(line);
  }
  tree.replaceChildren(page);
  by("count").textContent = filtered ? hits + " found" : shown.length + " of " + spans.length + " rows";
  mark();
}

function mark() {
  for (const line of tree.querySelectorAll(".chosen")) { line.classList.remove("chosen"); line.removeAttribute("aria-selected"); }
  const line = rows.get(chosen);
  if (!line || !line.isConnected) return tree.removeAttribute("aria-activedescendant");
  line.classList.add("chosen");
  line.setAttribute("aria-selected", "true");
  tree.setAttribute("aria-activedescendant", line.id);
}

function choose(at) {
  chosen = at;
  mark();
  const line = rows.get(at);
  if (line) line.scrollIntoView({ block: "nearest" });
  details(at);
  history.replaceState(null, "", "#" + at);
}

function reveal(at) {
  for (let up = spans[at].parent; up >= 0; up = spans[up].parent) open[up] = true;
  draw();
  choose(at);
}

function toggle(at) {
  if (spans[at].children.length === 0) return;
  open[at] = !open[at];
  draw();
}

// Details.
const pattern = /(;[^\n]*)|("(?:[^"\\]|\\[^])*"?)|(:[\w\-?!*+<>=.\/]+)|(tool\/[\w\-?!.]+)/g;
function code(pre, text) {
  let from = 0;
  for (const found of text.matchAll(pattern)) {
    pre.append(text.slice(from, found.index));
    pre.append(make("span", found[1] ? "c-comment" : found[2] ? "c-string" : found[3] ? "c-keyword" : "c-tool", found[0]));
    from = found.index + found[0].length;
  }
  pre.append(text.slice(from));
}

function part(from, forced) {
  const box = make("details", from.title === "Error" || from.title === "Failure" ? "bad" : "");
  box.open = forced === undefined ? from.open : forced;
  box.append(make("summary", "", from.title));
  if (from.kind === "messages") {
    for (const message of from.body) {
      const one = make("div", "message");
      one.append(make("span", "", message.role), make("pre", "prose", message.text));
      box.append(one);
    }
  } else {
    const pre = make("pre", from.kind === "text" ? "prose" : "");
    if (from.kind === "code") code(pre, from.body); else pre.textContent = from.body;
    box.append(pre);
  }
  return box;
}

function about(span) {
  const line = make("p", "about");
  const said = [span.kind, "took " + span.took, "after " + span.after];
  if (span.tokens) said.push(span.tokens[0] + " tokens in, " + span.tokens[1] + " out");
  if (span.cost) said.push(span.cost);
  if (span.cached) said.push("from the cache");
  line.textContent = said.join(" · ");
  if (span.failed) line.append(" · ", make("b", "", "failed"));
  else if (!span.ended) line.append(" · ", make("b", "", "not ended"));
  return line;
}

// A turn within the story of its agent, or what happened within a turn.
function card(at, isOpen) {
  const span = spans[at];
  const box = make("details", "card" + (span.failed ? " wrong" : ""));
  box.open = isOpen;
  const title = make("summary", "", span.name + "  ·  " + span.took + (span.failed ? "  ·  failed" : ""));
  if (program(span)) title.append(make("code", "", program(span)));
  box.append(title);
  const fill = () => {
    if (box.childElementCount > 1) return;
    const calls = span.children.map((child) => spans[child]).filter((child) => child.kind === "tool" || child.kind === "parallel");
    for (const one of span.parts) if (one.title !== "More") box.append(part(one));
    if (calls.length) {
      const names = calls.map((call) => call.name + (call.failed ? " (failed)" : call.cached ? " (cached)" : ""));
      box.append(make("p", "calls", "calls: " + names.join(", ")));
    }
    const go = make("button", "", "Show in the timeline");
    go.type = "button";
    go.addEventListener("click", () => reveal(at));
    box.append(go);
  };
  box.addEventListener("toggle", fill);
  if (isOpen) fill();
  return box;
}

function details(at) {
  const span = spans[at];
  const right = by("right");
  const page = document.createDocumentFragment();
  page.append(make("h2", "", span.name), about(span));
  for (const one of span.parts) page.append(part(one));
  const turns = span.children.filter((child) => spans[child].kind === "turn");
  const below = turns.length ? turns : span.children.slice(0, 500);
  if (below.length) {
    const line = make("div", "between");
    const all = make("button", "", "Open all");
    all.type = "button";
    line.append(make("h2", "", turns.length === 1 ? "1 turn" : turns.length ? turns.length + " turns" : "Within"), all);
    const cards = below.map((child) => card(child, turns.length > 0 && turns.length <= 3));
    all.addEventListener("click", () => cards.forEach((one) => { one.open = true; }));
    page.append(line, ...cards);
  }
  right.replaceChildren(page);
  right.scrollTop = 0;
}

// Keys and buttons.
function move(by) {
  if (!shown.length) return;
  const now = shown.indexOf(chosen);
  choose(shown[Math.max(0, Math.min(shown.length - 1, now < 0 ? 0 : now + by))]);
}

function failure(step) {
  for (let at = chosen + step; at >= 0 && at < spans.length; at += step) {
    if (spans[at].failed) return reveal(at);
  }
}

tree.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const page = Math.max(1, Math.floor(tree.clientHeight / 24) - 1);
  const keys = {
    ArrowDown: () => move(1), j: () => move(1), ArrowUp: () => move(-1), k: () => move(-1),
    PageDown: () => move(page), PageUp: () => move(-page), Home: () => move(-spans.length), End: () => move(spans.length),
    ArrowRight: () => { if (spans[chosen].children.length && !open[chosen]) toggle(chosen); else move(1); },
    ArrowLeft: () => { if (open[chosen]) toggle(chosen); else if (spans[chosen].parent >= 0) choose(spans[chosen].parent); },
    Enter: () => by("right").focus(), " ": () => toggle(chosen), n: () => failure(1), p: () => failure(-1),
  };
  if (!keys[event.key]) return;
  event.preventDefault();
  keys[event.key]();
});
document.addEventListener("keydown", (event) => {
  const typing = event.target instanceof HTMLInputElement && event.target.type === "search";
  if (event.key === "/" && !typing) { event.preventDefault(); by("search").focus(); }
  if (event.key === "Escape") { if (typing && by("search").value) { by("search").value = ""; draw(); } tree.focus(); }
});
by("search").addEventListener("input", draw);
by("failed").addEventListener("change", draw);
by("open").addEventListener("click", () => { open.fill(true); draw(); });
by("close").addEventListener("click", () => {
  spans.forEach((span, at) => { open[at] = span.kind === "run" && span.depth < 2; });
  draw();
});

// A trace that is served may grow. The page is then loaded again, at the same row; the last row is followed.
function live({ request, name, version }) {
  const look = async () => {
    try {
      const answer = await fetch(request, {
        method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify({ name }),
      });
      const now = answer.ok ? (await answer.json()).version : version;
      if (now !== version) {
        if (chosen === spans.length - 1) history.replaceState(null, "", "#last");
        return location.reload();
      }
    } catch { /* The studio has ended, or is busy. */ }
    setTimeout(look, 1000);
  };
  setTimeout(look, 1000);
}

draw();
if (data.live) live(data.live);
if (spans.length) {
  const asked = location.hash === "#last" ? spans.length - 1 : Number.parseInt(location.hash.slice(1), 10);
  if (asked > 0 && asked < spans.length) reveal(asked); else choose(0);
  tree.focus({ preventScroll: true });
}
