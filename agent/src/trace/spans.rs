//! Spans of other systems, opened and closed as events arrive.

use super::{Event, Kind, SpanId, TraceId};
use serde_json::Value;
use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

/// Open spans, by trace and span id.
pub(super) struct Open<T>(Mutex<HashMap<(TraceId, SpanId), T>>);

impl<T> Default for Open<T> {
    fn default() -> Open<T> {
        Open(Mutex::new(HashMap::new()))
    }
}

impl<T: Clone> Open<T> {
    fn map(&self) -> std::sync::MutexGuard<'_, HashMap<(TraceId, SpanId), T>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the span around that of an event: in its own trace, or in the one above.
    pub(super) fn around(&self, event: &Event) -> Option<T> {
        let parent = event.parent?;
        let above = event.data.get("parent_trace_id").and_then(Value::as_str).and_then(|id| id.parse().ok());
        let open = self.map();
        open.get(&(event.trace_id, parent)).or_else(|| open.get(&(above?, parent))).cloned()
    }

    pub(super) fn begin(&self, event: &Event, span: T) {
        self.map().insert((event.trace_id, event.span), span);
    }

    /// Returns the span of an event.
    pub(super) fn here(&self, event: &Event) -> Option<T> {
        self.map().get(&(event.trace_id, event.span)).cloned()
    }

    pub(super) fn end(&self, event: &Event) -> Option<T> {
        self.map().remove(&(event.trace_id, event.span))
    }

    /// Removes the spans that a finished trace left open.
    pub(super) fn rest(&self, trace: TraceId) -> Vec<T> {
        self.map().extract_if(|(of, _), _| *of == trace).map(|(_, span)| span).collect()
    }
}

/// Returns whether an event begins a span.
pub(super) fn begins(event: &Event) -> bool {
    event.kind.begins() && event.kind != Kind::TraceStart
}

/// Returns whether an event ends a span.
pub(super) fn ends(event: &Event) -> bool {
    event.kind.ends() && event.kind != Kind::TraceStop
}

/// Returns the failure of an event: a reason, if there is one, and a text.
pub(super) fn failure(event: &Event) -> Option<(String, String)> {
    if !super::tree::failed(event) {
        return None;
    }
    let why = ["fail", "error", "reason"].iter().find_map(|key| event.data.get(*key)).unwrap_or(&Value::Null);
    let text = |key: &str| why.get(key).and_then(Value::as_str);
    let reason =
        text("reason").or(text("kind")).or(event.status.as_deref().filter(|status| *status != "error"));
    let message = text("message").or(why.as_str()).unwrap_or_default();
    Some((reason.unwrap_or("_OTHER").to_string(), message.to_string()))
}
