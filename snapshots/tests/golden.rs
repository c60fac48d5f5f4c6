//! Output of each stage of the compiler for chosen programs and the core library.
//!
//! The failing test shows a difference; `INSTA_UPDATE=always` accepts it. Read it first.
#![allow(missing_docs)]

use ptc_bytecode::{Body, OPS, decode};
use ptc_compiler::Options;
use ptc_snapshots::golden;
use ptc_snapshots::golden::{
    check_bytecode, check_forms, check_prelude, check_resolved, check_shipped, check_tokens, compiled,
};
use std::collections::BTreeSet;

golden!(tokens: check_tokens => {
    numbers: "0 -7 +3 1e3 2.50 -1.5E-3 0x1F 2r101 36rZZ 017 123456789012345678901 7N",
    special_floats: "##Inf ##-Inf ##NaN",
    text: r#""plain" "tab\t quote\" uni\u00e9" "" \a \space \newline \é #"\d+\"x""#,
    names: "a a-b? data/rows tool/search *1 -> ->> .method clojure.string/join % %2 %& + - / <=",
    keywords: ":a :a-b? :ns/name :1 :日本",
    brackets: "(a [b {:c #{d}}] #(+ % 1))",
    prefixes: "'x '(1 2) #'total #_ignored #_(all of it) ^:private y @atom @(f) #inst \"2024-01-02\"",
    blanks_and_comments: "a,b\t;; to the end\r\n  c ; last",
    wrong_closer: "(a [b) c]",
    left_open: "(let [x 1\n  (inc x",
    stray_closer: "(+ 1 2)) 3",
    bad_words: "12ab ::auto a:b x$ café \\toolong \"bad \\q escape\"",
    refused_syntax: "`a ~b #?(:clj 1) #js {} #=(x)",
    unclosed_string: "(str \"no end",
    byte_order_mark: "\u{feff}1",
});

golden!(forms: check_forms => {
    literals: "nil true false 42 -7 123456789012345678901 2.5 ##Inf \"a\\nb\" \\c :k #\"a+\" #inst \"2024-01-02T03:04:05Z\"",
    collections: "[1 [2] []] {:a {:b 1}} #{1 :x} ()",
    short_functions: "#(+ %1 %2) #(apply f %&)",
    quotes: "'x '(a b [c {:d e}]) #'total",
    dropped: "[1 #_2 3 #_ #_ 4 5 6] ^{:doc \"no\"} x",
    lines: "(defn area\n  \"Width by height.\"\n  [w h]\n  (* w h))\n\n(area 3 4)",
    unicode_columns: "[\"é\" \"日本\" x]",
    several_errors: "(let [a 1]\n  (foo ::b)\n  {:a}\n  12ab)",
    odd_map: "{:a 1 :b}",
    deep: "(((((((((())))))))))",
    nothing: " ; only a comment",
});

golden!(resolved: check_resolved => {
    names: "(def x 1) (defonce y 2) [x y #'x total data/rows *1 inc tool/search]",
    lets: "(let [a 1 b (inc a) a (+ a b)] (do a b))",
    conditionals: "[(if 1 2) (if-not 1 2 3) (when 1 2 3) (when-not 1 2) (cond 1 2 :else 3) (and 1 2) (or) (and)]",
    case_and_condp: "(case data/k 1 :one (2 3) :few \"s\" :text nil :none :other) (condp = data/k 1 :a 2 :b :c)",
    binding_conditionals: "(if-let [[a] data/x] a 0) (when-let [b 1] b) (if-some [c nil] c 1) (when-some [d 1] d)",
    threads: "(-> 1 inc (+ 2) (->> (- 9))) (->> [1] (map inc)) (some-> {:a 1} :a inc) (cond-> 1 true inc false dec) (as-> 1 it (+ it it))",
    functions: "(fn self [x] (self x)) (defn f \"Doc.\" ([] (f 1)) ([a & more] [a more])) #(+ %1 %3) #(list %&)",
    captures: "(fn [a] (let [b 1] (fn outer [c] (fn [] [a b c outer]))))",
    loops: "(loop [i 0 acc []] (if (< i 3) (recur (inc i) (conj acc i)) acc)) (fn [n] (when (pos? n) (recur (dec n))))",
    vector_patterns: "(let [[a _ [b] & more :as all] data/x] [a b more all]) ((fn [[x y]] x) [1 2])",
    map_patterns: "(let [{:keys [a b] :strs [s] k :key {n :in} :nested :or {a 1} :as all} data/x] [a b s k n all])",
    loop_patterns: "(loop [[x & xs] [1 2] acc 0] (if x (recur xs (+ acc x)) acc))",
    keyword_arguments: "(defn f [a & {:keys [b] :or {b 2}}] [a b]) (f 1 :b 3)",
    comprehensions: "(for [x [1 2] y [3 4] :let [s (+ x y)] :when (odd? s) :while (< s 9)] [x s]) (doseq [x [1]] (println x))",
    iteration: "(dotimes [i 3] (println i)) (doto {} (assoc :a 1)) (while false 1)",
    endings: "(if data/bad (fail {:why 1}) (return 2))",
    tools: "(tool/search {:q \"x\"}) (tool/search :q 1 :n 2) (map tool/search [{}])",
    quoting: "'(a [b :c] {d 1} #{2} \"s\")",
    assertions: "(assert (pos? data/n) \"must be positive\")",
});

golden!(bytecode: check_bytecode => {
    constants: "[nil true false 0 -1 2147483647 2147483648 123456789012345678901 1.5 \"s\" :k #\"a+\" 'sym '(1 (2)) ##NaN]",
    arithmetic: "(fn [a b] [(+ a b) (- a b) (* a b) (/ a b) (quot a b) (rem a b) (mod a b) (inc a) (dec a) (+ a 10) (- a 10) (- a) (+) (+ a) (+ a b 1 2) (* a 2)])",
    comparisons: "(fn [a b] [(< a b) (<= a b) (> a b) (>= a b) (= a b) (not= a b) (not a) (nil? a) (< a b 3) (= a 1)])",
    branches: "(fn [a b] [(if a 1 2) (if (nil? a) 1 2) (if (< a b) 1 2) (if (<= a b) 1 2) (if (> a 5) 1 2) (if (< a 5) 1 2) (if (= a 0) 1 2) (if (= a b) 1 2) (if (not a) 1 2) (if (not= a b) 1 2)])",
    boolean_logic: "(fn [a b c] [(and a b c) (or a b c) (if (and a (or b c)) 1 2) (when-not (or a b) 3) (if (and (< a 1) (nil? b)) 4 5)])",
    conditionals: "(fn [x] (cond (< x 10) :small (< x 100) :medium (nil? x) :none :else :large))",
    case_forms: "(fn [x] (case x 1 :one (2 3) :few :k :keyword \"s\" :text nil :none :other))",
    constant_tests: "(if true 1 2) (if nil 1 2) (and 1 nil 2) (or nil 3 4) (+ 1 2) (< 1 2) (not nil)",
    loops_in_place: "(let [least 100] (->> data/orders (filter (fn [o] (and (> (:amount o) least) (= (:status o) \"paid\")))) (map :amount) (reduce (fn [sum x] (+ sum x)) 0)))",
    counting_loop: "(loop [i 0 sum 0] (if (< i 100) (recur (inc i) (+ sum i)) sum))",
    swapping_loop: "(loop [a 1 b 2 n 0] (if (= n 10) [a b] (recur b a (inc n))))",
    fused_loops: "(->> (range 9) (map (fn [x] (* x x))) (filter (fn [x] (> x 3))) (reduce (fn [sum x] (+ sum x)) 0))",
    nested_loops: "(loop [i 0 acc []] (if (< i 3) (recur (inc i) (loop [j 0 acc acc] (if (< j i) (recur (inc j) (conj acc [i j])) acc))) acc))",
    recursion: "(defn fib [n] (if (< n 2) n (+ (fib (- n 1)) (fib (- n 2))))) (fib 10)",
    tail_recursion: "(defn down [n acc] (if (pos? n) (recur (dec n) (conj acc n)) acc)) (down 3 [])",
    arities: "(defn f ([] (f 1)) ([a] (f a 2)) ([a & more] [a more])) (f) (apply f 1 [2 3])",
    closures: "(fn [a] (let [b (inc a)] (fn self [c] (if (< c 1) self (fn [] [a b c self])))))",
    destructuring: "(defn f [[a & more :as all] {:keys [b] :strs [s] :or {b 1}}] [a more all b s])",
    collections: "(fn [x y] [[] [x y] {} {:a x :b y} {x y} {x 1 :k [y]} #{x y} #{} [1 2 3] {:a 1} #{1}])",
    lookups: "(fn [m k] [(:a m) (get m :a) (get m k) (get m k 0) (:a m 0) (m :a) (nth m 0) (nth m k) (first m) (count m) (assoc m :a 1) (assoc m k 2 :b 3) (conj m k) (conj m 1 2) ({:a 1} k) (#{1 2} k)])",
    calls: "(fn [f x] [(f) (f x) (f (f x) (f x 1)) (str x) (map f x) ((fn [y] y) x) (apply f x 1 [2])])",
    definitions: "(def a 1) (defonce b (inc a)) (def g inc) [a b (g total) #'a *1 *2 *3 data/rows (str data/rows)]",
    tools: "(tool/search {:q \"x\" :n 3}) (tool/search :q 1) (let [args {}] (tool/search args)) (map tool/notify [{:a 1}])",
    comprehension: "(for [x (range 3) :let [y (* x x)] :when (odd? y) z [1 2] :while (< z 2)] [x y z])",
    side_effects: "(defn log [x] (println \"got\" x) (doseq [y x] (println y)) x) (do (log [1]) (log [2]) nil)",
    parallel: "(pmap (fn [x] (tool/search {:q x})) [1 2]) (pcalls (fn [] 1) (fn [] 2))",
    endings: "(defn stop [x] (if x (return x) (fail {:reason \"none\"}))) (stop (let [y (return 1)] y))",
    exceptions: "(defn safe [f] (try (f) (catch ArithmeticException e (ex-data e)) (finally (println :done)))) (safe (fn [] (throw (ex-info \"no\" {}))))",
    wide_frame: WIDE_FRAME,
    large_literal: LARGE_LITERAL,
    long_call: LONG_CALL,
});

/// A program with more locals than a window of registers holds, all in use to the end.
const WIDE_FRAME: &str = include_str!("programs/wide_frame.clj");
/// A vector and a map literal with more elements than one instruction takes.
const LARGE_LITERAL: &str = include_str!("programs/large_literal.clj");
/// A call with more arguments than registers.
const LONG_CALL: &str = include_str!("programs/long_call.clj");

golden!(preludes: check_prelude => {
    atoms: include_str!("../../preludes/core/atoms.clj"),
    endless: include_str!("../../preludes/core/endless.clj"),
    functions: include_str!("../../preludes/core/functions.clj"),
    maps: include_str!("../../preludes/core/maps.clj"),
    parallel: include_str!("../../preludes/core/parallel.clj"),
    reduce: include_str!("../../preludes/core/reduce.clj"),
    relations: include_str!("../../preludes/core/relations.clj"),
    sequences: include_str!("../../preludes/core/sequences.clj"),
    sorting: include_str!("../../preludes/core/sorting.clj"),
    transducers: include_str!("../../preludes/core/transducers.clj"),
    trees: include_str!("../../preludes/core/trees.clj"),
});

golden!(shipped: check_shipped => {
    log: include_str!("../../preludes/log/log.clj"),
    paged: include_str!("../../preludes/paged/paged.clj"),
    prelude: include_str!("../../preludes/prelude/prelude.clj"),
    saga: include_str!("../../preludes/saga/saga.clj"),
});

#[test]
fn every_shipped_prelude_has_a_listing() {
    let names: Vec<&str> = shipped::SOURCES.iter().map(|(name, _)| *name).collect();
    assert_eq!(ptc_preludes::shipped().map(|(name, _)| name)[..], names);
}

#[test]
fn every_core_file_has_a_listing() {
    let core = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../preludes/core");
    let stem = |path: std::path::PathBuf| path.file_stem().unwrap().to_string_lossy().into_owned();
    let found: BTreeSet<String> =
        std::fs::read_dir(core).unwrap().map(|entry| stem(entry.unwrap().path())).collect();
    let listed: BTreeSet<String> = preludes::SOURCES.iter().map(|(name, _)| name.to_string()).collect();
    assert_eq!(found, listed);
}

/// Compares code: the listings are made file by file, but the embedded library is compiled from all files at once.
#[test]
fn the_embedded_core_library_is_the_one_listed() {
    let embedded = decode(ptc_preludes::core()).unwrap();
    let code = |artifact: &ptc_bytecode::Artifact, name: &str| -> Vec<String> {
        let export = artifact.exports.iter().find(|export| &*export.name == name).unwrap();
        let arities = &artifact.functions[export.function as usize].arities;
        let ops = arities.iter().flat_map(|arity| &artifact.blocks[arity.block as usize].ops);
        ops.map(|op| op.name().to_string()).collect()
    };
    let mut listed = 0;
    for (_, source) in preludes::SOURCES {
        let artifact = compiled(source, Options { optimize: true, library: true });
        for export in &artifact.exports {
            assert_eq!(code(&artifact, &export.name), code(&embedded, &export.name), "{}", export.name);
            listed += 1;
        }
    }
    assert_eq!(listed, ptc_bytecode::BUILTINS.iter().filter(|row| row.body == Body::Core).count());
}

/// Instructions that linking puts in place of others; no file needs them.
const MADE_BY_LINKING: [&str; 4] = ["MoveLast", "AgainLast", "AssocLast", "ConjLast"];

#[test]
fn every_instruction_is_in_some_listing() {
    let mut seen = BTreeSet::new();
    let options = [true, false].map(|optimize| Options { optimize, library: false });
    let programs = bytecode::SOURCES.iter().flat_map(|(_, source)| options.map(|o| compiled(source, o)));
    for artifact in programs.chain([decode(ptc_preludes::core()).unwrap()]) {
        seen.extend(artifact.blocks.iter().flat_map(|block| &block.ops).map(|op| op.name()));
    }
    seen.extend(MADE_BY_LINKING);
    let missing: Vec<&str> = OPS.iter().map(|row| row.name).filter(|name| !seen.contains(name)).collect();
    assert!(missing.is_empty(), "no golden shows {missing:?}");
}
