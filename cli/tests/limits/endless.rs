//! Loops and recursions without an end, of instructions.

use crate::attack::Attack;

/// Nothing but time stops these.
const FOREVER: &[(&str, &str)] = &[
    ("loop", "(loop [i 0] (recur (inc i)))"),
    ("function", "(defn f [i] (recur (inc i))) (f 0)"),
    ("garbage", "(loop [v [1 2 3]] (recur (conj (subvec v 1) 4)))"),
    ("search", "(first (filter neg? (range)))"),
    ("some", "(some neg? (iterate inc 0))"),
    ("reduce", "(reduce (fn [a x] (+ a x)) 0 (range 100000000000))"),
    ("doseq", "(doseq [x (range 1000000) y (range 1000000)] (* x y))"),
    ("comparator", "(defn f [] (loop [] (recur))) (sort (fn [a b] (f)) [3 1 2])"),
    ("trampoline", "(defn f [] f) (trampoline f)"),
    ("mapped", "(map (fn [x] (loop [] (recur))) [1])"),
    ("sort_by", "(loop [] (sort-by (fn [x] (- x)) (range 1000)) (recur))"),
    ("walk", "(loop [] (postwalk identity [[[[1]]]]) (recur))"),
    ("every", "(every? nat-int? (range))"),
    ("tree_seq", "(count (tree-seq (constantly true) (fn [x] [x x]) 1))"),
    (
        "live_data_near_the_limit",
        "(let [v (mapv identity (range 624800))] (loop [i [1]] (recur [(nth v 3) (first i)])))",
    ),
    (
        "collecting",
        "(let [v (vec (map (fn [i] [i]) (range 100000)))] (loop [i v] (recur (mapv vector (range 20000)))))",
    ),
];

/// Nothing but the stack stops these.
const DEEP: &[(&str, &str)] = &[
    ("function", "(defn f [n] (+ 1 (f n))) (f 0)"),
    ("two_functions", "(declare g) (defn f [n] (+ 1 (g n))) (defn g [n] (+ 1 (f n))) (f 0)"),
    ("map", "(defn f [x] (map f [x])) (f 1)"),
    ("mapv", "(defn f [x] (mapv f [x])) (f 1)"),
    ("reduce", "(defn f [a x] (reduce f 0 [1 2 3])) (f 1 2)"),
    ("comparator", "(defn f [a b] (first (sort f [3 1 2]))) (f 1 2)"),
    ("sort_by", "(defn f [x] (sort-by f [3 1 2])) (f 1)"),
    ("apply", "(defn f [& xs] (inc (apply f xs))) (f 1)"),
    ("many_arguments", "(defn f [& xs] (inc (apply f 1 xs))) (f 1)"),
    ("memoized", "(def f (memoize (fn [x] (inc (f (inc x)))))) (f 1)"),
    ("composed", "(let [f (reduce comp (repeat 200000 inc))] (f 1))"),
    ("update", "(defn f [m] (update m :a f)) (f {})"),
    ("endless_in_endless", "(defn f [s] (filter odd? (f s))) (f (range))"),
    ("filters_on_filters", "(first (nth (iterate (fn [s] (remove neg? s)) (range)) 100000))"),
];

pub fn loops_and_recursions_without_an_end() -> Vec<Attack> {
    let mut all: Vec<Attack> = FOREVER
        .iter()
        .map(|(name, program)| {
            Attack::new("timeout_ms", name, *program, &["timeout"]).with("timeout_ms", 100).in_bytecode()
        })
        .collect();
    // A small heap under a large stack: what is on the stack is no live data.
    all.extend(DEEP.iter().map(|(name, program)| {
        Attack::new("stack_bytes", name, *program, &["stack_exceeded", "memory_exceeded", "timeout", "ok"])
            .with("timeout_ms", 2000)
    }));
    all.extend(FOREVER.iter().take(7).map(|(name, program)| {
        Attack::new("fuel", name, *program, &["fuel_exceeded"]).with("fuel", 10_000_000)
    }));
    all.push(
        Attack::new("loop_iterations", "loop", FOREVER[0].1, &["loop_limit_exceeded"])
            .with("loop_iterations", 1000),
    );
    all.push(
        Attack::new("loop_iterations", "function", FOREVER[1].1, &["loop_limit_exceeded"])
            .with("loop_iterations", 1000),
    );
    all
}
