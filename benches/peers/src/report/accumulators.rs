//! Table of the accumulator programs: one row for each program, one column for each arm.

use super::{arms, factor, head, mark, time};
use crate::accumulators::NAMES;
use crate::answers;
use crate::row::{Row, Timing};
use std::fmt::Write;

/// The arm to compare with: a small interpreter that changes its tables in place.
const BASE: &str = "lua54";

/// Writes the table, unless no program was measured.
pub fn table(out: &mut String, rows: &[Row]) {
    let measured = |arm: &str| NAMES.iter().any(|program| find(rows, arm, program).is_some());
    let arms: Vec<&str> = arms(rows).into_iter().filter(|arm| measured(arm)).collect();
    if arms.is_empty() {
        return;
    }
    let wrong = answers::wrong(rows);
    head(out, "Accumulators: time of a call, and as a multiple of Lua 5.4", "program", &arms);
    for program in NAMES {
        let cells: Vec<String> = arms
            .iter()
            .map(|arm| {
                let Some(row) = find(rows, arm, program) else { return String::new() };
                let Some(timing) = &row.timing else { return "–".into() };
                let ratio = match ratio(rows, arm, program) {
                    Some(ratio) if *arm != BASE => format!(", {}", factor(ratio)),
                    _ => String::new(),
                };
                format!("{}{ratio}{}", time(timing.shown()), mark(&wrong, row))
            })
            .collect();
        if cells.iter().any(|cell| !cell.is_empty()) {
            let _ = writeln!(out, "| {program} | {} |", cells.join(" | "));
        }
    }
    let means: Vec<String> = arms.iter().map(|arm| mean(rows, arm).map_or(String::new(), factor)).collect();
    if means.iter().any(|mean| !mean.is_empty()) {
        let _ = writeln!(out, "| geometric mean | {} |", means.join(" | "));
    }
}

fn find<'a>(rows: &'a [Row], arm: &str, program: &str) -> Option<&'a Row> {
    rows.iter().find(|row| row.arm == arm && row.workload == program)
}

/// Returns an arm's time as a multiple of Lua's.
fn ratio(rows: &[Row], arm: &str, program: &str) -> Option<f64> {
    let shown = |arm: &str| find(rows, arm, program)?.timing.as_ref().map(Timing::shown);
    Some(shown(arm)? / shown(BASE)?)
}

/// Returns the geometric mean of the ratios of all programs that both measured.
fn mean(rows: &[Row], arm: &str) -> Option<f64> {
    let logs: Vec<f64> = NAMES.iter().filter_map(|program| ratio(rows, arm, program)).map(f64::ln).collect();
    (!logs.is_empty()).then(|| (logs.iter().sum::<f64>() / logs.len() as f64).exp())
}
