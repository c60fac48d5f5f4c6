//! The page on Clojure: its table covers every name of Clojure, its examples hold, absent names are refused
//! with a replacement, and the page is up to date. `tests/clojure.rs` checks it against Clojure itself.
//!
//! `PTC_BLESS=1 cargo test -p ptc-snapshots --test reference` rewrites the page.
#![allow(missing_docs)]

use ptc_bytecode::{FormName, lookup, namespace};
use ptc_snapshots::canon::same;
use ptc_snapshots::clojure::ours;
use ptc_snapshots::clojure::page::{page, problem};
use ptc_snapshots::clojure::reference::{Row, SYNTAX, Status, names, sections, stated};
use ptc_snapshots::oracle::Subject;
use std::collections::BTreeSet;

/// Returns the rows that are names.
fn named() -> Vec<Row> {
    let sections = sections().into_iter().filter(|section| section.title != SYNTAX);
    sections.flat_map(|section| section.rows).filter(|row| row.status != Status::Rule).collect()
}

#[test]
fn every_name_of_clojure_has_one_row() {
    let mut missing: BTreeSet<String> = names().spellings().into_iter().collect();
    let rows = named();
    let unknown: Vec<&str> =
        rows.iter().map(|row| row.name.as_str()).filter(|name| !missing.remove(*name)).collect();
    assert!(unknown.is_empty(), "twice in the table, or not in Clojure: {unknown:?}");
    assert!(missing.is_empty(), "not in the table: {missing:?}");
}

#[test]
fn what_the_language_has_is_not_absent() {
    let wrong: Vec<String> = named()
        .into_iter()
        .filter(|row| row.is_ours() && row.status == Status::Absent)
        .map(|row| row.name)
        .collect();
    assert!(wrong.is_empty(), "the language has these: give them examples: {wrong:?}");
}

#[test]
fn every_example_gives_the_stated_answer() {
    let mut subject = Subject::default();
    let mut wrong = Vec::new();
    for example in sections().iter().flat_map(|section| &section.rows).flat_map(|row| &row.examples) {
        let answer = ours(&mut subject, &example.program);
        if answer != stated(&example.ours) {
            wrong.push(format!("{}\n  states {}\n  gives {answer:?}", example.program, example.ours));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Returns the words of a program, as names are written in it.
fn words(program: &str) -> Vec<&str> {
    program.split(|c: char| c.is_whitespace() || "()[]{}@\"".contains(c)).map(strip).collect()
}

fn strip(word: &str) -> &str {
    word.trim_start_matches(['#', '\''])
}

#[test]
fn every_row_shows_its_name_and_its_difference() {
    for row in named() {
        let shows = |program: &str| words(program).contains(&strip(&row.name));
        let is_there = matches!(row.status, Status::Same | Status::Different);
        assert_eq!(is_there, !row.examples.is_empty(), "{}: examples", row.name);
        assert!(row.examples.iter().all(|example| shows(&example.program)), "{}: uses its name", row.name);
    }
    for row in sections().iter().flat_map(|section| &section.rows) {
        let tells = matches!(row.status, Status::Rule | Status::Different);
        let differing = row.examples.iter().filter_map(|example| Some((example, example.clojure.as_ref()?)));
        for (example, clojure) in differing.clone() {
            let is_alike = same(&example.ours, clojure).unwrap_or(false);
            assert!(!is_alike && &example.ours != clojure, "no difference: {}", example.program);
        }
        assert_eq!(tells, differing.count() > 0, "{}{}: a difference", row.name, row.how);
        assert_eq!(tells, row.how.ends_with('.'), "{}: a sentence", row.name);
    }
}

#[test]
fn what_is_absent_is_refused_with_a_way_out() {
    let runtime = ptc_snapshots::runtime();
    let mut wrong = Vec::new();
    let sections = sections();
    let rows = sections.iter().flat_map(|section| section.rows.iter().map(move |row| (&section.title, row)));
    for (title, row) in rows.filter(|(_, row)| row.status == Status::Absent) {
        for program in row.uses() {
            let Some(found) = problem(&runtime, &program) else {
                wrong.push(format!("{program} runs"));
                continue;
            };
            let is_clear = match found.code.reason() {
                "unbound_var" | "invalid_form" | "unsupported_method" => found.message.contains(&row.name),
                reason => title == SYNTAX && reason == "parse_error",
            };
            let hint = found.hint.unwrap_or_default();
            if !is_clear || hint.is_empty() || hint.contains("did you mean") {
                wrong.push(format!("{program}: {}: {} ({hint})", found.code.reason(), found.message));
            }
        }
    }
    assert!(wrong.is_empty(), "add a hint to compiler/src/suggest/foreign.rs:\n{}", wrong.join("\n"));
}

/// Checks that hints name existing functions: otherwise they would lead from one error to the next.
#[test]
fn what_stands_instead_is_there() {
    let runtime = ptc_snapshots::runtime();
    let is_known = |head: &str| {
        let is_free = matches!(head, "f" | "tool/name") || head.starts_with(['.', ':', '[', '{', '…']);
        let is_prefixed = head.split_once('/').is_some_and(|(prefix, _)| namespace(prefix).is_some());
        is_free || is_prefixed || lookup(head).is_some() || FormName::lookup(head).is_some()
    };
    for row in sections().iter().flat_map(|section| &section.rows).filter(|row| row.status == Status::Absent)
    {
        let hint =
            row.uses().first().and_then(|program| problem(&runtime, program)).and_then(|found| found.hint);
        for part in hint.unwrap_or_default().split('(').skip(1) {
            let head = part.split([' ', ')']).next().unwrap_or_default();
            assert!(is_known(head) || head == "catch", "{}: `{head}` in its hint", row.name);
        }
    }
}

#[test]
fn the_page_is_fresh() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/reference/clojure.md");
    let (old, new) = (std::fs::read_to_string(path).unwrap_or_default(), page());
    if std::env::var("PTC_BLESS").is_ok_and(|set| set == "1") {
        std::fs::write(path, &new).expect("the page is written");
    } else {
        assert!(old == new, "docs/reference/clojure.md is stale; PTC_BLESS=1 rewrites it");
    }
}
