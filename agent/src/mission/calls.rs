//! Records of tool calls.

use super::excerpt::described;
use super::step::{CallRecord, json_of};
use ptc_bytecode::{Datum, Node};
use ptc_contract::data::{Shown, Tree, show};
use ptc_contract::firewall::{is_firewalled, without_media};
use ptc_contract::keys::{CacheKey, args_hash};
use ptc_runtime::bridge::{datum_to_json, json_to_datum};
use ptc_runtime::{Refusal, ToolAnswer};
use serde_json::{Value, json};
use std::time::{SystemTime, UNIX_EPOCH};

/// Maximum bytes of arguments and answers in a record.
pub(crate) const RECORD_BYTES: usize = 16 << 10;

impl CallRecord {
    /// Returns the summary for the record of a turn, without arguments and answer.
    pub(crate) fn summary(&self) -> Value {
        let operation = self.operation.as_deref().and_then(|operation| operation.split_once('/'));
        json!({
            "server": operation.map(|(server, _)| server),
            "tool": operation.map_or(self.name.as_str(), |(_, tool)| tool), "duration_ms": self.duration_ms,
            "args_hash": self.public_args_hash.clone().unwrap_or_else(|| args_hash(&self.args)),
            "outcome": if self.error.is_some() { "error" } else { "ok" },
        })
    }
}

/// Shortens an answer for a record; the flag says that it was cut.
pub(crate) fn brief_answer(answer: &ToolAnswer) -> (Value, bool) {
    match answer {
        ToolAnswer::Datum(datum) => brief(datum),
        ToolAnswer::Frozen(frozen) => match frozen.to_datum(RECORD_BYTES) {
            Ok(datum) => (json_of(&without_media(&datum)), false),
            Err(_) => (json!(format!("#<{}>", described(frozen))), true),
        },
    }
}

/// Returns milliseconds since 1970.
pub(crate) fn millis(at: SystemTime) -> u64 {
    at.duration_since(UNIX_EPOCH).map_or(0, |since| since.as_millis() as u64)
}

/// Shortens data for a record to the beginning of its printed form, unless it is small. Media become placeholders.
pub(crate) fn brief(datum: &Datum) -> (Value, bool) {
    let datum = without_media(datum);
    if weight(&datum) <= RECORD_BYTES {
        return (json_of(&datum), false);
    }
    let shown = Shown { chars: RECORD_BYTES / 4, items: 50, string: 1000, depth: 8 };
    (Value::String(show(Tree::new(&datum).root(), shown)), true)
}

/// Estimates the bytes of data; counting stops soon after the limit of a record.
pub(crate) fn weight(datum: &Datum) -> usize {
    let bytes = |node: &Node| match node {
        Node::Str(text) | Node::Keyword(text) | Node::Symbol(text) | Node::Regex(text) | Node::Big(text) => {
            8 + text.len()
        }
        _ => 8,
    };
    let nodes = datum.nodes();
    nodes.iter().take(RECORD_BYTES / 8 + 1).map(bytes).fold(0, usize::saturating_add)
}

/// Maximum bytes kept of a result; a line of a trace has no room for more.
const MAX_ANSWER: usize = 900 << 10;

/// Records a call to code of the host in a trace, so that a replay can answer it again.
pub(super) fn recorded_answer(key: &CacheKey, answer: Result<&ToolAnswer, &Refusal>) -> Value {
    let key = key.hash();
    let datum = match answer {
        Ok(ToolAnswer::Datum(datum)) => Ok(datum.clone()),
        Ok(ToolAnswer::Frozen(frozen)) => frozen.to_datum(MAX_ANSWER).map_err(|_| "too large"),
        Err(Refusal::Error(error)) => return json!({"key": key, "error": error.to_string()}),
        Err(Refusal::Fault(_)) => return json!({"key": key, "lost": "it was cancelled"}),
    };
    let datum = match datum {
        Ok(datum) => datum,
        Err(why) => return json!({"key": key, "lost": why}),
    };
    if without_media(&datum) != datum {
        return json!({"key": key, "lost": "it has images or documents, which traces do not contain"});
    }
    let plain = datum_to_json(&datum).ok().filter(|json| json_to_datum(json).is_ok_and(|back| back == datum));
    match plain {
        Some(json) => json!({"key": key, "answer": json}),
        // In node form, it is not visible which value belongs to a firewalled key.
        None if datum.nodes().iter().any(may_hide) => json!({"key": key, "lost": "it has firewalled fields"}),
        None => match serde_json::to_value(&datum) {
            Ok(nodes) => json!({"key": key, "nodes": nodes}),
            Err(_) => json!({"key": key, "lost": "it cannot be written"}),
        },
    }
}

fn may_hide(node: &Node) -> bool {
    matches!(node, Node::Str(name) | Node::Keyword(name) if is_firewalled(name))
}
