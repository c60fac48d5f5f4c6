//! The text about one span on the page: titled parts, gathered from its events.

use ptc_agent::trace::{Event, Kind};
use serde_json::{Map, Value, json};

/// Longer texts are cut: a browser should stay quick.
const MAX_TEXT: usize = 20_000;

/// The parts of a span's events.
pub fn of<'e>(events: impl Iterator<Item = &'e Event>) -> Vec<Value> {
    let mut parts = Parts::default();
    for event in events {
        parts.add(event);
    }
    parts.done()
}

#[derive(Default)]
struct Parts {
    shown: Vec<Value>,
    /// Data that has no part of its own.
    rest: Map<String, Value>,
}

impl Parts {
    fn add(&mut self, event: &Event) {
        let mut data = event.data.clone();
        // Told by the summary or by another event of the same span.
        let known: &[&str] = match event.kind {
            Kind::TraceStart => &["query", "trace_kind"],
            Kind::TurnStop => &["success"],
            Kind::Turn => &["program", "result_preview", "prints", "driver", "turn_type"],
            Kind::ToolCall => &["args", "result", "error"],
            _ => &[],
        };
        for key in known {
            data.remove(*key);
        }
        if event.kind == Kind::AgentConfig {
            self.part("Agent", "json", Value::Object(std::mem::take(&mut data)), false);
        }
        for (key, title, kind, open) in [
            ("prompt", "Mission", "text", true),
            ("return", "Result", "json", true),
            ("fail", "Failure", "json", true),
            ("program", "Program", "code", true),
            ("prints", "Printed", "lines", true),
            ("result_preview", "Result", "code", true),
            ("args", "Arguments", "json", true),
            ("result", "Result", "json", true),
            ("error", "Error", "json", true),
            ("system_prompt", "System message", "text", false),
            ("messages", "Messages", "messages", true),
            ("usage", "Usage", "json", false),
            ("context", "Context", "json", false),
        ] {
            match data.remove(key) {
                None | Some(Value::Null) => {}
                Some(Value::Array(items)) if items.is_empty() => {}
                Some(value) => self.part(title, kind, value, open),
            }
        }
        if let Some(response) = data.remove("response") {
            self.response(response);
        }
        if let Some(reply) = data.remove("raw_response")
            && event.kind == Kind::TurnStop
        {
            self.part("Reply", "mono", reply, true);
        }
        data.retain(|_, value| !value.is_null());
        self.rest.extend(data);
    }

    fn response(&mut self, response: Value) {
        let Value::Object(mut response) = response else {
            return self.part("Reply", "mono", response, true);
        };
        if let Some(content) = response.remove("content").filter(|content| !content.is_null()) {
            self.part("Reply", "mono", content, true);
        }
        if let Some(calls) = response.remove("tool_calls") {
            self.part("Calls", "json", calls, true);
        }
        self.rest.extend(response);
    }

    fn part(&mut self, title: &str, kind: &str, value: Value, open: bool) {
        let same = |part: &Value| part["title"] == title;
        let value = match kind {
            "messages" => messages(&value),
            "lines" => text(&lines(&value)),
            _ => text(&written(&value)),
        };
        // The same failure is told by an exception and by the end of a turn.
        if self.shown.iter().any(|part| same(part) && part["body"] == value) {
            return;
        }
        self.shown.push(json!({"title": title, "kind": kind, "body": value, "open": open}));
    }

    fn done(mut self) -> Vec<Value> {
        if !self.rest.is_empty() {
            let rest = Value::Object(std::mem::take(&mut self.rest));
            self.part("More", "json", rest, false);
        }
        // What is closed stands below what is open.
        self.shown.sort_by_key(|part| part["open"] == false);
        self.shown
    }
}

/// Strings as they are, everything else as JSON over lines.
fn written(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => match other.to_string() {
            short if short.len() <= 80 => short,
            _ => serde_json::to_string_pretty(other).unwrap_or_default(),
        },
    }
}

fn lines(value: &Value) -> String {
    match value {
        Value::Array(items) => items.iter().map(written).collect::<Vec<_>>().join("\n"),
        other => written(other),
    }
}

fn messages(value: &Value) -> Value {
    let Value::Array(items) = value else { return json!([{"role": "", "text": text(&written(value))}]) };
    let message = |item: &Value| {
        let role = item.get("role").and_then(Value::as_str).unwrap_or("");
        let mut said = item.get("content").map_or_else(|| written(item), written);
        if let Some(calls) = item.get("tool_calls") {
            said.push_str(&format!("\n{}", written(calls)));
        }
        json!({"role": text(role), "text": text(&said)})
    };
    items.iter().map(message).collect()
}

fn text(text: &str) -> Value {
    let keep = text.floor_char_boundary(MAX_TEXT);
    match keep < text.len() {
        true => {
            format!("{}\n… {} bytes more; they are in the trace", &text[..keep], text.len() - keep).into()
        }
        false => text.into(),
    }
}
