//! Branches of `pmap` on any number of threads: the same value or the same fault, to the byte.

use ptc_runtime::{Failure, Grants, Limits, Runtime, Tools};
use std::collections::BTreeSet;

/// Runs a program on this many threads.
fn on_threads(threads: usize, source: &str, memory_bytes: u64) -> Result<String, String> {
    let core = Runtime::with_core(ptc_preludes::core()).unwrap();
    let limits = Limits { memory_bytes, timeout_ms: 60_000, ..*core.current_limits() };
    let runtime = core.limits(limits);
    let tools = Tools::new().with("wait", |_| Ok(1));
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
    let outcome = pool.install(|| runtime.clone().with_tools(tools.clone()).eval(source, &Grants::new()));
    outcome.map(|outcome| outcome.print().unwrap()).map_err(|failure: Failure| failure.to_string())
}

/// Returns the result of a program, which must be equal on any number of threads.
fn always(source: &str, memory_bytes: u64) -> Result<String, String> {
    let runs = [1, 1, 2, 2, 3, 4, 8, 8];
    let mut found: BTreeSet<Result<String, String>> =
        runs.into_iter().map(|threads| on_threads(threads, source, memory_bytes)).collect();
    assert_eq!(found.len(), 1, "{source}: {found:#?}");
    found.pop_first().unwrap()
}

#[test]
fn memory_of_results_is_counted_in_the_order_of_the_items() {
    for sizes in
        ["(* 100 i)", "(* 100 (- 80 i))", "(if (odd? i) 10 9000)", "(* 10 (mod (* i 37) 97) (mod i 7))"]
    {
        let told = always(&format!("(count (pmap (fn [i] (mapv inc (range {sizes}))) (range 80)))"), 1 << 20);
        let told = told.unwrap_err();
        assert!(told.contains("memory_exceeded: the branches of `pmap` hold "), "{told}");
        assert!(told.contains("limits.memory_bytes = 1048576"), "{told}");
    }
}

#[test]
fn memory_of_branches_that_wait_is_counted_in_the_order_of_the_items() {
    let told = always(
        "(pmap (fn [i] (let [v (mapv inc (range (* 100 i)))] (tool/wait {}) (count v))) (range 80))",
        1 << 20,
    );
    assert!(told.unwrap_err().contains("memory_exceeded: the branches of `pmap` hold "));
}

#[test]
fn branches_that_ran_ahead_do_not_hide_the_failure_before_them() {
    let told = always("(pmap (fn [i] (if (= i 3) (+ nil 1) (mapv inc (range 9000)))) (range 60))", 1 << 20);
    assert!(told.unwrap_err().contains("pmap_error: `pmap`: branch 3 stopped"));
}

#[test]
fn what_fits_on_one_thread_fits_on_many() {
    // Garbage of waiting branches is collected before anything is refused.
    let source =
        "(reduce + (pmap (fn [i] (let [n (count (mapv inc (range 9000)))] (tool/wait {}) n)) (range 60)))";
    assert_eq!(always(source, 1 << 20).unwrap(), "540000");
    let nested = "(reduce + (pmap (fn [i] (reduce + (pmap inc (range i)))) (range 40)))";
    assert_eq!(always(nested, 4 << 20).unwrap(), "10660");
}

/// If one reply is so large that the parent is collected, later replies still refer to moved values.
#[test]
fn answers_that_refer_to_the_parents_values_survive_a_large_one_before_them() {
    let items = "(mapv (fn [i] [i (str \"item \" i)]) (range 4))";
    let large = |answer: &str| format!("(pmap (fn [x] (if (= (first x) 0) {answer} x)) {items})");
    let rest = r#"[[1 "item 1"] [2 "item 2"] [3 "item 3"]]"#;
    for memory in [10 << 20, 64 << 20, 1 << 30] {
        let told = always(&format!("(vec (rest {}))", large("(mapv inc (range 300000))")), memory);
        assert_eq!(told.as_deref(), Ok(rest), "{memory}");
        // The items themselves are still in use, and so are some of their parts.
        let program = format!(
            "(let [items {items} made (pmap (fn [x] (if (= (first x) 0) (mapv inc (range 300000)) {{:it x :name (second x)}})) items)] \
             [items (mapv :name (rest made)) (mapv :it (rest made))])"
        );
        let told = always(&program, memory);
        let names = r#"["item 1" "item 2" "item 3"]"#;
        assert_eq!(
            told,
            Ok(format!("[[[0 \"item 0\"] [1 \"item 1\"] [2 \"item 2\"] [3 \"item 3\"]] {names} {rest}]"))
        );
    }
    let doubled = "(reduce (fn [s _] (str s s)) \"abcdefgh\" (range 18))";
    let many = format!(
        "(count (pmap (fn [i] (if (= (first i) 0) {doubled} i)) (mapv (fn [i] [i (str i)]) (range 3000))))"
    );
    assert_eq!(always(&many, 10 << 20).as_deref(), Ok("3000"));
    // Branches of branches, each with a large reply followed by small ones.
    let nested = format!(
        "(mapv (fn [rows] (vec (rest rows))) (pmap (fn [k] {}) (range 3)))",
        large("(mapv inc (range 30000))")
    );
    assert_eq!(always(&nested, 10 << 20), Ok(format!("[{rest} {rest} {rest}]")));
}
