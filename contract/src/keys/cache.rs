//! Canonical forms of tool calls: two calls are equal if their canonical forms are.

use super::normalize_key;
use ptc_bytecode::text::{write_day, write_instant};
use ptc_bytecode::{Datum, Node, hex};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

/// Maximum depth of canonical text, which grows with the square of the depth. Deeper arguments are hashed by node.
const MAX_DEPTH: u32 = 128;

/// Canonical form of a tool call, equal for calls that mean the same.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Debug, Serialize, Deserialize)]
pub struct CacheKey(String);

impl CacheKey {
    /// Returns the canonical text: a JSON list of the tool's name and its arguments.
    pub fn text(&self) -> &str {
        &self.0
    }

    /// Returns the first 16 hex digits of the SHA-256 of the text, for traces.
    pub fn hash(&self) -> String {
        hex(&Sha256::digest(self.0.as_bytes()).into())[..16].to_string()
    }
}

/// Hashes arguments into 16 hex digits, for logs that must not show them.
pub fn args_hash(args: &serde_json::Value) -> String {
    hex(&Sha256::digest(args.to_string().as_bytes()).into())[..16].to_string()
}

/// Returns the canonical form of a call: keys spelled as hosts do and sorted, whole floats as integers, keywords and
/// dates as text. Lists keep their order.
///
/// ```
/// use ptc_contract::keys::canonical_cache_key;
/// use ptc_runtime::bridge::json_to_datum;
/// use serde_json::json;
/// let a = canonical_cache_key("search", &json_to_datum(&json!({"max-rows": 1.0, "q": "x"}))?);
/// let b = canonical_cache_key("search", &json_to_datum(&json!({"q": "x", "max_rows": 1}))?);
/// assert_eq!(a, b);
/// assert_eq!(a.text(), r#"["search",{"max_rows":1,"q":"x"}]"#);
/// # Ok::<(), ptc_runtime::BridgeError>(())
/// ```
pub fn canonical_cache_key(tool: &str, args: &Datum) -> CacheKey {
    let text = canonical(args).unwrap_or_else(|| {
        let mut hash = Sha256::new();
        args.nodes().iter().for_each(|node| hash.update(format!("{node:?}\n")));
        format!("{{\"#deep\":\"{}\"}}", hex(&hash.finalize().into()))
    });
    // Tools take maps; any other argument is marked, so that it never equals a map's text.
    let marked = if matches!(args.nodes().last(), Some(Node::Map(_))) { "" } else { ",\"#args\"" };
    CacheKey(format!("[{}{marked},{text}]", quoted(tool)))
}

/// Writes canonical text. Children come before their collection, so one pass with a stack of finished texts suffices.
fn canonical(args: &Datum) -> Option<String> {
    let mut done: Vec<(String, u32)> = Vec::new();
    for node in args.nodes() {
        let (text, depth) = match node {
            Node::Vector(n) => {
                let (items, depth) = take(&mut done, *n as usize);
                (format!("[{}]", items.join(",")), depth + 1)
            }
            Node::Set(n) => {
                let (mut items, depth) = take(&mut done, *n as usize);
                items.sort();
                (format!("{{\"#set\":[{}]}}", items.join(",")), depth + 1)
            }
            Node::Map(n) => {
                let (parts, depth) = take(&mut done, *n as usize * 2);
                let mut entries: Vec<(String, &String)> =
                    parts.chunks_exact(2).map(|pair| (key(&pair[0]), &pair[1])).collect();
                // Of equal keys the last entry counts, as it does for the tool.
                entries.reverse();
                entries.sort_by(|a, b| a.0.cmp(&b.0));
                entries.dedup_by(|later, first| later.0 == first.0);
                let entries: Vec<String> = entries.iter().map(|(k, v)| format!("{k}:{v}")).collect();
                (format!("{{{}}}", entries.join(",")), depth + 1)
            }
            leaf => (scalar(leaf), 0),
        };
        if depth > MAX_DEPTH {
            return None;
        }
        done.push((text, depth));
    }
    done.pop().map(|(text, _)| text)
}

fn take(done: &mut Vec<(String, u32)>, count: usize) -> (Vec<String>, u32) {
    let parts = done.split_off(done.len() - count);
    let depth = parts.iter().map(|(_, depth)| *depth).max().unwrap_or(0);
    (parts.into_iter().map(|(text, _)| text).collect(), depth)
}

/// Turns the text of a key into a canonical key: strings are respelled, everything else becomes a string.
fn key(text: &str) -> String {
    if text.starts_with('"') { normalize_key(text).into_owned() } else { quoted(text) }
}

fn scalar(node: &Node) -> String {
    match node {
        Node::Nil => "null".to_string(),
        Node::Bool(value) => value.to_string(),
        Node::Int(n) => n.to_string(),
        Node::Big(digits) => digits.to_string(),
        Node::Float(x) if x.is_nan() => "NaN".to_string(),
        Node::Float(x) if x.is_infinite() => if *x > 0.0 { "Infinity" } else { "-Infinity" }.to_string(),
        // Adding zero turns -0.0 into 0.0.
        Node::Float(x) if x.fract() == 0.0 => format!("{:.0}", x + 0.0),
        Node::Float(x) => format!("{x:?}"),
        Node::Str(text) | Node::Keyword(text) => quoted(text),
        Node::Day(day) => {
            let mut text = String::new();
            write_day(i64::from(*day), &mut text);
            quoted(&text)
        }
        Node::Instant(micros) => {
            let mut text = String::new();
            write_instant(*micros, &mut text);
            quoted(&text)
        }
        Node::Symbol(name) => format!("{{\"#symbol\":{}}}", quoted(name)),
        Node::Regex(source) => format!("{{\"#regex\":{}}}", quoted(source)),
        Node::Duration(ms) => format!("{{\"#ms\":{ms}}}"),
        Node::Opaque(text) => format!("{{\"#opaque\":{}}}", quoted(text)),
        Node::Vector(_) | Node::Map(_) | Node::Set(_) => String::new(),
    }
}

fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;
    use ptc_runtime::bridge::json_to_datum;
    use serde_json::json;

    fn of(json: serde_json::Value) -> CacheKey {
        canonical_cache_key("t", &json_to_datum(&json).unwrap())
    }

    #[test]
    fn what_means_the_same_is_the_same() {
        assert_eq!(of(json!({"a": 1.0, "b": -0.0})), of(json!({"b": 0, "a": 1})));
        assert_eq!(of(json!({"user-id": [1, {"x-y": 2}]})), of(json!({"user_id": [1.0, {"x_y": 2}]})));
        let keyword =
            Datum::new(vec![Node::Keyword("k-a".into()), Node::Keyword("v-a".into()), Node::Map(1)]);
        assert_eq!(canonical_cache_key("t", &keyword.unwrap()), of(json!({"k_a": "v-a"})));
        let instant = Datum::new(vec![Node::Str("at".into()), Node::Instant(0), Node::Map(1)]).unwrap();
        assert_eq!(canonical_cache_key("t", &instant), of(json!({"at": "1970-01-01T00:00:00Z"})));
    }

    #[test]
    fn what_differs_differs() {
        assert_ne!(of(json!({"a": [1, 2]})), of(json!({"a": [2, 1]})));
        assert_ne!(of(json!({"a": 1.5})), of(json!({"a": 1})));
        assert_ne!(of(json!({"a": "1"})), of(json!({"a": 1})));
        assert_ne!(of(json!({})), of(json!([])));
        assert_ne!(of(json!([1])).text(), "[\"t\",[1]]", "arguments that are no map are marked");
        let nan = Datum::new(vec![Node::Str("a".into()), Node::Float(f64::NAN), Node::Map(1)]).unwrap();
        assert_eq!(canonical_cache_key("t", &nan).text(), r#"["t",{"a":NaN}]"#);
    }

    #[test]
    fn deep_arguments_are_no_danger() {
        let deep = |last: i64| {
            let mut nodes = vec![Node::Int(last)];
            nodes.extend((0..300_000).map(|_| Node::Vector(1)));
            canonical_cache_key("t", &Datum::new(nodes).unwrap())
        };
        assert_eq!(deep(1), deep(1));
        assert_ne!(deep(1), deep(2));
        assert_eq!(deep(1).hash().len(), 16);
    }
}
