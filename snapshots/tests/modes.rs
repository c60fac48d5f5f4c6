//! Programs in every mode: optimised or not, collecting at every safepoint or not, fusing loops or not. Their values, prints and
//! costs are equal.
#![allow(missing_docs)]

use ptc_bytecode::BUILTINS;
use ptc_runtime::{Grants, Limits, Runtime, Tools};

const PROGRAMS: &str = include_str!("modes/programs.clj");

/// Returns the programs, which blank lines separate.
fn programs() -> Vec<&'static str> {
    PROGRAMS.split("\n\n").map(str::trim).filter(|text| !text.is_empty()).collect()
}

fn told(runtime: &Runtime, source: &str) -> String {
    let grants = Grants::new().json("rows", r#"[{"id":1,"tag":"a"},{"id":2,"tag":"b"},{"id":3,"tag":"a"}]"#);
    let tools = Tools::new().with("echo", |args| args.json());
    match runtime.clone().with_tools(tools.clone()).eval(source, &grants.expect("rows")) {
        Ok(outcome) => {
            format!("{} {:?} fuel {}", outcome.print().expect("prints"), outcome.prints, outcome.fuel)
        }
        Err(failure) => format!("{failure} {:?} fuel {}", failure.prints, failure.fuel),
    }
}

fn check_all(sources: &[&str]) {
    check_within(Limits { timeout_ms: 120_000, ..Limits::default() }, sources);
}

fn check_within(limits: Limits, sources: &[&str]) {
    let core = ptc_preludes::core();
    let base = Runtime::with_core(core).expect("the core library loads").limits(limits);
    let mut modes: Vec<Runtime> = [(true, false), (false, false), (true, true), (false, true)]
        .map(|(optimize, stress)| base.clone().optimize(optimize).stress(stress))
        .into();
    modes.push(base.fused(false));
    for source in sources {
        let answers: Vec<String> = modes.iter().map(|runtime| told(runtime, source)).collect();
        let same = answers.iter().all(|answer| *answer == answers[0]);
        assert!(
            same && !answers[0].contains("internal_error"),
            "{source}\noptimised, plain, both collecting, and never fused:\n{}",
            answers.join("\n")
        );
    }
}

#[test]
fn programs_are_the_same_in_every_mode() {
    let programs = programs();
    assert!(programs.len() >= 100, "{}", programs.len());
    check_all(&programs);
}

#[test]
fn examples_of_the_builtin_table_are_the_same_in_every_mode() {
    let examples: Vec<&str> =
        BUILTINS.iter().map(|row| row.example).filter(|text| !text.is_empty()).collect();
    check_all(&examples);
}

/// Records of varied shapes, with and without the fields, some of them no records at all.
const RECORDS: &str = r#"[{:a 5 :b "x" :c 1} {:b "x" :a 2.5} {:a nil :b "x"} {:b "x"} {:a 9 :b "y"} {:a 7 :b :x}
    {:a 12345678901234567890 :b "x"} {:a "s" :b "x"} {"a" 6 "b" "x"} {:a ##NaN :b "x"} {:a 5 :b ""} {}
    {:a 4 :b nil :c false} {:a -3 :b "x" :c true} {:a [1] :b "x"} {:a true :b ["x"]}
    {:a 8 :b "x" :d 0 :e 0 :f 0 :g 0 :h 0 :i 0 :j 0 :k 0 :l 0 :m 0 :n 0 :o 0 :p 0 :q 0 :r 0}]"#;

/// Functions of a record that read one field after another, and some that do more.
const TESTS: &[&str] = &[
    "(> (:a o) 4)",
    "(< (:a o) 4)",
    "(>= (:a o) least)",
    "(<= (:a o) least)",
    "(< least (:a o))",
    "(> (:a o) 2.5)",
    "(= (:a o) 5)",
    "(= (:a o) 5.0)",
    "(= (:b o) \"x\")",
    "(= \"x\" (:b o))",
    "(= (:b o) name)",
    "(= (:b o) nil)",
    "(= (:a o) (:c o))",
    "(:c o)",
    "(not (:c o))",
    "(and (> (:a o) 4) (= (:b o) \"x\"))",
    "(and (= (:b o) \"x\") (:a o) (< (:a o) 100) (not= (:a o) 5))",
    "(and (:a o) (:b o) (:c o) (:d o) (:e o))",
    "(or (> (:a o) 4) (= (:b o) \"x\"))",
    "(let [a (:a o)] (and (> a 4) (< a 9)))",
    "(if (:c o) (> (:a o) 1) (= (:b o) \"x\"))",
    "(> (:a (:c o)) 4)",
    "(> (:a o) (count (:b o)))",
];

#[test]
fn records_are_chosen_alike_in_every_mode() {
    let mut sources = Vec::new();
    for test in TESTS {
        // Records of one shape, and of many in turn; in every representation of vectors.
        for rows in [
            "(repeat 200 {:a 5 :b \"x\" :c 1})",
            "(take 100 (cycle records))",
            "(into [] (take 70 (cycle records)))",
        ] {
            for of in ["filter", "remove", "filterv"] {
                sources.push(format!(
                    "(let [records {RECORDS} rows {rows} least 5 name \"x\"] ({of} (fn [o] {test}) rows))"
                ));
            }
            sources.push(format!(
                "(let [records {RECORDS} rows {rows} least 5 name \"x\"] (for [o rows :when {test}] (:a o)))"
            ));
        }
        sources.push(format!(
            "(let [least 2 name \"a\"] [(filter (fn [o] {}) data/rows) (filter (fn [o] (> (:id o) 1)) (concat data/rows [7]))])",
            test.replace(":a", ":id").replace(":b", ":tag")
        ));
    }
    let sources: Vec<&str> = sources.iter().map(String::as_str).collect();
    check_all(&sources);
}

#[test]
fn choosing_stops_at_the_same_record_in_every_mode() {
    let source =
        r#"(count (filter (fn [o] (and (> (:a o) 4) (= (:b o) "x"))) (vec (repeat 3000 {:a 5 :b "x"}))))"#;
    for fuel in (100..45_000).step_by(997).chain(41_000..41_050) {
        check_within(Limits { fuel, timeout_ms: 120_000, ..Limits::default() }, &[source]);
    }
}
