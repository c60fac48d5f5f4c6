//! Calls that led to an error: the functions, the call sites, and the element.
#![allow(missing_docs)]

use ptc_runtime::{Attach, Failure, Grants, Limits, Prelude, Runtime};

fn runtime() -> Runtime {
    ptc_snapshots::runtime()
}

fn lines_of(failure: &Failure) -> Vec<String> {
    let trace = &failure.diagnostic().trace;
    trace.as_ref().map(|trace| trace.lines(failure.source())).unwrap_or_default()
}

/// Returns the reported calls; asserts that optimisation does not change them.
#[track_caller]
fn lines(source: &str) -> Vec<String> {
    let told = |optimize| lines_of(&runtime().optimize(optimize).eval(source, &Grants::new()).err().unwrap());
    assert_eq!(told(true), told(false), "{source}");
    told(true)
}

#[test]
fn calls_are_told_from_the_innermost_to_the_outermost() {
    let source = "(defn price [row] (+ 1 (:price row)))\n(defn total [rows]\n  (reduce + (map price rows)))\n(total [{:price 1} {}])";
    assert_eq!(
        lines(source),
        [
            "in `price`, called by `map` for index 1 at line 3, column 13",
            "in `total`, called at line 4, column 1"
        ]
    );
    let text = runtime().eval(source, &Grants::new()).err().unwrap().to_string();
    let wanted = "\
error[E0302] type_error: `+` needs numbers, but argument 2 is nil (line 1, column 19)
 1 │ (defn price [row] (+ 1 (:price row)))
   │                   ^^^^^^^^^^^^^^^^^^
 in `price`, called by `map` for index 1 at line 3, column 13
 in `total`, called at line 4, column 1
 hint: ";
    assert!(text.starts_with(wanted), "{text}");
}

#[test]
fn a_program_without_calls_has_none_to_tell() {
    assert!(lines("(+ 1 nil)").is_empty());
    assert!(lines("(let [x nil] (if true (+ 1 x)))").is_empty());
    assert!(lines("(throw (ex-info \"no\" {}))").is_empty());
}

#[test]
fn the_element_is_told_where_one_is_walked() {
    assert_eq!(lines("(map (fn [x] (+ 1 x)) [1 2 nil])"), ["at index 2"]);
    assert_eq!(lines("(reduce (fn [a x] (+ a x)) 0 [1 nil])"), ["at index 1"]);
    assert_eq!(lines("(filter (fn [x] (> (+ x 1) 1)) [1 2 3 :a])"), ["at index 3"]);
    assert_eq!(lines("(map inc [1 2 nil])"), ["at index 2"]);
    assert_eq!(lines("(for [x [1 2] y [3 nil]] (+ x y))"), ["at index 1"]);
    assert_eq!(lines("(doseq [x (range 5)] (when (= x 4) (throw (ex-info \"four\" {}))))"), ["at index 4"]);
    assert_eq!(
        lines("(let [f (fn [x] (+ 1 x))] (map f [1 nil]))"),
        ["in a function, called by `map` for index 1 at line 1, column 27"]
    );
    assert_eq!(
        lines("(defn f [x] (+ 1 x))\n(doseq [x [1 nil]]\n  (f x))"),
        ["in `f`, called for index 1 at line 3, column 3"]
    );
    // Maps have no order to count by.
    assert!(lines("(map (fn [[k v]] (+ 1 v)) {:a nil})").is_empty());
}

#[test]
fn deep_recursion_is_cut() {
    let told = lines("(defn f [n] (if (= n 0) (+ 1 nil) (inc (f (dec n)))))\n(f 50)");
    assert_eq!(told.len(), 11, "{told:?}");
    assert_eq!(told[5], "in `f`, called at line 1, column 40");
    assert_eq!(told[6], "… 41 more");
    assert_eq!(told[10], "in `f`, called at line 2, column 1");
}

#[test]
fn branches_go_on_with_the_calls_of_their_program() {
    assert_eq!(
        lines("(defn g [x] (/ 1 x))\n(defn all [xs]\n  (pmap (fn [x] (g x)) xs))\n(all [1 0])"),
        ["in `g`, called at line 3, column 17", "in `all`, called at line 4, column 1"]
    );
}

#[test]
fn preludes_and_earlier_programs_are_named() {
    let prelude = Prelude::compile(
        &runtime(),
        "(ns crm) (defn- half [f x] (f x)) (defn each [f xs] (map (fn [x] (half f x)) xs))",
    );
    let attached = runtime().attach(&prelude.unwrap(), &Attach::new()).unwrap();
    let failure = attached.eval("(defn g [x] (+ 1 x))\n(crm/each g [1 nil])", &Grants::new()).err().unwrap();
    assert_eq!(
        lines_of(&failure),
        ["in `g`, called by `map` for index 1", "in `crm/each`, called at line 2, column 1"]
    );
    let mut session = runtime().session();
    session.eval("(defn half [x] (/ 1 x)) (defn each [f] (map f [1 0]))").unwrap();
    let failure = session.eval("(each half)").err().unwrap();
    assert_eq!(
        lines_of(&failure),
        ["in `half`, called by `map` for index 1", "in `each`, called at line 1, column 1"]
    );
}

#[test]
fn limits_are_told_without() {
    let limits = Limits { fuel: 10_000, ..Limits::default() };
    let failure =
        runtime().limits(limits).eval("(defn f [n] (inc (f n))) (f 1)", &Grants::new()).err().unwrap();
    assert!(lines_of(&failure).is_empty(), "{failure}");
}

#[test]
fn what_is_caught_costs_and_says_what_it_did() {
    let outcome =
        runtime().eval("(defn f [x] (/ 1 x)) (try (f 0) (catch Exception e (ex-data e)))", &Grants::new());
    assert!(outcome.unwrap().print().unwrap().starts_with("{:kind :arithmetic_error"));
}
