//! Short notation for JSON Schemas, as `doc` shows them.

mod details;
mod level;
#[cfg(feature = "http")]
pub(crate) mod merge;

use level::Level;
use serde_json::Value;
use std::cell::Cell;

/// Nesting depth to which results are spelled out.
const DEPTH: usize = 6;

/// Maximum number of schemas that one notation spells out.
const SCHEMAS: usize = 2_000;

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
    Printer::new(schema).fields(schema, 0)
}

/// Returns the names of arguments, and whether each is required: required ones first, in the order of the
/// schema, then the others by name.
pub(crate) fn names(schema: &Value) -> Vec<(&str, bool)> {
    Level::of(schema, schema).names()
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
    let inside = schema.map_or("unknown".to_string(), |schema| Printer::new(schema).nested(schema, DEPTH));
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
    schema.map_or("unknown".to_string(), |schema| Printer::new(schema).nested(schema, 1))
}

/// Writes schemas in the short notation, within one document that references are relative to.
struct Printer<'s> {
    root: &'s Value,
    /// Number of schemas that are still spelled out: a few that refer to each other may describe any number.
    left: Cell<usize>,
}

impl<'s> Printer<'s> {
    fn new(root: &'s Value) -> Printer<'s> {
        Printer { root, left: Cell::new(SCHEMAS) }
    }

    fn nested(&self, schema: &'s Value, depth: usize) -> String {
        self.word(schema, depth).0
    }

    /// Returns a schema in short notation, spelled out to a depth, and whether it takes null.
    fn word(&self, schema: &'s Value, depth: usize) -> (String, bool) {
        let Some(left) = self.left.get().checked_sub(1) else { return ("any".to_string(), false) };
        self.left.set(left);
        let level = Level::of(self.root, schema);
        let (word, is_nullable) = level.word();
        if depth == 0 {
            return (word, is_nullable);
        }
        let word = match (&*word, level.get("items")) {
            ("object" | "any", _) if level.has_properties() => self.fields(schema, depth - 1),
            ("array", Some(items)) => format!("[{}]", self.nested(items, depth - 1)),
            _ => word,
        };
        (word, is_nullable)
    }

    fn fields(&self, schema: &'s Value, depth: usize) -> String {
        let level = Level::of(self.root, schema);
        let of = |(name, is_required): (&str, bool)| {
            let property = level.property(name).unwrap_or(&Value::Null);
            let (word, is_nullable) = self.word(property, depth);
            let mark = if is_required && !is_nullable { "" } else { "?" };
            format!(":{name} {word}{mark}")
        };
        let words: Vec<String> = level.names().into_iter().map(of).collect();
        format!("{{{}}}", words.join(" "))
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
    lines.extend(details::lines(&tool.input_schema));
    lines.push(format!(
        "(tool/call {{:server \"{server}\" :tool \"{}\" :args {{{}}}}})",
        tool.name,
        example.join(" ")
    ));
    let returns = match (tool.declares_output(), tool.shapes.seen()) {
        (false, Some((shape, times))) => {
            let answers = if times == 1 { "1 result".to_string() } else { format!("{times} results") };
            format!("Result<{shape}> (seen in {answers} so far, not promised)")
        }
        _ => result(tool.output_schema().as_ref()),
    };
    lines.push(format!("Returns: {returns}"));
    lines.extend(tool.provenance.as_ref().and_then(|facts| facts.get("pages")).map(pages));
    lines.push("Check :ok before you use :value.".to_string());
    lines.join("\n")
}

/// Tells which arguments choose a page.
fn pages(hint: &Value) -> String {
    let named = |part: &str| hint.get(part).and_then(Value::as_str).map(key);
    let how = match (named("cursor"), named("number"), named("offset")) {
        (Some(cursor), ..) => format!("{cursor} takes the cursor or last id of the page before"),
        (_, Some(number), _) => format!("{number} counts the pages"),
        (_, _, Some(offset)) => format!("{offset} is the number of items before"),
        _ => String::new(),
    };
    let size = named("size").map(|size| format!(", {size} is the size of a page")).unwrap_or_default();
    format!("Pages: {how}{size}.")
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
