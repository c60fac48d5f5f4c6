//! Records of one program's tool calls.

use crate::cut;
use ptc_bytecode::{Node, ToolName, hex};
use ptc_contract::data::{Tree, to_json};
use ptc_contract::firewall::redact;
use ptc_runtime::{SeenCall, ToolAnswer, Tools};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Maximum length of a call's text that a session keeps, in bytes.
const MAX_TEXT: usize = 1024;
/// Maximum number of one program's calls that are recorded.
const MAX_CALLS: usize = 1000;

/// Recorded calls of one program.
#[derive(Clone, Default)]
pub(super) struct Calls(Arc<Mutex<CallLists>>);

#[derive(Default)]
struct CallLists {
    /// Calls of tools other than servers, as sessions keep them. Server calls have a separate record.
    kept: Vec<Value>,
    /// All calls, without arguments and results.
    all: Vec<Value>,
}

impl Calls {
    fn seen(&self) -> MutexGuard<'_, CallLists> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Wraps tools to record their calls.
    pub fn watch(&self, tools: Tools) -> Tools {
        let (calls, redacts) = (self.clone(), tools.clone());
        tools.observed(move |call| {
            let args = to_json(&redact(&call.call.args)).unwrap_or(Value::Null);
            let brief = brief(call, &args);
            let kept = (call.call.name != ToolName::CALL).then(|| kept(call, args, &redacts));
            let mut seen = calls.seen();
            if seen.all.len() < MAX_CALLS {
                seen.all.push(brief);
                seen.kept.extend(kept);
            }
        })
    }

    /// Takes the calls for the session to keep, scrubbed.
    pub fn kept(&self, scrub: impl Fn(&str) -> String) -> Vec<Value> {
        let mut calls = std::mem::take(&mut self.seen().kept);
        for call in &mut calls {
            for part in ["args", "error"] {
                if let Some(text) = call[part].as_str() {
                    // Scrubbed first: a secret cut in two would not be found.
                    call[part] = json!(cut::bytes(&scrub(text), MAX_TEXT).0);
                }
            }
        }
        calls
    }

    /// Returns all calls: `{server, tool, args_hash, duration_ms, outcome}`.
    pub fn all(&self) -> Vec<Value> {
        self.seen().all.clone()
    }
}

fn kept(seen: &SeenCall<'_>, args: Value, tools: &Tools) -> Value {
    let name = &seen.call.name;
    let mut call = json!({
        "tool": name,
        "status": if seen.answer.is_ok() { "ok" } else { "error" },
        "duration_ms": seen.took.as_millis() as u64,
        "args": tools.recorded(name, args).to_string(),
    });
    if let Err(error) = &seen.answer {
        call["error"] = json!(error);
    }
    call
}

fn brief(seen: &SeenCall<'_>, args: &Value) -> Value {
    let (server, tool, args) = match seen.call.name == ToolName::CALL {
        true => (args["server"].as_str(), args["tool"].as_str().unwrap_or("?"), &args["args"]),
        false => (None, &*seen.call.name, args),
    };
    json!({
        "server": server,
        "tool": tool,
        "args_hash": hex(&Sha256::digest(args.to_string().as_bytes()).into()),
        "duration_ms": seen.took.as_millis() as u64,
        "outcome": if went_well(seen) { "ok" } else { "error" },
    })
}

/// Returns whether a call succeeded. Failures of servers are values that say so.
fn went_well(seen: &SeenCall<'_>) -> bool {
    let told = |datum: &ptc_bytecode::Datum| {
        let tree = Tree::new(datum);
        let ok = tree.root().get("ok").map(|ok| ok.node().clone());
        ok != Some(Node::Bool(false))
    };
    match (&seen.answer, seen.call.name == ToolName::CALL) {
        (Err(_), _) => false,
        (Ok(_), false) => true,
        (Ok(ToolAnswer::Datum(datum)), true) => told(datum),
        // A result too large to read here is not a fault.
        (Ok(ToolAnswer::Frozen(frozen)), true) => {
            frozen.to_datum(16 << 10).map_or(true, |datum| told(&datum))
        }
    }
}
