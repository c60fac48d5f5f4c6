//! The same programs in every mode: optimised or not, collecting at every safepoint or not. What
//! they give, print and cost is the same.
#![allow(missing_docs)]

use ptc_bytecode::BUILTINS;
use ptc_runtime::{Grants, Limits, Runtime, Tools};

const PROGRAMS: &str = include_str!("modes/programs.clj");

/// One per blank-line-separated paragraph.
fn programs() -> Vec<&'static str> {
    PROGRAMS.split("\n\n").map(str::trim).filter(|text| !text.is_empty()).collect()
}

fn told(runtime: &Runtime, source: &str) -> String {
    let grants = Grants::new().json("rows", r#"[{"id":1,"tag":"a"},{"id":2,"tag":"b"},{"id":3,"tag":"a"}]"#);
    let tools = Tools::new().with("echo", |args| args.json());
    match runtime.eval(source, &grants.expect("rows"), &tools) {
        Ok(outcome) => {
            format!("{} {:?} fuel {}", outcome.print().expect("prints"), outcome.prints, outcome.fuel)
        }
        Err(failure) => format!("{failure} {:?} fuel {}", failure.prints, failure.fuel),
    }
}

fn check_all(sources: &[&str]) {
    let limits = Limits { timeout_ms: 120_000, ..Limits::default() };
    let core = ptc_preludes::core();
    let base = Runtime::with_core(core).expect("the core library loads").limits(limits);
    let modes: Vec<Runtime> = [(true, false), (false, false), (true, true), (false, true)]
        .map(|(optimize, stress)| base.clone().optimize(optimize).stress(stress))
        .into();
    for source in sources {
        let answers: Vec<String> = modes.iter().map(|runtime| told(runtime, source)).collect();
        let same = answers.iter().all(|answer| *answer == answers[0]);
        assert!(
            same && !answers[0].contains("internal_error"),
            "{source}\noptimised, plain, and both collecting:\n{}",
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
