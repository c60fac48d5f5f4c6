//! Shapes from JSON Schemas, as servers describe their tools. A part that a shape cannot express becomes
//! [`Shape::Anything`], so nothing is refused because of it.

use super::{FieldShape, RecordShape, Shape};
use serde_json::{Map, Value};
use std::collections::{BTreeMap, HashSet};

/// Maximum depth of a schema that is followed; `MAX_PARTS` bounds its parts, since references may name a part many
/// times.
const DEPTH: usize = 12;
const MAX_PARTS: usize = 2_000;

impl Shape {
    /// Returns the shape of the values of a JSON Schema.
    ///
    /// ```
    /// use ptc_runtime::Shape;
    /// use serde_json::json;
    /// let schema = json!({"type": "object", "required": ["id"], "properties": {
    ///     "id": {"type": "integer"}, "tags": {"type": "array", "items": {"type": ["string", "null"]}},
    /// }});
    /// assert_eq!(Shape::of_json_schema(&schema).to_string(), "{:id integer :tags [string]?}");
    /// assert_eq!(Shape::of_json_schema(&json!({"not": {}})), Shape::Anything);
    /// ```
    pub fn of_json_schema(schema: &Value) -> Shape {
        Reader { root: schema, parts_left: MAX_PARTS }.shape(schema, DEPTH)
    }
}

struct Reader<'s> {
    root: &'s Value,
    parts_left: usize,
}

impl<'s> Reader<'s> {
    fn shape(&mut self, schema: &'s Value, depth: usize) -> Shape {
        let (Some(left), Some(depth)) = (self.parts_left.checked_sub(1), depth.checked_sub(1)) else {
            return Shape::Anything;
        };
        self.parts_left = left;
        let Some(object) = schema.as_object() else { return Shape::Anything };
        if let Some(reference) = object.get("$ref") {
            let target = reference.as_str().and_then(|text| text.strip_prefix('#'));
            return match target.and_then(|pointer| self.root.pointer(pointer)) {
                Some(target) => self.shape(target, depth),
                None => Shape::Anything,
            };
        }
        if let Some(value) = object.get("const") {
            return scalar(value);
        }
        if let Some(values) = object.get("enum").and_then(Value::as_array) {
            self.parts_left = self.parts_left.saturating_sub(values.len() / 16);
            return values.iter().fold(Shape::Nothing, |shape, value| shape.or(scalar(value)));
        }
        if let Some(several) = object.get("anyOf").or(object.get("oneOf")).and_then(Value::as_array) {
            return several.iter().fold(Shape::Nothing, |shape, one| shape.or(self.shape(one, depth)));
        }
        if ["allOf", "if", "not", "patternProperties", "dependentSchemas"]
            .iter()
            .any(|key| object.contains_key(*key))
        {
            return Shape::Anything;
        }
        match object.get("type") {
            Some(Value::Array(kinds)) => kinds.iter().fold(Shape::Nothing, |shape, kind| {
                shape.or(kind.as_str().map_or(Shape::Anything, |kind| self.of_kind(kind, object, depth)))
            }),
            Some(Value::String(kind)) => self.of_kind(kind, object, depth),
            None if object.contains_key("properties") => self.of_kind("object", object, depth),
            _ => Shape::Anything,
        }
    }

    fn of_kind(&mut self, kind: &str, object: &'s Map<String, Value>, depth: usize) -> Shape {
        match kind {
            "null" => Shape::Nothing.nullable(),
            "boolean" => Shape::Boolean,
            "integer" => Shape::Integer,
            "number" => Shape::Number,
            "string" => Shape::Text,
            "array" => {
                let items = object.get("items");
                Shape::List(Box::new(items.map_or(Shape::Anything, |items| self.shape(items, depth))))
            }
            "object" => self.record(object, depth),
            _ => Shape::Anything,
        }
    }

    fn record(&mut self, object: &'s Map<String, Value>, depth: usize) -> Shape {
        let properties = object.get("properties").and_then(Value::as_object);
        let Some(properties) = properties.filter(|all| all.len() <= self.parts_left) else {
            return Shape::Map;
        };
        let required = object.get("required").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
        // A part with a long list may be referenced many times.
        self.parts_left = self.parts_left.saturating_sub(required.len() / 16);
        let required: HashSet<&str> = required.iter().filter_map(Value::as_str).collect();
        let mut fields = BTreeMap::new();
        for (name, schema) in properties {
            let is_always = required.contains(name.as_str());
            let field = FieldShape { shape: self.shape(schema, depth), is_always };
            fields.insert(name.clone(), field);
        }
        let is_closed = object.get("additionalProperties") == Some(&Value::Bool(false));
        Shape::Record(RecordShape { fields, is_closed })
    }
}

fn scalar(value: &Value) -> Shape {
    match value {
        Value::Null => Shape::Nothing.nullable(),
        Value::Bool(_) => Shape::Boolean,
        Value::Number(number) if number.is_f64() => Shape::Number,
        Value::Number(_) => Shape::Integer,
        Value::String(_) => Shape::Text,
        Value::Array(_) | Value::Object(_) => Shape::Anything,
    }
}
