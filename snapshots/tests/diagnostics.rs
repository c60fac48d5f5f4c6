//! Every error as its readers see it: compact text for models, a terminal, JSON.
//!
//! Each code of the registry has at least one case, or is on the list of those that cannot happen
//! yet. Read a changed message as someone who has to mend the program with nothing else at hand.
#![allow(missing_docs)]

#[path = "diagnostics/applied.rs"]
mod applied;
#[path = "diagnostics/cases.rs"]
mod cases;
#[path = "diagnostics/hints.rs"]
mod hints;
#[path = "diagnostics/setup.rs"]
mod setup;

use cases::{Case, NOT_YET, cases};
use ptc_bytecode::Code;
use ptc_cli::{excerpt, report::Errors};
use ptc_snapshots::golden::{assert_golden, assert_no_strays};
use std::panic::{AssertUnwindSafe, catch_unwind};

fn file_name(case: &Case) -> String {
    format!("{}-{}", case.code.reason(), case.name)
}

fn check(case: &Case) {
    let told = case.setup.run(case.source);
    let reason = told.diagnostics[0].code.reason();
    // A long program is made by a test, and its text says nothing.
    let source = if case.source.len() > 600 { "" } else { case.source };
    assert_eq!(reason, case.code.reason(), "{source}\n{}", told.diagnostics[0].to_text(source));
    let text: String = told.diagnostics.iter().map(|d| d.to_text(source)).collect();
    for line in text.lines() {
        assert!(line.chars().count() < 600, "a message is too long for its readers: {line}");
    }
    let terminal: String =
        told.diagnostics.iter().map(|d| excerpt::render(d, source, "program.clj", false)).collect();
    let errors =
        Errors { diagnostics: told.diagnostics, source: source.to_string(), failed_with: told.failed_with };
    let json = format!("{{{}}}", errors.to_json());
    let sections = [("SOURCE", source), ("TEXT", &*text), ("TERMINAL", &*terminal), ("JSON", &*json)];
    assert_golden("diagnostics", &file_name(case), &sections[usize::from(source.is_empty())..]);
}

#[test]
fn messages_are_as_reviewed() {
    let wrong: Vec<String> = cases()
        .iter()
        .filter(|case| catch_unwind(AssertUnwindSafe(|| check(case))).is_err())
        .map(file_name)
        .collect();
    assert!(wrong.is_empty(), "see above: {wrong:#?}");
}

#[test]
fn every_code_has_a_case_or_a_reason_why_not() {
    let cases = cases();
    for code in Code::ALL {
        let has_case = cases.iter().any(|case| case.code == *code);
        let excused = NOT_YET.iter().any(|(other, _)| other == code);
        assert!(has_case || excused, "{} has no case", code.reason());
        assert!(!(has_case && excused), "{} has a case: take it off the list", code.reason());
    }
}

#[test]
fn no_file_is_unused() {
    let names: Vec<String> = cases().iter().map(file_name).collect();
    assert_no_strays("diagnostics", names.iter().map(|name| &**name));
}
