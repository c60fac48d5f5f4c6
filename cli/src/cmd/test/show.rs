//! Results of tests as text, as JSON and as JUnit XML.

use super::case::CaseResult;
use super::tally::FailedCheck;
use super::{Coverage, SuiteResult};
use crate::junit;
use crate::quantity::counted;
use ptc_bytecode::text::visible;
use ptc_bytecode::{Diagnostic, Place, place_of};
use ptc_compiler::testing::{Check, Test, differences};
use serde_json::{Value, json};
use std::fmt::Write;

/// Characters of one value in a text.
const MAX_VALUE: usize = 2_000;
/// Exports that are listed as not covered.
const MAX_LISTED: usize = 10;

/// A check that did not hold, with what the source tells of it.
struct Failed<'s> {
    place: Place,
    expression: &'s str,
    /// Texts of `testing` around it, and what the test says.
    about: Vec<&'s str>,
    why: &'s str,
    /// Labels and values.
    values: Vec<(&'s str, &'s str)>,
    differences: Vec<String>,
}

impl SuiteResult {
    fn failed<'s>(&'s self, failed: &'s FailedCheck) -> Failed<'s> {
        let check = self.read.checks.get(&failed.at);
        let about = check.map_or(&[][..], |check| &check.contexts).iter().map(|text| &**text);
        let (values, differences) = check.map_or_else(Default::default, |check| self.values(check, failed));
        Failed {
            place: place_of(&self.source, failed.at),
            expression: check.map_or("", |check| check.expr.text(&self.source)),
            about: about.chain(failed.message.as_deref()).collect(),
            why: &failed.why,
            values,
            differences,
        }
    }

    /// The values of a check with what each is, and where two that should be equal differ.
    fn values<'s>(
        &'s self,
        check: &'s Check,
        failed: &'s FailedCheck,
    ) -> (Vec<(&'s str, &'s str)>, Vec<String>) {
        let names = match (check.head.as_deref(), &failed.values[..], &check.operands[..]) {
            // What is written out is what somebody expects.
            (Some("="), [a, b], [(_, a_literal), (_, b_literal)]) => {
                let (expected, got) = if *b_literal && !*a_literal { (b, a) } else { (a, b) };
                return (vec![("expected", expected), ("got", got)], differences(expected, got));
            }
            (Some("fails-with?"), [expected, got], _) => {
                return (vec![("expected", expected), ("got", got)], differences(expected, got));
            }
            (Some("thrown-with-msg?"), [_], _) => vec!["message"],
            (Some(_), values, operands) if values.len() == operands.len() => {
                let shown = values.iter().zip(operands).filter(|(_, (_, is_literal))| !is_literal);
                let named = shown.map(|(value, (span, _))| (span.text(&self.source), value.as_str()));
                return (named.collect(), Vec::new());
            }
            (_, values, _) => vec!["value"; values.len()],
        };
        (names.into_iter().zip(failed.values.iter().map(String::as_str)).collect(), Vec::new())
    }

    fn place(&self, test: &Test) -> Place {
        place_of(&self.source, test.span.start)
    }
}

/// Everything as text.
pub fn text(suites: &[SuiteResult], coverage: &Coverage) -> String {
    let mut out = String::new();
    let width =
        suites.iter().flat_map(|suite| &suite.results).map(|(test, _)| test.name.chars().count()).max();
    let width = width.unwrap_or_default().min(50);
    let (mut passed, mut failed, mut checks) = (0, 0, 0);
    for suite in suites {
        // Writing to a String does not fail.
        let _ = writeln!(out, "{}", visible(&suite.file));
        for problem in &suite.errors {
            failed += 1;
            out.push_str(&indented("    ", &problem.to_text(&suite.source)));
        }
        for (test, result) in &suite.results {
            checks += result.checks;
            let word = match (result.passed(), &result.error) {
                (true, _) => "ok   ",
                (false, None) => "FAIL ",
                (false, Some(_)) => "ERROR",
            };
            if result.passed() {
                passed += 1
            } else {
                failed += 1
            }
            let count = counted(result.checks, "check");
            let _ = writeln!(out, "  {word} {:<width$}  {count:>9}  {:>7} fuel", test.name, result.fuel);
            if !result.passed() {
                out.push_str(&indented("    ", &details(suite, result)));
            }
        }
    }
    if !coverage.exports.is_empty() {
        let named = coverage.exports.len() - coverage.missing.len();
        let _ = write!(out, "coverage: {named} of {}", counted(coverage.exports.len() as u64, "export"));
        if !coverage.missing.is_empty() {
            let listed: Vec<&str> = coverage.missing.iter().take(MAX_LISTED).map(String::as_str).collect();
            let more = coverage.missing.len() - listed.len();
            let more = if more > 0 { format!(" and {more} more") } else { String::new() };
            let _ = write!(out, "; no test names {}{more}", listed.join(", "));
        }
        out.push('\n');
    }
    for (file, exports) in &coverage.untested {
        let _ =
            writeln!(out, "no tests: {} (0 of {})", visible(file), counted(exports.len() as u64, "export"));
    }
    let _ = writeln!(out, "{passed} passed, {failed} failed, {}", counted(checks, "check"));
    out
}

/// Why a test did not pass, and what it printed.
pub fn details(suite: &SuiteResult, result: &CaseResult) -> String {
    let mut out = String::new();
    for failed in result.failures.iter().map(|failed| suite.failed(failed)) {
        let Place { line, column } = failed.place;
        let about =
            if failed.about.is_empty() { String::new() } else { format!(" {}", failed.about.join(" > ")) };
        let _ = writeln!(out, "{}:{line}:{column}{about}", suite.file);
        out.push_str(&indented("  ", failed.expression));
        if !failed.why.is_empty() {
            let _ = writeln!(out, "  {}", failed.why);
        }
        let width = failed.values.iter().map(|(name, _)| name.chars().count()).max().unwrap_or_default();
        for (name, value) in &failed.values {
            let _ = writeln!(out, "  {name:<width$}  {}", cut(value));
        }
        for difference in &failed.differences {
            let _ = writeln!(out, "  {difference}");
        }
    }
    if result.left_out > 0 {
        let _ = writeln!(out, "and {} more", counted(result.left_out, "failed check"));
    }
    if let Some(error) = &result.error {
        out.push_str(&error.to_text(&suite.source));
    }
    for print in &result.prints {
        out.push_str(&indented("| ", print));
    }
    out
}

/// Lines with something in front, and nothing in them that would steer a terminal.
fn indented(lead: &str, text: &str) -> String {
    visible(text).lines().map(|line| format!("{}\n", format!("{lead}{line}").trim_end())).collect()
}

fn cut(value: &str) -> String {
    match value.char_indices().nth(MAX_VALUE) {
        Some((at, _)) => format!("{}…(+{} chars)", &value[..at], value[at..].chars().count()),
        None => value.to_string(),
    }
}

/// Everything as one JSON object on a line.
pub fn json(suites: &[SuiteResult], coverage: &Coverage, ok: bool) -> String {
    let files: Vec<Value> = suites.iter().map(suite_json).collect();
    let report = json!({
        "ok": ok,
        "files": files,
        "coverage": {
            "exports": coverage.exports.len(),
            "percent": coverage.percent(),
            "missing": coverage.missing,
            "untested": coverage.untested.iter().map(|(file, exports)| {
                json!({"file": file, "exports": exports.len()})
            }).collect::<Vec<_>>(),
        },
    });
    format!("{report}\n")
}

fn suite_json(suite: &SuiteResult) -> Value {
    let test = |(test, result): &(Test, CaseResult)| {
        let failures: Vec<Value> = result.failures.iter().map(|failed| failure_json(suite, failed)).collect();
        let Place { line, column } = suite.place(test);
        json!({
            "name": test.name, "line": line, "column": column, "ok": result.passed(),
            "checks": result.checks, "fuel": result.fuel,
            "failures": failures, "failures_left_out": result.left_out,
            "error": result.error.as_ref().map(|error| error_json(suite, error)),
            "prints": result.prints,
        })
    };
    let tests: Vec<Value> = suite.results.iter().map(test).collect();
    let errors: Vec<Value> = suite.errors.iter().map(|error| error_json(suite, error)).collect();
    json!({"file": suite.file, "errors": errors, "tests": tests})
}

fn failure_json(suite: &SuiteResult, failed: &FailedCheck) -> Value {
    let failed = suite.failed(failed);
    let values: Vec<Value> =
        failed.values.iter().map(|(name, value)| json!({"name": name, "value": value})).collect();
    json!({
        "line": failed.place.line, "column": failed.place.column,
        "expression": failed.expression, "about": failed.about,
        "why": Some(failed.why).filter(|why| !why.is_empty()),
        "values": values, "differences": failed.differences,
    })
}

fn error_json(suite: &SuiteResult, error: &Diagnostic) -> Value {
    let place = error.place(&suite.source);
    json!({
        "kind": error.code.reason(), "message": error.message, "hint": error.hint,
        "line": place.map(|place| place.line), "column": place.map(|place| place.column),
        "text": error.to_text(&suite.source),
    })
}

/// The tests of a file for a JUnit report.
pub fn junit(suite: &SuiteResult) -> junit::Suite {
    let whole = suite.errors.iter().map(|error| junit::Case {
        name: suite.file.clone(),
        time: None,
        problem: Some(junit::CaseProblem {
            is_failure: false,
            message: error.message.clone(),
            details: error.to_text(&suite.source),
        }),
        output: String::new(),
    });
    let tests = suite.results.iter().map(|(test, result)| junit::Case {
        name: test.name.clone(),
        time: None,
        problem: (!result.passed()).then(|| junit::CaseProblem {
            is_failure: result.error.is_none(),
            message: match (&result.error, result.failures.first()) {
                (Some(error), _) => error.message.clone(),
                (None, Some(failed)) => suite.failed(failed).expression.to_string(),
                (None, None) => String::new(),
            },
            details: details(suite, result),
        }),
        output: result.prints.join("\n"),
    });
    junit::Suite { name: suite.name.clone(), cases: whole.chain(tests).collect() }
}
