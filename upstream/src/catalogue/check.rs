//! Arguments checked against the schema that a server gave for them.
//!
//! Nobody vouches for such a schema. A few hundred bytes of references that fork at every step take longer than anybody
//! waits, and a chain of some thousand ends the process, since the checker recurses. So what a check would do is walked
//! through first, and where that is too much, nothing is checked: the server decides, as it does in any case.

use crate::size::json_bytes;
use jsonschema::{PatternOptions, Validator};
use serde_json::{Map, Value};
use std::sync::OnceLock;

/// The longest schema that is used for checks, as JSON.
const BYTES: u64 = 200_000;

/// How many patterns it may have, and how large one may become.
const PATTERNS: usize = 64;
const PATTERN_BYTES: usize = 64 << 10;

/// How much one check may do: about one unit for each keyword, each entry below it, and each character that is looked at.
const WORK: u64 = 300_000;

/// How deep a check may recurse.
const DEPTH: u32 = 300;

/// What applies to the very value that its schema applies to: a schema or a list of them, or several by name.
const IN_PLACE: [&str; 7] = ["allOf", "anyOf", "oneOf", "not", "if", "then", "else"];
const BY_NAME: [&str; 2] = ["dependentSchemas", "dependencies"];

/// Whatever was not looked at: it is found out by going through everything else again, and again inside of that.
const REST: [&str; 2] = ["unevaluatedProperties", "unevaluatedItems"];
const AGAIN: usize = 4;

/// Keywords that look at every character.
const TEXTUAL: [&str; 4] = ["pattern", "format", "minLength", "maxLength"];

/// Checks arguments against one schema.
#[derive(Default)]
pub(super) struct Check(OnceLock<Option<Validator>>);

impl Check {
    /// What is wrong with arguments, as far as that is known.
    pub fn problem(&self, schema: &Value, args: &Value) -> Option<String> {
        let validator = self.0.get_or_init(|| build(schema)).as_ref()?;
        Walk { root: schema, left: WORK }.visit(schema, args, DEPTH)?;
        let error = validator.iter_errors(args).next()?;
        let path = error.instance_path().to_string();
        let place =
            if path.is_empty() { String::new() } else { format!("{}: ", path.trim_start_matches('/')) };
        Some(super::clean::short(&format!("{place}{error}"), 300))
    }
}

/// None if the schema is broken, points elsewhere, or is too much.
fn build(schema: &Value) -> Option<Validator> {
    // The oldest draft has another word for `$id`.
    let is_old = schema.get("$schema").and_then(Value::as_str).is_some_and(|uri| uri.contains("draft-04"));
    let is_fit = !is_old && json_bytes(schema) <= BYTES && is_plain(schema, true, &mut PATTERNS.clone());
    // In linear time, and small.
    let options = PatternOptions::regex().size_limit(PATTERN_BYTES).dfa_size_limit(4 * PATTERN_BYTES);
    if is_fit { jsonschema::options().with_pattern_options(options).build(schema).ok() } else { None }
}

/// Whether a reference inside means what it says, from the root on, and there are not too many patterns.
fn is_plain(part: &Value, is_root: bool, patterns: &mut usize) -> bool {
    match part {
        Value::Array(items) => items.iter().all(|item| is_plain(item, false, patterns)),
        Value::Object(fields) => fields.iter().all(|(name, value)| {
            let count = match (name.as_str(), value) {
                ("$id", Value::String(_)) => return is_root,
                ("$anchor" | "$dynamicRef" | "$recursiveRef", Value::String(_)) => return false,
                ("pattern", Value::String(_)) => 1,
                ("patternProperties", Value::Object(all)) => all.len(),
                _ => 0,
            };
            let left = patterns.checked_sub(count);
            *patterns = left.unwrap_or_default();
            left.is_some() && is_plain(value, false, patterns)
        }),
        _ => true,
    }
}

/// Goes where a check would go, whatever it would find there.
struct Walk<'s> {
    root: &'s Value,
    left: u64,
}

impl<'s> Walk<'s> {
    fn spend(&mut self, work: usize) -> Option<()> {
        self.left = self.left.checked_sub(work as u64)?;
        Some(())
    }

    /// None if that is too much.
    fn visit(&mut self, schema: &'s Value, value: &Value, depth: u32) -> Option<()> {
        let depth = depth.checked_sub(1)?;
        self.spend(1)?;
        let Value::Object(schema) = schema else { return Some(()) };
        self.spend(schema.values().map(|keyword| 1 + length(keyword)).sum())?;
        let rounds = if REST.iter().any(|name| schema.contains_key(*name)) { AGAIN } else { 1 };
        for _ in 0..rounds {
            if let Some(target) = schema.get("$ref") {
                self.visit(self.target(target)?, value, depth)?;
            }
            for below in IN_PLACE.iter().filter_map(|name| schema.get(*name)) {
                let several = below.as_array().map_or(std::slice::from_ref(below), Vec::as_slice);
                several.iter().try_for_each(|one| self.visit(one, value, depth))?;
            }
            for below in BY_NAME.iter().filter_map(|name| schema.get(*name)?.as_object()) {
                below.values().try_for_each(|one| self.visit(one, value, depth))?;
            }
        }
        match value {
            Value::String(text) if TEXTUAL.iter().any(|name| schema.contains_key(*name)) => {
                self.spend(text.len())
            }
            Value::Array(items) => self.items(schema, items, depth),
            Value::Object(fields) => self.fields(schema, fields, depth),
            _ => Some(()),
        }
    }

    fn items(&mut self, schema: &'s Map<String, Value>, items: &[Value], depth: u32) -> Option<()> {
        self.spend(items.len())?;
        let each = ["items", "additionalItems", "contains", "unevaluatedItems"].map(|name| schema.get(name));
        let by_place = ["items", "prefixItems"].map(|name| schema.get(name).and_then(Value::as_array));
        for (at, item) in items.iter().enumerate() {
            for one in each.iter().flatten() {
                self.visit(one, item, depth)?;
            }
            for one in by_place.iter().flatten().filter_map(|list| list.get(at)) {
                self.visit(one, item, depth)?;
            }
        }
        Some(())
    }

    fn fields(
        &mut self,
        schema: &'s Map<String, Value>,
        fields: &Map<String, Value>,
        depth: u32,
    ) -> Option<()> {
        let by_name = schema.get("properties").and_then(Value::as_object);
        let by_pattern = schema.get("patternProperties").and_then(Value::as_object);
        let each = ["additionalProperties", "unevaluatedProperties"].map(|name| schema.get(name));
        for (name, value) in fields {
            self.spend(1)?;
            for (_, one) in by_pattern.into_iter().flatten() {
                self.spend(name.len())?;
                self.visit(one, value, depth)?;
            }
            for one in each.iter().copied().chain([by_name.and_then(|all| all.get(name))]).flatten() {
                self.visit(one, value, depth)?;
            }
            if let Some(one) = schema.get("propertyNames") {
                self.spend(name.len())?;
                self.visit(one, &Value::String(name.clone()), depth)?;
            }
        }
        Some(())
    }

    /// What a reference means, if that is a place in the same schema.
    fn target(&self, reference: &Value) -> Option<&'s Value> {
        let pointer = reference.as_str()?.strip_prefix('#')?;
        let pointer = percent_encoding::percent_decode_str(pointer).decode_utf8().ok()?;
        self.root.pointer(&pointer)
    }
}

fn length(keyword: &Value) -> usize {
    match keyword {
        Value::Array(items) => items.len(),
        Value::Object(fields) => fields.len(),
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn problem(schema: &Value, args: &Value) -> Option<String> {
        Check::default().problem(schema, args)
    }

    /// Every definition but the last is made from a reference to the next.
    fn chain(length: usize, step: impl Fn(Value) -> Value) -> Value {
        let mut all = Map::new();
        for at in 0..length {
            all.insert(format!("d{at}"), step(json!({"$ref": format!("#/$defs/d{}", at + 1)})));
        }
        all.insert(format!("d{length}"), json!({"type": "string"}));
        json!({"$defs": all, "$ref": "#/$defs/d0"})
    }

    #[test]
    fn what_is_wrong_is_told_with_its_place() {
        let schema = json!({
            "$defs": {"a b": {"type": "integer", "minimum": 1}},
            "properties": {
                "rows": {"items": {"$ref": "#/$defs/a%20b"}},
                "name": {"pattern": "^[a-z]+$", "maxLength": 5},
                "kind": {"anyOf": [{"const": "x"}, {"enum": ["y", "z"]}]},
            },
            "additionalProperties": false,
        });
        for (args, wrong) in [
            (json!({"rows": [1, 2], "name": "abc", "kind": "y"}), None),
            (json!({"rows": [1, 0]}), Some("rows/1: 0 is less than the minimum of 1")),
            (json!({"name": "A"}), Some("name: \"A\" does not match \"^[a-z]+$\"")),
            (
                json!({"kind": 1}),
                Some("kind: 1 is not valid under any of the schemas listed in the 'anyOf' keyword"),
            ),
            (json!({"other": 1}), Some("Additional properties are not allowed ('other' was unexpected)")),
        ] {
            assert_eq!(problem(&schema, &args).as_deref(), wrong, "{args}");
        }
    }

    #[test]
    fn short_chains_are_followed() {
        let said = Some("{} is not of type \"string\"".to_string());
        assert_eq!(problem(&chain(100, |next| next), &json!({})), said);
        assert_eq!(problem(&chain(100, |next| json!({"allOf": [next]})), &json!({})), said);
        assert_eq!(problem(&chain(8, |next| json!({"allOf": [next.clone(), next]})), &json!({})), said);
    }

    #[test]
    fn schemas_that_take_for_ever_check_nothing() {
        let twice: [fn(Value) -> Value; 6] = [
            |next| json!({"allOf": [next.clone(), next]}),
            |next| json!({"anyOf": [next.clone(), next]}),
            |next| json!({"oneOf": [next.clone(), next]}),
            |next| json!({"if": next.clone(), "then": next}),
            |next| json!({"not": next.clone(), "dependentSchemas": {"a": next}}),
            |next| json!({"allOf": [next], "unevaluatedProperties": false}),
        ];
        for step in twice {
            assert_eq!(problem(&chain(60, step), &json!({"a": 1})), None);
        }
        // Each level of the arguments is checked twice as often as the one above.
        let mut nested = json!([]);
        for _ in 0..60 {
            nested = json!([nested]);
        }
        let forked = json!({"properties": {"x": {"$ref": "#/$defs/n"}}, "$defs": {"n": {"items": {"allOf": [
                {"$ref": "#/$defs/n"}, {"$ref": "#/$defs/n"}]}}}});
        assert_eq!(problem(&forked, &json!({"x": nested})), None);
        let many: Vec<u32> = (0..50_000).collect();
        assert_eq!(
            problem(&json!({"additionalProperties": {"items": {"enum": many}}}), &json!({"a": [1]})),
            None
        );
    }

    /// On a thread of the usual size.
    #[test]
    fn endless_schemas_check_nothing() {
        let endless = [
            json!({"$ref": "#"}),
            json!({"allOf": [{"$ref": "#"}]}),
            json!({"$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"$ref": "#/$defs/a"}}, "$ref": "#/$defs/a"}),
            chain(4_000, |next| next),
            chain(3_000, |next| json!({"not": next})),
        ];
        for schema in &endless {
            assert_eq!(problem(schema, &json!({"a": 1})), None);
        }
    }

    #[test]
    fn what_points_elsewhere_checks_nothing() {
        for schema in [
            json!({"$ref": "https://example.com/schema", "type": "string"}),
            json!({"$ref": "file:///etc/hostname", "type": "string"}),
            json!({"type": "string", "$defs": {"a": {"$id": "https://example.com/a", "$ref": "#/b"}}}),
            json!({"type": "string", "allOf": [{"$dynamicRef": "#a"}]}),
            json!({"type": "string", "properties": {"a": {"$anchor": "a"}}}),
            json!({"$ref": "#/$defs/none", "type": "string"}),
        ] {
            assert_eq!(problem(&schema, &json!({})), None, "{schema}");
        }
        // A name that is only a name.
        assert!(
            problem(&json!({"properties": {"$id": {"type": "string"}}, "type": "string"}), &json!({}))
                .is_some()
        );
    }

    #[test]
    fn large_patterns_and_many_of_them_check_nothing() {
        assert_eq!(problem(&json!({"type": "string", "pattern": r"(?:\w{100}){100}"}), &json!({})), None);
        let many: Map<String, Value> = (0..100).map(|n| (format!("^a{n}$"), json!({}))).collect();
        assert_eq!(problem(&json!({"type": "string", "patternProperties": many}), &json!({})), None);
        assert!(
            problem(&json!({"type": "string", "pattern": r"^[\w.+-]+@[\w-]+\.[\w.-]+$"}), &json!({}))
                .is_some()
        );
    }
}
