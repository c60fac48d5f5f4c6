//! Report in Markdown.

mod accumulators;

use crate::answers;
use crate::row::{Row, Timing};
use serde_json::Value;
use std::fmt::Write;

/// A workload and its column heading.
type Column = (&'static str, &'static str);

const WARM: &[Column] = &[
    ("W1", "W1 fib(25)"),
    ("W2", "W2 loop 1M"),
    ("W3", "W3 pipeline"),
    ("W3j", "W3j JSON in"),
    ("W4", "W4 words"),
    ("W5", "W5 strings"),
];
const RECORDS: &[Column] = &[
    ("W6", "value in"),
    ("W6.x2", "value in, 2 threads"),
    ("W6.text", "JSON text in"),
    ("W6.text.x2", "JSON text in, 2 threads"),
    ("W6.own", "own values in"),
    ("W6.lines", "lines in, lines out"),
    ("W6.lines.x2", "lines, 2 threads"),
];
const COLD: &[Column] = &[
    ("W7.tiny", "`1+2`"),
    ("W7.prog", "40 lines"),
    ("W7.ctx", "context"),
    ("W7.fresh", "context + 40 lines"),
    ("W6.cold", "W6, 1 record"),
    ("W1.cold", "W1"),
    ("W2.cold", "W2"),
    ("W3.cold", "W3"),
    ("W4.cold", "W4"),
    ("W5.cold", "W5"),
];

/// Writes all tables, and the notes.
pub fn markdown(rows: &[Row]) -> String {
    let mut out = String::new();
    table(&mut out, rows, "Compiled once: time of a call", WARM, |row, _| time(row.shown()));
    table(&mut out, rows, "W6: records per second", RECORDS, |row, _| rate(row.shown()));
    table(&mut out, rows, "Cold: source text to answer", COLD, |row, _| time(row.shown()));
    let both: Vec<Column> = WARM.iter().chain(RECORDS).copied().collect();
    table(&mut out, rows, "Time as a multiple of native", &both, |row, native| {
        native.map_or(String::new(), |native| factor(row.shown() / native.shown()))
    });
    accumulators::table(&mut out, rows);
    starts(&mut out, rows);
    notes(&mut out, rows);
    out
}

/// Writes a table with one row for each arm that has any of the columns.
fn table(
    out: &mut String,
    rows: &[Row],
    title: &str,
    columns: &[Column],
    cell: impl Fn(&Timing, Option<&Timing>) -> String,
) {
    let find = |arm: &str, workload: &str| rows.iter().find(|row| row.arm == arm && row.workload == workload);
    let wrong = answers::wrong(rows);
    let show = |arm: &str, workload: &str| -> String {
        let Some(row) = find(arm, workload) else { return String::new() };
        let Some(timing) = &row.timing else { return "–".into() };
        let native = find("native", workload).and_then(|row| row.timing.as_ref());
        cell(timing, native) + mark(&wrong, row)
    };
    let lines: Vec<(&str, Vec<String>)> = arms(rows)
        .into_iter()
        .map(|arm| (arm, columns.iter().map(|(workload, _)| show(arm, workload)).collect()))
        .filter(|(_, cells): &(_, Vec<String>)| cells.iter().any(|cell| !cell.is_empty()))
        .collect();
    if lines.is_empty() {
        return;
    }
    let heads: Vec<&str> = columns.iter().map(|(_, head)| *head).collect();
    head(out, title, "arm", &heads);
    for (arm, cells) in lines {
        let _ = writeln!(out, "| {arm} | {} |", cells.join(" | "));
    }
}

/// Writes the title of a table, its column headings and the line below them.
fn head(out: &mut String, title: &str, first: &str, heads: &[&str]) {
    let (names, lines) = (heads.join(" | "), "---:|".repeat(heads.len()));
    let _ = writeln!(out, "\n### {title}\n\n| {first} | {names} |\n|---|{lines}");
}

/// Returns what is added to the time of a row with a wrong answer.
fn mark(wrong: &[(&Row, Value)], row: &Row) -> &'static str {
    if wrong.iter().any(|(wrong, _)| std::ptr::eq(*wrong, row)) { " **WRONG**" } else { "" }
}

fn arms(rows: &[Row]) -> Vec<&str> {
    let mut arms: Vec<&str> = Vec::new();
    for row in rows.iter().filter(|row| row.workload != "W8") {
        if !arms.contains(&row.arm.as_str()) {
            arms.push(&row.arm);
        }
    }
    arms
}

fn starts(out: &mut String, rows: &[Row]) {
    let starts: Vec<&Row> = rows.iter().filter(|row| row.workload == "W8").collect();
    if starts.is_empty() {
        return;
    }
    let _ = writeln!(out, "\n### W8: process start to end\n\n| command | median | best |\n|---|---:|---:|");
    for row in starts {
        let note = row.note.as_deref().unwrap_or_default();
        let _ = match &row.timing {
            Some(timing) => {
                writeln!(out, "| `{note}` | {} | {} |", time(timing.median_ns), time(timing.min_ns))
            }
            None => writeln!(out, "| `{note}` | – | {} |", row.unable.as_deref().unwrap_or_default()),
        };
    }
}

fn notes(out: &mut String, rows: &[Row]) {
    let wrong = answers::wrong(rows);
    let _ = writeln!(out, "\n### Notes\n");
    let _ = writeln!(out, "- {} answers compared, {} differ.", answers::compared(rows), wrong.len());
    for (row, expected) in &wrong {
        let _ = writeln!(out, "- **{} {}: {} instead of {expected}**", row.arm, row.workload, row.answer);
    }
    let versions: Vec<String> = arms(rows)
        .into_iter()
        .filter_map(|arm| rows.iter().find(|row| row.arm == arm && !row.version.is_empty()))
        .map(|row| format!("{} {}", row.arm, row.version))
        .collect();
    let _ = writeln!(out, "- Versions: {}.", versions.join("; "));
    let timings = || rows.iter().filter_map(|row| row.timing.as_ref());
    if let Some([_, middle, most]) = spread(timings().filter_map(|timing| timing.spread)) {
        let _ = writeln!(
            out,
            "- Best of several runs; the worst over the best: {} in the middle, at most {}.",
            factor(middle),
            factor(most)
        );
    }
    if let Some([least, middle, most]) = spread(timings().filter_map(|timing| timing.calibration_ns)) {
        let _ = writeln!(
            out,
            "- Fixed native work beside each row: {} to {}, {} in the middle.",
            time(least),
            time(most),
            time(middle)
        );
    }
    for row in rows.iter().filter(|row| row.workload != "W8") {
        let (arm, workload) = (&row.arm, &row.workload);
        if let Some(why) = &row.failed {
            let _ = writeln!(out, "- **{arm} failed: {why}**");
        }
        for text in [&row.unable, &row.note].into_iter().flatten() {
            let _ = writeln!(out, "- {arm} {workload}: {text}");
        }
    }
}

/// Returns the minimum, the median and the maximum.
fn spread(values: impl Iterator<Item = f64>) -> Option<[f64; 3]> {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    Some([*values.first()?, values[values.len() / 2], *values.last()?])
}

/// Formats a time with three digits and a unit.
pub fn time(nanos: f64) -> String {
    let (value, unit) = match nanos {
        n if n < 1e3 => (n, "ns"),
        n if n < 1e6 => (n / 1e3, "µs"),
        n if n < 1e9 => (n / 1e6, "ms"),
        n => (n / 1e9, "s"),
    };
    format!("{} {unit}", digits(value))
}

fn rate(nanos: f64) -> String {
    match 1e9 / nanos {
        n if n >= 1e6 => format!("{} M/s", digits(n / 1e6)),
        n => format!("{} k/s", digits(n / 1e3)),
    }
}

fn factor(factor: f64) -> String {
    format!("{}×", digits(factor))
}

fn digits(value: f64) -> String {
    match value {
        v if v < 10.0 => format!("{v:.2}"),
        v if v < 100.0 => format!("{v:.1}"),
        v => format!("{v:.0}"),
    }
}
