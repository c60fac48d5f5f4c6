//! Messages about mismatches and unsupported schemas.

use jsonschema::error::{TypeKind, ValidationErrorKind};
use jsonschema::paths::{Location, LocationSegment};
use jsonschema::{JsonType, ValidationError};
use serde_json::{Map, Value};
use std::fmt;

/// Keywords with one schema below them; the next tables hold those with a list, with named schemas, and with none.
const ONE_BELOW: [&str; 11] = [
    "items",
    "additionalProperties",
    "additionalItems",
    "not",
    "if",
    "then",
    "else",
    "contains",
    "propertyNames",
    "unevaluatedProperties",
    "unevaluatedItems",
];
const LIST_BELOW: [&str; 4] = ["anyOf", "oneOf", "allOf", "prefixItems"];
const NAMED_BELOW: [&str; 5] =
    ["properties", "patternProperties", "$defs", "definitions", "dependentSchemas"];
const NOTHING_BELOW: &str = "type required enum const $ref minItems maxItems uniqueItems minContains maxContains minimum maximum \
     exclusiveMinimum exclusiveMaximum multipleOf minLength maxLength pattern format minProperties maxProperties \
     dependentRequired $schema $id $comment title description default examples deprecated readOnly writeOnly";

const TYPES: [&str; 7] = ["string", "integer", "number", "boolean", "array", "object", "null"];

/// Maximum length of a key in a message, in characters.
const KEY: usize = 80;

/// A step from a value into one of its parts.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
enum Step {
    Index(usize),
    Name(String),
}

/// One mismatch between a value and its schema.
pub(super) struct Mismatch {
    pub place: Place,
    text: String,
}

/// Path from the root of a value to one of its parts.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Place(Vec<Step>);

impl Place {
    fn of(location: &Location) -> Place {
        let step = |segment: LocationSegment<'_>| match segment {
            LocationSegment::Index(i) => Step::Index(i),
            LocationSegment::Property(name) => Step::Name(name.into_owned()),
        };
        Place(location.iter().map(step).collect())
    }

    fn below(&self, name: &str) -> Place {
        let mut steps = self.0.clone();
        steps.push(Step::Name(name.to_string()));
        Place(steps)
    }
}

impl fmt::Display for Mismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for step in &self.place.0 {
            match step {
                Step::Index(i) => write!(f, "[{i}]")?,
                Step::Name(name) => write!(f, ".{name}")?,
            }
        }
        write!(f, ": {}", self.text)
    }
}

/// Converts an error of the library to mismatches with their places.
pub(super) fn mismatches(error: &ValidationError<'_>) -> Vec<Mismatch> {
    let place = Place::of(error.instance_path());
    let value = error.instance();
    let one = |text: String| vec![Mismatch { place: place.clone(), text }];
    let named = |names: &[String], text: &str| {
        names.iter().map(|name| Mismatch { place: place.below(name), text: text.to_string() }).collect()
    };
    let items = value.as_array().map_or(0, Vec::len);
    match error.kind() {
        ValidationErrorKind::Type { kind } => {
            one(format!("expected {}, got {}", expected(kind), found(kind, value)))
        }
        ValidationErrorKind::Enum { options } => one(one_of(options.as_array().map_or(&[], Vec::as_slice))),
        ValidationErrorKind::Constant { expected_value } => {
            one(one_of(std::slice::from_ref(&**expected_value)))
        }
        ValidationErrorKind::Required { property } => {
            named(&[property.as_str().unwrap_or_default().to_string()], "is required")
        }
        ValidationErrorKind::AdditionalProperties { unexpected } => named(unexpected, "is not in the schema"),
        ValidationErrorKind::MinItems { limit } => {
            one(format!("has {items} items, but needs at least {limit}"))
        }
        ValidationErrorKind::MaxItems { limit } => {
            one(format!("has {items} items, but at most {limit} are allowed"))
        }
        // For a nullable type, the expected type says more than that there are two choices.
        ValidationErrorKind::AnyOf { context } | ValidationErrorKind::OneOfNotValid { context } => {
            let others: Vec<_> = context.iter().filter(|errors| !errors.iter().all(wants_null)).collect();
            match others[..] {
                [only] if context.len() > 1 => only.iter().flat_map(mismatches).collect(),
                _ => one(choices(&others, &place).unwrap_or_else(|| error.to_string())),
            }
        }
        _ => one(error.to_string()),
    }
}

/// Returns what a value may be, if each alternative fails only since the value has another type or is another constant.
fn choices(alternatives: &[&Vec<ValidationError<'_>>], place: &Place) -> Option<String> {
    let (mut types, mut values): (Vec<&str>, Vec<Value>) = (Vec::new(), Vec::new());
    for errors in alternatives {
        let [error] = &errors[..] else { return None };
        if Place::of(error.instance_path()) != *place {
            return None;
        }
        match error.kind() {
            ValidationErrorKind::Type { kind: TypeKind::Single(one) } => types.push(article(*one)),
            ValidationErrorKind::Type { kind: TypeKind::Multiple(several) } => {
                types.extend(several.iter().map(article));
            }
            ValidationErrorKind::Enum { options } => values.extend(options.as_array()?.iter().cloned()),
            ValidationErrorKind::Constant { expected_value } => values.push((**expected_value).clone()),
            _ => return None,
        }
    }
    types.dedup();
    let types = types.join(" or ");
    match (types.is_empty(), values.is_empty()) {
        (true, true) => None,
        (true, false) => Some(one_of(&values)),
        (false, true) => Some(format!("expected {types}")),
        (false, false) => Some(format!("{} or {types}", one_of(&values))),
    }
}

fn wants_null(error: &ValidationError<'_>) -> bool {
    matches!(error.kind(), ValidationErrorKind::Type { kind: TypeKind::Single(JsonType::Null) })
}

fn one_of(values: &[Value]) -> String {
    let all: Vec<String> = values.iter().take(8).map(Value::to_string).collect();
    format!("expected one of {}", all.join(", "))
}

fn expected(kind: &TypeKind) -> String {
    let types: Vec<&str> = match kind {
        TypeKind::Single(one) => vec![article(*one)],
        TypeKind::Multiple(several) => several.iter().map(article).collect(),
    };
    types.join(" or ")
}

fn article(kind: JsonType) -> &'static str {
    match kind {
        JsonType::Null => "null",
        JsonType::Boolean => "a boolean",
        JsonType::Integer => "an integer",
        JsonType::Number => "a number",
        JsonType::String => "a string",
        JsonType::Array => "an array",
        JsonType::Object => "an object",
    }
}

fn found(kind: &TypeKind, value: &Value) -> &'static str {
    match (kind, value) {
        (TypeKind::Single(JsonType::Integer), Value::Number(_)) => "a number with a fraction",
        _ => json_kind(value),
    }
}

/// Returns the type of a JSON value, with its article.
pub fn json_kind(value: &Value) -> &'static str {
    article(JsonType::from(value))
}

/// Refuses a schema with unsupported keys, which are usually misspelled. `at` is the path of the schema.
pub(super) fn known(schema: &Value, at: &str) -> Result<(), String> {
    let place = |message: String| if at.is_empty() { message } else { format!("{message} in {at}") };
    let keys = match schema {
        Value::Object(keys) => keys,
        Value::Bool(_) => return Ok(()),
        other => return Err(place(format!("a schema must be an object, got {}", json_kind(other)))),
    };
    unsupported(keys).map_err(place)?;
    for (key, below) in keys {
        let step = |name: &str| match key.as_str() {
            "properties" => format!("{at}.{name}"),
            "items" | "contains" | "prefixItems" => format!("{at}[]"),
            _ => at.to_string(),
        };
        match below {
            // If the keyword takes either a schema or a list, the library reports which is wrong.
            Value::Array(list) if LIST_BELOW.contains(&&**key) => {
                list.iter().try_for_each(|one| known(one, &step("")))?
            }
            Value::Object(named) if NAMED_BELOW.contains(&&**key) => {
                named.iter().try_for_each(|(name, one)| known(one, &step(name)))?;
            }
            one if ONE_BELOW.contains(&&**key) => known(one, &step(""))?,
            _ => {}
        }
    }
    Ok(())
}

fn unsupported(keys: &Map<String, Value>) -> Result<(), String> {
    let is_known = |key: &str| {
        ONE_BELOW.contains(&key)
            || LIST_BELOW.contains(&key)
            || NAMED_BELOW.contains(&key)
            || NOTHING_BELOW.split(' ').any(|known| known == key)
    };
    let odd: Vec<String> = keys
        .keys()
        .filter(|key| !is_known(key))
        .take(5)
        .map(|key| format!("`{}`", crate::catalogue::clean::short(key, KEY)))
        .collect();
    if !odd.is_empty() {
        return Err(format!(
            "unsupported {} {}",
            if odd.len() == 1 { "key" } else { "keys" },
            odd.join(", ")
        ));
    }
    if let Some(Value::String(name)) =
        keys.get("type").filter(|name| TYPES.iter().all(|known| *name != known))
    {
        let name = crate::catalogue::clean::short(name, KEY);
        return Err(format!(
            "unsupported `type` {name:?}; use string, integer, number, boolean, array or object"
        ));
    }
    if keys.get("enum").is_some_and(|values| values.as_array().is_none_or(Vec::is_empty)) {
        return Err("`enum` must be a non-empty array".to_string());
    }
    if keys.get("$ref").is_some_and(|target| !target.as_str().is_some_and(|target| target.starts_with('#'))) {
        return Err("`$ref` must point into the schema itself, as in \"#/$defs/name\"".to_string());
    }
    let required = keys.get("required").and_then(Value::as_array);
    let properties = keys.get("properties").and_then(Value::as_object);
    let mut names = required.into_iter().flatten().filter_map(Value::as_str);
    match names.find(|name| properties.is_some_and(|all| !all.contains_key(*name))) {
        Some(name) => Err(format!("`required` names `{name}`, which is not in `properties`")),
        None => Ok(()),
    }
}
