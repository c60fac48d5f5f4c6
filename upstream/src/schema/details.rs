//! Lines of `doc` below the arguments: allowed values, defaults, bounds, descriptions, and the fields of nested objects.

use super::level::Level;
use super::{Printer, key};
use crate::catalogue::clean::short;
use serde_json::Value;

/// Nesting depth to which arguments are described.
const DEPTH: usize = 3;

/// Maximum number of lines.
const LINES: usize = 100;

/// Maximum length of a description, in characters.
const ABOUT: usize = 240;

/// Maximum number of values that a line lists.
const VALUES: usize = 30;

/// Maximum length of a value, in characters.
const VALUE: usize = 80;

/// Returns a line for every argument that there is more to say about than its type.
pub(super) fn lines(schema: &Value) -> Vec<String> {
    let mut lines = Vec::new();
    fields(schema, schema, DEPTH, &mut lines);
    if lines.len() > LINES {
        lines.truncate(LINES);
        lines.push("  … (meta …) has the whole schema".to_string());
    }
    lines
}

fn fields(root: &Value, schema: &Value, depth: usize, lines: &mut Vec<String>) {
    let level = Level::of(root, schema);
    for (name, _) in level.names() {
        if lines.len() > LINES {
            return;
        }
        let Some(property) = level.property(name) else { continue };
        let inner = Level::of(root, property);
        // Lists are described by their items.
        let items = inner.get("items").filter(|_| inner.word().0 == "array");
        let (inside, inside_level) = match items {
            Some(items) => (items, Level::of(root, items)),
            None => (property, Level::of(root, property)),
        };
        let signature = match inside_level.has_properties() || items.is_some() {
            true => Printer::new(root).nested(property, if items.is_some() { 2 } else { 1 }),
            false => String::new(),
        };
        let about = about(&inner, items.map(|_| &inside_level));
        let at = lines.len();
        if depth > 1 && inside_level.has_properties() {
            fields(root, inside, depth - 1, lines);
        }
        let is_plain = matches!(&*signature, "" | "array" | "[any]" | "[string]");
        if about.is_empty() && lines.len() == at && is_plain {
            continue;
        }
        let indent = "  ".repeat(1 + DEPTH - depth);
        let signature = if is_plain { String::new() } else { format!(" {signature}") };
        let about = if about.is_empty() { about } else { format!(" - {about}") };
        lines.insert(at, format!("{indent}{}{signature}{about}", key(name)));
    }
}

/// Returns what is to be said about a value besides its type.
fn about(level: &Level<'_>, items: Option<&Level<'_>>) -> String {
    let mut facts = Vec::new();
    for (level, each) in [(Some(level), ""), (items, "each ")] {
        let Some(level) = level else { continue };
        // A constant is part of the signature.
        if let Some(values) = level.values().filter(|_| level.get("const").is_none()) {
            let mut all: Vec<String> =
                values.iter().take(VALUES).map(|value| short(&value.to_string(), VALUE)).collect();
            if values.len() > VALUES {
                all.push(format!("… {} more", values.len() - VALUES));
            }
            facts.push(format!("{each}one of {}", all.join(", ")));
        }
        let number = |key: &str| level.get(key).filter(|value| value.is_number());
        match (number("minimum"), number("maximum")) {
            (Some(least), Some(most)) => facts.push(format!("{each}{least} to {most}")),
            (Some(least), None) => facts.push(format!("{each}at least {least}")),
            (None, Some(most)) => facts.push(format!("{each}at most {most}")),
            (None, None) => {}
        }
        if let Some(most) = number("maxItems") {
            facts.push(format!("at most {most} items"));
        }
        if let Some(most) = number("maxLength") {
            facts.push(format!("{each}at most {most} characters"));
        }
        if let Some(format) =
            level.text("format").filter(|format| !matches!(*format, "int32" | "int64" | "float" | "double"))
        {
            facts.push(format!("{each}{}", short(format, VALUE)));
        }
        if let Some(pattern) = level.text("pattern") {
            facts.push(format!("{each}matching {}", short(pattern, VALUE)));
        }
    }
    if let Some(default) = level.get("default").filter(|default| !default.is_null()) {
        facts.push(format!("default {}", short(&default.to_string(), VALUE)));
    }
    let description = level.text("description").unwrap_or_default();
    let description = description.split_whitespace().collect::<Vec<_>>().join(" ");
    let facts = facts.join("; ");
    match (short(&description, ABOUT), facts) {
        (about, facts) if facts.is_empty() => about,
        (about, facts) if about.is_empty() => facts,
        (about, facts) => format!("{facts}. {about}"),
    }
}
