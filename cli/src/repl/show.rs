//! Answers as text.

use super::layout::{Look, lay_out};
use super::paint;
use crate::excerpt;
use crate::quantity;
use crate::report::{Errors, Warnings, for_stdout};
use ptc_bytecode::{Diagnostic, Unit};
use ptc_compiler::{PieceKind, pieces};
use ptc_runtime::Outcome;
use std::time::Duration;

/// Of a longer value only the beginning is shown on a terminal.
const MAX_BYTES: usize = 8 << 10;
/// Maximum lines of a value on a terminal.
const MAX_LINES: usize = 24;
/// Text before a value on a terminal.
const ARROW: &str = "=> ";

/// The printed output of a program.
pub fn prints(prints: &[String]) -> String {
    prints.iter().map(|entry| format!("{}\n", for_stdout(entry))).collect()
}

/// The value of a program. On a terminal a long one is cut, and what was looked up is text.
pub fn value(outcome: &Outcome, source: &str, look: Look) -> Result<String, Errors> {
    if look.width.is_none() {
        return whole(outcome, source, look);
    }
    if let Some(text) = looked_up(outcome, source) {
        return Ok(text);
    }
    let (text, is_whole) =
        outcome.print_start(MAX_BYTES).map_err(|fault| Errors::one(fault.to_diagnostic(), source))?;
    let laid_out = lay_out(&text, ARROW.len(), look);
    let lines: Vec<&str> = laid_out.lines().collect();
    let shown = lines[..lines.len().min(MAX_LINES)].join("\n");
    let mut answer = format!("{}{shown}\n", paint::aside(ARROW, look.colour));
    if !is_whole || lines.len() > MAX_LINES {
        let shown = lines.len().min(MAX_LINES);
        let note = format!("… cut after {shown} lines; :full shows all of it");
        answer.push_str(&format!("{}\n", paint::aside(&note, look.colour)));
    }
    Ok(answer)
}

/// A value whatever its size, up to the limit on results.
pub fn whole(outcome: &Outcome, source: &str, look: Look) -> Result<String, Errors> {
    let text = outcome.print().map_err(|fault| Errors::one(fault.to_diagnostic(), source))?;
    let arrow = look.width.map_or(String::new(), |_| paint::aside(ARROW, look.colour));
    let start = look.width.map_or(0, |_| ARROW.len());
    Ok(format!("{arrow}{}\n", lay_out(&text, start, look)))
}

/// The results of `(doc x)`, `(dir x)` and `(apropos "x")`, as text to be read.
fn looked_up(outcome: &Outcome, source: &str) -> Option<String> {
    let found = pieces(source);
    let [open, head, ..] = found.as_slice() else { return None };
    if open.kind != PieceKind::Open || !["doc", "dir", "apropos"].contains(&head.span.text(source)) {
        return None;
    }
    match outcome.get::<String>() {
        Ok(text) => Some(format!("{text}\n")),
        Err(_) => Some(outcome.get::<Vec<String>>().ok()?.iter().map(|line| format!("{line}\n")).collect()),
    }
}

/// Errors in a source called `name`.
pub fn errors(errors: &Errors, name: &str, look: Look) -> String {
    errors.diagnostics.iter().map(|error| diagnostic(error, &errors.source, name, look)).collect()
}

/// Warnings about a source called `name`.
pub fn warnings(warnings: &Warnings, name: &str, look: Look) -> String {
    warnings.text(|warning, source| diagnostic(warning, source, name, look))
}

fn diagnostic(shown: &Diagnostic, source: &str, name: &str, look: Look) -> String {
    match look.excerpts {
        Some(colour) => excerpt::render(shown, source, name, colour),
        None => shown.to_text(source),
    }
}

/// Time and fuel of a program.
pub fn timing(elapsed: Duration, fuel: u64, colour: bool) -> String {
    let text = format!("{}, {} fuel", duration(elapsed), quantity::show(fuel, Unit::Count));
    format!("{}\n", paint::aside(&text, colour))
}

/// A span of time for people: `1.3 ms`.
pub fn duration(time: Duration) -> String {
    let nanos = time.as_nanos();
    match nanos {
        0..1_000 => format!("{nanos} ns"),
        1_000..1_000_000 => format!("{:.0} µs", nanos as f64 / 1e3),
        1_000_000..1_000_000_000 => format!("{:.1} ms", nanos as f64 / 1e6),
        _ => format!("{:.2} s", nanos as f64 / 1e9),
    }
}
