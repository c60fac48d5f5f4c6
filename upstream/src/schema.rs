//! Short notation for JSON Schemas, as `doc` shows them.

use serde_json::Value;
use std::collections::HashSet;

/// Nesting depth to which results are spelled out.
const DEPTH: usize = 6;

/// Formats the arguments of a tool: `{:path string :limit integer?}`.
///
/// ```
/// use ptc_upstream::schema;
/// use serde_json::json;
/// let schema = json!({
///     "properties": {"limit": {"type": "integer"}, "state": {"type": "string", "enum": ["open", "closed"]}, "repo": {"type": "string"}},
///     "required": ["state", "repo"],
/// });
/// assert_eq!(schema::args(&schema), "{:state enum<string> :repo string :limit integer?}");
/// ```
pub fn args(schema: &Value) -> String {
    let words: Vec<String> = names(schema)
        .into_iter()
        .map(|(name, is_required)| {
            let property =
                schema.pointer("/properties").and_then(|all| all.get(name)).unwrap_or(&Value::Null);
            let (word, is_nullable) = word(property);
            let mark = if is_required && !is_nullable { "" } else { "?" };
            format!(":{name} {word}{mark}")
        })
        .collect();
    format!("{{{}}}", words.join(" "))
}

/// Returns the names of arguments, and whether each is required: required ones first, in the order of the
/// schema, then the others by name.
pub(crate) fn names(schema: &Value) -> Vec<(&str, bool)> {
    let mut seen = HashSet::new();
    let required = schema.get("required").and_then(Value::as_array).into_iter().flatten();
    let required = required.filter_map(Value::as_str).filter(|name| seen.insert(*name));
    let mut names: Vec<(&str, bool)> = required.map(|name| (name, true)).collect();
    let properties = schema.get("properties").and_then(Value::as_object);
    let others = properties.into_iter().flat_map(|all| all.keys().map(String::as_str));
    let mut others: Vec<&str> = others.filter(|name| !seen.contains(name)).collect();
    others.sort_unstable();
    names.extend(others.into_iter().map(|name| (name, false)));
    names
}

/// Returns a schema as one word, and whether it takes null. Constants and enums take precedence over types.
fn word(schema: &Value) -> (String, bool) {
    // Found by key: null, false, 0 and "" are constants too.
    if let Some(value) = schema.get("const") {
        return (format!("const<{value}>"), false);
    }
    if let Some(Value::Array(values)) = schema.get("enum") {
        let mut kinds: Vec<&str> = values.iter().map(kind).collect();
        kinds.dedup();
        let word = match kinds[..] {
            [one] if !matches!(one, "object" | "array") => format!("enum<{one}>"),
            _ => "enum".to_string(),
        };
        return (word, false);
    }
    match schema.get("type") {
        Some(Value::String(one)) => (one.clone(), false),
        Some(Value::Array(several)) => {
            let all: Vec<&str> = several.iter().filter_map(Value::as_str).collect();
            let some: Vec<&str> = all.iter().copied().filter(|kind| *kind != "null").collect();
            match some.is_empty() {
                true => ("null".to_string(), false),
                false => (some.join("|"), some.len() < all.len()),
            }
        }
        _ => ("any".to_string(), false),
    }
}

/// Returns the primitive type of a value.
fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(number) if number.is_f64() => "number",
        Value::Number(_) => "integer",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}

/// Formats the result of a tool: `Result<{:items [{:id integer}] :next string?}>`.
///
/// ```
/// use ptc_upstream::schema;
/// use serde_json::json;
/// let schema = json!({"type": "object", "required": ["items"], "properties": {
///     "items": {"type": "array", "items": {"type": "string"}}, "total": {"type": "integer"}}});
/// assert_eq!(schema::result(Some(&schema)), "Result<{:items [string] :total integer?}>");
/// assert_eq!(schema::result(None), "Result<unknown>");
/// ```
pub fn result(schema: Option<&Value>) -> String {
    let inside = schema.map_or("unknown".to_string(), |schema| nested(schema, DEPTH));
    format!("Result<{inside}>")
}

/// Formats a schema to a depth of one level, for lists of tools.
///
/// ```
/// use ptc_upstream::schema;
/// let schema = serde_json::json!({"properties": {"rows": {"type": "array", "items": {"type": "object"}}}});
/// assert_eq!(schema::brief(Some(&schema)), "{:rows array?}");
/// assert_eq!(schema::brief(None), "unknown");
/// ```
pub fn brief(schema: Option<&Value>) -> String {
    schema.map_or("unknown".to_string(), |schema| nested(schema, 1))
}

fn nested(schema: &Value, depth: usize) -> String {
    let (word, _) = word(schema);
    if depth == 0 {
        return word;
    }
    let properties = schema.get("properties").and_then(Value::as_object).filter(|all| !all.is_empty());
    match (&*word, properties, schema.get("items")) {
        ("object" | "any", Some(properties), _) => {
            let of = |(name, is_required): (&str, bool)| {
                let property = properties.get(name)?;
                let is_nullable = self::word(property).1;
                let mark = if is_required && !is_nullable { "" } else { "?" };
                Some(format!(":{name} {}{mark}", nested(property, depth - 1)))
            };
            format!("{{{}}}", names(schema).into_iter().filter_map(of).collect::<Vec<_>>().join(" "))
        }
        ("array", _, Some(items)) => format!("[{}]", nested(items, depth - 1)),
        _ => word,
    }
}

/// Builds the text of `doc` for a tool.
pub(crate) fn doc(server: &str, tool: &crate::CatalogTool) -> String {
    let names = names(&tool.input_schema);
    let required: Vec<&str> =
        names.iter().filter(|(_, is_required)| *is_required).map(|(name, _)| *name).collect();
    let shown = match (&required[..], names.first()) {
        ([], Some((first, _))) => vec![*first],
        (required, _) => required.to_vec(),
    };
    let example: Vec<String> = shown.iter().map(|name| format!("{} ...", key(name))).collect();
    let mut lines = vec![format!("{server}/{}", tool.name)];
    if !tool.description.is_empty() {
        lines.push(tool.description.clone());
    }
    lines.push(format!("Args: {}", args(&tool.input_schema)));
    lines.push(format!(
        "Required args: {}",
        if required.is_empty() { "none".to_string() } else { required.join(", ") }
    ));
    lines.push(format!(
        "(tool/call {{:server \"{server}\" :tool \"{}\" :args {{{}}}}})",
        tool.name,
        example.join(" ")
    ));
    let returns = match (&tool.output_schema, tool.shapes.seen()) {
        (None, Some((shape, times))) => {
            let answers = if times == 1 { "1 result".to_string() } else { format!("{times} results") };
            format!("Result<{shape}> (seen in {answers} so far, not promised)")
        }
        (schema, _) => result(schema.as_ref()),
    };
    lines.push(format!("Returns: {returns}"));
    lines.push("Check :ok before you use :value.".to_string());
    lines.join("\n")
}

/// Formats a name as a key that can be typed: a keyword if it can be read as one, else a string.
fn key(name: &str) -> String {
    let is_word = |b: u8| b.is_ascii_alphanumeric() || b"_-".contains(&b);
    match name.bytes().all(is_word) && name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_') {
        true => format!(":{name}"),
        false => Value::from(name).to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn constants_and_enums_come_before_types() {
        let cases = [
            (json!({"const": "fixed", "type": "string"}), "const<\"fixed\">"),
            (json!({"const": 42}), "const<42>"),
            (json!({"const": true}), "const<true>"),
            (json!({"const": false}), "const<false>"),
            (json!({"const": null}), "const<null>"),
            (json!({"const": 0}), "const<0>"),
            (json!({"const": ""}), "const<\"\">"),
            (json!({"type": "string", "enum": ["open", "closed"]}), "enum<string>"),
            (json!({"enum": [1, 2]}), "enum<integer>"),
            (json!({"enum": [1, "a"]}), "enum"),
            (json!({"enum": []}), "enum"),
            (json!({"type": "object", "properties": {"a": {}}}), "object"),
            (json!({"type": "array", "items": {"type": "string"}}), "array"),
            (json!({"type": "null"}), "null"),
            (json!({"type": "boolean"}), "boolean"),
            (json!({"type": "number"}), "number"),
            (json!({"type": ["string", "integer"]}), "string|integer"),
            (json!({}), "any"),
        ];
        for (schema, wanted) in cases {
            let schema = json!({"properties": {"a": schema}, "required": ["a"]});
            assert_eq!(args(&schema), format!("{{:a {wanted}}}"));
        }
        let nullable = json!({"properties": {"a": {"type": ["string", "null"]}}, "required": ["a"]});
        assert_eq!(args(&nullable), "{:a string?}");
        assert_eq!(args(&json!({})), "{}");
    }

    #[test]
    fn required_arguments_keep_their_order_and_others_are_sorted() {
        let schema = json!({"properties": {"b": {}, "a": {}, "z": {}, "my-key": {}}, "required": ["z", "b"]});
        assert_eq!(args(&schema), "{:z any :b any :a any? :my-key any?}");
    }
}
