//! Endless sequences, texts and outputs, and some that only look harmless.

use super::{TOO_MUCH, Victim, on_a_small_stack};
use ptc_runtime::Limits;

#[test]
fn a_range_of_a_million_million() {
    on_a_small_stack(|| {
        let mut victim = Victim::new(Limits { timeout_ms: 250, ..Limits::default() });
        for source in [
            "(range 1e12)",
            "(reverse (range 1e12))",
            "(map inc (range 1e12))",
            "(mapv inc (range 1e12))",
            "(reduce + (range 1e12))",
            "(filter neg? (range 1e12))",
            "(sort (range 1e12))",
            "(sort > (range 1e12))",
            "(sort-by - (range 1e12))",
            "(sort (fn [a b] (< a b)) (range 1e12))",
            "(group-by odd? (range 1e12))",
            "(frequencies (range 1e12))",
            "(set (range 1e12))",
            "(into [] (range 1e12))",
            "(into {} (range 1e12))",
            "(into #{} (range 1e12))",
            "(apply + (range 1e12))",
            "(apply str (range 1e12))",
            "(apply vector (range 1e12))",
            "(apply (fn [& xs] (count xs)) (range 1e12))",
            "(apply hash-map (range 1e12))",
            "(str (range 1e12))",
            "(pr-str (range 1e12))",
            "(println (range 1e12))",
            "(join \",\" (range 1e12))",
            "(concat (range 1e12) [1])",
            "(cons 1 (range 1e12))",
            "(conj (range 1e12) 1)",
            "(assoc (range 1e12) 0 1)",
            "(assoc (range) 0 1)",
            "(update (range 1e12) 0 inc)",
            "(pmap inc (range 1e12))",
            "(pcalls (fn [] (vec (reverse (range 1e12)))))",
            "(interleave (range 1e12) (range 1e12))",
            "(zipmap (range 1e12) (range 1e12))",
            "(map + (range 1e12) (range 1e12))",
            "(partition 2 (range 1e12))",
            "(partition-all 2 (range 1e12))",
            "(take-nth 2 (range 1e12))",
            "(distinct (range 1e12))",
            "(flatten [(range 1e12)])",
            "(mapcat range (range 1e12))",
            "(repeat 1e12 1)",
            "(repeatedly 1e12 (fn [] 1))",
            "(combinations (range 60) 30)",
            "(zipmap (range 1e6) (repeat 1e6 (range 1e6)))",
            "(hash-set (map inc (range 1e12)))",
            "(tool/echo {:x (range 1e12)})",
            "(tool/echo :x (range))",
            "(for [a (range 1e12) b (range 1e12)] [a b])",
            "(doseq [a (range 1e12)] a)",
            "(dotimes [i 1e12] i)",
            "(range 0.0 1e12 0.001)",
            "(list* 1 (range 1e12))",
            "(reduce conj [] (range 1e12))",
            "(max-by identity (range 1e12))",
            "(sum (range 1e12))",
            "(vals (map vector (range 1e12) (range 1e12)))",
            "(reductions + (range 1e12))",
            "(postwalk identity (range 1e12))",
            "(dedupe (range 1e12))",
            "(interpose 0 (range 1e12))",
            "(drop-while pos? (range 1 1e12))",
            "(partition-by odd? (range 1e12))",
            "(some neg? (range 1e12))",
            "(bit-shift-left 1 1e12)",
        ] {
            let told = victim.tell(source);
            let brief: String = told.chars().take(80).collect();
            let typed = TOO_MUCH.contains(&&*told) || told == "type_error";
            assert!(typed, "{source} gave {brief}");
        }
    });
}

#[test]
fn parts_of_endless_ranges_are_cheap() {
    on_a_small_stack(|| {
        let mut victim = Victim::new(Limits { timeout_ms: 250, ..Limits::default() });
        for (source, wanted) in [
            ("(take 3 (range 1e12))", "[0 1 2]"),
            ("(count (range 1e12))", "1000000000000"),
            ("(nth (range 1e12) 999999)", "999999"),
            ("(last (range 1e12))", "999999999999"),
            ("(first (rest (range)))", "1"),
            ("(contains? (range 1e12) 5)", "true"),
            ("(= (range 1e12) (range 1e12))", "true"),
            ("(= (range 1e12) (range 1 1e12))", "false"),
            ("(count (drop 5 (range 1e12)))", "999999999995"),
            ("(def r (range 1e12)) (count r)", "1000000000000"),
            ("(let [[a b] (range 1e12)] [a b])", "[0 1]"),
            ("(nth (range 9223372036854775807) 9223372036854775806)", "9223372036854775806"),
            ("(range 9223372036854775806 1e30)", "[9223372036854775806]"),
        ] {
            victim.gives(source, wanted);
        }
        victim.tell("(range -9223372036854775808 9223372036854775807 4611686018427387904)");
        victim.tell("(get {(range 1e12) 1} (range 1e12))");
        victim.tell("(hash-set (range 1e12) (range 1e12))");
        victim.tell("(let [[a & more] (range 1e12)] (count more))");
    });
}

#[test]
fn huge_output() {
    on_a_small_stack(|| {
        let mut victim = Victim::new(Limits { timeout_ms: 250, ..Limits::default() });
        victim.is_too_much("(loop [] (do (println \"again and again and again\") (recur)))");
        victim.is_too_much("(loop [s \"ab\"] (recur (str s s)))");
        victim.is_too_much("(loop [v [1]] (recur (into v v)))");
        victim.is_too_much("(loop [v [1]] (recur (concat v v)))");
        victim.is_too_much("(loop [m {} i 0] (recur (assoc m i (str i)) (inc i)))");
        victim.is_too_much("(loop [k :a] (recur (keyword (str (name k) (name k)))))");
        victim.is_too_much("(apply str (repeat 1000000 \"0123456789abcdef\"))");
        victim.is_too_much("(join (repeat 1000000 \"0123456789abcdef\"))");
        victim
            .is_too_much("(replace (apply str (repeat 100000 \"a\")) \"a\" (apply str (repeat 1000 \"b\")))");
        victim.is_too_much("(split (apply str (repeat 2000000 \"a,\")) \",\")");
        victim.gives("(println (apply str (repeat 100000 \"x\")))", "nil");
        victim.is_too_much("(reduce (fn [s i] (str s i)) \"\" (range 10000000))");
    });
}
