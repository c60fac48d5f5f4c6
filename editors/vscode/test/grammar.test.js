"use strict";
// The grammar, in the engine that VS Code has: which part of a program is what.

const { test } = require("node:test");
const assert = require("node:assert");
const fs = require("node:fs");
const path = require("node:path");
const { INITIAL, Registry, parseRawGrammar } = require("vscode-textmate");
const oniguruma = require("vscode-oniguruma");

const file = path.join(__dirname, "../syntaxes/ptc-lisp.tmLanguage.json");

async function grammar() {
  await oniguruma.loadWASM(fs.readFileSync(require.resolve("vscode-oniguruma/release/onig.wasm")).buffer);
  const registry = new Registry({
    onigLib: Promise.resolve({
      createOnigScanner: (patterns) => new oniguruma.OnigScanner(patterns),
      createOnigString: (text) => new oniguruma.OnigString(text),
    }),
    loadGrammar: async () => parseRawGrammar(fs.readFileSync(file, "utf8"), file),
  });
  return registry.loadGrammar("source.ptc-lisp");
}

test("every part of a program has its scope", async () => {
  const found = await grammar();
  const scopes = (line) => {
    const { tokens } = found.tokenizeLine(line, INITIAL);
    return tokens.map(({ startIndex, endIndex, scopes }) => [
      line.slice(startIndex, endIndex),
      scopes.at(-1).replace(/\.ptc-lisp$/, ""),
    ]);
  };
  for (const [line, part, scope] of [
    ["(defn area [w] (* w 2)) ; note", "defn", "keyword.declaration"],
    ["(defn area [w] (* w 2)) ; note", "area", "entity.name.function"],
    ["(defn area [w] (* w 2)) ; note", "*", "support.function"],
    ["(defn area [w] (* w 2)) ; note", "2", "constant.numeric"],
    ["(defn area [w] (* w 2)) ; note", "; note", "comment.line.semicolon"],
    ["(let [x 1] x)", "let", "keyword.control"],
    ["(->> xs (map :total))", "->>", "keyword.control"],
    ["(->> xs (map :total))", "map", "support.function"],
    ["(->> xs (map :total))", ":total", "constant.keyword"],
    ["(mapper xs)", "mapper", "variable.other"],
    ["(map-indexed f xs)", "map-indexed", "support.function"],
    ['(str/join "a; b" xs)', "str", "support.class"],
    ['(str/join "a; b" xs)', "join", "support.function"],
    ["(tool/search {:q data/query})", "tool/search", "entity.name.function.tool"],
    ["(tool/search {:q data/query})", "data/query", "variable.other.data"],
    ["[nil true ##Inf -1.5e3]", "nil", "constant.language"],
    ["[nil true ##Inf -1.5e3]", "##Inf", "constant.language"],
    ["[nil true ##Inf -1.5e3]", "-1.5e3", "constant.numeric"],
    ["(.toUpperCase \"é\")", ".toUpperCase", "support.function.method"],
    ["(deftest finds (is (= 1 1)))", "deftest", "keyword.declaration"],
    ["(deftest finds (is (= 1 1)))", "is", "keyword.control"],
    ["\\( \\newline", "\\(", "constant.character"],
    ["(map #(inc %1) xs)", "%1", "variable.parameter"],
  ]) {
    const all = scopes(line);
    assert.ok(
      all.some(([text, found]) => text === part && found === scope),
      `${line}: ${part} is not ${scope}: ${JSON.stringify(all)}`,
    );
  }
  const text = scopes('"a \\" ; b" 1').map(([text, scope]) => `${text}=${scope}`);
  assert.ok(text.includes('\\"=constant.character.escape') && text.includes("1=constant.numeric"), text.join(" | "));
});
