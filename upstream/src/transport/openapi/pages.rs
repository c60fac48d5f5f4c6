//! Hints about pages: which arguments of an operation choose a page of its results.

use serde_json::{Map, Value, json};

const CURSORS: &[&str] = &[
    "cursor",
    "page_token",
    "pageToken",
    "next_token",
    "nextToken",
    "starting_after",
    "after",
    "start_cursor",
    "continuation_token",
    "continuationToken",
    "continuation",
    "marker",
    "next_cursor",
    "nextCursor",
    "page[cursor]",
];
const OFFSETS: &[&str] = &["offset", "skip", "start", "start_index", "startIndex", "page[offset]"];
const NUMBERS: &[&str] = &["page", "page_number", "pageNumber", "page_index", "pageIndex", "page[number]"];
const SIZES: &[&str] = &[
    "per_page",
    "perPage",
    "page_size",
    "pageSize",
    "limit",
    "max_results",
    "maxResults",
    "count",
    "first",
    "size",
    "top",
    "$top",
    "page[size]",
];

/// Returns which of these arguments choose a page: `{"number": "page", "size": "per_page"}`; None if none does.
pub(super) fn hint<'a>(args: impl Iterator<Item = &'a str> + Clone) -> Option<Value> {
    let find = |names: &[&str]| {
        names.iter().find(|name| args.clone().any(|arg| arg == **name)).map(ToString::to_string)
    };
    let mut hint = Map::new();
    for (key, names) in [("cursor", CURSORS), ("number", NUMBERS), ("offset", OFFSETS)] {
        if let Some(name) = find(names) {
            hint.insert(key.to_string(), name.into());
            break;
        }
    }
    if hint.is_empty() {
        return None;
    }
    hint.extend(find(SIZES).map(|name| ("size".to_string(), json!(name))));
    Some(Value::Object(hint))
}
