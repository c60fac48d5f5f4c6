//! Resolution of `$ref`s within a document, and conversion of OpenAPI 3.0 schemas to JSON Schema.

use serde_json::{Map, Value};

/// Maximum depth of references and of schemas.
const DEPTH: usize = 24;

/// Maximum number of values in one resolved schema; a few lines can describe more than fits in memory.
const VALUES: usize = 20_000;

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

    /// Resolves all references of a schema. A reference to itself becomes a schema that takes anything.
    pub fn schema(&self, value: &Value) -> Value {
        let mut left = VALUES;
        self.inline(value, DEPTH, &mut Vec::new(), &mut left)
    }

    fn inline(&self, value: &Value, depth: usize, open: &mut Vec<String>, left: &mut usize) -> Value {
        if depth == 0 || *left == 0 {
            return Value::Object(Map::new());
        }
        *left -= 1;
        match value {
            Value::Array(items) => {
                items.iter().map(|item| self.inline(item, depth - 1, open, left)).collect()
            }
            Value::Object(map) => {
                if let Some(reference) = map.get("$ref").and_then(Value::as_str) {
                    let target = reference.strip_prefix('#').and_then(|pointer| self.0.pointer(pointer));
                    return match target.filter(|_| !open.iter().any(|known| known == reference)) {
                        None => Value::Object(Map::new()),
                        Some(target) => {
                            open.push(reference.to_string());
                            let made = self.inline(target, depth - 1, open, left);
                            open.pop();
                            made
                        }
                    };
                }
                let inside =
                    map.iter().map(|(key, value)| (key.clone(), self.inline(value, depth - 1, open, left)));
                plain(inside.collect())
            }
            other => other.clone(),
        }
    }
}

/// Converts keywords that only OpenAPI 3.0 has.
fn plain(mut map: Map<String, Value>) -> Value {
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
    for word in ["example", "xml", "externalDocs", "discriminator"] {
        map.remove(word);
    }
    Value::Object(map)
}
