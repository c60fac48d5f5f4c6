//! Conversion of the program's arguments of `tool/call` to JSON.

use crate::catalogue::CatalogTool;
use ptc_bytecode::Node;
use ptc_contract::data::{Shown, View, show_public};
use serde_json::{Map, Value};
use std::collections::HashSet;

/// Maximum nesting depth of arguments.
const DEPTH: usize = 100;

/// Formats a value for messages, which models read.
pub(super) fn shown(value: Option<View<'_>>) -> String {
    let limits = Shown { chars: 80, items: 5, string: 60, depth: 3 };
    value.map_or("nil".to_string(), |value| show_public(value, limits))
}

/// Converts arguments to JSON. In keyword keys, `-` becomes `_` unless the tool has an argument with exactly
/// that name; string keys stay as they are. The error says why a value cannot be JSON.
pub(super) fn encode(args: View<'_>, tool: &CatalogTool) -> Result<Map<String, Value>, String> {
    let schema = tool.properties();
    let required: HashSet<&str> = tool.required().collect();
    let mut map = Map::new();
    for (key, value) in args.entries() {
        let name = key_name(key, schema)?;
        let property = schema.and_then(|all| all.get(&name));
        let json = value_of(value, property, DEPTH)?;
        // nil for an optional argument means leaving it out.
        let is_optional = !required.contains(&*name);
        if json.is_null() && is_optional && property.is_some_and(|schema| !takes_null(schema)) {
            continue;
        }
        if map.insert(name, json).is_some() {
            return Err(format!("the key {} occurs twice", shown(Some(key))));
        }
    }
    Ok(map)
}

fn takes_null(schema: &Value) -> bool {
    match schema.get("type") {
        Some(Value::String(one)) => one == "null",
        Some(Value::Array(several)) => several.iter().any(|kind| kind == "null"),
        // Any other type, combinations included, may accept null: the server decides.
        _ => true,
    }
}

fn key_name(key: View<'_>, schema: Option<&Map<String, Value>>) -> Result<String, String> {
    match key.node() {
        Node::Str(name) => Ok(name.to_string()),
        Node::Keyword(name) | Node::Symbol(name) => {
            let is_known = schema.is_some_and(|all| all.contains_key(&**name));
            Ok(if is_known { name.to_string() } else { name.replace('-', "_") })
        }
        Node::Int(n) => Ok(n.to_string()),
        _ => Err(format!("a key must be a keyword or a string, not {}", shown(Some(key)))),
    }
}

fn value_of(view: View<'_>, schema: Option<&Value>, depth: usize) -> Result<Value, String> {
    if depth == 0 {
        return Err(format!("nested deeper than {DEPTH}"));
    }
    Ok(match view.node() {
        Node::Nil => Value::Null,
        Node::Bool(flag) => Value::Bool(*flag),
        Node::Int(n) => (*n).into(),
        Node::Big(digits) => match digits.parse::<u64>() {
            Ok(n) => n.into(),
            Err(_) => return Err("an integer of more than 64 bits".to_string()),
        },
        Node::Float(x) => match serde_json::Number::from_f64(*x) {
            Some(number) => Value::Number(number),
            None => return Err(format!("{} is not a JSON number", shown(Some(view)))),
        },
        Node::Str(text) | Node::Keyword(text) | Node::Symbol(text) => Value::String(text.to_string()),
        Node::Vector(_) | Node::Set(_) => {
            let items = schema.and_then(|schema| schema.get("items"));
            let list: Result<Vec<Value>, String> =
                view.items().into_iter().map(|item| value_of(item, items, depth - 1)).collect();
            Value::Array(list?)
        }
        Node::Map(_) => {
            let properties = schema.and_then(|schema| schema.get("properties")).and_then(Value::as_object);
            let mut map = Map::new();
            for (key, value) in view.entries() {
                let name = key_name(key, properties)?;
                let json = value_of(value, properties.and_then(|all| all.get(&name)), depth - 1)?;
                map.insert(name, json);
            }
            Value::Object(map)
        }
        Node::Day(_) | Node::Instant(_) | Node::Duration(_) => {
            let datum = ptc_runtime::bridge::datum_to_json(&view.datum());
            datum.map_err(|_| format!("{} has no JSON form", shown(Some(view))))?
        }
        Node::Regex(_) => return Err("a regex".to_string()),
        Node::Opaque(_) => return Err("a function".to_string()),
    })
}
