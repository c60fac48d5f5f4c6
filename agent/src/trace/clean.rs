//! Redaction of events.

use super::Event;
use ptc_contract::firewall::{FIREWALLED, Secrets, is_firewalled};
use serde_json::{Map, Value};
use std::sync::Arc;

/// Maximum nesting of values; deeper ones are left out.
const MAX_DEPTH: u32 = 100;

/// Removes firewalled values from every string of the event, and the values of firewalled keys.
pub(super) fn redact(event: &mut Event, secrets: &mut Secrets) {
    let mut pass = Pass { hide_all: secrets.overflowed(), secrets };
    event.data = pass.map(std::mem::take(&mut event.data), 0);
    for text in [&mut event.tool_name, &mut event.model, &mut event.status].into_iter().flatten() {
        if let Some(clean) = pass.text(text) {
            *text = clean;
        }
    }
    if let Some(clean) = event.agent_name.as_deref().and_then(|name| pass.text(name)) {
        event.agent_name = Some(Arc::from(clean));
    }
}

struct Pass<'a> {
    secrets: &'a mut Secrets,
    /// Flag: there were more secrets than can be searched for, so no text of data can be trusted.
    hide_all: bool,
}

impl Pass<'_> {
    fn map(&mut self, map: Map<String, Value>, depth: u32) -> Map<String, Value> {
        let entry = |(key, value): (String, Value)| {
            let value = if is_firewalled(&key) { FIREWALLED.into() } else { self.value(value, depth + 1) };
            let key = self.text(&key).unwrap_or(key);
            (key, value)
        };
        map.into_iter().map(entry).collect()
    }

    fn value(&mut self, value: Value, depth: u32) -> Value {
        match value {
            Value::Object(_) | Value::Array(_) if depth > MAX_DEPTH => "…".into(),
            Value::Object(map) => Value::Object(self.map(map, depth)),
            Value::Array(items) => {
                Value::Array(items.into_iter().map(|item| self.value(item, depth + 1)).collect())
            }
            Value::String(_) if self.hide_all => FIREWALLED.into(),
            Value::String(text) => self.text(&text).unwrap_or(text).into(),
            Value::Number(number) if !self.secrets.is_empty() => {
                let text = number.to_string();
                if self.secrets.redact(&text) == text { number.into() } else { FIREWALLED.into() }
            }
            other => other,
        }
    }

    /// Redacts a text; None if nothing changes.
    fn text(&mut self, text: &str) -> Option<String> {
        let clean = (!self.secrets.is_empty()).then(|| self.secrets.redact(text))?;
        (clean != text).then_some(clean)
    }
}
