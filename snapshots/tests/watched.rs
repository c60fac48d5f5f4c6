//! Warnings about fields that a run looks up and never finds: equal in every mode, in branches, and after a run
//! was written to bytes.

use ptc_runtime::{Grants, Runtime, Step, warning_lines};
use ptc_snapshots::runtime;

/// Returns the warnings of a program as lines, for each way to run it. `tool/rows` returns two maps.
fn every_way(program: &str) -> Vec<Vec<String>> {
    let modes = [(true, false), (false, false), (true, true)];
    let modes = modes.map(|(optimize, stress)| runtime().optimize(optimize).stress(stress));
    let kept = modes.iter().map(|runtime| warnings(runtime, program, false));
    kept.chain(modes.iter().map(|runtime| warnings(runtime, program, true))).collect()
}

fn warnings(runtime: &Runtime, program: &str, is_saved: bool) -> Vec<String> {
    let compiled = runtime.compile(program).expect("it compiles");
    let mut run = runtime.start(&compiled).expect("it starts");
    let outcome = loop {
        match run.step() {
            Step::Done(outcome) => break outcome,
            Step::NeedsTools(calls) => {
                if is_saved {
                    let bytes = run.snapshot().expect("it can be saved");
                    run = runtime.load(&bytes, &Grants::new()).expect("it can be loaded");
                }
                let rows = serde_json::json!([{"total": 3, "id": 1}, {"total": 4, "note": "x"}]);
                run.resume(&calls[0].id, &rows).expect("it waits for this");
            }
        }
    };
    match outcome {
        Ok(outcome) => warning_lines(outcome.warnings(), outcome.source()),
        Err(failure) => warning_lines(failure.warnings(), failure.source()),
    }
}

#[track_caller]
fn check(program: &str, wanted: &[&str]) {
    for told in every_way(program) {
        let told: Vec<&str> = told.iter().map(|line| line.split(": ").nth(1).unwrap_or(line)).collect();
        let told: Vec<&str> = told.iter().map(|line| line.trim_end_matches("; hint")).collect();
        assert_eq!(told, wanted, "{program}");
    }
}

#[test]
fn what_is_never_found() {
    check("(map :totl (tool/rows {}))", &["`:totl` was not found in any map (line 1, column 6)"]);
    check(
        "(let [{:keys [totl]} (first (tool/rows {}))] totl)",
        &["`:totl` was not found in any map (line 1, column 15)"],
    );
    check("(get-in (tool/rows {}) [0 :totl])", &["`:totl` was not found in any map (line 1, column 1)"]);
    check("(sort-by :totl (tool/rows {}))", &["`:totl` was not found in any map (line 1, column 10)"]);
    check(
        "(map (fn [r] (select-keys r [:totl])) (tool/rows {}))",
        &["`:totl` was not found in any map (line 1, column 14)"],
    );
    check(
        "(filter (fn [r] (= 3 (:totl r))) (concat (tool/rows {}) (tool/rows {})))",
        &["`:totl` was not found in any map (line 1, column 23)"],
    );
    // Also if it made the program fail.
    check("(reduce + (map :totl (tool/rows {})))", &["`:totl` was not found in any map (line 1, column 16)"]);
}

#[test]
fn in_branches() {
    check(
        "(pmap (fn [r] (:totl r)) (tool/rows {}))",
        &["`:totl` was not found in any map (line 1, column 16)"],
    );
    check(
        "(pmap (fn [n] (map :totl (tool/rows {:n n}))) [1 2 3])",
        &["`:totl` was not found in any map (line 1, column 20)"],
    );
    // One of the branches found the field.
    check("(pmap (fn [r] (:note r)) (tool/rows {}))", &[]);
    check("(pmap (fn [n] (map :note (tool/rows {:n n}))) [1 2 3])", &[]);
}

#[test]
fn what_is_found_or_need_not_be() {
    check("(map :total (tool/rows {}))", &[]);
    check("(map :id (tool/rows {}))", &[]);
    check("(map #(get % :totl 0) (tool/rows {}))", &[]);
    check("(filter :totl (tool/rows {}))", &[]);
    check("(map #(or (:totl %) 0) (tool/rows {}))", &[]);
    check("(keep :totl (tool/rows {}))", &[]);
    check("(filter #(contains? % :totl) (tool/rows {}))", &[]);
    check("(get (group-by :total (tool/rows {})) :totl)", &[]);
    check("(map (fn [r] (if (:vip r) (:vip r) 1)) (tool/rows {}))", &[]);
    // Nothing was looked up, or only in maps without any entry.
    check("(map :totl [])", &[]);
    check("(:totl (into {} []))", &[]);
    check("(if (empty? (tool/rows {})) (:totl (json/parse-string \"{}\")) 1)", &[]);
}

#[test]
fn a_hint_names_the_nearest_key_or_those_there_are() {
    let told = &every_way("(map :totl (tool/rows {}))")[0][0];
    assert!(told.ends_with("; hint: did you mean `:total`?"), "{told}");
    let told = every_way("(map :price (tool/rows {}))");
    assert!(told.iter().all(|told| told[0].ends_with("; hint: there is `:total`, `:id`") || told[0].contains("`:total`")));
    assert!(told.iter().all(|other| *other == told[0]), "{told:?}");
}

#[test]
fn no_hint_names_what_is_private() {
    let grants = Grants::new().json("u", r#"{"_secret": 1, "name": "x"}"#).expect("JSON").firewall(true);
    let outcome = runtime().eval("(:secret data/u)", &grants).expect("it is a warning");
    let told = warning_lines(outcome.warnings(), outcome.source()).join("\n");
    assert!(told.contains("`:name`") && !told.contains("_secret"), "{told}");
}
