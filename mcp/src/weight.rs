//! Memory of parsed JSON: objects are trees whose smallest node has room for eleven entries, so `{"":0}` takes
//! a hundred times its length.

use serde_json::{Map, Value};

const NODE: usize = 640;
const NODE_ENTRIES: usize = 11;
/// Memory of a further entry: its share of a node that may be only half full.
const ENTRY: usize = 128;
const ARRAY: usize = 128;
/// Memory of an item: twice the size of a value, because arrays double as they grow.
const ITEM: usize = 64;
const STRING: usize = 32;

/// Nesting depth beyond which the parser refuses.
const DEPTH: usize = 128;

/// Returns an upper bound for the memory of a text after parsing, in bytes.
pub(crate) fn of_text(text: &[u8]) -> usize {
    let mut bytes = 0usize;
    let (mut is_string, mut is_escaped) = (false, false);
    // Open brackets: the number of entries so far for objects; None for arrays.
    let mut open: Vec<Option<usize>> = Vec::with_capacity(DEPTH);
    for byte in text {
        if is_string {
            bytes += 1;
            match byte {
                _ if is_escaped => is_escaped = false,
                b'\\' => is_escaped = true,
                b'"' => is_string = false,
                _ => {}
            }
            continue;
        }
        if open.len() > DEPTH {
            return bytes;
        }
        bytes = bytes.saturating_add(match (byte, open.last_mut()) {
            (b'"', _) => {
                is_string = true;
                STRING
            }
            (b'{', _) => {
                open.push(Some(0));
                NODE
            }
            (b'[', _) => {
                open.push(None);
                ARRAY
            }
            (b'}' | b']', _) => {
                open.pop();
                0
            }
            (b':', Some(Some(entries))) => {
                *entries += 1;
                if *entries > NODE_ENTRIES { ENTRY } else { 0 }
            }
            (b',', Some(None)) => ITEM,
            _ => 0,
        });
    }
    bytes
}

/// Returns the memory of parsed values, in bytes.
pub(crate) fn of_entries(entries: &Map<String, Value>) -> usize {
    let nodes = if entries.is_empty() { 0 } else { NODE };
    let more = entries.len().saturating_sub(NODE_ENTRIES).saturating_mul(ENTRY);
    entries.iter().fold(nodes.saturating_add(more), |sum, (key, value)| {
        sum.saturating_add(STRING + key.len()).saturating_add(of_value(value))
    })
}

/// Returns the memory of one value; recurses as deep as the parser does.
fn of_value(value: &Value) -> usize {
    match value {
        Value::Null | Value::Bool(_) | Value::Number(_) => 0,
        Value::String(text) => STRING.saturating_add(text.len()),
        Value::Array(items) => {
            items.iter().fold(ARRAY, |sum, item| sum.saturating_add(ITEM + of_value(item)))
        }
        Value::Object(entries) => of_entries(entries),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_weighs_what_it_becomes() {
        assert_eq!(of_text(b"1"), 0);
        let small = of_text(br#"[{"":0},{"":0}]"#);
        assert!(small > 2 * 640, "{small}");
        let wide = format!("{{{}}}", vec![r#""k":0"#; 1000].join(","));
        assert!(of_text(wide.as_bytes()) > 1000 * 128, "entries beyond the first node");
        // Brackets within strings are just characters.
        let text = format!(r#""{}\"[[[""#, "{[,:".repeat(1000));
        assert!(of_text(text.as_bytes()) < text.len() + 100);
    }

    #[test]
    fn values_weigh_about_what_their_text_does() {
        for text in [r#"{"a":[{"":0},{"":0},[1,2,"three"]]}"#, r#"{"a":{"b":{"c":"d"}}}"#] {
            let entries: Map<String, Value> = serde_json::from_str(text).unwrap();
            let (value, text) = (of_entries(&entries), of_text(text.as_bytes()));
            assert!(value * 2 > text && text * 2 > value, "{value} against {text}");
        }
    }
}
