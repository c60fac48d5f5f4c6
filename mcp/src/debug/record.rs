//! Records of calls: as passed to the recorder, and as stored.

use crate::cut;
use crate::moment::iso;
use crate::reason::Reason;
use crate::reply::Payload;
use crate::sessions::Owner;
use crate::settings::TracePayloads;
use ptc_bytecode::hex;
use ptc_upstream::redact::Redactor;
use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};
use std::time::{Duration, SystemTime};

/// Maximum length of an id that is stored in full, in bytes.
const MAX_ID: usize = 256;
/// Maximum size of one record, in bytes.
const MAX_RECORD_BYTES: usize = 256 << 10;
/// Maximum length of a program in a summary, in characters.
const SUMMARY_CHARS: usize = 256;
/// Maximum length of a message, in characters.
const MESSAGE_CHARS: usize = 1_000;
/// Maximum length of the first printed line, in characters.
const PRINT_CHARS: usize = 80;
/// Maximum number of keys or calls that are listed.
const MAX_LISTED: usize = 200;

/// A finished call.
#[derive(Clone, Debug)]
pub struct Record {
    /// Owner of the call.
    pub owner: Owner,
    /// Id of the request, as text.
    pub request_id: String,
    /// Time of the reply.
    pub at: SystemTime,
    /// Name of the tool.
    pub tool: String,
    /// Arguments of the call.
    pub args: Map<String, Value>,
    /// Full outcome, more than the client was shown.
    pub payload: Payload,
    /// Duration of the call.
    pub duration: Duration,
    /// Revision of the protocol.
    pub protocol_version: Option<String>,
}

impl Record {
    /// Creates a record of a call that ended now and took no time.
    pub fn new(
        owner: &Owner,
        id: &Value,
        tool: &str,
        args: &Map<String, Value>,
        payload: &Payload,
    ) -> Record {
        let request_id = match id {
            Value::String(id) => id.clone(),
            other => other.to_string(),
        };
        Record {
            owner: owner.clone(),
            request_id,
            at: SystemTime::now(),
            tool: tool.to_string(),
            args: args.clone(),
            payload: payload.clone(),
            duration: Duration::ZERO,
            protocol_version: None,
        }
    }
}

/// A call as stored.
pub(crate) struct StoredCall {
    pub owner: Owner,
    pub id: String,
    pub at: SystemTime,
    pub tool: String,
    pub reason: Option<Reason>,
    pub duration_ms: u64,
    /// Servers called, each with the reason if the call failed.
    pub upstream: Vec<(String, Option<String>)>,
    pub metrics: Option<Value>,
    /// Fields that `recent` shows.
    pub row: Map<String, Value>,
    /// Further fields, which only `get` shows.
    more: Map<String, Value>,
    pub bytes: usize,
}

pub(super) fn policy_name(policy: TracePayloads) -> &'static str {
    match policy {
        TracePayloads::None => "none",
        TracePayloads::Summary => "summary",
        TracePayloads::Full => "full",
    }
}

impl StoredCall {
    /// Converts a call for the ring; too large records are reduced to a summary.
    pub fn of(call: &Record, policy: TracePayloads, redactor: Option<&Redactor>) -> StoredCall {
        let whole = StoredCall::of_any_size(call, policy, redactor);
        if whole.bytes <= MAX_RECORD_BYTES {
            return whole;
        }
        let mut brief = StoredCall::of_any_size(call, TracePayloads::None, redactor);
        brief.row.insert("summarised".to_string(), json!(true));
        brief.more.clear();
        brief.more.insert("note".to_string(), json!("the call was too large to be kept whole"));
        brief.measure();
        brief
    }

    /// Converts a call according to the policy, at any size.
    pub fn of_any_size(call: &Record, policy: TracePayloads, redactor: Option<&Redactor>) -> StoredCall {
        // Scrubbed first: a secret cut in two would not be found.
        let scrub = |value: Value| match redactor {
            Some(redactor) => redactor.scrub_json(value),
            None => value,
        };
        let Record { payload, args, .. } = call;
        // Arguments of programs that did not run are not recorded.
        let was_run = !matches!(
            payload.reason,
            Some(Reason::ArgsError | Reason::SessionArgsError | Reason::Busy | Reason::SessionBusy)
        );
        let text = |text: &str| match scrub(json!(text)) {
            Value::String(text) => text,
            other => other.to_string(),
        };
        let id = shortened(&text(&call.request_id));
        let program = args.get("program").or(args.get("task")).and_then(Value::as_str).filter(|_| was_run);
        let context = args.get("context").and_then(Value::as_object).filter(|_| was_run);
        let result_bytes = payload.result.as_ref().map(String::len);
        let duration_ms = call.duration.as_millis() as u64;
        let metrics = payload.metrics.clone();
        let row = json!({
            "request_id": id,
            "ts": iso(call.at),
            "tool": call.tool,
            "status": if payload.is_error() { "error" } else { "ok" },
            "reason": payload.reason.map(Reason::name),
            "duration_ms": duration_ms,
            "program": program.map(|program| shown_program(&text(program), policy)),
            "context": context.map(|context| shown_context(&scrub(public_context(context)), policy)),
            "result_bytes": result_bytes,
            "prints_count": payload.prints.len(),
            "signature_present": args.contains_key("output_schema") || args.contains_key("signature"),
            "protocol_version": call.protocol_version,
            "upstream_calls": payload.upstream_calls.len(),
            "ptc_metrics": metrics,
        });
        let mut more = Map::new();
        if payload.is_error() {
            // The value given to `fail` is the message, and may be as large as any value.
            let message = text(&payload.message);
            let message = match policy {
                TracePayloads::Full => message,
                _ => ptc_contract::data::cut(&message, MESSAGE_CHARS),
            };
            more.insert("message".to_string(), json!(message));
            more.insert("detail".to_string(), json!(payload.detail));
            more.insert("detail_reason".to_string(), json!(payload.detail_reason));
        }
        more.insert("prints".to_string(), shown_prints(&payload.prints, policy, &text));
        if let Some(validated) = &payload.validated {
            more.insert("validated".to_string(), shown_value(&scrub(validated.clone()), policy));
        }
        if policy == TracePayloads::Full {
            more.insert("result".to_string(), json!(payload.result.as_deref().map(text)));
        }
        let calls: Vec<Value> = payload.upstream_calls.iter().take(MAX_LISTED).cloned().map(&scrub).collect();
        more.insert("upstream_call_list".to_string(), Value::Array(calls));
        if !payload.planner_calls.is_empty() {
            let calls = payload.planner_calls.iter().take(MAX_LISTED).cloned().map(&scrub);
            more.insert("planner_call_list".to_string(), calls.collect());
        }
        if let Some(session) = &payload.session {
            let mut about = session.about.clone();
            if !session.preludes.is_empty() {
                about.insert("prelude_refs".to_string(), json!(session.preludes));
            }
            more.insert("session".to_string(), Value::Object(about));
        }
        let name = |call: &Value, key: &str| call[key].as_str().unwrap_or("?").to_string();
        let upstream = payload.upstream_calls.iter().map(|call| {
            let failed = (call["status"] == "error").then(|| name(call, "reason"));
            (name(call, "server"), failed)
        });
        let mut stored = StoredCall {
            owner: call.owner.clone(),
            id,
            at: call.at,
            tool: call.tool.clone(),
            reason: payload.reason,
            duration_ms,
            upstream: upstream.collect(),
            metrics,
            row: row.as_object().cloned().unwrap_or_default(),
            more,
            bytes: 0,
        };
        stored.measure();
        stored
    }

    fn measure(&mut self) {
        let length = |part: &Map<String, Value>| serde_json::to_string(part).map_or(0, |text| text.len());
        let upstream: usize = self.upstream.iter().map(|(server, _)| server.len() + 48).sum();
        self.bytes = length(&self.row) + length(&self.more) + upstream + 256;
    }

    /// Returns all stored fields.
    pub fn whole(&self) -> Map<String, Value> {
        self.row.clone().into_iter().chain(self.more.clone()).collect()
    }
}

/// Shortens an id to its limit, with its original length.
fn shortened(id: &str) -> String {
    match id.len() <= MAX_ID {
        true => id.to_string(),
        false => {
            let note = format!("…({} bytes)", id.len());
            format!("{}{note}", cut::bytes(id, MAX_ID - note.len()).0)
        }
    }
}

fn shown_program(program: &str, policy: TracePayloads) -> Value {
    let mut shown = json!({
        "sha256": hex(&Sha256::digest(program.as_bytes()).into()), "bytes": program.len(),
    });
    match policy {
        TracePayloads::None => shown,
        TracePayloads::Summary => {
            shown["preview"] = json!(cut::chars(program, SUMMARY_CHARS).0);
            shown
        }
        TracePayloads::Full => json!(program),
    }
}

/// Redacts firewalled data, because models read records through `lisp_debug`.
fn public_context(context: &Map<String, Value>) -> Value {
    ptc_contract::firewall::redact_json(&json!(context))
}

fn shown_context(context: &Value, policy: TracePayloads) -> Value {
    let mut shown = json!({"bytes": context.to_string().len()});
    match policy {
        TracePayloads::None => shown,
        TracePayloads::Summary => {
            let keys = context.as_object().into_iter().flatten().take(MAX_LISTED);
            shown["keys"] = keys.map(|(key, value)| (key.clone(), outline(value))).collect();
            shown
        }
        TracePayloads::Full => context.clone(),
    }
}

fn shown_value(value: &Value, policy: TracePayloads) -> Value {
    let mut shown = outline(value);
    match policy {
        TracePayloads::None => shown,
        TracePayloads::Summary => {
            if let Some(first) = value.as_array().and_then(|items| items.first()) {
                shown["element_type"] = json!(kind(first));
            }
            shown
        }
        TracePayloads::Full => value.clone(),
    }
}

fn shown_prints(prints: &[String], policy: TracePayloads, scrub: &dyn Fn(&str) -> String) -> Value {
    match policy {
        TracePayloads::None => json!({"count": prints.len()}),
        TracePayloads::Summary => {
            let first = prints.first().map(|line| scrub(line));
            json!({"count": prints.len(), "first": first.as_deref().map(|line| cut::chars(line, PRINT_CHARS).0)})
        }
        TracePayloads::Full => prints.iter().map(|line| json!(scrub(line))).collect(),
    }
}

/// Describes a value by its type and size.
fn outline(value: &Value) -> Value {
    let mut shown = json!({"type": kind(value)});
    match value {
        Value::Array(items) => shown["count"] = json!(items.len()),
        Value::Object(fields) => {
            shown["count"] = json!(fields.len());
            shown["keys"] = fields.keys().take(20).map(|key| json!(cut::chars(key, 80).0)).collect();
        }
        Value::String(text) => shown["length"] = json!(text.len()),
        _ => {}
    }
    shown
}

fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}
