//! Differences between two JSON values, in words.

use serde_json::Value;
use std::fmt::Write;

/// Maximum number of differences shown.
const TOLD: usize = 6;
/// Characters of a text shown from the first difference on.
const SHOWN: usize = 60;

/// Lists the first differences, one per line: path, old value, new value.
pub(super) fn diff(was: &Value, is: &Value) -> String {
    let mut found = Vec::new();
    walk("", was, is, &mut found);
    let more = found.len().saturating_sub(TOLD);
    found.truncate(TOLD);
    let mut text = found.join("\n");
    if more > 0 {
        let _ = write!(text, "\n  and {more} more");
    }
    text
}

/// Recursion is bounded: requests nest as deep as their schemas, which JSON readers keep below 128 levels.
fn walk(path: &str, was: &Value, is: &Value, found: &mut Vec<String>) {
    let here = if path.is_empty() { "request" } else { path };
    match (was, is) {
        (Value::Object(was), Value::Object(is)) => {
            for (key, value) in was {
                let path = if path.is_empty() { key.clone() } else { format!("{path}.{key}") };
                match is.get(key) {
                    Some(other) => walk(&path, value, other, found),
                    None => found.push(format!("  {path}: recorded {}, now absent", short(value))),
                }
            }
            for (key, value) in is.iter().filter(|(key, _)| !was.contains_key(*key)) {
                let path = if path.is_empty() { key.clone() } else { format!("{path}.{key}") };
                found.push(format!("  {path}: not recorded, now {}", short(value)));
            }
        }
        (Value::Array(was), Value::Array(is)) => {
            for (i, (value, other)) in was.iter().zip(is).enumerate() {
                walk(&format!("{path}[{i}]"), value, other, found);
            }
            if was.len() != is.len() {
                found.push(format!("  {here}: recorded {} items, now {}", was.len(), is.len()));
            }
        }
        (Value::String(was), Value::String(is)) if was != is => {
            let same = was.chars().zip(is.chars()).take_while(|(a, b)| a == b).count();
            let from = same.saturating_sub(SHOWN / 3);
            found.push(format!("  {here}: recorded {}, now {}", part(was, from), part(is, from)));
        }
        (was, is) if was != is => {
            found.push(format!("  {here}: recorded {}, now {}", short(was), short(is)));
        }
        _ => {}
    }
}

fn short(value: &Value) -> String {
    match value {
        Value::String(text) => part(text, 0),
        other => {
            let text = other.to_string();
            let cut: String = text.chars().take(SHOWN).collect();
            if cut.len() < text.len() { format!("{cut}…") } else { cut }
        }
    }
}

/// Quotes a text from this character on, marking cuts with `…`.
fn part(text: &str, from: usize) -> String {
    let shown: String = text.chars().skip(from).take(SHOWN).collect();
    let before = if from > 0 { "…" } else { "" };
    let after = if text.chars().count() > from + SHOWN { "…" } else { "" };
    format!("{before}{shown:?}{after}")
}
