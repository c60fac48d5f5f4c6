//! Caches make no difference but to timing: answers, messages, prints and fuel are the same whoever ran before.

use super::runtime;
use ptc_runtime::{Grants, Runtime};

/// Returns everything that a program can observe.
fn seen(runtime: &Runtime, program: &str) -> String {
    match runtime.eval(program, &Grants::new()) {
        Ok(outcome) => format!("{:?} {:?} {}", outcome.print(), outcome.prints, outcome.fuel),
        Err(failure) => format!("{failure} {:?} {}", failure.prints, failure.fuel),
    }
}

const PROGRAMS: &[&str] = &[
    "(re-find #\"(a+)(b+)\" \"xaabby\")",
    "(re-find (re-pattern (str \"se\" \"cret-[0-9]+\")) \"secret-42\")",
    "(re-seq #\"(?<=a)b\" \"ab ab\")",
    "(re-find (re-pattern \"(\") \"x\")",
    "(str/replace \"a-b\" #\"-\" \"+\")",
    "(map :k0 [{:k0 1} {:k0 2}])",
    "(json/parse-string \"[{\\\"k0\\\": 1, \\\"k1\\\": 2}, {\\\"k0\\\": 3, \\\"k1\\\": 4}]\" true)",
    "(println (sort-by :k1 [{:k1 2} {:k1 1}])) (frequencies [:a :b :a])",
    "(keyword (str \"a\" \"b\"))",
    "(loop [i 0] (if (< i 1000) (recur (inc i)) i))",
    "(unknown-name 1)",
    "(apropos \"secret\")",
    "(budget/remaining)",
];

#[test]
fn what_others_did_before_is_not_to_be_seen() {
    let alone: Vec<String> = PROGRAMS
        .iter()
        .map(|program| {
            // A thread and a runtime of its own, so that all caches are cold.
            let fresh = move || seen(&Runtime::with_core(ptc_preludes::core()).unwrap(), program);
            std::thread::spawn(fresh).join().unwrap()
        })
        .collect();
    let shared = runtime();
    for round in 0..3 {
        // A neighbour with the same patterns and shapes, that fills every cache with others.
        for program in PROGRAMS {
            seen(&shared, program);
        }
        if round == 1 {
            seen(&shared, "(doseq [i (range 300)] (re-find (re-pattern (str \"p\" i)) \"p1\"))");
            seen(&shared, "(doseq [i (range 300)] (get {(keyword (str \"k\" i)) 1} :k0))");
        }
        for (program, alone) in PROGRAMS.iter().zip(&alone) {
            assert_eq!(&seen(&shared, program), alone, "{program}");
        }
    }
}
