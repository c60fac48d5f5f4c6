//! Texts that are expensive to read, expand, resolve and compile.

use super::cell::{Cell, Chance, Kind};

/// Returns a random text to compile.
pub fn source(chance: &mut Chance) -> Cell {
    let (shape, make) = SHAPES[chance.below(SHAPES.len())];
    let size = SIZES[chance.below(SIZES.len())];
    Cell { kind: Kind::Compile, name: format!("{shape} × {size}"), source: make(size) }
}

const SIZES: [usize; 5] = [3, 30, 300, 3_000, 30_000];

type Shape = (&'static str, fn(usize) -> String);

/// Shapes of texts, each generated in a given size.
const SHAPES: &[Shape] = &[
    ("nested calls", |n| nested("(inc ", "1", ")", n)),
    ("nested vectors", |n| nested("[", "1", "]", n)),
    ("nested maps", |n| nested("{:a ", "1", "}", n)),
    ("nested sets", |n| nested("#{", "1", "}", n)),
    ("sets in keys of maps", |n| nested("{#{", "1", "} 1}", n)),
    ("nested functions", |n| nested("(fn [x] ", "x", ")", n)),
    ("nested bindings", |n| nested("(let [x 1] ", "x", ")", n)),
    ("nested conditions", |n| nested("(if true ", "1", " 2)", n)),
    ("nested loops", |n| nested("(loop [i 0] ", "i", ")", n)),
    ("nested sequences", |n| nested("(for [x [1 2]] ", "x", ")", n)),
    ("nested quotes", |n| format!("{}a", "'".repeat(n))),
    ("forms left out", |n| format!("1 {}1", "#_ ".repeat(n))),
    ("metadata", |n| format!("(def {}x 1)", "^:private ".repeat(n))),
    ("numbers", |n| many("[", |i| format!("{i} "), "]", n)),
    ("floats", |n| many("[", |i| format!("{i}.125e-7 "), "]", n)),
    ("names bound", |n| many("(let [", |i| format!("x{i} {i} "), "] 1)", n)),
    ("names bound to those before", |n| many("(let [x0 1 ", |i| format!("x{} x{i} ", i + 1), "] 1)", n)),
    ("parameters", |n| many("(fn [", |i| format!("x{i} "), "] 1)", n)),
    ("captured names", |n| {
        let names = many("(let [", |i| format!("x{i} (count [{i}]) "), "]", n);
        many(&format!("{names} (fn [] ["), |i| format!("x{i} "), "]))", n)
    }),
    ("definitions", |n| many("", |i| format!("(def d{i} {i}) "), "", n)),
    ("functions that call each other", |n| {
        many("(defn f0 [x] x) ", |i| format!("(defn f{} [x] (f{i} x)) ", i + 1), "", n)
    }),
    ("unknown names", |n| many("[", |i| format!("unknown{i} "), "]", n)),
    ("one unknown name", |n| many("[", |_| "reduuce ".into(), "]", n)),
    ("entries", |n| many("{", |i| format!(":k{i} {i} "), "}", n)),
    ("repeated keys", |n| many("{", |_| ":k 1 ".into(), "}", n)),
    ("vectors as members", |n| many("#{", |i| format!("[{i} [{i}]] "), "}", n)),
    ("cases", |n| many("(case 1 ", |i| format!("{i} {i} "), "0)", n)),
    ("conditions in a row", |n| many("(cond ", |i| format!("(= 1 {i}) {i} "), ":else 0)", n)),
    ("steps threaded", |n| many("(-> 1 ", |_| "inc ".into(), ")", n)),
    ("sequences in a row", |n| many("(for [", |i| format!("x{i} [1] "), "] 1)", n.min(3_000))),
    ("destructured vectors", |n| format!("(let [{} [1]] a)", nested("[", "a", "]", n))),
    ("destructured maps", |n| many("(let [{:keys [", |i| format!("k{i} "), "]} {}] 1)", n)),
    ("defaults", |n| many("(let [{:keys [a] :or {", |i| format!("k{i} {i} "), "}} {}] a)", n)),
    ("patterns", |n| many("[", |i| format!("#\"a{{{}}}[b-z]+\" ", i % 100), "]", n.min(3_000))),
    ("a counted pattern", |n| format!("#\"(?:[a-z]{{1,{n}}}x?)*!\"")),
    ("a long text", |n| format!("\"{}\"", "a\\n".repeat(10 * n))),
    ("a long name", |n| "a".repeat(10 * n)),
    ("a long keyword", |n| format!(":{}", "k".repeat(10 * n))),
    ("a long number", |n| "7".repeat(5 * n)),
    ("a long comment", |n| format!("1 ; {}", "x ".repeat(10 * n))),
    ("blank lines", |n| format!("{}1", " \n".repeat(10 * n))),
    ("short functions", |n| many("[", |_| "#(+ %1 %2 %3) ".into(), "]", n)),
    ("constants to fold", |n| nested("(+ 1 ", "1", ")", n)),
    ("a sum to fold", |n| many("(+ ", |i| format!("{i} "), ")", n)),
    ("large integers to fold", |n| nested("(* 99999999999999999999 ", "1", ")", n)),
    ("tools", |n| many("[", |i| format!("(tool/t{i} {{:a {i}}}) "), "]", n)),
    ("data", |n| many("[", |i| format!("data/d{i} "), "]", n)),
    ("wrong parentheses", |n| many("", |_| "(inc ) ] ".into(), "", n)),
    ("calls without arguments", |n| many("[", |_| "(inc) ".into(), "]", n)),
    ("recursion with many arguments", |n| {
        let names = many("(loop [", |i| format!("x{i} {i} "), "]", n);
        many(&format!("{names} (if true 1 (recur "), |i| format!("x{i} "), ")))", n)
    }),
];

fn nested(open: &str, inner: &str, close: &str, n: usize) -> String {
    format!("{}{inner}{}", open.repeat(n), close.repeat(n))
}

fn many(open: &str, item: impl Fn(usize) -> String, close: &str, n: usize) -> String {
    let items: String = (0..n).map(item).collect();
    format!("{open}{items}{close}")
}
