//! JSON Schema → signature, for the schemas of MCP servers, providers and Rust types.
//!
//! Only keywords that a signature can express are accepted; others are errors that name them, since dropping them would
//! let wrong values through.

use super::parse::check_pattern;
use super::types::{Field, Literal, Num, Pred, Type, repeated};
use super::{MAX_NESTING, MAX_PATTERNS, Signature, SignatureError};
use crate::data::cut;
use serde_json::{Map, Value};
use std::collections::BTreeMap;

/// Descriptions of the fields of a record, by name.
pub type FieldDescriptions = BTreeMap<String, String>;

/// Maximum number of types in one schema: references can name a part many times over.
const MAX_TYPES: usize = 10_000;

/// Maximum characters of a field's description.
const MAX_DESCRIPTION: usize = 1_000;

/// Keywords that do not affect which values fit.
const ANNOTATIONS: &[&str] = &[
    "$schema",
    "$id",
    "$defs",
    "definitions",
    "$comment",
    "title",
    "description",
    "default",
    "examples",
    "deprecated",
    "readOnly",
    "writeOnly",
    "format",
];

impl Signature {
    /// Converts the schema of a result.
    ///
    /// ```
    /// use ptc_contract::Signature;
    /// use serde_json::json;
    /// let schema = json!({"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]});
    /// assert_eq!(Signature::from_json_schema(&schema)?.to_string(), "() -> {n :int}");
    /// let error = Signature::from_json_schema(&json!({"type": "string", "not": {}})).unwrap_err();
    /// assert_eq!(error.message, "`not` in a JSON Schema cannot be expressed in a signature");
    /// # Ok::<(), ptc_contract::signature::SignatureError>(())
    /// ```
    pub fn from_json_schema(schema: &Value) -> Result<Signature, SignatureError> {
        Ok(Signature { params: Vec::new(), returns: Type::from_json_schema(schema)? })
    }

    /// Converts the schema of a tool's parameters, which describes an object, and of its result if there is one.
    ///
    /// ```
    /// use ptc_contract::Signature;
    /// use serde_json::json;
    /// let input = json!({"type": "object", "properties": {"q": {"type": "string"}}, "required": ["q"]});
    /// assert_eq!(Signature::from_tool_schemas(&input, None)?.to_string(), "(q :string) -> :any");
    /// # Ok::<(), ptc_contract::signature::SignatureError>(())
    /// ```
    pub fn from_tool_schemas(params: &Value, returns: Option<&Value>) -> Result<Signature, SignatureError> {
        let params = match Type::from_json_schema(params)? {
            Type::Record { fields, .. } => fields,
            Type::Map | Type::Any => Vec::new(),
            other => {
                let message = format!("the parameters of a tool must be an object, not `{other}`");
                return Err(SignatureError::data(message));
            }
        };
        let returns = returns.map_or(Ok(Type::Any), Type::from_json_schema)?;
        Ok(Signature { params, returns })
    }
}

impl Type {
    /// Converts a schema to a type.
    pub fn from_json_schema(schema: &Value) -> Result<Type, SignatureError> {
        Reader { root: schema, following: Vec::new(), types: 0, patterns: 0 }.ty(schema, 0)
    }
}

/// Returns the descriptions of the fields in an object's schema.
pub(super) fn descriptions(schema: &Value) -> FieldDescriptions {
    let properties = schema.get("properties").and_then(Value::as_object);
    let described = properties.into_iter().flatten();
    described.filter_map(|(name, field)| Some((name.clone(), description(field)?))).collect()
}

/// Returns the first paragraph of a schema's description, on one line: schemas of servers may hold whole pages.
fn description(schema: &Value) -> Option<String> {
    let text = schema.get("description")?.as_str()?.trim();
    let paragraph = text.lines().map(str::trim).take_while(|line| !line.is_empty());
    let line = paragraph.collect::<Vec<_>>().join(" ");
    (!line.is_empty()).then(|| cut(&line, MAX_DESCRIPTION))
}

struct Reader<'s> {
    root: &'s Value,
    /// References followed on the way here, to find those that lead to themselves.
    following: Vec<&'s str>,
    types: usize,
    patterns: usize,
}

impl<'s> Reader<'s> {
    fn ty(&mut self, schema: &'s Value, depth: usize) -> Result<Type, SignatureError> {
        self.types += 1;
        if depth > MAX_NESTING || self.types > MAX_TYPES {
            let message =
                format!("the JSON Schema nests deeper than {MAX_NESTING} or has over {MAX_TYPES} parts");
            return Err(SignatureError::data(message).hint("describe deep parts as `{\"type\": \"object\"}`"));
        }
        let object = match schema {
            Value::Bool(true) => return Ok(Type::Any),
            Value::Object(object) => object,
            _ => return Err(SignatureError::data("a JSON Schema is an object or `true`")),
        };
        if let Some(reference) = object.get("$ref") {
            return self.reference(reference, depth);
        }
        let base = self.base(object, depth)?;
        self.patterns += usize::from(object.contains_key("pattern"));
        if self.patterns > MAX_PATTERNS {
            return Err(SignatureError::data(format!("more than {MAX_PATTERNS} patterns")));
        }
        let preds = conditions(object)?;
        let is_known_integer = object.get("format").and_then(Value::as_str).is_some_and(is_integer_format);
        // Bounds of a machine integer describe its storage, not its meaning.
        if is_known_integer && preds.iter().all(|pred| matches!(pred, Pred::Ge(_) | Pred::Le(_))) {
            return Ok(base);
        }
        Type::refined(base, preds).map_err(SignatureError::data)
    }

    fn base(&mut self, object: &'s Map<String, Value>, depth: usize) -> Result<Type, SignatureError> {
        for key in object.keys() {
            let is_known =
                ANNOTATIONS.contains(&&**key) || STRUCTURE.contains(&&**key) || BOUNDS.contains(&&**key);
            if !is_known {
                return Err(unsaid(key));
            }
        }
        if let Some(value) = object.get("const") {
            return Ok(Type::Enum(vec![literal(value)?]));
        }
        if let Some(values) = object.get("enum").and_then(Value::as_array) {
            let values: Result<Vec<Literal>, _> = values.iter().map(literal).collect();
            return optional_enum(values?);
        }
        if let Some(types) = object.get("anyOf").or(object.get("oneOf")) {
            return self.choice(types, depth);
        }
        if let Some(parts) = object.get("allOf") {
            return match parts.as_array().map(Vec::as_slice) {
                Some([one]) => self.ty(one, depth + 1),
                _ => Err(unsaid("allOf")),
            };
        }
        match object.get("type") {
            None if object.contains_key("properties") => self.named("object", object, depth),
            None => Ok(Type::Any),
            Some(Value::String(name)) => self.named(name, object, depth),
            Some(Value::Array(names)) => {
                let mut types = Vec::new();
                let mut is_optional = false;
                for name in names {
                    match name.as_str() {
                        Some("null") => is_optional = true,
                        Some(name) => types.push(self.named(name, object, depth)?),
                        None => return Err(SignatureError::data("`type` in a JSON Schema must name types")),
                    }
                }
                let choice = if types.is_empty() { Type::Nil } else { Type::any_of(types) };
                Ok(if is_optional { Type::optional(choice) } else { choice })
            }
            Some(_) => Err(SignatureError::data("`type` in a JSON Schema must name types")),
        }
    }

    fn named(
        &mut self,
        name: &str,
        object: &'s Map<String, Value>,
        depth: usize,
    ) -> Result<Type, SignatureError> {
        Ok(match name {
            "string" if object.get("format").and_then(Value::as_str) == Some("date-time") => Type::DateTime,
            "string" => Type::String,
            "integer" => Type::Int,
            "number" => Type::Float,
            "boolean" => Type::Bool,
            "null" => Type::Nil,
            "array" => {
                let item = match object.get("items") {
                    Some(items) => self.ty(items, depth + 1)?,
                    None => Type::Any,
                };
                Type::List(Box::new(item))
            }
            "object" => self.record(object, depth)?,
            other => {
                let shown: String = other.chars().take(40).collect();
                return Err(SignatureError::data(format!("`{shown}` is not a type of JSON Schema")));
            }
        })
    }

    fn record(&mut self, object: &'s Map<String, Value>, depth: usize) -> Result<Type, SignatureError> {
        let closed = match object.get("additionalProperties") {
            None | Some(Value::Bool(true)) => false,
            Some(Value::Bool(false)) => true,
            // A map with any keys: a signature cannot say the type of its values.
            Some(Value::Object(_)) if !object.contains_key("properties") => return Ok(Type::Map),
            Some(_) => return Err(unsaid("additionalProperties")),
        };
        let Some(properties) = object.get("properties") else {
            return Ok(if closed { Type::Record { fields: Vec::new(), closed } } else { Type::Map });
        };
        let properties =
            properties.as_object().ok_or_else(|| SignatureError::data("`properties` is an object"))?;
        let required: Vec<&str> = object
            .get("required")
            .and_then(Value::as_array)
            .into_iter()
            .flatten()
            .filter_map(Value::as_str)
            .collect();
        let mut fields = Vec::new();
        // JSON objects have no order here, but `required` lists its names as they were declared.
        let first = required.iter().filter_map(|name| properties.get_key_value(*name));
        let rest = properties.iter().filter(|(name, _)| !required.contains(&name.as_str()));
        for (name, schema) in first.chain(rest) {
            let ty = self.ty(schema, depth + 1)?;
            let is_optional = !required.contains(&name.as_str());
            let ty = if is_optional { Type::optional(ty) } else { ty };
            fields.push(Field { description: description(schema), ..Field::new(name, ty) });
        }
        match repeated(&fields) {
            Some(name) => Err(SignatureError::data(format!(
                "the property `{name}` occurs twice, if `-` and `_` are the same"
            ))),
            None => Ok(Type::Record { fields, closed }),
        }
    }

    /// Converts alternatives. Constants alone become an enum: Rust enums with documented variants look like this.
    fn choice(&mut self, types: &'s Value, depth: usize) -> Result<Type, SignatureError> {
        let Some(types) = types.as_array().filter(|types| !types.is_empty()) else {
            return Err(SignatureError::data("`anyOf` in a JSON Schema lists schemas"));
        };
        let mut read = Vec::new();
        let mut is_optional = false;
        for one in types {
            match self.ty(one, depth + 1)? {
                Type::Nil => is_optional = true,
                ty => read.push(ty),
            }
        }
        let choice = if read.is_empty() {
            Type::Nil
        } else if read.iter().all(|ty| matches!(ty, Type::Enum(_))) {
            Type::Enum(
                read.into_iter()
                    .flat_map(|ty| match ty {
                        Type::Enum(values) => values,
                        _ => Vec::new(),
                    })
                    .collect(),
            )
        } else {
            Type::any_of(read)
        };
        Ok(if is_optional { Type::optional(choice) } else { choice })
    }

    fn reference(&mut self, reference: &'s Value, depth: usize) -> Result<Type, SignatureError> {
        let name = reference.as_str().unwrap_or_default();
        if self.following.contains(&name) {
            let shown: String = name.chars().take(60).collect();
            return Err(SignatureError::data(format!("`{shown}` contains itself, which a signature cannot"))
                .hint("describe the inner part as `{\"type\": \"object\"}`"));
        }
        let found = name.strip_prefix('#').and_then(|pointer| self.root.pointer(pointer));
        let Some(found) = found else {
            let shown: String = name.chars().take(60).collect();
            return Err(SignatureError::data(format!(
                "`$ref` to `{shown}`, which is not in this JSON Schema"
            )));
        };
        self.following.push(name);
        let ty = self.ty(found, depth + 1);
        self.following.pop();
        ty
    }
}

const STRUCTURE: &[&str] = &[
    "type",
    "properties",
    "required",
    "additionalProperties",
    "items",
    "enum",
    "const",
    "anyOf",
    "oneOf",
    "allOf",
];

const BOUNDS: &[&str] = &[
    "minimum",
    "maximum",
    "exclusiveMinimum",
    "exclusiveMaximum",
    "minLength",
    "maxLength",
    "minItems",
    "maxItems",
    "minProperties",
    "maxProperties",
    "pattern",
];

fn unsaid(key: &str) -> SignatureError {
    let shown: String = key.chars().take(40).collect();
    SignatureError::data(format!("`{shown}` in a JSON Schema cannot be expressed in a signature"))
}

fn is_integer_format(format: &str) -> bool {
    format.starts_with("int") || format.starts_with("uint")
}

/// Returns an enum; a null among its values makes it optional.
fn optional_enum(mut values: Vec<Literal>) -> Result<Type, SignatureError> {
    let before = values.len();
    values.retain(|value| *value != Literal::Nil);
    match (values.is_empty(), values.len() < before) {
        (true, false) => Err(SignatureError::data("an `enum` of no values fits nothing")),
        (true, true) => Ok(Type::Nil),
        (false, true) => Ok(Type::optional(Type::Enum(values))),
        (false, false) => Ok(Type::Enum(values)),
    }
}

fn literal(value: &Value) -> Result<Literal, SignatureError> {
    Ok(match value {
        Value::Null => Literal::Nil,
        Value::Bool(value) => Literal::Bool(*value),
        Value::Number(_) => Literal::Num(number(value)?),
        Value::String(text) => Literal::Str(text.clone()),
        _ => return Err(SignatureError::data("a list or object cannot be a value of an `enum` here")),
    })
}

fn number(value: &Value) -> Result<Num, SignatureError> {
    let float = || value.as_f64().filter(|x| x.is_finite()).map(Num::Float);
    value.as_i64().map(Num::Int).or_else(float).ok_or_else(|| SignatureError::data("a bound is a number"))
}

fn conditions(object: &Map<String, Value>) -> Result<Vec<Pred>, SignatureError> {
    let mut preds = Vec::new();
    for (name, value) in object {
        let count = || {
            let count = value.as_u64().filter(|n| i64::try_from(*n).is_ok());
            count.ok_or_else(|| SignatureError::data(format!("`{name}` is a count")))
        };
        preds.push(match &**name {
            "minimum" => Pred::Ge(number(value)?),
            "maximum" => Pred::Le(number(value)?),
            "exclusiveMinimum" => Pred::Gt(number(value)?),
            "exclusiveMaximum" => Pred::Lt(number(value)?),
            "minLength" | "minItems" | "minProperties" => Pred::Min(count()?),
            "maxLength" | "maxItems" | "maxProperties" => Pred::Max(count()?),
            "pattern" => {
                let source = value.as_str().unwrap_or_default();
                check_pattern(source).map_err(SignatureError::data)?;
                Pred::Re(source.to_string())
            }
            _ => continue,
        });
    }
    // Lower bounds first, as ranges are written.
    preds.sort_by_key(|pred| matches!(pred, Pred::Le(_) | Pred::Lt(_) | Pred::Max(_)));
    Ok(preds)
}
