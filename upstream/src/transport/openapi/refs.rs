//! Resolution of `$ref`s within a document, and conversion of OpenAPI 3.0 schemas to JSON Schema.

use crate::schema::merge::merge_all_of;
use serde_json::{Map, Value};

/// Maximum depth of references and of schemas.
const DEPTH: usize = 24;

/// Maximum number of values in one resolved schema; a few lines can describe more than fits in memory.
const VALUES: usize = 20_000;

/// Bytes of text that count as one value.
const BYTES: usize = 32;

/// An OpenAPI document.
pub(super) struct Document<'d>(pub &'d Value);

impl<'d> Document<'d> {
    /// Follows a value's `$ref` within the document; the error says what is wrong with it.
    pub fn follow(&self, value: &'d Value) -> Result<&'d Value, String> {
        let mut value = value;
        for _ in 0..DEPTH {
            let Some(reference) = value.get("$ref").and_then(Value::as_str) else { return Ok(value) };
            let found = reference.strip_prefix('#').and_then(|pointer| self.0.pointer(pointer));
            value = found.ok_or_else(|| format!("refers to {reference}, which is not in the document"))?;
        }
        Err("refers to itself".to_string())
    }

    /// Follows the `$ref` of a value that is not part of the document itself, such as a copy of a part.
    pub fn follow_copy(&self, value: &Value) -> Option<Value> {
        match value.get("$ref").and_then(Value::as_str) {
            Some(reference) => {
                let target = self.0.pointer(reference.strip_prefix('#')?)?;
                self.follow(target).ok().cloned()
            }
            None => Some(value.clone()),
        }
    }

    /// Resolves all references of a schema. A reference to itself becomes a schema that takes anything.
    pub fn schema(&self, value: &Value) -> Value {
        let mut left = VALUES;
        self.inline(value, Kind::Schema, DEPTH, &mut Vec::new(), &mut left)
    }

    fn inline<'v>(
        &'v self,
        value: &'v Value,
        kind: Kind,
        depth: usize,
        open: &mut Vec<&'v str>,
        left: &mut usize,
    ) -> Value {
        if depth == 0 || *left == 0 {
            return Value::Object(Map::new());
        }
        *left -= 1;
        match value {
            Value::Array(items) => {
                items.iter().map(|item| self.inline(item, kind, depth - 1, open, left)).collect()
            }
            Value::Object(map) if kind == Kind::Named => {
                let one = |(name, value): (&String, &'v Value)| {
                    (name.clone(), self.inline(value, Kind::Schema, depth - 1, open, left))
                };
                map.iter().map(one).collect::<Map<_, _>>().into()
            }
            Value::Object(map) => {
                if let Some(reference) = map.get("$ref").and_then(Value::as_str) {
                    let target = reference.strip_prefix('#').and_then(|pointer| self.0.pointer(pointer));
                    return match target.filter(|_| !open.contains(&reference)) {
                        None => Value::Object(Map::new()),
                        Some(target) => {
                            open.push(reference);
                            let made = self.inline(target, kind, depth - 1, open, left);
                            open.pop();
                            made
                        }
                    };
                }
                let mut made = Map::new();
                for (key, value) in map {
                    let value = match &**key {
                        "default" | "enum" | "const" => value.clone(),
                        // For people, and most of many documents.
                        "example" | "examples" | "xml" | "externalDocs" | "discriminator" => continue,
                        key if key.starts_with("x-") => continue,
                        "properties" | "patternProperties" | "$defs" | "definitions" | "dependentSchemas" => {
                            self.inline(value, Kind::Named, depth, open, left)
                        }
                        _ => self.inline(value, Kind::Schema, depth - 1, open, left),
                    };
                    made.insert(key.clone(), value);
                }
                plain(made)
            }
            other => {
                // A long text may be referred to many times.
                let bytes = other.as_str().map_or(0, str::len);
                *left = left.saturating_sub(bytes / BYTES);
                other.clone()
            }
        }
    }
}

/// What a value of a document is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Schema,
    /// Schemas by name, whose names are no keywords.
    Named,
}

/// Merges `allOf`, and converts keywords that only OpenAPI 3.0 has.
fn plain(map: Map<String, Value>) -> Value {
    let mut map = merge_all_of(map);
    if map.get("nullable") == Some(&Value::Bool(true)) && map.get("type").is_some_and(Value::is_string) {
        let kind = map.remove("type").unwrap_or_default();
        map.insert("type".to_string(), Value::Array(vec![kind, "null".into()]));
        map.remove("nullable");
        if let Some(Value::Array(values)) = map.get_mut("enum")
            && !values.contains(&Value::Null)
        {
            values.push(Value::Null);
        }
    }
    // Flags in OpenAPI 3.0, numbers in JSON Schema.
    for (flag, bound) in [("exclusiveMinimum", "minimum"), ("exclusiveMaximum", "maximum")] {
        match map.get(flag) {
            Some(Value::Bool(true)) => {
                let value = map.remove(bound);
                map.remove(flag);
                map.extend(value.map(|value| (flag.to_string(), value)));
            }
            Some(Value::Bool(false)) => {
                map.remove(flag);
            }
            _ => {}
        }
    }
    Value::Object(map)
}
