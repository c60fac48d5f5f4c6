//! Hints that the language promises, one test for each situation.

use super::setup::{Setup, with};

/// Returns the hint of the first error of a failing program.
fn hint_under(setup: Setup, source: &str) -> String {
    let told = setup.run(source);
    told.diagnostics[0].hint.clone().unwrap_or_else(|| panic!("no hint for {source}"))
}

fn hint(source: &str) -> String {
    hint_under(Setup::default(), source)
}

#[track_caller]
fn check(source: &str, wanted: &str) {
    let hint = hint(source);
    assert!(hint.contains(wanted), "{source}: {hint}");
}

/// Returns the message of the first error.
fn message(source: &str) -> String {
    Setup::default().run(source).diagnostics[0].message.clone()
}

#[test]
fn a_form_as_a_value_goes_into_parentheses() {
    check("(map if [1 2])", "in parentheses, (if …)");
    check("(let [f when-let] f)", "in parentheses, (when-let …)");
    check("(map memory/get [:a])", "in parentheses, (memory/get …)");
}

#[test]
fn a_foreign_name_has_a_local_way() {
    check("(printf \"%d\" 1)", "(println x)");
    check("(spit \"f\" \"text\")", "there are no files");
    check("(slurp \"f\")", "data/name");
    check("(import java.util.Date)", "nothing needs to be loaded");
    check("(raise \"no rows\")", "(fail \"no rows\")");
    check("(catch Exception e nil)", "inside `try`");
    check("(ref 0)", "(atom 0)");
    check("(delay 1)", "a function to call later");
    check("(clojure.walk/prewalk-demo 1)", "(postwalk ");
    check("(aget [1] 0)", "(nth v i)");
}

#[test]
fn forms_of_test_files_belong_into_test_files() {
    for source in [
        "(deftest a (is (= 1 1)))",
        "(is (= 1 1))",
        "(testing \"a\" 1)",
        "(stub-tool 'find 1)",
        "(clojure.test/is 1)",
        "(map is [1])",
    ] {
        check(source, "crm_test.clj for crm.clj, which `ptc test` runs");
    }
    check("(are [x y] (= x y) 1 1)", "(deftest name (is (= expected expr)))");
    // In a prelude, the file next to it is what is meant.
    let source = "(ns crm) (defn f [] 1) (deftest finds (is (= 1 (f))))";
    let error = ptc_runtime::Prelude::compile(&ptc_snapshots::runtime(), source).unwrap_err();
    let hint = error.diagnostic().hint.clone().unwrap_or_default();
    assert!(hint.contains("crm_test.clj for crm.clj, which `ptc test` runs"), "{error}: {hint}");
}

#[test]
fn syntax_of_clojure_has_a_local_way() {
    check("#:a{:b 1}", "{:a/b 1}");
    check("#=(+ 1 2)", "write the form itself");
    check("#! a line", "start comments with ;");
    check("(do (defn f [x] x) (#'f 1))", "without `#'`");
}

#[test]
fn an_underscore_becomes_a_dash() {
    check("(sort_by :a [])", "`sort-by`");
    check("(let [unit-price 4] (* 2 unit_price))", "`unit-price`");
}

#[test]
fn a_near_name_is_suggested() {
    check("(fliter odd? [1])", "did you mean `filter`?");
    check("(def total 1) (+ totla 1)", "did you mean `total`?");
    check("(let [customer 1] (str custmer))", "did you mean `customer`?");
    check("(let [chunks [1]] (count chunk))", "did you mean `chunks`? If not: sequences have no chunks");
}

#[test]
fn a_function_in_place_of_a_collection_may_be_swapped() {
    for source in ["(filter [1 2] odd?)", "(map [1 2] inc)", "(reduce [1 2] +)"] {
        check(source, "the arguments are swapped: write `(");
    }
    check("(sort-by [{:a 1}] :a)", "write `(sort-by :a [{:a 1}])`");
    check("(let [xs [1]] (reduce xs 0 +))", "write `(reduce + 0 xs)`");
    check("(-> [1] (map inc))", "`(->> xs (map inc))`");
    check("(apply + 1 2)", "write `(apply + [1 2])`");
}

#[test]
fn another_language_is_named() {
    check("x = 5", "this looks like JavaScript or Python: write (def x 5)");
    check("const x = 1;", "this looks like JavaScript: write (def x 1)");
    check("let x = 5", "this looks like JavaScript: write (def x 5), or (let [x 5] …)");
    check("{\"a\": 1}", "this looks like JSON: write {\"a\" 1}, without colons");
    check("def f(x):\n    return x", "this looks like Python: write (defn f [x] …)");
    check("(identical? 1 1)", "(= a b)");
    check("(hash 1)", "there are no hash codes");
    check("(exit)", "(return value)");
}

#[test]
fn a_namespace_that_can_be_required_is_listed() {
    check("(require '[clojure.strin :as s])", "did you mean `clojure.string`?");
    check("(ns app (:require [my.lib :as l]))", "clojure.set");
    check("(ns app (:use [clojure.set]))", "(:require [clojure.set :as set])");
    check("(ns app (:import java.time.LocalDate))", "leave it out");
    check("(do (require '[clojure.string :as s]))", "before the other forms");
    check("(require '[clojure.string :refer [jion]])", "did you mean `clojure.string/join`?");
}

#[test]
fn the_collection_comes_first_in_get() {
    check("(get :a {:a 1})", "the collection comes first: `(get m :key)`");
    check("(let [m {:a {:b 1}}] (get-in [:a :b] m))", "`(get-in m [:a :b])`");
}

#[test]
fn update_vals_is_threaded_first() {
    check("(->> {:a 1} (update-vals inc))", "under `->>` use `->`");
    check("(->> {:a 1} (update-keys name))", "under `->>` use `->`");
}

#[test]
fn the_comparator_precedes_the_collection() {
    check("(sort-by :age [{:age 1} {:age 2}] >)", "the comparator precedes the collection");
}

#[test]
fn a_map_has_no_positions() {
    check("(nth {:a 1} 0)", "`(keys m)` or `(vals m)`");
    check("(let [i 0] (nth {:a 1} i :none))", "`(keys m)` or `(vals m)`");
}

#[test]
fn further_arguments_of_update_go_to_the_function() {
    check("(update {:n 1} :n inc 0)", "(fnil inc 0)");
    check("(update-in {:a {:n 1}} [:a :n] inc 0)", "(fnil inc 0)");
    check("(update {} :n (fn [x] x) 0)", "(fnil inc 0)");
}

#[test]
fn a_failed_key_names_its_item() {
    let rows = "[{:n 1} {:n nil}]";
    for form in ["sort-by", "group-by", "min-by", "sum-by"] {
        let message = message(&format!("({form} (fn [row] (+ 1 (:n row))) {rows})"));
        assert!(message.ends_with("for the item {:n nil}"), "{message}");
    }
    assert!(message("(sort-by inc > [1 \"a\"])").ends_with("for the item \"a\""));
    // The function no longer needs its argument, and its slot was reused or collected.
    let forgets =
        "(fn [x] (+ nil (count (loop [i 0 acc []] (if (< i 200000) (recur (inc i) [i (str i)]) acc)))))";
    let forgotten = |rows| message(&format!("(sort-by {forgets} {rows})"));
    assert!(forgotten("(map (fn [i] [i (str i)]) (range 3))").ends_with("for the item [0 \"0\"]"));
    assert!(forgotten("{:a {:b 1}}").ends_with("for the item [:a {:b 1}]"));
    assert!(forgotten("#{\"one\"}").ends_with("for the item \"one\""));
    let long = message("(sort-by inc [(str (range 200))])");
    assert!(long.chars().count() < 200 && long.ends_with('…'), "{long}");
}

#[test]
fn text_for_a_tool_goes_into_a_map() {
    let hint = hint_under(Setup::default().tools(), "(tool/search \"tea\")");
    assert!(hint.contains("wrap it in a map"), "{hint}");
}

#[test]
fn a_loop_limit_points_at_reduce() {
    let setup = with(|limits| limits.loop_iterations = 10);
    let hint = hint_under(setup, "(loop [i 0] (recur (inc i)))");
    assert!(hint.contains("reduce") && hint.contains("split the work"), "{hint}");
}

#[test]
fn arithmetic_on_nil_shows_a_default_that_fits() {
    check("(+ 1 nil)", "`(or x 0)`");
    check("(* 2 nil)", "`(or x 1)`");
}

#[test]
fn a_lazy_sequence_that_never_ends_has_another_way() {
    // A small stack, so that it overflows soon even when every step collects.
    let source = "(defn from [n] (lazy-seq (cons n (from (inc n))))) (take 3 (from 0))";
    let hint = hint_under(with(|limits| limits.stack_bytes = 100_000), source);
    assert_eq!(hint, "`lazy-seq` is not lazy here: make a sequence without an end with `(iterate f x)`");
}

#[test]
fn messages_show_what_was_given() {
    assert!(message("(nth [] 0.5)").contains("the index 0.5 is"));
    for program in ["(intersection [:a] nil)", "(intersection [:a] #{:a} nil)", "(difference [:a] nil)"] {
        assert!(message(program).contains("argument 1 must be a set, but it is a list"), "{program}");
    }
}
