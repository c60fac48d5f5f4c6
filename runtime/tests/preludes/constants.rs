//! Constants are evaluated when a prelude is compiled, in a sandbox that can do nothing but compute.

use super::common::*;

#[test]
fn values_are_frozen() {
    let source = "(ns a) (def n (reduce + (range 10))) (def m {:a [1 2.5 \"x\" :k nil true #{1}] :b 'sym}) (def r #\"a+\")";
    assert_eq!(
        value(source, "[a/n a/m (re-find a/r \"baac\")]"),
        "[45 {:a [1 2.5 \"x\" :k nil true #{1}] :b 'sym} \"aa\"]"
    );
}

#[test]
fn constants_may_use_each_other_in_any_order() {
    let source =
        "(ns a) (def c (+ a b)) (def a 1) (def b (twice a)) (defn- twice [x] (* 2 x)) (defn all [] [a b c])";
    assert_eq!(value(source, "[a/c (a/all)]"), "[3 [1 2 3]]");
    let chain: String = (1..60).map(|i| format!("(def x{i} (+ x{} x{}))", i - 1, i - 1)).collect();
    assert_eq!(value(&format!("(ns a) (def x0 1) {chain}"), "a/x59"), (1_u64 << 59).to_string());
}

#[test]
fn a_constant_cannot_depend_on_itself() {
    for source in
        ["(ns a) (def x (+ x 1))", "(ns a) (def x y) (def y x)", "(ns a) (def x (f)) (defn- f [] x)"]
    {
        let (reason, message) = refused(source);
        assert_eq!(reason, "compile_error", "{source}");
        assert!(message.contains("itself"), "{source}: {message}");
    }
}

#[test]
fn constants_may_hold_functions() {
    let source = "(ns a) (def add (fn [x] (+ x n))) (def n 10) (def inc2 (comp inc inc)) (def ops {:up inc :down dec}) (def pick :name)";
    assert_eq!(value(source, "(map a/add [1 2])"), "[11 12]");
    // A call without arguments returns the value and does not apply it.
    assert_eq!(value(source, "[(fn? (a/add)) ((a/add) 5) (a/pick)]"), "[true 15 :name]");
    assert_eq!(value(source, "[((:up a/ops) 1) (let [f a/inc2] (f 1))]"), "[2 3]");
}

#[test]
fn a_constant_takes_no_arguments() {
    let (reason, message) = fault("(ns billing) (def page-size 50)", "(billing/page-size 1)");
    assert_eq!(reason, "arity_error");
    assert!(message.contains("billing/page-size` is a constant and takes no arguments"), "{message}");
}

#[test]
fn impure_constants_are_refused() {
    for (value, what) in [
        ("(currentTimeMillis)", "currentTimeMillis"),
        ("(LocalDate/now)", "LocalDate/now"),
        ("(java.util.Date.)", "java.util.Date."),
        ("(tool/call {:server \"a\" :tool \"b\"})", "tool/call"),
        ("(tool/fetch {})", "tool/fetch"),
        ("(map tool/fetch [{}])", "tool/fetch"),
        ("(tool/servers)", "tool/servers"),
        ("data/rows", "granted data"),
        ("(count data/rows)", "granted data"),
        ("(budget/remaining)", "budget/remaining"),
        ("*1", "*1"),
        ("(task \"a\" 1)", "task"),
        ("(atom 1)", "holds an atom"),
        ("(let [n (atom 0)] (fn [] (swap! n inc)))", "holds an atom"),
    ] {
        let (reason, message) = refused(&format!("(ns a) (def x {value})"));
        assert_eq!(reason, "impure_constant", "{value}: {message}");
        assert!(message.contains(what), "{value}: {message}");
    }
    // Only code that runs counts: a function may do all of that when it is called.
    assert!(compile("(ns a) (def f (fn [] (currentTimeMillis))) (def g (java.util.Date. 0))").is_ok());
}

#[test]
fn limits_hold() {
    for value in [
        "(loop [i 0] (recur (inc i)))",
        "(vec (range 100000000))",
        "((fn f [x] (+ 1 (f x))) 1)",
        "(apply str (repeat 10000000 \"x\"))",
    ] {
        let (reason, message) = refused(&format!("(ns a) (def x {value})"));
        assert_eq!(reason, "compile_error", "{value}");
        assert!(message.contains("prelude evaluation exceeded sandbox limits"), "{value}: {message}");
    }
}

#[test]
fn failures_are_told() {
    for (value, what) in
        [("(+ 1 nil)", "nil"), ("(fail {:no 1})", ":no 1"), ("(return 1)", "return"), ("(first 1)", "")]
    {
        let (reason, message) = refused(&format!("(ns a) (def x {value})"));
        assert_eq!(reason, "compile_error", "{value}");
        assert!(
            message.contains("prelude evaluation failed: ") && message.contains(what),
            "{value}: {message}"
        );
    }
}

#[test]
fn sorted_collections_stay_sorted() {
    let source =
        "(ns a) (def m (sorted-map 2 :b 1 :a)) (def s (sorted-set 3 1)) (def deep {:in [(sorted-set 2 1)]})
        (defn add [k] (assoc m k :new))";
    assert_eq!(
        value(source, "[(sorted? a/m) (sorted? a/s) (sorted? (get-in a/deep [:in 0]))]"),
        "[true true true]"
    );
    assert_eq!(value(source, "[(keys (a/add 0)) (conj a/s 2) (a/m)]"), "[[0 1 2] #{1 2 3} {1 :a 2 :b}]");
}
