//! Merging of `allOf`, which is how generators write inheritance and defaults.

use serde_json::{Map, Value};

/// Merges the parts of a schema's `allOf` into the schema, as far as they do not contradict each other: what cannot be
/// merged stays. Nested parts are expected to be merged already.
pub(crate) fn merge_all_of(mut schema: Map<String, Value>) -> Map<String, Value> {
    let parts = match schema.remove("allOf") {
        Some(Value::Array(parts)) => parts,
        Some(other) => {
            schema.insert("allOf".to_string(), other);
            return schema;
        }
        None => return schema,
    };
    let mut left = Vec::new();
    for part in parts {
        match part {
            Value::Bool(true) => {}
            Value::Object(part) if !part.contains_key("$ref") => absorb(&mut schema, part, &mut left),
            other => left.push(other),
        }
    }
    if !left.is_empty() {
        schema.insert("allOf".to_string(), Value::Array(left));
    }
    schema
}

fn absorb(schema: &mut Map<String, Value>, part: Map<String, Value>, left: &mut Vec<Value>) {
    for (key, value) in part {
        let known = schema.get_mut(&key);
        match (&*key, known, value) {
            ("allOf", _, Value::Array(more)) => left.extend(more),
            ("properties", Some(Value::Object(known)), Value::Object(more)) => {
                for (name, property) in more {
                    match known.remove(&name) {
                        None => drop(known.insert(name, property)),
                        Some(before) if before == property => drop(known.insert(name, property)),
                        Some(before) => drop(known.insert(name, both(before, property))),
                    }
                }
            }
            ("required", Some(Value::Array(known)), Value::Array(more)) => {
                for name in more {
                    if !known.contains(&name) {
                        known.push(name);
                    }
                }
            }
            // Each part would refuse the properties of the others.
            ("additionalProperties" | "unevaluatedProperties", _, Value::Bool(false)) => {}
            // The words of the whole say more than those of a part.
            ("description" | "title" | "default" | "example" | "examples" | "$schema", Some(_), _) => {}
            (_, Some(known), value) if *known == value => {}
            (_, Some(_), value) => left.push(Value::Object(Map::from_iter([(key, value)]))),
            (_, None, value) => drop(schema.insert(key, value)),
        }
    }
}

/// Returns the schema of values that fit two schemas.
fn both(a: Value, b: Value) -> Value {
    let parts = Map::from_iter([("allOf".to_string(), Value::Array(vec![a, b]))]);
    Value::Object(merge_all_of(parts))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn merged(schema: Value) -> Value {
        let Value::Object(schema) = schema else { panic!() };
        Value::Object(merge_all_of(schema))
    }

    #[test]
    fn parts_become_one_schema() {
        let schema = json!({"description": "A cat", "allOf": [
            {"type": "object", "required": ["id"], "properties": {"id": {"type": "integer"}}, "additionalProperties": false},
            {"type": "object", "required": ["name", "id"], "description": "A pet", "properties": {"name": {"type": "string"}, "id": {"minimum": 1}}},
            true,
        ]});
        assert_eq!(
            merged(schema),
            json!({"description": "A cat", "type": "object", "required": ["id", "name"],
                "properties": {"id": {"type": "integer", "minimum": 1}, "name": {"type": "string"}}})
        );
    }

    #[test]
    fn contradictions_stay() {
        let schema = json!({"type": "string", "allOf": [{"type": "integer"}, {"$ref": "#/x"}]});
        assert_eq!(
            merged(schema),
            json!({"type": "string", "allOf": [{"type": "integer"}, {"$ref": "#/x"}]})
        );
        assert_eq!(merged(json!({"allOf": 1})), json!({"allOf": 1}));
    }
}
