//! Previews of large results for models: the outline or the first rows, while programs have the whole.
//!
//! ```
//! use ptc_agent::native_preview::build;
//! use ptc_agent::tools::NativePreview;
//! use ptc_runtime::bridge::{freeze, json_to_datum};
//! let rows = freeze(&serde_json::json!([{"id": 1, "text": "a"}, {"id": 2, "text": "b"}]))?;
//! let args = json_to_datum(&serde_json::json!({"query": "error 42"}))?;
//! let preview = build("search", &args, &rows, &NativePreview::Metadata).json;
//! assert_eq!(preview["result_count"], 2);
//! assert_eq!(preview["schema"]["items"]["properties"]["id"], "integer");
//! assert_eq!(preview["cache_hint"],
//!     r#"Call lisp_eval and then call (tool/search {:query "error 42"}) to process the full cached result."#);
//! # Ok::<(), ptc_runtime::BridgeError>(())
//! ```

use crate::mission::json_of;
use crate::tools::NativePreview;
use ptc_bytecode::Datum;
use ptc_contract::data::{Shown, Tree, show};
use ptc_contract::firewall::redact;
use ptc_runtime::{Frozen, Outline};
use serde_json::{Map, Value, json};
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Maximum rows that are checked for equal keys.
const SAMPLED: usize = 5;

/// Maximum properties of a schema.
const PROPERTIES: usize = 20;

/// Maximum bytes of a row that is shown; larger ones are only described.
const ROW_BYTES: usize = 64 << 10;

/// Maximum bytes of a result that a function of the host gets.
const CUSTOM_BYTES: usize = 1 << 30;

/// Preview of a result for a model.
#[derive(Clone, PartialEq, Debug)]
pub struct Preview {
    /// Preview as JSON.
    pub json: Map<String, Value>,
    /// Reason why it is not the preview that the tool is configured for.
    pub warning: Option<String>,
    /// Flag: the result has more than the preview shows.
    pub is_cut: bool,
}

/// Returns the preview of a result of this tool, called with these arguments.
pub fn build(tool: &str, args: &Datum, result: &Frozen, kind: &NativePreview) -> Preview {
    let (json, is_cut) = match kind {
        NativePreview::Metadata => (metadata(result), true),
        NativePreview::Rows { limit } => rows(result, *limit),
        NativePreview::Custom(custom) => {
            let made = result.to_datum(CUSTOM_BYTES).map_err(|_| "raised");
            let made =
                made.and_then(|full| catch_unwind(AssertUnwindSafe(|| custom(&full))).map_err(|_| "raised"));
            let category = match made {
                Ok(Ok(Value::Object(map))) => return finished(tool, args, map, None, true),
                Ok(Ok(_)) => "returned something other than a map (non_map)",
                Ok(Err(_)) => "returned a value that JSON cannot represent (non_encodable)",
                Err(_) => "failed (raised)",
            };
            let warning = format!(
                "the preview function of the tool `{tool}` {category}, so the model sees only an outline"
            );
            return finished(tool, args, metadata(result), Some(warning), true);
        }
    };
    finished(tool, args, json, None, is_cut)
}

/// Adds the fields that every preview has, and that no function of the host can change.
fn finished(
    tool: &str,
    args: &Datum,
    mut json: Map<String, Value>,
    warning: Option<String>,
    is_cut: bool,
) -> Preview {
    json.insert("status".to_string(), json!("ok"));
    json.insert("full_result_cached".to_string(), json!(true));
    json.insert("cache_hint".to_string(), json!(hint(tool, args)));
    Preview { json, warning, is_cut }
}

/// Returns the instruction for reading the whole result in a program.
fn hint(tool: &str, args: &Datum) -> String {
    let call = call_text(tool, args);
    format!("Call lisp_eval and then call {call} to process the full cached result.")
}

/// Returns a call as a program writes it, with arguments sorted by name.
pub(crate) fn call_text(tool: &str, args: &Datum) -> String {
    let tree = Tree::new(args);
    let mut entries: Vec<(String, String)> = tree
        .root()
        .entries()
        .into_iter()
        .filter_map(|(key, value)| Some((key.name()?.to_string(), show(value, Shown::default()))))
        .collect();
    entries.sort();
    let args: Vec<String> = entries.iter().map(|(key, value)| format!(":{key} {value}")).collect();
    format!("(tool/{tool} {{{}}})", args.join(" "))
}

fn metadata(result: &Frozen) -> Map<String, Value> {
    let outline = result.outline(SAMPLED, PROPERTIES + 1);
    let mut json = Map::new();
    match outline.kind {
        "array" => {
            json.insert("result_count".to_string(), json!(outline.len));
            let (items, keys) = items_schema(&outline);
            json.insert("schema".to_string(), json!({"type": "array", "items": items}));
            if let Some(keys) = keys {
                json.insert("sample_keys".to_string(), json!(keys));
            }
        }
        "object" => {
            json.insert("schema".to_string(), object_schema(&outline));
            json.insert("sample_keys".to_string(), json!(sorted_names(&outline)));
        }
        kind => {
            json.insert("schema".to_string(), json!({"type": kind}));
        }
    }
    json
}

/// Returns the schema of a list's items, and the keys that they share.
fn items_schema(outline: &Outline) -> (Value, Option<Vec<String>>) {
    let Some(first) = outline.items.first() else { return (json!({}), None) };
    let all = |kind: &str| outline.items.iter().all(|item| item.kind == kind);
    if all("object") {
        let keys = sorted_names(first);
        let is_same = outline.items.iter().all(|item| item.len == first.len && sorted_names(item) == keys);
        return match is_same {
            true => (object_schema(first), Some(keys)),
            false => (json!({"type": "object"}), None),
        };
    }
    if all(first.kind) {
        return (json!({"type": first.kind}), None);
    }
    // Integers mixed with floats are numbers.
    let is_number = |item: &Outline| matches!(item.kind, "integer" | "number");
    let kind = if outline.items.iter().all(is_number) { "number" } else { "any" };
    (json!({"type": kind}), None)
}

fn sorted_names(outline: &Outline) -> Vec<String> {
    let mut names: Vec<String> = outline.fields.iter().map(|(name, _)| name.clone()).collect();
    names.sort();
    names
}

fn object_schema(outline: &Outline) -> Value {
    if outline.fields.is_empty() {
        return json!({"type": "object"});
    }
    let mut fields = outline.fields.clone();
    fields.sort();
    let properties: Map<String, Value> =
        fields.iter().take(PROPERTIES).map(|(name, kind)| (name.clone(), json!(kind))).collect();
    match outline.len > PROPERTIES {
        true => json!({"type": "object", "properties": properties, "truncated": true}),
        false => json!({"type": "object", "properties": properties}),
    }
}

fn rows(result: &Frozen, limit: usize) -> (Map<String, Value>, bool) {
    let mut json = metadata(result);
    let Some(first) = result.first_items(limit, ROW_BYTES) else { return (json, true) };
    let is_whole = result.outline(0, 0).len <= first.len() && first.iter().all(Option::is_some);
    let row = |row: &Option<Datum>| match row {
        Some(datum) => json_of(&redact(datum)),
        None => json!("#<larger than 64 KiB>"),
    };
    let rows: Vec<Value> = first.iter().map(row).collect();
    json.insert("rows".to_string(), Value::Array(rows));
    (json, !is_whole)
}
