//! Places of keys in TOML and JSON files, for messages.

use ptc_bytecode::{Place, place_of};
use serde_json::value::RawValue;
use std::collections::HashMap;
use toml::de::{DeTable, DeValue};

/// Returns whether a file is JSON rather than TOML, by its extension or else by its text.
pub(super) fn is_json(extension: Option<&str>, text: &str) -> bool {
    match extension {
        Some("json") => true,
        Some("toml") => false,
        _ => text.trim_start().starts_with('{'),
    }
}

/// Returns the place to which these keys lead in the text of a file, or as far as they lead; None if not even the first
/// does. Items of lists are keys, too: `cases`, `2`, `check`.
pub(super) fn place_of_keys(text: &str, is_json: bool, keys: &[String]) -> Option<Place> {
    let at = if is_json { in_json(text, keys) } else { in_toml(text, keys) };
    at.map(|at| place_of(text, u32::try_from(at).unwrap_or(u32::MAX)))
}

fn in_toml(text: &str, keys: &[String]) -> Option<usize> {
    let root = DeTable::parse(text).ok()?;
    let (first, rest) = keys.split_first()?;
    let entry = |table: &DeTable<'_>, key: &str| {
        table.iter().find(|(name, _)| **name.get_ref() == *key).map(|(name, _)| name.span().start)
    };
    let mut at = entry(root.get_ref(), first)?;
    let mut value = root.get_ref().get(first.as_str())?;
    for key in rest {
        let (place, next) = match value.get_ref() {
            DeValue::Table(table) => (entry(table, key), table.get(key.as_str())),
            DeValue::Array(items) => {
                let item = key.parse().ok().and_then(|at: usize| items.get(at));
                (item.map(|item| item.span().start), item)
            }
            _ => break,
        };
        let (Some(place), Some(next)) = (place, next) else { break };
        (at, value) = (place, next);
    }
    Some(at)
}

fn in_json(text: &str, keys: &[String]) -> Option<usize> {
    let mut at = None;
    let mut here: &str = text;
    for key in keys {
        let next = match here.trim_start().as_bytes().first() {
            Some(b'{') => {
                let table: HashMap<String, &RawValue> = serde_json::from_str(here).ok()?;
                table.get(key.as_str()).copied()
            }
            Some(b'[') => {
                let items: Vec<&RawValue> = serde_json::from_str(here).ok()?;
                key.parse().ok().and_then(|at: usize| items.get(at).copied())
            }
            _ => None,
        };
        let Some(next) = next else { break };
        here = next.get();
        // Raw values are parts of the text.
        at = (here.as_ptr() as usize).checked_sub(text.as_ptr() as usize).or(at);
    }
    at
}

#[cfg(test)]
mod tests {
    use super::place_of_keys;

    fn place(text: &str, is_json: bool, keys: &[&str]) -> Option<(u32, u32)> {
        let keys: Vec<String> = keys.iter().map(|key| key.to_string()).collect();
        place_of_keys(text, is_json, &keys).map(|place| (place.line, place.column))
    }

    #[test]
    fn keys_of_toml_have_places() {
        let text =
            "prompt = \"x\"\n[tools.search]\nanswer = 1\n[[cases]]\nname = \"a\"\n[[cases]]\n name = \"b\"\n";
        assert_eq!(place(text, false, &["prompt"]), Some((1, 1)));
        assert_eq!(place(text, false, &["tools", "search"]), Some((2, 8)));
        assert_eq!(place(text, false, &["tools", "search", "answer"]), Some((3, 1)));
        assert_eq!(place(text, false, &["tools", "search", "gone"]), Some((2, 8)), "as far as keys lead");
        assert_eq!(place(text, false, &["cases", "1", "name"]), Some((7, 2)));
        assert_eq!(place(text, false, &["none"]), None);
        assert_eq!(place("not toml", false, &["a"]), None);
    }

    #[test]
    fn keys_of_json_have_places() {
        let text = "{\"tools\": {\n  \"a\\u0062\": {\"x\": [1,\n 2]}}}";
        assert_eq!(place(text, true, &["tools", "ab", "x", "1"]), Some((3, 2)));
        assert_eq!(place(text, true, &["tools", "none"]), Some((1, 11)));
        assert_eq!(place(text, true, &["none"]), None);
    }
}
