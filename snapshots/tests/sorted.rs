//! Sorted maps and sets, as a program sees them.
#![allow(missing_docs)]

use ptc_runtime::Grants;
use ptc_snapshots::{check_results as check, runtime};

#[test]
fn they_stay_in_order() {
    check(&[
        ("(sorted-map)", "{}"),
        ("(sorted-map :b 1 :a 2)", "{:a 2 :b 1}"),
        ("(assoc (sorted-map 3 :c 1 :a) 2 :b)", "{1 :a 2 :b 3 :c}"),
        ("(assoc (sorted-map 1 :a) 1 :b)", "{1 :b}"),
        ("(dissoc (sorted-map 3 :c 1 :a 2 :b) 2 9)", "{1 :a 3 :c}"),
        ("(into (sorted-map) {:z 1 :a 2 :m 3})", "{:a 2 :m 3 :z 1}"),
        ("(into (sorted-map) (map (fn [x] [x (* x x)])) [3 1 2])", "{1 1 2 4 3 9}"),
        ("(merge (sorted-map :b 1) {:a 2} {:b 3})", "{:a 2 :b 3}"),
        ("(merge-with + (sorted-map :b 1) {:a 2 :b 5})", "{:a 2 :b 6}"),
        ("(conj (sorted-map :b 1) [:a 0] {:c 2})", "{:a 0 :b 1 :c 2}"),
        ("(update (sorted-map :b 1 :a 1) :a inc)", "{:a 2 :b 1}"),
        ("(assoc (empty (sorted-map :b 1)) :d 1 :c 2)", "{:c 2 :d 1}"),
        (
            "(keys (into (sorted-map) (zipmap (range 20 0 -1) (range))))",
            "[1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20]",
        ),
        (
            "(reduce (fn [m x] (update m (mod x 3) (fnil conj []) x)) (sorted-map) [5 4 3 2 1 0])",
            "{0 [3 0] 1 [4 1] 2 [5 2]}",
        ),
        ("(sorted-map-by > 1 :a 2 :b)", "{2 :b 1 :a}"),
        ("(assoc (sorted-map-by > 1 :a 3 :c) 2 :b)", "{3 :c 2 :b 1 :a}"),
        ("(sorted-set 3 1 2 1)", "#{1 2 3}"),
        ("(conj (sorted-set \"b\" \"a\") \"c\" \"a\")", "#{\"a\" \"b\" \"c\"}"),
        ("(disj (sorted-set 1 2 3) 2)", "#{1 3}"),
        ("(union (sorted-set 3 1) #{2})", "#{1 2 3}"),
        ("(difference (sorted-set 3 1 2) #{2})", "#{1 3}"),
        ("(sorted-set-by > 1 2 3)", "#{3 2 1}"),
        ("(sorted-set [2 :a] [1 :b] [1 :a])", "#{[1 :a] [1 :b] [2 :a]}"),
        ("(vals (sorted-map \"b\" 1 :k 3 nil 0 2 5))", "[0 5 3 1]"),
    ]);
}

#[test]
fn they_are_read_like_any_other() {
    check(&[
        ("(first (sorted-map 3 :c 1 :a))", "[1 :a]"),
        ("(last (sorted-set 3 1 2))", "3"),
        ("(rest (sorted-set 3 1 2))", "[2 3]"),
        ("(rseq (sorted-map 1 :a 2 :b))", "[[2 :b] [1 :a]]"),
        ("(map key (sorted-map :b 1 :a 2))", "[:a :b]"),
        ("(get (sorted-map \"a_b\" 1) :a-b)", "1"),
        ("(:a (sorted-map :b 1 :a 2) :none)", "2"),
        ("((sorted-map :b 1) :c 7)", "7"),
        ("((sorted-set 1 2) 2)", "2"),
        ("(contains? (sorted-set 1 2) 3)", "false"),
        ("(find (sorted-map :a 1) :a)", "[:a 1]"),
        ("(let [{:keys [a] b \"b\"} (sorted-map \"b\" 1 :c 2)] [a b])", "[nil 1]"),
        ("(= (sorted-map :a 1 :b 2) {:b 2 :a 1})", "true"),
        ("(= {:b 2 :a 1} (sorted-map :a 1 :b 2))", "true"),
        ("(= (sorted-set 1 2) #{2 1} (sorted-set-by > 1 2))", "true"),
        ("(get {(sorted-set 1 2) :found} #{2 1})", ":found"),
        ("(reduce-kv (fn [acc k v] (conj acc k v)) [] (sorted-map 2 :b 1 :a))", "[1 :a 2 :b]"),
        (
            "[(sorted? (sorted-map)) (sorted? {}) (map? (sorted-map)) (set? (sorted-set))]",
            "[true false true true]",
        ),
        ("(subseq (sorted-map 1 :a 2 :b 3 :c) >= 2)", "[[2 :b] [3 :c]]"),
        ("(subseq (sorted-set 1 2 3 4) > 1 < 4)", "[2 3]"),
        ("(rsubseq (sorted-set 1 2 3) <= 2)", "[2 1]"),
        ("(count (into (sorted-set) (map #(mod (* 7919 %) 10007) (range 20000))))", "10007"),
    ]);
    let json = runtime().eval("(sorted-map \"b\" 1 \"a\" {:k (sorted-set 2 1)})", &Grants::new());
    assert_eq!(json.unwrap().json().unwrap(), r#"{"a":{"k":[1,2]},"b":1}"#);
}

#[test]
fn what_has_no_order_is_refused() {
    check(&[
        (
            "(sorted-map {} 1)",
            "type_error: a sorted collection needs keys that have an order, but found a map",
        ),
        (
            "(conj (sorted-set 1) #{})",
            "type_error: a sorted collection needs keys that have an order, but found a set",
        ),
        (
            "(sorted-map 1)",
            "runtime_error: `sorted-map` takes keys and values in turn, but one key has no value",
        ),
        (
            "(sorted-map-by (fn [a b] 0) 1 2)",
            "type_error: `sorted-map-by` takes the comparators <, > and compare",
        ),
        (
            "(subseq [1 2] > 1)",
            "type_error: `subseq`: argument 1 must be a sorted map or set, but it is a list",
        ),
    ]);
}

#[test]
fn they_survive_a_turn() {
    let mut session = runtime().session();
    session.eval("(def m (into (sorted-map) (map (fn [x] [x (str x)]) (range 50))))").unwrap();
    let outcome = session.eval("(take 2 (assoc (dissoc m 0) -1 :new))").unwrap();
    assert_eq!(outcome.print().unwrap(), "[[-1 :new] [1 \"1\"]]");
}
