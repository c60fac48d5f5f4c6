//! Comparison of two values: the places where they differ.

use crate::form::{Form, FormKind};
use crate::parse::parse;
use bumpalo::Bump;
use ptc_bytecode::Limits;
use std::collections::BTreeMap;

/// Maximum differences that are shown.
const MAX_SHOWN: usize = 8;
/// Maximum characters of a value inside a difference.
const MAX_VALUE: usize = 120;

/// Returns one line for each place where two printed values differ; empty if showing both values is enough.
///
/// ```text
/// [:rows 0 :total]: expected 12, got 13
/// ```
pub fn differences(expected: &str, got: &str) -> Vec<String> {
    let arena = Bump::new();
    let (Some(expected), Some(got)) = (value(expected, &arena), value(got, &arena)) else {
        return Vec::new();
    };
    let mut found = Found { path: Vec::new(), lines: Vec::new(), count: 0 };
    found.compare(&expected, &got);
    if found.lines.iter().all(|line| line.path.is_empty()) {
        return Vec::new();
    }
    let more = found.count.saturating_sub(found.lines.len());
    let mut lines: Vec<String> =
        found.lines.into_iter().map(|line| format!("[{}]: {}", line.path, line.what)).collect();
    if more > 0 {
        lines.push(format!("and {more} more"));
    }
    lines
}

/// True if two printed values are equal, whatever the order of their entries.
pub fn equal(expected: &str, got: &str) -> bool {
    let arena = Bump::new();
    if expected == got {
        return true;
    }
    let (Some(expected), Some(got)) = (value(expected, &arena), value(got, &arena)) else { return false };
    let mut found = Found { path: Vec::new(), lines: Vec::new(), count: 0 };
    found.compare(&expected, &got);
    found.count == 0
}

/// Reads a printed value; None for one that cannot be read back, such as a function.
fn value<'a>(text: &str, arena: &'a Bump) -> Option<Form<'a>> {
    match parse(text, arena, &Limits::default()) {
        Ok([form]) => Some(*form),
        _ => None,
    }
}

struct Found {
    path: Vec<String>,
    lines: Vec<Line>,
    count: usize,
}

struct Line {
    path: String,
    what: String,
}

impl Found {
    fn compare(&mut self, expected: &Form<'_>, got: &Form<'_>) {
        match (expected.kind, got.kind) {
            (FormKind::Map(a), FormKind::Map(b)) => {
                let (a, b) = (entries(a), entries(b));
                for (key, expected) in &a {
                    match b.get(key) {
                        Some(got) => self.within(key, |found| found.compare(expected, got)),
                        None => self.within(key, |found| {
                            found.note(format!("expected {}, but the key is missing", shown(expected)));
                        }),
                    }
                }
                for (key, got) in b.iter().filter(|(key, _)| !a.contains_key(*key)) {
                    self.within(key, |found| found.note(format!("not expected: {}", shown(got))));
                }
            }
            (FormKind::Vector(a) | FormKind::List(a), FormKind::Vector(b) | FormKind::List(b)) => {
                for (i, (expected, got)) in a.iter().zip(b).enumerate() {
                    self.within(&i.to_string(), |found| found.compare(expected, got));
                }
                for (i, expected) in a.iter().enumerate().skip(b.len()) {
                    self.within(&i.to_string(), |found| {
                        found.note(format!("expected {}, but the list ends", shown(expected)));
                    });
                }
                for (i, got) in b.iter().enumerate().skip(a.len()) {
                    self.within(&i.to_string(), |found| found.note(format!("not expected: {}", shown(got))));
                }
            }
            (FormKind::Set(a), FormKind::Set(b)) => {
                let keys = |items: &[Form<'_>]| -> BTreeMap<String, ()> {
                    items.iter().map(|item| (canonical(item), ())).collect()
                };
                let (a, b) = (keys(a), keys(b));
                for item in a.keys().filter(|item| !b.contains_key(*item)) {
                    self.note(format!("expected {} in the set", cut(item)));
                }
                for item in b.keys().filter(|item| !a.contains_key(*item)) {
                    self.note(format!("not expected in the set: {}", cut(item)));
                }
            }
            _ if canonical(expected) != canonical(got) => {
                self.note(format!("expected {}, got {}", shown(expected), shown(got)));
            }
            _ => {}
        }
    }

    fn within(&mut self, step: &str, compare: impl FnOnce(&mut Found)) {
        self.path.push(step.to_string());
        compare(self);
        self.path.pop();
    }

    fn note(&mut self, what: String) {
        self.count += 1;
        if self.lines.len() < MAX_SHOWN {
            self.lines.push(Line { path: self.path.join(" "), what });
        }
    }
}

/// Returns printed keys with their values.
fn entries<'f, 'a>(items: &'f [Form<'a>]) -> BTreeMap<String, &'f Form<'a>> {
    items.chunks_exact(2).map(|entry| (canonical(&entry[0]), &entry[1])).collect()
}

/// Prints a value with entries of maps and members of sets in a fixed order.
fn canonical(form: &Form<'_>) -> String {
    match form.kind {
        FormKind::Map(items) => {
            let entries = entries(items);
            let texts: Vec<String> =
                entries.iter().map(|(key, value)| format!("{key} {}", canonical(value))).collect();
            format!("{{{}}}", texts.join(" "))
        }
        FormKind::Set(items) => {
            let mut texts: Vec<String> = items.iter().map(canonical).collect();
            texts.sort_unstable();
            format!("#{{{}}}", texts.join(" "))
        }
        FormKind::Vector(items) | FormKind::List(items) => {
            let texts: Vec<String> = items.iter().map(canonical).collect();
            format!("[{}]", texts.join(" "))
        }
        _ => form.to_string(),
    }
}

fn shown(form: &Form<'_>) -> String {
    cut(&form.to_string())
}

/// Cuts a text to fit a line.
fn cut(text: &str) -> String {
    match text.char_indices().nth(MAX_VALUE) {
        Some((at, _)) => format!("{}…(+{} chars)", &text[..at], text[at..].chars().count()),
        None => text.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::{differences, equal};

    #[test]
    fn places_that_differ_are_named() {
        let lines = differences(
            r#"{:rows [{:total 12} {:total 5}] :ok true :tags #{1 2}}"#,
            r#"{:ok true :rows [{:total 13}] :tags #{2 3} "ok" 1}"#,
        );
        assert_eq!(
            lines,
            [
                "[:rows 0 :total]: expected 12, got 13",
                "[:rows 1]: expected {:total 5}, but the list ends",
                "[:tags]: expected 1 in the set",
                "[:tags]: not expected in the set: 3",
                "[\"ok\"]: not expected: 1",
            ]
        );
        assert!(differences("1", "2").is_empty() && differences("#fn[x]", "1").is_empty());
    }

    #[test]
    fn order_does_not_count_where_there_is_none() {
        assert!(equal("{:a 1 :b #{1 2}}", "{:b #{2 1} :a 1}") && !equal("[1 2]", "[2 1]"));
        assert!(!equal("{:a 1}", "{\"a\" 1}") && !equal("#fn[x]", "1"));
    }
}
