//! Conversion of events to JSON lines, and back.

use super::{Event, Kind, SpanId, Timestamp, TraceId};
use ptc_model::Tokens;
use serde_json::{Map, Value, json};
use std::sync::Arc;
use std::time::Duration;

/// Version of the format.
pub const SCHEMA_VERSION: u64 = 2;
/// Maximum bytes of a line.
pub const MAX_LINE: usize = 1 << 20;
/// Maximum bytes of a string, and maximum items of a list or entries of a map.
const MAX_STRING: usize = 64 << 10;
const MAX_ITEMS: usize = 100;
/// Maximum nesting. JSON readers refuse more than 128 levels.
const MAX_DEPTH: u32 = 100;

/// Returns whether a field is kept whole, because replays need it.
fn is_whole(kind: Kind, key: &str) -> bool {
    matches!(key, "system_prompt" | "response" | "replay") || kind == Kind::ToolCall && key == "result"
}

/// Fields of `data` that are written next to it.
const LIFTED_OF_START: &[&str] = &["trace_kind", "producer", "trace_label", "query", "parent_trace_id"];
const LIFTED_OF_TURN: &[&str] = &["driver", "session_id", "attempt", "committed"];

fn lifted(kind: Kind) -> &'static [&'static str] {
    match kind {
        Kind::TraceStart => LIFTED_OF_START,
        Kind::Turn => LIFTED_OF_TURN,
        _ => &[],
    }
}

/// Returns the event as one line, without a line break. Long strings, lists and maps are cut. If the line is still too
/// long, it loses the data that only replays need, and then all data.
pub fn to_line(event: &Event) -> String {
    let mut data = shorter_data(event);
    let line = line_of(event, &data);
    if line.len() <= MAX_LINE {
        return line;
    }
    if let Some(replay) = data.remove("replay") {
        data.insert("replay_omitted_bytes".to_string(), replay.to_string().len().into());
        let line = line_of(event, &data);
        if line.len() <= MAX_LINE {
            return line;
        }
    }
    let mut omitted = Event { kind: Kind::EventOmitted, data: Map::new(), ..event.clone() };
    omitted.put("event", event.kind.name());
    omitted.put("bytes", line.len());
    for text in [&mut omitted.tool_name, &mut omitted.model, &mut omitted.status].into_iter().flatten() {
        *text = cut(text).unwrap_or_else(|| text.clone());
    }
    line_of(&omitted, &omitted.data)
}

fn line_of(event: &Event, data: &Map<String, Value>) -> String {
    let mut line = Map::new();
    let mut put = |key: &str, value: Value| {
        if !value.is_null() {
            line.insert(key.to_string(), value);
        }
    };
    put("schema_version", SCHEMA_VERSION.into());
    put("event", event.kind.name().into());
    put("trace_id", event.trace_id.to_string().into());
    put("seq", event.seq.into());
    put("timestamp", event.at.to_string().into());
    put("span_id", event.span.to_string().into());
    put("parent_span_id", event.parent.map(|span| span.to_string()).into());
    put("agent_name", event.agent_name.as_deref().into());
    put("agent_id", (*event.agent_id).into());
    put("depth", event.depth.into());
    put("turn", event.turn.into());
    put("duration_ms", event.duration.map(millis).into());
    if let Some(tokens) = &event.tokens {
        put("input_tokens", tokens.input.into());
        put("output_tokens", tokens.output.into());
        if tokens.input.is_some() || tokens.output.is_some() {
            put("total_tokens", tokens.total().into());
        }
        put("cache_creation_tokens", tokens.cache_creation.into());
        put("cache_read_tokens", tokens.cache_read.into());
        put("cost_usd", tokens.total_cost.into());
    }
    put("tool_name", event.tool_name.as_deref().into());
    put("model", event.model.as_deref().into());
    put("status", event.status.as_deref().into());
    let mut rest = data.clone();
    for key in lifted(event.kind) {
        put(key, rest.remove(*key).unwrap_or_default());
    }
    if !rest.is_empty() {
        put("data", Value::Object(rest));
    }
    // A map with string keys always serialises.
    serde_json::to_string(&line).unwrap_or_default()
}

/// Returns milliseconds: as an integer if they are whole, else with microseconds.
fn millis(duration: Duration) -> Value {
    let micros = u64::try_from(duration.as_micros()).unwrap_or(u64::MAX);
    if micros % 1000 == 0 { json!(micros / 1000) } else { json!(micros as f64 / 1000.0) }
}

fn shorter_data(event: &Event) -> Map<String, Value> {
    let (whole, cut): (Map<_, _>, Map<_, _>) =
        event.data.clone().into_iter().partition(|(key, _)| is_whole(event.kind, key));
    let whole = whole.iter().map(|(key, value)| (key.clone(), flat(value, 1)));
    shorter_map(&cut, 1).into_iter().chain(whole).collect()
}

fn shorter_map(map: &Map<String, Value>, depth: u32) -> Map<String, Value> {
    let mut out: Map<String, Value> = map
        .iter()
        .take(MAX_ITEMS)
        .map(|(key, value)| (cut(key).unwrap_or_else(|| key.clone()), shorter(value, depth)))
        .collect();
    if map.len() > MAX_ITEMS {
        out.insert("…".to_string(), format!("+{} entries", map.len() - MAX_ITEMS).into());
    }
    out
}

fn shorter(value: &Value, depth: u32) -> Value {
    match value {
        Value::Array(_) | Value::Object(_) if depth > MAX_DEPTH => "…".into(),
        Value::String(text) => cut(text).unwrap_or_else(|| text.clone()).into(),
        Value::Array(items) => {
            let mut out: Vec<Value> =
                items.iter().take(MAX_ITEMS).map(|item| shorter(item, depth + 1)).collect();
            if items.len() > MAX_ITEMS {
                out.push(format!("…(+{} items)", items.len() - MAX_ITEMS).into());
            }
            Value::Array(out)
        }
        Value::Object(map) => Value::Object(shorter_map(map, depth + 1)),
        other => other.clone(),
    }
}

/// Returns the whole value, except for parts nested too deep.
fn flat(value: &Value, depth: u32) -> Value {
    match value {
        Value::Array(_) | Value::Object(_) if depth > MAX_DEPTH => "…".into(),
        Value::Array(items) => items.iter().map(|item| flat(item, depth + 1)).collect(),
        Value::Object(map) => {
            Value::Object(map.iter().map(|(key, value)| (key.clone(), flat(value, depth + 1))).collect())
        }
        other => other.clone(),
    }
}

/// Cuts a text that is too long, with a note on the missing part; None if it is short enough.
fn cut(text: &str) -> Option<String> {
    let keep = text.floor_char_boundary(MAX_STRING);
    (keep < text.len()).then(|| format!("{}…(+{} bytes)", &text[..keep], text.len() - keep))
}

/// Reason why a line is not an event.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum NoEvent {
    /// The kind of event is unknown to this version; such lines are skipped.
    Unknown(String),
    /// The line is broken.
    Broken(String),
}

/// Parses the event of a line. Unknown fields are dropped.
pub(super) fn from_line(line: &str) -> Result<Event, NoEvent> {
    let broken = |why: &str| NoEvent::Broken(why.to_string());
    let value: Value =
        serde_json::from_str(line).map_err(|error| NoEvent::Broken(format!("not valid JSON: {error}")))?;
    let Value::Object(mut line) = value else { return Err(broken("must be a JSON object")) };
    match line.get("schema_version").and_then(Value::as_u64) {
        Some(SCHEMA_VERSION) => {}
        Some(other) => {
            let why = format!("`schema_version` is {other}, but only {SCHEMA_VERSION} can be read");
            return Err(NoEvent::Broken(why));
        }
        None => return Err(broken("`schema_version` is missing: this is not a line of a trace")),
    }
    let text = |key: &str| line.get(key).and_then(Value::as_str);
    let number = |key: &str| line.get(key).and_then(Value::as_u64);
    let name = text("event").ok_or_else(|| broken("`event` must be a text"))?;
    let kind = Kind::from_name(name).ok_or_else(|| NoEvent::Unknown(name.chars().take(60).collect()))?;
    let trace_id: TraceId = text("trace_id")
        .and_then(|id| id.parse().ok())
        .ok_or_else(|| broken("`trace_id` must be 32 hex digits"))?;
    let span: SpanId = text("span_id")
        .and_then(|id| id.parse().ok())
        .ok_or_else(|| broken("`span_id` must be 8 hex digits"))?;
    let at: Timestamp = text("timestamp")
        .and_then(|at| at.parse().ok())
        .ok_or_else(|| broken("`timestamp` must be a time such as 2031-04-02T08:00:01Z"))?;
    let tokens = Tokens {
        input: number("input_tokens"),
        output: number("output_tokens"),
        cache_creation: number("cache_creation_tokens"),
        cache_read: number("cache_read_tokens"),
        total_cost: line.get("cost_usd").and_then(Value::as_f64).filter(|cost| cost.is_finite()),
    };
    let duration = line.get("duration_ms").and_then(Value::as_f64);
    let mut event = Event {
        kind,
        trace_id,
        seq: number("seq").unwrap_or(0),
        span,
        parent: text("parent_span_id").and_then(|id| id.parse().ok()),
        agent_name: text("agent_name").map(Arc::from),
        agent_id: Arc::from(text("agent_id").unwrap_or_default()),
        depth: number("depth").and_then(|n| u32::try_from(n).ok()).unwrap_or(0),
        at,
        turn: number("turn").and_then(|n| u32::try_from(n).ok()),
        duration: duration.and_then(|ms| Duration::try_from_secs_f64(ms / 1000.0).ok()),
        tokens: (tokens != Tokens::default()).then_some(tokens),
        tool_name: text("tool_name").map(str::to_string),
        model: text("model").map(str::to_string),
        status: text("status").map(str::to_string),
        data: Map::new(),
    };
    if let Some(Value::Object(data)) = line.remove("data") {
        event.data = data;
    }
    for key in lifted(kind) {
        if let Some(value) = line.remove(*key) {
            event.data.insert((*key).to_string(), value);
        }
    }
    Ok(event)
}
