//! One level of a schema, seen through `$ref`, `allOf`, and alternatives with null: the ways in which generators write
//! what a hand would write as one object. Nothing is copied, so a schema of any size costs what is looked at.

use serde_json::{Map, Value};
use std::collections::HashSet;

/// Maximum number of schemas that one level is made of.
const PARTS: usize = 64;

/// One level of a schema: keywords of all schemas that a value must fit.
pub(super) struct Level<'s> {
    root: &'s Value,
    /// Those that were there first count.
    parts: Vec<&'s Map<String, Value>>,
    /// Alternatives that are left without null; empty if there is no choice.
    choices: Vec<&'s Value>,
    /// True if null is one of the alternatives.
    takes_null: bool,
}

impl<'s> Level<'s> {
    /// Looks at a schema within `root`, which references are relative to.
    pub fn of(root: &'s Value, schema: &'s Value) -> Level<'s> {
        let mut level = Level { root, parts: Vec::new(), choices: Vec::new(), takes_null: false };
        level.collect(schema, &mut PARTS.clone());
        level
    }

    fn collect(&mut self, schema: &'s Value, left: &mut usize) {
        let Value::Object(map) = schema else { return };
        if *left == 0 {
            return;
        }
        *left -= 1;
        self.parts.push(map);
        if let Some(target) = map.get("$ref").and_then(Value::as_str).and_then(|to| resolve(self.root, to)) {
            self.collect(target, left);
        }
        for part in list(map.get("allOf")) {
            self.collect(part, left);
        }
        for word in ["anyOf", "oneOf"] {
            let all = list(map.get(word));
            let others: Vec<&Value> = all.iter().filter(|one| !is_null(one)).collect();
            self.takes_null |= others.len() < all.len();
            match others[..] {
                [only] => self.collect(only, left),
                _ => self.choices.extend(others),
            }
        }
    }

    /// Returns a keyword, from the outermost schema that has it.
    pub fn get(&self, key: &str) -> Option<&'s Value> {
        self.parts.iter().find_map(|part| part.get(key))
    }

    pub fn text(&self, key: &str) -> Option<&'s str> {
        self.parts.iter().find_map(|part| part.get(key)?.as_str())
    }

    /// Returns a property's schema.
    pub fn property(&self, name: &str) -> Option<&'s Value> {
        self.parts.iter().find_map(|part| part.get("properties")?.get(name))
    }

    /// Returns the names of all properties that are required or described, and whether each is required: required ones
    /// first, in the order of the schema, then the others by name.
    pub fn names(&self) -> Vec<(&'s str, bool)> {
        let mut seen = HashSet::new();
        let required = self.parts.iter().flat_map(|part| list(part.get("required")));
        let required = required.filter_map(Value::as_str).filter(|name| seen.insert(*name));
        let mut names: Vec<(&str, bool)> = required.map(|name| (name, true)).collect();
        let properties = self.parts.iter().filter_map(|part| part.get("properties")?.as_object());
        let others = properties.flat_map(|all| all.keys().map(String::as_str));
        let mut others: Vec<&str> = others.filter(|name| seen.insert(name)).collect();
        others.sort_unstable();
        names.extend(others.into_iter().map(|name| (name, false)));
        names
    }

    /// Returns whether properties are described.
    pub fn has_properties(&self) -> bool {
        let is_filled = |all: &Value| all.as_object().is_some_and(|all| !all.is_empty());
        self.parts.iter().any(|part| part.get("properties").is_some_and(is_filled))
    }

    /// Returns the values it allows, if it lists them.
    pub fn values(&self) -> Option<Vec<&'s Value>> {
        if let Some(value) = self.get("const") {
            return Some(vec![value]);
        }
        if let Some(Value::Array(values)) = self.get("enum") {
            return Some(values.iter().collect());
        }
        // Generators also write an enum as alternatives of constants.
        let one = |choice: &&'s Value| Level::of(self.root, choice).values();
        let all: Option<Vec<Vec<&Value>>> = self.choices.iter().take(PARTS).map(one).collect();
        all.map(|all| all.concat()).filter(|all| !all.is_empty())
    }

    /// Returns the schema as one word, and whether it takes null. Constants and enums take precedence over types.
    pub fn word(&self) -> (String, bool) {
        // Found by key: null, false, 0 and "" are constants too.
        if let Some(value) = self.get("const") {
            return (format!("const<{value}>"), self.takes_null);
        }
        if let Some(values) = self.values() {
            let mut kinds: Vec<&str> = values.iter().map(|value| kind(value)).collect();
            let count = kinds.len();
            kinds.retain(|kind| *kind != "null");
            let is_nullable = self.takes_null || !kinds.is_empty() && kinds.len() < count;
            kinds.sort_unstable();
            kinds.dedup();
            let word = match kinds[..] {
                [one] if !matches!(one, "object" | "array") => format!("enum<{one}>"),
                [] if count > 0 => "enum<null>".to_string(),
                _ => "enum".to_string(),
            };
            return (word, is_nullable);
        }
        match self.get("type") {
            Some(Value::String(one)) => (one.clone(), self.takes_null),
            Some(Value::Array(several)) => {
                let all: Vec<&str> = several.iter().filter_map(Value::as_str).collect();
                let some: Vec<&str> = all.iter().copied().filter(|kind| *kind != "null").collect();
                match some.is_empty() {
                    true => ("null".to_string(), false),
                    false => (some.join("|"), self.takes_null || some.len() < all.len()),
                }
            }
            _ if self.has_properties() || self.choices.is_empty() => ("any".to_string(), self.takes_null),
            _ => {
                let mut words: Vec<String> = Vec::new();
                for choice in self.choices.iter().take(PARTS) {
                    let word = Level::of(self.root, choice).word().0;
                    if !words.contains(&word) {
                        words.push(word);
                    }
                }
                let is_clear = words.len() <= 4 && !words.iter().any(|word| word == "any");
                (if is_clear { words.join("|") } else { "any".to_string() }, self.takes_null)
            }
        }
    }
}

fn list(value: Option<&Value>) -> &[Value] {
    value.and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

fn is_null(schema: &Value) -> bool {
    schema.get("type").is_some_and(|kind| kind == "null") || schema.get("const") == Some(&Value::Null)
}

/// Finds what a reference within a schema points to.
fn resolve<'s>(root: &'s Value, reference: &str) -> Option<&'s Value> {
    let pointer = reference.strip_prefix('#')?;
    let decoded = percent_encoding::percent_decode_str(pointer).decode_utf8().ok()?;
    root.pointer(&decoded)
}

/// Returns the primitive type of a value.
fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(number) if number.is_f64() => "number",
        Value::Number(_) => "integer",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}
