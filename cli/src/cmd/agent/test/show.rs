//! Results of cases as a table, as JSON and as JUnit XML.

use super::CaseOutcome;
use crate::junit;
use crate::live::clean;
use crate::quantity::counted;
use ptc_bytecode::text::visible;
use serde_json::{Value, json};
use std::fmt::Write;

/// The results as a table, and what is wrong with each.
pub fn text(outcomes: &[CaseOutcome]) -> String {
    let width = outcomes.iter().map(|outcome| outcome.name.chars().count()).max().unwrap_or_default();
    let width = width.clamp("case".len(), 50);
    let mut out = format!("{:<width$}  result  turns   tokens       cost     time\n", "case");
    for outcome in outcomes {
        let cost = match outcome.cost_usd > 0.0 {
            true => format!("${:.6}", outcome.cost_usd),
            false => "-".to_string(),
        };
        // Writing to a String does not fail.
        let _ = writeln!(
            out,
            "{:<width$}  {:<6}  {:>5}  {:>7}  {cost:>9}  {:>5} ms",
            clean(&outcome.name),
            word(outcome),
            outcome.turns,
            outcome.tokens,
            outcome.time.as_millis(),
        );
    }
    for outcome in outcomes {
        let Some(problem) = &outcome.problem else { continue };
        let _ = writeln!(out, "\n{}: {}", clean(&outcome.name), clean(&problem.message));
        for line in visible(&problem.details).lines() {
            let _ = writeln!(out, "  {}", line.trim_end());
        }
    }
    let passed = outcomes.iter().filter(|outcome| outcome.problem.is_none()).count();
    let _ = write!(out, "\n{passed} passed, {} failed", outcomes.len() - passed);
    if cost_of(outcomes) > 0.0 {
        let tokens: u64 = outcomes.iter().map(|outcome| outcome.tokens).sum();
        let _ = write!(out, ", {}, ${:.6}", counted(tokens, "token"), cost_of(outcomes));
    }
    out.push('\n');
    out
}

/// Cost of all cases in US dollars; 0 if no prices are known.
fn cost_of(outcomes: &[CaseOutcome]) -> f64 {
    outcomes.iter().map(|outcome| outcome.cost_usd).sum()
}

fn word(outcome: &CaseOutcome) -> &'static str {
    match &outcome.problem {
        None => "ok",
        Some(problem) if problem.is_failure => "FAIL",
        Some(_) => "ERROR",
    }
}

/// The results as one JSON object on a line.
pub fn json(outcomes: &[CaseOutcome], ok: bool) -> String {
    let case = |outcome: &CaseOutcome| {
        let problem = outcome.problem.as_ref().map(|problem| {
            json!({"is_failure": problem.is_failure, "message": problem.message, "details": problem.details})
        });
        json!({
            "name": outcome.name, "ok": outcome.problem.is_none(), "problem": problem,
            "turns": outcome.turns, "tokens": outcome.tokens, "cost_usd": outcome.cost_usd,
            "time_ms": outcome.time.as_millis() as u64,
        })
    };
    let cases: Vec<Value> = outcomes.iter().map(case).collect();
    let tokens: u64 = outcomes.iter().map(|outcome| outcome.tokens).sum();
    format!("{}\n", json!({"ok": ok, "cases": cases, "tokens": tokens, "cost_usd": cost_of(outcomes)}))
}

/// The results for a JUnit report.
pub fn junit(name: String, outcomes: &[CaseOutcome]) -> junit::Suite {
    let case = |outcome: &CaseOutcome| junit::Case {
        name: outcome.name.clone(),
        time: Some(outcome.time),
        problem: outcome.problem.as_ref().map(|problem| junit::CaseProblem {
            is_failure: problem.is_failure,
            message: problem.message.clone(),
            details: problem.details.clone(),
        }),
        output: String::new(),
    };
    junit::Suite { name, cases: outcomes.iter().map(case).collect() }
}
