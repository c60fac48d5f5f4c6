//! Comparators and key functions that lie, change their mind, or return nonsense.

use super::{Victim, on_a_small_stack};
use ptc_runtime::Limits;

#[test]
fn a_lying_comparator_gives_some_order_of_the_same_items() {
    on_a_small_stack(|| {
        let mut victim = Victim::new(Limits { timeout_ms: 20_000, ..Limits::default() });
        for comparator in [
            "(fn [a b] true)",
            "(fn [a b] false)",
            "(fn [a b] nil)",
            "(fn [a b] \"yes\")",
            "(fn [a b] -1)",
            "(fn [a b] 1)",
            "(fn [a b] 0)",
            "(fn [a b] ##NaN)",
            "(fn [a b] ##-Inf)",
            "(fn [a b] [])",
            "(fn [a b] (odd? (+ a b)))",
            "(fn [a b] (- (mod (* 7919 (+ (* a 31) b)) 5) 2))",
            "(fn [a b] (< (mod a 3) (mod b 2)))",
            "(fn [a b] (>= a b))",
            "(fn [& all] (even? (count (str all))))",
            "=",
            "not=",
            "<=",
            ">=",
            "-",
            "vector",
            "{}",
            "#{1 2}",
        ] {
            if comparator == "#{1 2}" {
                victim.gives(&format!("(count (sort {comparator} (range 50)))"), "arity_error");
                continue;
            }
            for n in [0, 1, 2, 3, 50, 400] {
                let items = format!("(map (fn [i] (mod (* i 7919) 101)) (range {n}))");
                victim.gives(
                    &format!("(= (frequencies (sort {comparator} {items})) (frequencies {items}))"),
                    "true",
                );
                victim.gives(
                    &format!("(= (frequencies (sort-by - {comparator} {items})) (frequencies {items}))"),
                    "true",
                );
            }
        }
    });
}

#[test]
fn a_comparator_that_cannot_answer() {
    on_a_small_stack(|| {
        let mut victim = Victim::new(Limits::default());
        for (source, reason) in [
            ("(sort (fn [a b] (+ a nil)) [2 1])", "type_error"),
            ("(sort (fn [a] true) [2 1])", "arity_mismatch"),
            ("(sort 5 [2 1])", "type_error"),
            ("(sort \"x\" [2 1])", "type_error"),
            ("(sort :nope [2 1])", "type_error"),
            ("(sort-by :a :nope [{:a 1}])", "type_error"),
            ("(sort (fn [a b] (fail :no)) [2 1])", "fail"),
            ("(sort (fn [a b] (return :early)) [2 1])", ":early"),
            ("(sort 1)", "type_error"),
            ("(sort inc)", "type_error"),
        ] {
            victim.gives(source, reason);
        }
        victim.is_too_much("(sort (fn [a b] (loop [] (recur))) [2 1])");
        victim.is_too_much("(sort-by (fn [x] (loop [] (recur))) [2 1])");
    });
}

#[test]
fn sorting_anything_with_anything() {
    on_a_small_stack(|| {
        let mut victim = Victim::new(Limits::default());
        let zoo = "[nil true false 3 -1.5 ##NaN ##Inf 99999999999999999999 :k :a \"b\" \"\" [] [1] [##NaN] {} {:a 1} \
                   #{} #{1} inc (fn [] 1) #'kept 'sym #\"re\" (range 3)]";
        for source in [
            "(sort ZOO)",
            "(sort > ZOO)",
            "(sort-by str ZOO)",
            "(sort-by identity > ZOO)",
            "(sort compare ZOO)",
        ] {
            let told = victim.tell(&format!("(count {})", source.replace("ZOO", zoo)));
            assert_eq!(told, "25", "{source}");
        }
        for op in ["<", ">", "<=", ">=", "=", "compare"] {
            victim.gives(&format!("(count (for [a {zoo} b {zoo}] ({op} a b)))"), "625");
        }
        // `compare` is antisymmetric.
        victim.gives(
            &format!("(every? identity (for [a {zoo} b {zoo}] (= (compare a b) (- (compare b a)))))"),
            "true",
        );
    });
}
