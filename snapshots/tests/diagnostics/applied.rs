//! Hints that show code, applied to programs: each is an instruction, and the program runs afterwards.

use super::setup::Setup;
use ptc_runtime::Grants;
use std::path::{Path, PathBuf};

/// Part of a hint as in its source (`{…}` is filled in), a program that gets it, that program with the hint
/// applied, and its value.
const APPLIED: &[(&str, &str, &str, &str)] = &[
    ("`(or x {neutral})` supplies", "(let [x nil] (+ 1 x))", "(let [x nil] (+ 1 (or x 0)))", "1"),
    ("`(fnil {op} {defaults})` makes", "(let [x nil] (+ 1 x))", "(let [x nil] ((fnil + 0 0) 1 x))", "1"),
    ("`(fnil {op} {defaults})` makes", "(let [x nil] (* x 2))", "(let [x nil] ((fnil * 1) x 2))", "2"),
    (
        "the operator comes first: `({operator}",
        "(let [total 5] (if (total > 3) 1 2))",
        "(let [total 5] (if (> total 3) 1 2))",
        "1",
    ),
    ("`(parse-long s)` and `(parse-double s)`", "(+ 1 \"2\")", "(+ 1 (parse-long \"2\"))", "3"),
    (
        "`(if (zero? d) nil (/ n d))`",
        "(let [n 1 d 0] (/ n d))",
        "(let [n 1 d 0] (if (zero? d) nil (/ n d)))",
        "nil",
    ),
    (
        "`(if (zero? d) nil (/ n d))`",
        "(Math/floorDiv 1 0)",
        "(let [n 1 d 0] (if (zero? d) nil (/ n d)))",
        "nil",
    ),
    (
        "make one: `(throw (ex-info",
        "(throw \"no rows\")",
        "(try (throw (ex-info \"no rows\" {:table \"orders\"})) (catch Exception e (ex-data e)))",
        "{:table \"orders\"}",
    ),
    (
        "`(ex-info \"no rows\"",
        "(ex-info \"no rows\" \"orders\")",
        "(ex-message (ex-info \"no rows\" {:table \"orders\"}))",
        "\"no rows\"",
    ),
    (
        "write (catch Exception e …) for all",
        "(try (/ 1 0) (catch Oops e 2))",
        "(try (/ 1 0) (catch Exception e 2))",
        "2",
    ),
    (
        "`conj!` and `assoc!` change a transient",
        "(conj (transient []) 1)",
        "(persistent! (conj! (transient []) 1))",
        "[1]",
    ),
    (
        "`(assoc! t :a 1 :b 2)`",
        "(assoc! (transient {}) :a 1 :b)",
        "(let [t (transient {})] (persistent! (assoc! t :a 1 :b 2)))",
        "{:a 1 :b 2}",
    ),
    ("make one with `(transient coll)`", "(conj! [] 1)", "(persistent! (conj! (transient []) 1))", "[1]"),
    (
        "continue with the result of `persistent!`",
        "(let [t (transient [])] (persistent! t) (conj! t 1))",
        "(let [t (transient []) v (persistent! t)] (conj v 1))",
        "[1]",
    ),
    ("`@a` or `(deref a)` reads", "(let [a (atom 1)] (+ a 1))", "(let [a (atom 1)] (+ @a 1))", "2"),
    ("make one with `(atom x)`", "(let [x 1] @x)", "(let [x 1 x (atom x)] @x)", "1"),
    ("`(vreset! v x)` and", "(reset! (volatile! 1) 2)", "(let [v (volatile! 1)] (vreset! v 2))", "2"),
    ("`(reset! a x)` and", "(vreset! (atom 1) 2)", "(let [a (atom 1)] (reset! a 2))", "2"),
    (
        "combine them: `(reduce + (pmap f xs))`",
        "(let [n (atom 0)] (pmap (fn [x] (swap! n + x)) [1 2]) @n)",
        "(let [f identity xs [1 2]] (reduce + (pmap f xs)))",
        "3",
    ),
    ("", "(set! x 1)", "(let [n (atom 0)] (swap! n inc) @n)", "1"),
    ("`[1 2 3]`", "(1 2 3)", "[1 2 3]", "[1 2 3]"),
    ("without `#'`: `(f x)`", "(defn f [x] x) (#'f 1)", "(defn f [x] x) (f 1)", "1"),
    ("`(get m :key)`, or `(:key m)`", "(get :key {:key 1})", "(get {:key 1} :key)", "1"),
    ("`(keys m)` or `(vals m)`", "(nth {:a 1} 0)", "(nth (keys {:a 1}) 0)", ":a"),
    ("`(nth xs (int i))`", "(nth [1 2] 7.5)", "(nth [1 2] (int 7.5))", "nil"),
    ("give it a function such as `inc`", "(map 5 [1 2])", "(map inc [1 2])", "[2 3]"),
    (
        "`({name} m {key} (fnil inc 0))`",
        "(update {} :k inc 0)",
        "(let [m {}] (update m :k (fnil inc 0)))",
        "{:k 1}",
    ),
    (
        "`(or s \"\")` supplies",
        "(let [s nil] (str/upper-case s))",
        "(let [s nil] (str/upper-case (or s \"\")))",
        "\"\"",
    ),
    ("`(map f xs)` keeps single results; `[x]` wraps one", "(mapcat inc [1 2])", "(map inc [1 2])", "[2 3]"),
    (
        "the comparator precedes the collection",
        "(sort-by :age [{:age 1} {:age 2}] >)",
        "(sort-by :age > [{:age 1} {:age 2}])",
        "[{:age 2} {:age 1}]",
    ),
    ("`(assoc m :a 1 :b 2)`", "(assoc {} :a 1 :b)", "(let [m {}] (assoc m :a 1 :b 2))", "{:a 1 :b 2}"),
    ("`(get-in m [:a :b])`", "(get-in [:a :b] {:a {:b 1}})", "(let [m {:a {:b 1}}] (get-in m [:a :b]))", "1"),
    ("`({parse} s)` reads", "(int \"12\")", "(parse-long \"12\")", "12"),
    ("`(set xs)` makes one", "(intersection [1 2] #{1})", "(intersection (set [1 2]) #{1})", "#{1}"),
    (
        "`(sum (keep parse-double xs))`",
        "(sum [\"1\" \"2\"])",
        "(sum (keep parse-double [\"1\" \"2\"]))",
        "3.0",
    ),
    (
        "write (let [{:keys [a b]} {:a 1 :b 2}] a)",
        "(let [{:keys [a b]} 5] a)",
        "(let [{:keys [a b]} {:a 1 :b 2}] a)",
        "1",
    ),
    ("(cond test result :else default)", "(cond true)", "(cond true 1 :else 2)", "1"),
    ("write :{name} or \"{name}\" for a constant", "(case :a a 1)", "(case :a :a 1)", "1"),
    (
        "write one of them as (fn [x] …)",
        "(map #(map #(inc %) %) [[1]])",
        "(map (fn [x] (map #(inc %) x)) [[1]])",
        "[[2]]",
    ),
    ("write (/ {over} {under})", "1/2", "(/ 1 2)", "0.5"),
    ("write (:{name} m)", "(:a)", "(let [m {:a 1}] (:a m))", "1"),
    ("write #(inc %), or (fn [x] (inc x))", "(map (inc %) [1])", "(map #(inc %) [1])", "[2]"),
    ("(or {name} 0)", "(def n (inc n))", "(def n (inc (or n 0))) n", "1"),
    (
        "write (declare {name}) first",
        "(defn f [] (g)) (defn g [] 1) (f)",
        "(declare g) (defn f [] (g)) (defn g [] 1) (f)",
        "1",
    ),
    (
        "write (ns app (:require [clojure.string :as s]))",
        "(ns)",
        "(ns app (:require [clojure.string :as s])) (s/join [1 2])",
        "\"12\"",
    ),
    (
        "write (require '[clojure.string :as s])",
        "(require clojure.string)",
        "(require '[clojure.string :as s]) (s/join [1 2])",
        "\"12\"",
    ),
    ("`(:name row)` or", "(apply :name [])", "(let [row {:name 1}] (:name row))", "1"),
    ("`(prices :apple)` or", "(apply {:apple 1} [])", "(let [prices {:apple 1}] (prices :apple))", "1"),
    ("`(v 0)` or `(nth v 0)`", "([1 2] :name)", "(let [v [1 2]] (v 0))", "1"),
    ("`(repeat 3 x)`", "(range 0 3 0)", "(let [x 0] (repeat 3 x))", "[0 0 0]"),
    (
        "`(sort-by {key} rows)`",
        "(sort-by \"a\" [{\"a\" 2} {\"a\" 1}])",
        "(sort-by :a [{\"a\" 2} {\"a\" 1}])",
        "[{\"a\" 1} {\"a\" 2}]",
    ),
    ("in text: `(replace", "(replace \"a\" [1])", "(replace {:a 1} [:a])", "[1]"),
    (
        "maps keep the order",
        "(sorted-map-by (fn [a b] 0) :a 1)",
        "(into {} (sort-by val > {:a 1 :b 2}))",
        "{:b 2 :a 1}",
    ),
    (
        "maps may have strings as keys",
        "(keyword \"first name\")",
        "(let [m {\"first name\" 1}] (get m \"first name\"))",
        "1",
    ),
    ("`(let [[a b] (vec s)] a)`", "(let [[a b] #{1 2}] a)", "(let [s #{1 2} [a b] (vec s)] a)", "1"),
    ("`(f :a 1 :b 2)`", "((fn [& {:keys [a]}] a) :a)", "((fn [& {:keys [a]}] a) :a 1 :b 2)", "1"),
    (
        "`(update-keys (json/parse-string s) f)`",
        "(json/parse-string \"{}\" inc)",
        "(update-keys (json/parse-string \"{\\\"a\\\":1}\") keyword)",
        "{:a 1}",
    ),
    ("`(into {} (map", "(into {} [1 2])", "(into {} (map (fn [x] [(:id x) x]) [{:id 1}]))", "{1 {:id 1}}"),
    ("`(subs s start end)`", "(.substring \"abc\" 5)", "(subs \"abc\" 5)", "\"\""),
    ("`(long x)` and", "(int 3000000000)", "(long 3000000000)", "3000000000"),
    ("`(partition-all 2 xs)`", "(partition 0 [1 2 3])", "(partition-all 2 [1 2 3])", "[[1 2] [3]]"),
    ("`(subseq (sorted-set", "(subseq (sorted-set 1 2 3) = 1)", "(subseq (sorted-set 1 2 3) > 1)", "[2 3]"),
    ("`(split s #", "(split \"a, b\" \", \")", "(let [s \"a, b\"] (split s #\", \"))", "[\"a\" \"b\"]"),
    ("`(str x)` makes text", "(name 5)", "(str 5)", "\"5\""),
    ("such as (cond (re-find", "(case \"a\" #\"a\" 1)", "(let [s \"a\"] (cond (re-find #\"a\" s) 1))", "1"),
    // Hints that are assembled from parts, or stored in a table.
    ("", "(defn foo (x) x) (foo 1)", "(defn foo [x] x) (foo 1)", "1"),
    ("", "(map (fn (x) (inc x)) [1])", "(map (fn [x] (inc x)) [1])", "[2]"),
    ("", "(defn f (inc 1)) (f)", "(defn f [] (inc 1)) (f)", "2"),
    ("", "x = 5", "(def x 5) x", "5"),
    ("", "const x = 1;", "(def x 1) x", "1"),
    ("", "let x = 5", "(let [x 5] x)", "5"),
    ("", "{\"a\": 1}", "{\"a\" 1}", "{\"a\" 1}"),
    ("", "def f(x):", "(defn f [x] x) (f 1)", "1"),
    ("", "(apply + 1 2)", "(apply + [1 2])", "3"),
    ("", "(sort-by [{:a 2} {:a 1}] :a)", "(sort-by :a [{:a 2} {:a 1}])", "[{:a 1} {:a 2}]"),
    ("", "(map [1 2] inc)", "(map inc [1 2])", "[2 3]"),
    ("", "(filter [1 2] odd?)", "(filter odd? [1 2])", "[1]"),
    ("", "(reduce [1 2] +)", "(reduce + [1 2])", "3"),
    ("", "(reduce [1 2] 0 +)", "(reduce + 0 [1 2])", "3"),
    ("", "(-> [1 2] (map inc))", "(->> [1 2] (map inc))", "[2 3]"),
    ("", "(identical? 1 1)", "(= 1 1)", "true"),
    ("", "(exit 1)", "(return 1)", "1"),
    ("", "(let [f (delay 1)] (force f))", "(let [f (fn [] 1)] (f))", "1"),
    (
        "",
        "(add-watch (atom 1) :k println)",
        "(let [n (atom 0)] (swap! n (fn [x] (assert (int? x)) (inc x))))",
        "1",
    ),
    ("", "(test #'inc)", "(assert (= 3 (+ 1 2)) \"message\")", "nil"),
    ("", "(deftest a (is (= 3 (+ 1 2))))", "(assert (= 3 (+ 1 2)) \"message\")", "nil"),
    ("", "(re-groups 1)", "(let [re #\"(a)\" s \"a\"] (re-find re s))", "[\"a\" \"a\"]"),
    ("", "(replicate 2 :x)", "(let [n 2 x :x] (repeat n x))", "[:x :x]"),
    ("", "(bounded-count 2 [1 2 3])", "(let [n 2 xs [1 2 3]] (count (take n xs)))", "2"),
    ("", "(iteration inc)", "(loop [page 1] (if (< page 3) (recur (inc page)) page))", "3"),
    ("", "(chunk [1 2 3])", "(let [n 2 xs [1 2 3]] (partition-all n xs))", "[[1 2] [3]]"),
    ("", "(xml-seq {:a 1})", "(let [x [1 [2]]] (tree-seq coll? seq x))", "[[1 [2]] 1 [2] 2]"),
    ("", "(walk/postwalk-demo [1])", "(let [data [1]] (postwalk (fn [x] (println x) x) data))", "[1]"),
    ("", "(isa? :square :shape)", "(get {:square :shape} :square)", ":shape"),
    ("", "(aget [1 2] 1)", "(let [v [1 2] i 1] (nth v i))", "2"),
    ("", "(int-array 2)", "(let [n 2] (vec (repeat n 0)))", "[0 0]"),
    ("", "(unchecked-byte 511)", "(let [x 511] (bit-and x 255))", "255"),
];

/// Hints whose code is not applied above, with the reason.
const LEFT_OUT: &[(&str, &str)] = &[
    ("answer each call of `pending()` once", "needs a host that answers calls by hand"),
    ("leaves one of them out", "needs a result that is written as JSON"),
    ("gives nil instead", "needs a result that is written as JSON"),
    ("keep less: `(task", "needs a full journal"),
    ("return less:", "needs a small limit"),
    ("compute it again and define", "needs a result that was too large to be kept"),
    ("take a part of it first", "needs a small limit"),
    ("take a part first", "needs a small limit"),
    ("`(double x)` makes a float", "needs a number beyond the limit"),
    ("define it before it is used", "needs a session"),
    ("make another: `(def b (atom @a))`", "needs a session"),
    ("tool/call", "needs upstream servers"),
    ("(all-ns) lists", "needs a prelude with private tools"),
    ("granted tools are called as", "needs tools"),
    ("(doc '{name}) shows", "needs a prelude"),
    ("`{name}` alone is its value", "needs a prelude"),
    ("use a name of your own", "needs a prelude"),
    ("take it as an argument", "is about preludes"),
    ("use let: (let [x 1] …)", "is about preludes"),
    ("(:require [{space}]))", "is about preludes"),
    ("called, and this one is nil", "shows no code to write"),
    ("after `#` come", "shows no code to write"),
    ("(update-keys m str)", "tells about the result, which only JSON needs"),
    ("`(task \"load-rows\" …)`", "needs a journal"),
    ("`(step-done", "needs a journal"),
    ("`({} map)`", "asks for documentation"),
    ("`(apropos", "asks for documentation"),
    ("take a map: (fn", "needs more than a hundred parameters"),
    ("write (fn [a b] …) with names", "needs more than twenty parameters"),
    ("give parts a name", "needs forms of a depth that no one writes"),
    ("a backslash quotes", "shows no code to write"),
];

/// Returns the value of a program, or its first message and hint.
fn run(source: &str) -> Result<String, String> {
    match ptc_snapshots::runtime().eval(source, &Grants::new()) {
        Ok(outcome) => Ok(outcome.print().unwrap_or_default()),
        Err(failure) => Err(failure.diagnostics.first().map(|d| d.to_text(source)).unwrap_or_default()),
    }
}

#[test]
fn a_program_that_follows_its_hint_runs() {
    for (hint, wrong, fixed, value) in APPLIED {
        let told = Setup::default().run(wrong).diagnostics.remove(0);
        let shown = told.hint.unwrap_or_else(|| panic!("no hint for {wrong}: {}", told.message));
        let mut rest = &*shown;
        for piece in pieces(hint) {
            let at = rest.find(piece).unwrap_or_else(|| panic!("{wrong}: {shown} lacks {piece}"));
            rest = &rest[at + piece.len()..];
        }
        assert_eq!(run(fixed), Ok((*value).to_string()), "{fixed}, made of {wrong} by: {shown}");
    }
}

/// Returns the literal parts of a template.
fn pieces(template: &str) -> Vec<&str> {
    let mut pieces = Vec::new();
    let mut rest = template;
    while let Some((before, after)) = rest.split_once('{') {
        match after.split_once('}').filter(|(name, _)| name.chars().all(|c| c.is_ascii_lowercase())) {
            Some((_, behind)) => {
                pieces.push(before);
                rest = behind;
            }
            // A map, not a placeholder.
            None => return vec![template],
        }
    }
    pieces.push(rest);
    pieces
}

#[test]
fn every_hint_with_code_is_followed_or_listed() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut files = Vec::new();
    for part in ["vm/src", "runtime/src", "compiler/src"] {
        collect(&root.join(part), &mut files);
    }
    let mut missing = Vec::new();
    for path in files {
        let text = std::fs::read_to_string(&path).unwrap_or_default();
        let text = text.split("#[cfg(test)]").next().unwrap_or_default();
        for hint in hints(text).filter(|hint| hint.contains('(')) {
            let is_told = APPLIED.iter().any(|(part, ..)| !part.is_empty() && hint.contains(part))
                || LEFT_OUT.iter().any(|(part, _)| hint.contains(part));
            if !is_told {
                missing.push(format!("{}: {hint}", path.display()));
            }
        }
    }
    assert!(missing.is_empty(), "add a row to APPLIED or LEFT_OUT for:\n{}", missing.join("\n"));
}

/// Collects source files, except those of preludes and tests.
fn collect(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if name.starts_with("prelude") || name == "tests.rs" {
            continue;
        }
        if path.is_dir() {
            collect(&path, files);
        } else if name.ends_with(".rs") {
            files.push(path);
        }
    }
}

/// Returns the texts given to `.hint(…)`, directly or through `format!`.
fn hints(text: &str) -> impl Iterator<Item = String> {
    text.split(".hint(").skip(1).filter_map(|after| {
        let after = after.trim_start();
        let after = after.strip_prefix("format!(").unwrap_or(after).trim_start().strip_prefix('"')?;
        let (mut hint, mut chars) = (String::new(), after.chars());
        loop {
            match chars.next()? {
                '"' => return Some(hint),
                '\\' => hint.extend(chars.next()),
                c => hint.push(c),
            }
        }
    })
}
