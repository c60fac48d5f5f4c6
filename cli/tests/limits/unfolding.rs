//! Data that are small in memory and exponentially large when they are walked.

use crate::attack::Attack;

/// Twice the same structure, sixty-four levels deep, of objects of their own; and one that differs at its end only.
const FOLDED: &str = "(defn fold [x] (loop [v [x x] i 0] (if (< i 64) (recur [v v] (inc i)) v)))
    (defn fold-maps [x] (loop [v {:a x :b x} i 0] (if (< i 64) (recur {:a v :b v} (inc i)) v)))
    (def a (fold 1)) (def b (fold 1)) (def c (fold 2)) (def m (fold-maps 1)) (def n (fold-maps 1))";

/// Small answers, as far as they can be had.
const WALKS: &[(&str, &str)] = &[
    ("equal", "(= a b)"),
    ("not_equal", "(= a c)"),
    ("equal_maps", "(= m n)"),
    ("compare", "(compare a b)"),
    ("key", "(get {a 1} b)"),
    ("key_map", "(get {m 1} n)"),
    ("members", "(count (hash-set a b c m n))"),
    ("frequencies", "(count (frequencies [a b c m n a b c m n]))"),
    ("distinct", "(count (distinct [a b c m n]))"),
    ("group_by", "(count (group-by identity [a b m n]))"),
    ("sort", "(count (sort [c a b]))"),
    ("sorted_set", "(count (sorted-set a b c))"),
    ("text", "(count (str a))"),
    ("readable", "(count (pr-str m))"),
    ("printed", "(println a)"),
    ("joined", "(count (str/join \",\" [a b m]))"),
    ("formatted", "(count (format \"%s\" a))"),
    ("json", "(count (json/generate-string a))"),
    ("json_maps", "(count (json/generate-string m {:pretty true}))"),
    ("flatten", "(count (flatten a))"),
    ("tree_seq", "(count (tree-seq coll? seq a))"),
    ("walk", "(count (postwalk identity a))"),
    ("keywordized", "(count (keywordize-keys m))"),
    ("described", "(describe a)"),
    ("described_maps", "(describe [m n m n])"),
    ("failed", "(fail a)"),
    ("failed_maps", "(fail {:reason \"x\" :data m})"),
    ("asserted", "(assert false (str \"no \" (count a)))"),
    ("wrong_type", "(+ 1 a)"),
    ("called", "(a a)"),
    ("result", "a"),
    ("result_maps", "[m n m n]"),
    ("returned", "(return m)"),
    ("replaced", "(count (postwalk-replace {1 2} a))"),
    ("in_branches", "(pmap (fn [x] (= x b)) [a c])"),
    ("out_of_branches", "(count (pmap (fn [x] (fold x)) (range 20)))"),
];

pub fn data_that_unfold() -> Vec<Attack> {
    let ends = &[
        "ok",
        "timeout",
        "memory_exceeded",
        "output_exceeded",
        "fail",
        "assertion_failed",
        "type_error",
        "invalid_arity",
        "stack_exceeded",
        "not_callable",
    ];
    let mut all: Vec<Attack> = WALKS
        .iter()
        .map(|(name, walk)| {
            Attack::new("timeout_ms", format!("folded/{name}"), format!("{FOLDED} {walk}"), ends)
                .with("timeout_ms", 100)
                .on_threads()
        })
        .collect();
    // Fuel pays for each step of a walk, also where nothing is made.
    all.push(
        Attack::new(
            "fuel",
            "unfolded_tree",
            format!("{FOLDED} (count (tree-seq coll? seq a))"),
            &["fuel_exceeded", "memory_exceeded"],
        )
        .with("fuel", 1_000_000),
    );
    all
}
