//! The page on Clojure, generated from the table. The replacement for an absent name is the hint that a program
//! using it gets, so page and messages cannot differ.

use super::reference::{Example, Row, SYNTAX, Section, Status, names, sections};
use crate::runtime;
use ptc_bytecode::Diagnostic;
use ptc_runtime::{Grants, Runtime};
use std::fmt::Write;

/// Builds the reference page.
pub fn page() -> String {
    let (runtime, sections) = (runtime(), sections());
    let mut out = head(&sections);
    for section in &sections {
        let _ = write!(out, "\n## {}\n", section.title);
        rules(&mut out, section);
        same(&mut out, section);
        different(&mut out, section);
        absent(&mut out, section, &runtime);
    }
    out
}

fn head(sections: &[Section]) -> String {
    let count = |status| {
        let rows = sections.iter().flat_map(|section| &section.rows);
        rows.filter(|row| row.status == status).count()
    };
    let (same, different, absent) = (count(Status::Same), count(Status::Different), count(Status::Absent));
    format!(
        "# Clojure\n\n<!-- Made from snapshots/clojure/reference.txt by `PTC_BLESS=1 cargo test -p ptc-snapshots --test \
         reference`; do not edit. -->\n\n\
         If you know Clojure, this page shows what works in the same way. It has every name in `clojure.core`, \
         `clojure.string`, `clojure.set` and `clojure.walk` of Clojure {}, the special forms and the syntax: \
         **{same} are the same, {different} differ, {absent} are absent.**\n\n\
         - *Same* names do what Clojure documents, except for the rules under [everywhere](#everywhere). The programs below \
         them give the same value in both languages.\n\
         - *Differs*: a program that shows the difference, with its value here and in Clojure.\n\
         - *Absent* names are refused before the program runs, with the hint shown next to them.\n\n\
         The tests run every program of this page, here and in Clojure. What the language has beyond Clojure \
         is on the pages of [forms](forms.md) and [builtins](builtins.md).\n",
        names().version
    )
}

fn rules(out: &mut String, section: &Section) {
    for row in section.rows.iter().filter(|row| row.status == Status::Rule) {
        let _ = write!(out, "\n{}\n\n| Program | Here | Clojure |\n|---|---|---|\n", row.how);
        for example in &row.examples {
            let _ = writeln!(out, "{}", answers(example));
        }
    }
}

fn same(out: &mut String, section: &Section) {
    let names: Vec<String> = with(section, Status::Same).map(|row| code(&row.name)).collect();
    if !names.is_empty() {
        let _ = write!(out, "\nSame: {}\n", names.join(" "));
    }
    let is_alike = |example: &&Example| example.clojure.is_none() && !example.ours.starts_with("fails ");
    let rows = section.rows.iter().filter(|row| row.status != Status::Rule);
    let examples: Vec<&Example> = rows.flat_map(|row| &row.examples).filter(is_alike).collect();
    if examples.is_empty() {
        return;
    }
    out.push_str("\n```clojure\n");
    for example in examples {
        let value = example.ours.split(", prints ").next().unwrap_or_default();
        let _ = writeln!(out, "{} ;=> {value}", example.program);
    }
    out.push_str("```\n");
}

fn different(out: &mut String, section: &Section) {
    let mut rows = with(section, Status::Different).peekable();
    if rows.peek().is_none() {
        return;
    }
    out.push_str("\n| Differs | How | Program | Here | Clojure |\n|---|---|---|---|---|\n");
    for row in rows {
        let examples = row.examples.iter().filter(|example| example.clojure.is_some());
        for (at, example) in examples.enumerate() {
            let (name, how) = if at == 0 { (code(&row.name), cell(&row.how)) } else { Default::default() };
            let _ = writeln!(out, "| {name} | {how} {}", answers(example));
        }
    }
}

fn absent(out: &mut String, section: &Section, runtime: &Runtime) {
    let mut groups: Vec<(String, Vec<String>)> = Vec::new();
    for row in with(section, Status::Absent) {
        let hint =
            row.uses().first().and_then(|program| problem(runtime, program)).and_then(|found| found.hint);
        let (hint, name) = (hint.unwrap_or_default(), code(&row.name));
        match groups.iter_mut().find(|(known, _)| *known == hint) {
            Some((_, names)) => names.push(name),
            None => groups.push((hint, vec![name])),
        }
    }
    if groups.is_empty() {
        return;
    }
    let title = if section.title == SYNTAX { "Absent" } else { "Absent names" };
    let _ = write!(out, "\n| {title} | Instead |\n|---|---|\n");
    for (hint, names) in groups {
        let _ = writeln!(out, "| {} | {} |", names.join(" "), cell(&hint));
    }
}

/// Returns the error of a program, if it has one.
pub fn problem(runtime: &Runtime, program: &str) -> Option<Diagnostic> {
    runtime.eval(program, &Grants::new()).err().map(|failure| failure.diagnostic().clone())
}

fn with(section: &Section, status: Status) -> impl Iterator<Item = &Row> {
    section.rows.iter().filter(move |row| row.status == status)
}

/// Formats a program and its two answers as table cells.
fn answers(example: &Example) -> String {
    let theirs = example.clojure.as_ref().unwrap_or(&example.ours);
    format!("| {} | {} | {} |", code(&example.program), code(&example.ours), code(theirs))
}

/// Formats code for a table cell.
fn code(text: &str) -> String {
    let fence = if text.contains('`') { "`` " } else { "`" };
    let end: String = fence.chars().rev().collect();
    cell(&format!("{fence}{text}{end}"))
}

fn cell(text: &str) -> String {
    text.replace('|', "\\|")
}
