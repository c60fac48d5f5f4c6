//! What a client may ask a value to look like: a part of JSON Schema that is checked strictly, and nothing beyond it.

use crate::args::kind;
use serde_json::{Map, Value};
use std::collections::BTreeMap;

/// The shape of a value.
#[derive(Clone, PartialEq, Debug)]
pub struct OutputSchema(Shape);

#[derive(Clone, PartialEq, Debug)]
enum Shape {
    String,
    Integer,
    Number,
    Boolean,
    Array {
        items: Box<Shape>,
        min: u64,
        max: u64,
    },
    Object {
        properties: BTreeMap<String, Shape>,
        required: Vec<String>,
        is_closed: bool,
    },
    /// One of these.
    OneOf(Vec<Value>),
    /// This, or null.
    Nullable(Box<Shape>),
}

/// How many mismatches are told.
const MOST: usize = 10;

impl OutputSchema {
    /// Reads a schema; the error names the key that is not understood.
    ///
    /// ```
    /// use ptc_mcp::schema::OutputSchema;
    /// use serde_json::json;
    /// let schema = OutputSchema::read(&json!({
    ///     "type": "object", "required": ["id"], "additionalProperties": false,
    ///     "properties": {"id": {"type": "integer"}, "tags": {"type": "array", "items": {"type": "string"}}},
    /// }))?;
    /// assert_eq!(schema.check(&json!({"id": 7, "tags": ["a"]})), Ok(()));
    /// assert_eq!(
    ///     schema.check(&json!({"id": "7", "tags": [1]})),
    ///     Err("return.id: expected an integer, got a string; return.tags[0]: expected a string, got a number".to_string()),
    /// );
    /// assert_eq!(OutputSchema::read(&json!({"$ref": "#/x"})), Err("unsupported key `$ref`".to_string()));
    /// # Ok::<(), String>(())
    /// ```
    pub fn read(schema: &Value) -> Result<OutputSchema, String> {
        shape(schema, "").map(OutputSchema)
    }

    /// Whether a value has the shape; the error names each place where it has not.
    pub fn check(&self, value: &Value) -> Result<(), String> {
        let mut problems = Vec::new();
        check(&self.0, value, &mut "return".to_string(), &mut problems);
        if problems.is_empty() { Ok(()) } else { Err(problems.join("; ")) }
    }
}

fn shape(schema: &Value, at: &str) -> Result<Shape, String> {
    let place = |message: String| if at.is_empty() { message } else { format!("{message} in {at}") };
    let Value::Object(keys) = schema else {
        return Err(place(format!("a schema must be an object, got {}", kind(schema))));
    };
    let only = |allowed: &[&str]| match keys.keys().filter(|key| !allowed.contains(&key.as_str())).count() {
        0 => Ok(()),
        _ => {
            let odd: Vec<String> = keys
                .keys()
                .filter(|key| !allowed.contains(&key.as_str()))
                .take(5)
                .map(|key| format!("`{}`", crate::cut::chars(key, 80).0))
                .collect();
            let word = if odd.len() == 1 { "key" } else { "keys" };
            Err(place(format!("unsupported {word} {}", odd.join(", "))))
        }
    };
    if let Some(constant) = keys.get("const") {
        only(&["const", "type", "description"])?;
        return Ok(Shape::OneOf(vec![constant.clone()]));
    }
    if let Some(values) = keys.get("enum") {
        only(&["enum", "type", "description"])?;
        return match values {
            Value::Array(values) if !values.is_empty() => Ok(Shape::OneOf(values.clone())),
            _ => Err(place("`enum` must be a non-empty array".to_string())),
        };
    }
    if let Some(any) = keys.get("anyOf") {
        only(&["anyOf", "description"])?;
        return nullable(any, at).map_err(place);
    }
    let Some(Value::String(name)) = keys.get("type") else {
        only(&["description"])?;
        return Err(place("`type` is required, as a string".to_string()));
    };
    match name.as_str() {
        "string" | "integer" | "number" | "boolean" => {
            only(&["type", "description"])?;
            Ok(match name.as_str() {
                "string" => Shape::String,
                "integer" => Shape::Integer,
                "number" => Shape::Number,
                _ => Shape::Boolean,
            })
        }
        "array" => {
            only(&["type", "description", "items", "minItems", "maxItems"])?;
            let items = keys.get("items").ok_or_else(|| place("an array needs `items`".to_string()))?;
            let bound = |key: &str, default: u64| match keys.get(key) {
                None => Ok(default),
                Some(value) => {
                    value.as_u64().ok_or_else(|| place(format!("`{key}` must be a non-negative integer")))
                }
            };
            let items = Box::new(shape(items, &format!("{at}[]"))?);
            Ok(Shape::Array { items, min: bound("minItems", 0)?, max: bound("maxItems", u64::MAX)? })
        }
        "object" => {
            only(&["type", "description", "properties", "required", "additionalProperties"])?;
            object(keys, at).map_err(place)
        }
        other => {
            let other = crate::cut::chars(other, 80).0;
            Err(place(format!(
                "unsupported `type` {other:?}; use string, integer, number, boolean, array or object"
            )))
        }
    }
}

/// `anyOf` of one schema and null: a value that may be missing.
fn nullable(any: &Value, at: &str) -> Result<Shape, String> {
    let wrong = "`anyOf` must be one schema and {\"type\": \"null\"}";
    let Value::Array(options) = any else { return Err(wrong.to_string()) };
    let is_null = |option: &&Value| option.get("type").and_then(Value::as_str) == Some("null");
    let others: Vec<&Value> = options.iter().filter(|option| !is_null(option)).collect();
    match (&others[..], options.len()) {
        ([one], 2) => Ok(Shape::Nullable(Box::new(shape(one, at)?))),
        _ => Err(wrong.to_string()),
    }
}

fn object(keys: &Map<String, Value>, at: &str) -> Result<Shape, String> {
    let properties = match keys.get("properties") {
        None => BTreeMap::new(),
        Some(Value::Object(properties)) => properties
            .iter()
            .map(|(name, schema)| Ok((name.clone(), shape(schema, &format!("{at}.{name}"))?)))
            .collect::<Result<BTreeMap<String, Shape>, String>>()?,
        Some(other) => return Err(format!("`properties` must be an object, got {}", kind(other))),
    };
    let required = match keys.get("required") {
        None => Vec::new(),
        Some(Value::Array(names)) => names
            .iter()
            .map(|name| name.as_str().map(str::to_string).ok_or("`required` must hold strings".to_string()))
            .collect::<Result<Vec<String>, String>>()?,
        Some(other) => return Err(format!("`required` must be an array, got {}", kind(other))),
    };
    if let Some(unknown) = required.iter().find(|name| !properties.contains_key(*name)) {
        return Err(format!("`required` names `{unknown}`, which is not in `properties`"));
    }
    let is_closed = match keys.get("additionalProperties") {
        None | Some(Value::Bool(true)) => false,
        Some(Value::Bool(false)) => true,
        Some(other) => return Err(format!("`additionalProperties` must be a boolean, got {}", kind(other))),
    };
    Ok(Shape::Object { properties, required, is_closed })
}

fn check(shape: &Shape, value: &Value, path: &mut String, problems: &mut Vec<String>) {
    if problems.len() >= MOST {
        return;
    }
    let expected = |wanted: &str| format!("expected {wanted}, got {}", kind(value));
    let problem = match (shape, value) {
        (Shape::Nullable(_), Value::Null) => None,
        (Shape::Nullable(inner), _) => return check(inner, value, path, problems),
        (Shape::OneOf(values), _) => (!values.contains(value)).then(|| {
            let all: Vec<String> = values.iter().take(8).map(Value::to_string).collect();
            format!("expected one of {}", all.join(", "))
        }),
        (Shape::String, Value::String(_)) | (Shape::Boolean, Value::Bool(_)) => None,
        (Shape::String, _) => Some(expected("a string")),
        (Shape::Boolean, _) => Some(expected("a boolean")),
        (Shape::Number, Value::Number(_)) => None,
        (Shape::Number, _) => Some(expected("a number")),
        (Shape::Integer, Value::Number(n)) if n.is_i64() || n.is_u64() => None,
        (Shape::Integer, Value::Number(_)) => {
            Some("expected an integer, got a number with a fraction".to_string())
        }
        (Shape::Integer, _) => Some(expected("an integer")),
        (Shape::Array { items, min, max }, Value::Array(values)) => {
            let count = values.len() as u64;
            each(path, problems, values.iter().enumerate(), |i| format!("[{i}]"), |_| Some(&**items));
            (count < *min || count > *max).then(|| format!("has {count} items, {min} to {max} are allowed"))
        }
        (Shape::Array { .. }, _) => Some(expected("an array")),
        (Shape::Object { properties, required, is_closed }, Value::Object(fields)) => {
            for name in required.iter().filter(|name| !fields.contains_key(*name)) {
                problems.push(format!("{path}.{name}: is required"));
            }
            for name in fields.keys().filter(|name| *is_closed && !properties.contains_key(*name)) {
                problems.push(format!("{path}.{name}: is not in the schema"));
            }
            each(path, problems, fields.iter(), |name| format!(".{name}"), |name| properties.get(*name));
            None
        }
        (Shape::Object { .. }, _) => Some(expected("an object")),
    };
    problems.extend(problem.map(|problem| format!("{path}: {problem}")));
    problems.truncate(MOST);
}

/// Checks the parts of a value, with the path to each.
fn each<'v, K>(
    path: &mut String,
    problems: &mut Vec<String>,
    parts: impl Iterator<Item = (K, &'v Value)>,
    step: impl Fn(&K) -> String,
    shape: impl Fn(&K) -> Option<&'v Shape>,
) {
    for (key, value) in parts {
        if let Some(shape) = shape(&key) {
            let end = path.len();
            path.push_str(&step(&key));
            check(shape, value, path, problems);
            path.truncate(end);
        }
    }
}
