// Elements and requests. Text of programs, models and servers only ever becomes text of the page.

export const by = (id) => document.getElementById(id);

/** An element with a class, attributes and children; texts among the children stay texts. */
export function make(tag, name, ...children) {
  const element = document.createElement(tag);
  if (name) element.className = name;
  element.append(...children.filter((child) => child !== null && child !== undefined));
  return element;
}

export function button(text, act) {
  const element = make("button", "", text);
  element.type = "button";
  element.addEventListener("click", act);
  return element;
}

/** Asks the studio; throws an error with a text for people. */
export async function ask(name, body = {}, signal = undefined) {
  let answer;
  try {
    answer = await fetch(`api/${name}`, {
      method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(body), signal,
    });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Error("the studio does not answer: is `ptc studio` still running?");
  }
  const value = answer.headers.get("content-type") === "application/json" ? await answer.json() : { error: await answer.text() };
  if (!answer.ok) throw new Error(value.error ?? `the studio answered ${answer.status}`);
  return value;
}

export const number = (n) => Math.round(n).toString().replace(/\B(?=(\d{3})+$)/g, "\u202f");

const parts = /(;[^\n]*)|(#?"(?:[^"\\]|\\[^])*"?)|(\\[^\s()[\]{}",;]+)|(:[^\s()[\]{}"',;`~@^\\]+)|([()[\]{}'`~@^#,\s]+)|([^\s()[\]{}"',;`~@^\\]+)|([^])/g;
const forms = new Set(("def defn defn- defonce declare ns require fn let letfn loop recur do if if-not if-let if-some when when-not when-let when-some " +
  "when-first cond condp case and or for doseq dotimes while -> ->> as-> some-> some->> cond-> cond->> doto try catch finally throw quote return " +
  "fail task deftest is testing").split(" "));

/** A program as pieces of text with colours; `marks` are ranges to be underlined. */
export function painted(text, marks = []) {
  const page = document.createDocumentFragment();
  const piece = (from, to, colour) => {
    // A mark may begin or end within a piece.
    const cuts = marks.flatMap((mark) => [mark.from, mark.to]).filter((at) => at > from && at < to);
    const ends = [...new Set([...cuts, to])].sort((a, b) => a - b);
    for (const end of ends) {
      const mark = marks.find((mark) => mark.from <= from && end <= Math.max(mark.to, mark.from + 1));
      const classes = [colour, mark ? (mark.warning ? "u-warning" : "u-error") : ""].filter(Boolean).join(" ");
      page.append(classes ? make("span", classes, text.slice(from, end)) : text.slice(from, end));
      from = end;
    }
  };
  for (const found of text.matchAll(parts)) {
    const [whole, comment, string, char, keyword, blank, word] = found;
    const colour = comment ? "c-comment" : string || char ? "c-string" : keyword ? "c-keyword" : blank ? "" :
      word && forms.has(word) ? "c-form" : word && /^[+-]?\d/.test(word) ? "c-number" : "";
    piece(found.index, found.index + whole.length, colour);
  }
  return page;
}
