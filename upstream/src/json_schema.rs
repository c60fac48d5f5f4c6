//! Validation against JSON Schemas: tool arguments by their server's schema, results of programs by their
//! client's schema. No other code checks values against a JSON Schema.

mod cost;
mod wording;

use crate::size::json_bytes;
use jsonschema::error::ValidationErrorKind;
use jsonschema::{PatternOptions, Validator};
use serde_json::Value;
use std::fmt;
use std::sync::OnceLock;
use wording::Mismatch;
pub use wording::json_kind;

/// Maximum size of a schema used for checks, in bytes of JSON.
const BYTES: u64 = 200_000;

/// Maximum number of patterns in a schema.
const PATTERNS: usize = 64;

/// Maximum memory of one compiled pattern, in bytes.
const PATTERN_BYTES: usize = 64 << 10;

/// Maximum work for checking arguments, in units of [`cost::fits`]; beyond it only the server checks, as it
/// always does.
const ARGUMENT_WORK: u64 = 300_000;

/// Maximum work for checking a result: enough for every value that fits a program's memory, and less than a second.
const RESULT_WORK: u64 = 20_000_000;

/// Maximum number of mismatches that an error lists.
const TOLD: usize = 10;

/// Maximum number of mismatches that a check collects; they are sorted by place, and the first ones are listed.
const FOUND: usize = 100;

/// A JSON Schema, compiled on first use.
pub struct JsonSchema {
    json: Value,
    validator: OnceLock<Option<Validator>>,
}

impl JsonSchema {
    /// Takes an untrusted schema, to be used as far as possible.
    pub fn new(json: Value) -> JsonSchema {
        JsonSchema { json, validator: OnceLock::new() }
    }

    /// Takes a schema that must be checked in full; the error says what is not supported.
    ///
    /// ```
    /// use ptc_upstream::JsonSchema;
    /// use serde_json::json;
    /// let schema = JsonSchema::strict(json!({
    ///     "type": "object", "required": ["id"], "additionalProperties": false,
    ///     "properties": {"id": {"type": "integer"}, "tags": {"type": "array", "items": {"type": "string"}}},
    /// }))?;
    /// assert_eq!(schema.check(&json!({"id": 7, "tags": ["a"]}), "return"), Ok(()));
    /// assert_eq!(
    ///     schema.check(&json!({"id": "7", "tags": [1]}), "return"),
    ///     Err("return.id: expected an integer, got a string; return.tags[0]: expected a string, got a number".to_string()),
    /// );
    /// assert_eq!(JsonSchema::strict(json!({"propertys": {}})).unwrap_err(), "unsupported key `propertys`");
    /// # Ok::<(), String>(())
    /// ```
    pub fn strict(json: Value) -> Result<JsonSchema, String> {
        if json.is_boolean() {
            return Err("a schema must be an object, got a boolean".to_string());
        }
        wording::known(&json, "")?;
        let validator = build(&json)?;
        Ok(JsonSchema { json, validator: OnceLock::from(Some(validator)) })
    }

    /// Returns the schema as given.
    pub fn json(&self) -> &Value {
        &self.json
    }

    /// Explains the first problem of arguments; None if there is none, or if checking would be too much work.
    pub(crate) fn problem(&self, args: &Value) -> Option<String> {
        let validator = self.validator.get_or_init(|| build(&self.json).ok()).as_ref()?;
        if !cost::fits(&self.json, args, ARGUMENT_WORK) {
            return None;
        }
        let error = validator.iter_errors(args).next()?;
        let path = error.instance_path().to_string();
        let place =
            if path.is_empty() { String::new() } else { format!("{}: ", path.trim_start_matches('/')) };
        // For alternatives, the library only says that none fits.
        let is_choice = matches!(
            error.kind(),
            ValidationErrorKind::AnyOf { .. } | ValidationErrorKind::OneOfNotValid { .. }
        );
        let told = match is_choice {
            true => {
                let all = wording::mismatches(&error).into_iter();
                let all = all.map(|one| one.to_string().trim_start_matches(['.', ':', ' ']).to_string());
                all.collect::<Vec<_>>().join("; ")
            }
            false => format!("{place}{error}"),
        };
        Some(crate::catalogue::clean::short(&told, 300))
    }

    /// Checks a value; the error names each place that does not match, with paths beginning with `root`.
    pub fn check(&self, value: &Value, root: &str) -> Result<(), String> {
        let validator = self.validator.get_or_init(|| build(&self.json).ok()).as_ref();
        let Some(validator) = validator.filter(|_| cost::fits(&self.json, value, RESULT_WORK)) else {
            return Err(format!("{root}: is too large, or nests too deep, to be checked against the schema"));
        };
        let found = validator.iter_errors(value).take(FOUND);
        let mut found: Vec<Mismatch> = found.flat_map(|error| wording::mismatches(&error)).collect();
        // Outer places first, as a reader goes through the value.
        found.sort_by(|a, b| a.place.cmp(&b.place));
        let told: Vec<String> = found.iter().take(TOLD).map(|mismatch| format!("{root}{mismatch}")).collect();
        if told.is_empty() { Ok(()) } else { Err(told.join("; ")) }
    }
}

impl fmt::Debug for JsonSchema {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("JsonSchema").field(&self.json).finish()
    }
}

/// Compiles a schema; the error says whether it is invalid, refers elsewhere, or is too large.
fn build(schema: &Value) -> Result<Validator, String> {
    // Draft 4 uses `id` instead of `$id`.
    let is_old = schema.get("$schema").and_then(Value::as_str).is_some_and(|uri| uri.contains("draft-04"));
    let is_fit = !is_old && json_bytes(schema) <= BYTES && is_plain(schema, true, &mut PATTERNS.clone());
    if !is_fit {
        return Err(format!(
            "it has more than {BYTES} bytes or {PATTERNS} patterns, or refers to other documents or anchors"
        ));
    }
    // These patterns run in linear time and little memory.
    let options = PatternOptions::regex().size_limit(PATTERN_BYTES).dfa_size_limit(4 * PATTERN_BYTES);
    jsonschema::options().with_pattern_options(options).build(schema).map_err(|error| error.to_string())
}

/// Returns whether references can only be paths from the root, and there are not too many patterns.
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

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Map, json};

    fn problem(schema: &Value, args: &Value) -> Option<String> {
        JsonSchema::new(schema.clone()).problem(args)
    }

    /// Builds a chain of definitions, each made from a reference to the next.
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
                "size": {"anyOf": [{"enum": ["s", "m"]}, {"type": "null"}]},
                "at": {"oneOf": [{"type": "string"}, {"type": "integer"}]},
            },
            "additionalProperties": false,
        });
        for (args, wrong) in [
            (json!({"rows": [1, 2], "name": "abc", "kind": "y"}), None),
            (json!({"rows": [1, 0]}), Some("rows/1: 0 is less than the minimum of 1")),
            (json!({"name": "A"}), Some("name: \"A\" does not match \"^[a-z]+$\"")),
            (json!({"kind": 1}), Some("kind: expected one of \"x\", \"y\", \"z\"")),
            (json!({"size": "xl"}), Some("size: expected one of \"s\", \"m\"")),
            (json!({"at": []}), Some("at: expected a string or an integer")),
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

    /// Runs on a thread of default stack size.
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
        // Here `$id` is only a property's name.
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

    #[test]
    fn results_are_told_every_place_that_is_wrong() {
        let schema = json!({
            "type": "object", "required": ["id"], "additionalProperties": false,
            "properties": {
                "id": {"anyOf": [{"type": "integer"}, {"type": "null"}]},
                "kind": {"enum": ["a", "b"]},
                "rows": {"type": "array", "minItems": 1, "items": {"type": "object", "required": ["n"]}},
                "range": {"type": ["integer", "string"], "minimum": 3},
            },
        });
        let schema = JsonSchema::strict(schema).expect("a schema");
        for (value, wrong) in [
            (json!({"id": null, "kind": "a"}), None),
            (json!({"id": "7"}), Some("return.id: expected an integer, got a string")),
            (json!({"id": 1.5}), Some("return.id: expected an integer, got a number with a fraction")),
            (json!([]), Some("return: expected an object, got an array")),
            (json!({"x": 1}), Some("return.id: is required; return.x: is not in the schema")),
            (json!({"id": 1, "kind": "c"}), Some("return.kind: expected one of \"a\", \"b\"")),
            (json!({"id": 1, "rows": []}), Some("return.rows: has 0 items, but needs at least 1")),
            (
                json!({"id": 1, "rows": [{}, 4]}),
                Some("return.rows[0].n: is required; return.rows[1]: expected an object, got a number"),
            ),
            (json!({"id": 1, "range": 2}), Some("return.range: 2 is less than the minimum of 3")),
            (
                json!({"id": 1, "range": true}),
                Some("return.range: expected an integer or a string, got a boolean"),
            ),
        ] {
            assert_eq!(schema.check(&value, "return").err().as_deref(), wrong, "{value}");
        }
    }

    #[test]
    fn schemas_that_would_not_be_checked_in_full_are_refused() {
        for (schema, wrong) in [
            (json!(null), "a schema must be an object, got null"),
            (
                json!({"type": "int"}),
                "unsupported `type` \"int\"; use string, integer, number, boolean, array or object",
            ),
            (json!({"properties": {"a": {"typ": 1, "max": 2}}}), "unsupported keys `max`, `typ` in .a"),
            (json!({"items": {"items": 3}}), "a schema must be an object, got a number in [][]"),
            (
                json!({"required": ["a"], "properties": {}}),
                "`required` names `a`, which is not in `properties`",
            ),
            (
                json!({"$ref": "https://example.com/x"}),
                "`$ref` must point into the schema itself, as in \"#/$defs/name\"",
            ),
            (json!({"enum": 1}), "`enum` must be a non-empty array"),
        ] {
            let error = JsonSchema::strict(schema.clone()).err();
            assert_eq!(error.as_deref(), Some(wrong), "{schema}");
        }
        let wide =
            json!({"$defs": {"n": {"type": "integer"}}, "oneOf": [{"$ref": "#/$defs/n"}, {"pattern": "^a"}]});
        assert!(JsonSchema::strict(wide).is_ok());
    }
}
