//! Endless sequences and stateful transducers, as programs see them.
#![allow(missing_docs)]

use ptc_runtime::{Grants, Limits};
use ptc_snapshots::{check_results as check, result_of as result, runtime};

#[test]
fn a_part_can_be_taken() {
    check(&[
        ("(take 5 (range))", "[0 1 2 3 4]"),
        ("(take 0 (range))", "[]"),
        ("(take -1 (range))", "[]"),
        ("(take 2.9 (iterate inc 0))", "[0 1]"),
        ("(take 3 (range 5 ##Inf))", "[5 6 7]"),
        ("(take 2 (range 0 (* 9223372036854775807 4)))", "[0 1]"),
        (
            "(range 9223372036854775806 (+ 9223372036854775807 2))",
            "[9223372036854775806 9223372036854775807 9223372036854775808]",
        ),
        (
            "(range -9223372036854775807 (- -9223372036854775808 1) -1)",
            "[-9223372036854775807 -9223372036854775808]",
        ),
        ("(range 9223372036854775807 (- -9223372036854775808 1))", "[]"),
        ("(take 3 (range 5 ##-Inf -2))", "[5 3 1]"),
        ("(take 3 (iterate #(* 2 %) 1))", "[1 2 4]"),
        ("(take 5 (cycle [1 2]))", "[1 2 1 2 1]"),
        ("(take 5 (cycle {:a 1}))", "[[:a 1] [:a 1] [:a 1] [:a 1] [:a 1]]"),
        ("(cycle [])", "[]"),
        ("(take 2 (repeat :x))", "[:x :x]"),
        ("(take 2 (repeatedly (fn [] 7)))", "[7 7]"),
        ("(take-while #(< % 20) (iterate #(* 3 %) 1))", "[1 3 9]"),
        ("(first (range))", "0"),
        ("(second (iterate inc 5))", "6"),
        ("(nth (cycle [1 2 3]) 100)", "2"),
        ("(nth (range) -1)", "nil"),
        ("(nth (range) -1 :none)", ":none"),
        ("(split-at 2 (take 4 (range)))", "[[0 1] [2 3]]"),
        ("(first (split-with #(< % 3) (range)))", "[0 1 2]"),
        ("(let [[a b & more] (iterate inc 1)] [a b (take 2 more)])", "[1 2 [3 4]]"),
        ("(let [[[k v]] (repeat [:k 1])] [k v])", "[:k 1]"),
        ("(some #(if (> % 10) % nil) (iterate #(* 2 %) 1))", "16"),
        ("(every? #(< % 5) (range))", "false"),
        ("(reduce (fn [a x] (if (> a 100) (reduced a) (+ a x))) (range))", "105"),
        ("(loop [s (iterate inc 1) n 0] (if (= n 3) (first s) (recur (rest s) (inc n))))", "4"),
        ("(def s (iterate inc 1)) [(take 2 s) (take 2 s)]", "[[1 2] [1 2]]"),
    ]);
}

#[test]
fn functions_over_endless_sequences_give_endless_sequences() {
    check(&[
        ("(take 4 (map inc (range)))", "[1 2 3 4]"),
        ("(take 4 (filter odd? (range)))", "[1 3 5 7]"),
        ("(take 4 (remove odd? (range)))", "[0 2 4 6]"),
        ("(take 2 (keep #(if (> % 3) (* % %) nil) (range)))", "[16 25]"),
        ("(take 6 (mapcat (fn [x] (repeat x x)) (range)))", "[1 2 2 3 3 3]"),
        ("(take 3 (map-indexed vector (repeat :a)))", "[[0 :a] [1 :a] [2 :a]]"),
        ("(take 2 (keep-indexed (fn [i x] (if (odd? i) x nil)) (cycle [:a :b])))", "[:b :b]"),
        ("(take 3 (drop 10 (range)))", "[10 11 12]"),
        ("(take 3 (drop 2 (iterate inc 0)))", "[2 3 4]"),
        ("(take 2 (rest (rest (iterate inc 0))))", "[2 3]"),
        ("(take 2 (next (range)))", "[1 2]"),
        ("(take 2 (nthrest (range) 4))", "[4 5]"),
        ("(take 2 (drop-while #(< % 5) (range)))", "[5 6]"),
        ("(take 3 (partition 2 (range)))", "[[0 1] [2 3] [4 5]]"),
        ("(take 2 (partition 3 1 (range)))", "[[0 1 2] [1 2 3]]"),
        ("(take 2 (partition-all 2 (range)))", "[[0 1] [2 3]]"),
        ("(take 4 (take-nth 3 (range)))", "[0 3 6 9]"),
        ("(take 3 (distinct (cycle [1 2 3])))", "[1 2 3]"),
        ("(take 4 (dedupe (cycle [1 1 2])))", "[1 2 1 2]"),
        ("(take 5 (interpose 0 (iterate inc 1)))", "[1 0 2 0 3]"),
        ("(take 5 (reductions + (range)))", "[0 1 3 6 10]"),
        ("(take 3 (reductions * 1 (iterate inc 1)))", "[1 1 2]"),
        ("(take 4 (concat [1 2] (repeat 0)))", "[1 2 0 0]"),
        ("(take 3 (concat [] (range) [:never]))", "[0 1 2]"),
        ("(take 3 (cons :a (repeat :b)))", "[:a :b :b]"),
        ("(take 4 (list* 1 2 (repeat 0)))", "[1 2 0 0]"),
        ("(take 4 (interleave (range) (repeat :x)))", "[0 :x 1 :x]"),
        ("(take 2 (map vector (range) (repeat :x) (cycle [1 2])))", "[[0 :x 1] [1 :x 2]]"),
        ("(take 3 (map first (iterate (fn [[a b]] [b (+ a b)]) [0 1])))", "[0 1 1]"),
    ]);
}

#[test]
fn a_partner_with_an_end_ends_them() {
    check(&[
        ("(map vector [:a :b] (range))", "[[:a 0] [:b 1]]"),
        ("(map + [1 2] (range) (repeat 10))", "[11 13]"),
        ("(mapv vector (range) \"ab\")", "[[0 \"a\"] [1 \"b\"]]"),
        ("(interleave [:a :b] (repeat 0))", "[:a 0 :b 0]"),
        ("(zipmap [:a :b] (range))", "{:a 0 :b 1}"),
        ("(zip (range) [:a])", "[[0 :a]]"),
        ("(mapcat list [1 2] (range))", "[1 0 2 1]"),
        (
            "(for [x (range) :while (< x 4) y (iterate inc 0) :while (< y x)] [x y])",
            "[[1 0] [2 0] [2 1] [3 0] [3 1] [3 2]]",
        ),
        ("(doseq [x (range)] (if (> x 3) (return x) nil))", "4"),
    ]);
}

#[test]
fn all_of_one_is_an_error_at_once() {
    let message = "expected a collection with an end, got an endless sequence";
    for name in [
        "count",
        "vec",
        "last",
        "reverse",
        "sort",
        "set",
        "println",
        "str",
        "frequencies",
        "apply +",
        "pmap inc",
        "mapv inc",
        "into []",
        "group-by odd?",
    ] {
        let named = name.split(' ').next().unwrap();
        let found = result(&format!("({name} (iterate inc 0))"));
        assert!(found.starts_with("type_error") && found.ends_with(message), "{name}: {found}");
        assert!(found.contains(&format!("`{named}`")) || named == "mapv", "{name}: {found}");
    }
    for program in
        ["(range)", "{:a [(repeat 1)]}", "(for [x (range)] x)", "(drop 5 (cycle [1]))", "(map inc (range))"]
    {
        assert!(result(program).ends_with(message), "{program}: {}", result(program));
    }
    // The end of a search is unknown: fuel and time are the limit.
    let limits = Limits { fuel: 100_000, ..Limits::default() };
    let failure = runtime().limits(limits).eval("(first (filter neg? (range)))", &Grants::new());
    assert_eq!(failure.unwrap_err().reason(), "fuel_exceeded");
}

#[test]
fn predicates_know_them() {
    check(&[
        (
            "(map #(% (range)) [coll? seq? sequential? seqable? vector? counted? map? fn? empty?])",
            "[true true true true false false false false false]",
        ),
        ("(if-let [s (seq (repeat 1))] (first s) :none)", "1"),
        ("(= (range) [0 1 2])", "false"),
        ("(type (range))", ":vector"),
    ]);
}

#[test]
fn transducers_remember() {
    check(&[
        ("(into [] (comp (filter odd?) (map inc) (take 3)) (range))", "[2 4 6]"),
        ("(into [] (take 0) [1 2])", "[]"),
        ("(into [] (drop 2) [1 2 3 4])", "[3 4]"),
        ("(into [] (comp (partition-all 2) (map vec)) (range 5))", "[[0 1] [2 3] [4]]"),
        ("(into [] (comp (partition-all 2) (take 1)) (range))", "[[0 1]]"),
        ("(into [] (partition-by odd?) [1 3 2 4 5])", "[[1 3] [2 4] [5]]"),
        ("(sequence (distinct) [1 1 2 3 1])", "[1 2 3]"),
        ("(into [] (dedupe) [1 1 2 2 1 nil nil])", "[1 2 1 nil]"),
        ("(into [] (take-nth 2) (range 7))", "[0 2 4 6]"),
        ("(into [] (interpose 0) [1 2 3])", "[1 0 2 0 3]"),
        ("(into [] (comp (interpose 0) (take 2)) [1 2 3])", "[1 0]"),
        ("(into [] (drop-while neg?) [-1 2 -3])", "[2 -3]"),
        ("(into {} (map-indexed (fn [i x] [x i])) [:a :b])", "{:a 0 :b 1}"),
        ("(into [] (keep-indexed (fn [i x] (if (even? i) x nil))) [:a :b :c])", "[:a :c]"),
        ("(into [] cat [[1] [] [2 3]])", "[1 2 3]"),
        ("(into [] (comp cat (take 2)) [[1] [2 3]])", "[1 2]"),
        ("(into [] (replace {1 :one}) [1 2])", "[:one 2]"),
        ("(transduce (comp (map inc) (take 2)) + 10 (range))", "13"),
        ("(let [xf (take 2)] [(into [] xf [1 2 3]) (into [] xf [4 5 6])])", "[[1 2] [4 5]]"),
        ("(eduction (map inc) [1 2])", "[2 3]"),
    ]);
}

#[test]
fn memoized_functions_are_called_once_per_argument_list() {
    let runtime = runtime();
    let program =
        "(let [f (memoize (fn [& xs] (println xs) (apply + xs)))] [(f 1 2) (f 1 2) (f) (f) (f 2 1)])";
    let outcome = runtime.eval(program, &Grants::new()).unwrap();
    assert_eq!(outcome.print().unwrap(), "[3 3 0 0 3]");
    assert_eq!(outcome.prints, ["[1 2]", "nil", "[2 1]"]);
    // In a branch it still works, with the results cached before.
    check(&[
        ("(def f (memoize inc)) (f 1) (pmap f [1 2 3])", "[2 3 4]"),
        (
            "(def fib (memoize (fn [n] (if (< n 2) n (+ (fib (- n 1)) (fib (- n 2))))))) (fib 60)",
            "1548008755920",
        ),
    ]);
}

#[test]
fn what_a_transducer_remembers_stays_where_it_is() {
    let mut session = runtime().session();
    session.eval("(def rf ((take 2) conj)) (def f (memoize inc)) (f 1) (def s (map inc (range)))").unwrap();
    assert_eq!(session.eval("(take 2 s)").unwrap().print().unwrap(), "[1 2]");
    assert_eq!(session.eval("[(f 1) (f 2) (f 2)]").unwrap().print().unwrap(), "[2 3 3]");
    let failure = session.eval("(rf [] 1)").unwrap_err();
    assert!(failure.diagnostic().message.contains("cannot go on"), "{failure:?}");
    assert!(result("(let [rf ((take 2) conj)] (pmap (fn [x] (rf [] x)) [1 2]))").contains("cannot go on"));
}
