//! Presentation of a payload to clients: text for the model and an object for programs, each part within its limits.

use crate::cut;
use crate::profile::{Profile, ReplyLimits};
use crate::reason::Reason;
use crate::reply::{InSession, Payload, Reply};
use serde_json::{Map, Value, json};
use std::sync::Arc;

impl Payload {
    /// Returns the parts of the payload that the profile shows.
    ///
    /// ```
    /// use ptc_mcp::{Payload, Profile, Reason};
    /// let payload = Payload::error(Reason::Busy, "8 programs run already; wait and retry");
    /// assert_eq!(payload.reply(Profile::Slim).text, "busy: 8 programs run already; wait and retry");
    /// assert_eq!(payload.reply(Profile::Structured).structured.unwrap()["reason"], "busy");
    /// ```
    pub fn reply(&self, profile: Profile) -> Reply {
        if let Some(answer) = &self.answer {
            let text = Value::Object(answer.clone()).to_string();
            return Reply {
                is_error: self.is_error(),
                text,
                structured: Some(answer.clone()),
                blocks: Arc::default(),
            };
        }
        let limits = profile.limits();
        let bounded = BoundedPayload::of(self, &limits);
        let mut parts = Parts::ALL;
        let most = limits.envelope_bytes.saturating_add(self.value_bytes(profile));
        // The limit of the whole reply is enforced by leaving out whole parts; nothing is cut within JSON. Images have
        // a limit of their own.
        let reply = loop {
            let reply = bounded.reply(self, profile, parts);
            let size = reply.to_json().to_string().len();
            if size <= most {
                break reply;
            }
            match parts.fewer() {
                Some(fewer) => parts = fewer,
                None => break bounded.minimal(self, profile, &limits),
            }
        };
        let blocks = self.value.as_ref().map(|value| value.blocks.clone());
        Reply { blocks: blocks.unwrap_or_default(), ..reply }
    }

    /// Returns the bytes of the reply taken by the value itself, which has a separate limit in addition to
    /// the rest's.
    fn value_bytes(&self, profile: Profile) -> usize {
        let Some(value) = &self.value else { return 0 };
        let encoded = |text: &str| Value::from(text).to_string();
        let result = encoded(self.result.as_deref().unwrap_or_default());
        // The value of a failure also appears as its message.
        let text = result.len() * if self.is_error() { 2 } else { 1 };
        let json = || value.json.as_ref().map_or(0, |json| json.to_string().len());
        match profile {
            Profile::Slim => text,
            Profile::Structured => text * 2 + json(),
            Profile::Debug => {
                let mirrored = encoded(&result).len() * if self.is_error() { 2 } else { 1 };
                let json_mirrored = value.json.as_ref().map_or(0, |json| encoded(&json.to_string()).len());
                text + json() + mirrored + json_mirrored
            }
        }
    }

    /// Returns whether later programs of the session find the value as `*1`.
    fn is_kept(&self) -> bool {
        let is_kept = |session: &InSession| !session.rolled_back && session.history_notices.is_empty();
        self.session.as_deref().is_some_and(is_kept)
    }

    /// Returns the form that fetches more of an incomplete value. A value that was not kept must be computed again.
    fn fetch(&self) -> Option<String> {
        let left_out = self.value.as_ref()?.left_out.as_ref()?;
        match self.is_kept() {
            _ if self.is_error() => None,
            true => left_out.fetch("*1"),
            false => left_out.fetch("r").map(|form| format!("(let [r LAST-FORM] {form})")),
        }
    }

    /// Returns comments on what is missing of the value and how to get it. As comments, they keep the text
    /// readable as code.
    fn comments(&self) -> Option<String> {
        let left_out = self.value.as_ref()?.left_out.as_ref()?;
        let mut text = format!("; left out: {}", left_out.in_words());
        if let Some(form) = self.fetch() {
            let how = if self.is_kept() { "" } else { "run the program again with its last form as " };
            text.push_str(&format!("\n; more: {how}{form}"));
        }
        Some(text)
    }

    /// Returns a line on what happened to the session.
    fn suffix(&self) -> Option<String> {
        let session = self.session.as_ref()?;
        let mut parts = Vec::new();
        if session.rolled_back {
            parts.push("rolled back".to_string());
        }
        if !session.changed_keys.is_empty() {
            let names = session.changed_keys.join(", ");
            let (shown, is_all) = cut::bytes(&names, 2048);
            parts.push(format!("stored: {shown}{}", if is_all { "" } else { "…" }));
        }
        if !self.upstream_calls.is_empty() {
            parts.push(format!("turn upstream calls: {}", self.upstream_calls.len()));
        }
        (!parts.is_empty()).then(|| format!("[{}]", parts.join("; ")))
    }
}

impl InSession {
    fn memory(&self, is_full: bool) -> Map<String, Value> {
        let mut memory = Map::new();
        memory.insert("changed_keys".to_string(), json!(self.changed_keys));
        memory.insert("stored_keys".to_string(), json!(self.stored_keys));
        memory.insert("truncated".to_string(), json!(self.memory_truncated));
        if is_full {
            memory.insert("changed".to_string(), json!(self.changed));
        }
        memory
    }
}

/// Maximum size of a warning, in bytes.
const MAX_WARNING: usize = 512;

fn warning(line: &str) -> &str {
    cut::bytes(line, MAX_WARNING).0
}

/// Parts of a reply that have not been left out yet.
#[derive(Clone, Copy)]
struct Parts {
    prints: bool,
    feedback: bool,
    preview: bool,
    upstream: bool,
    metrics: bool,
}

impl Parts {
    const ALL: Parts = Parts { prints: true, feedback: true, preview: true, upstream: true, metrics: true };

    fn fewer(self) -> Option<Parts> {
        Some(match self {
            Parts { prints: true, .. } => Parts { prints: false, ..self },
            Parts { feedback: true, .. } => Parts { feedback: false, ..self },
            Parts { preview: true, .. } => Parts { preview: false, ..self },
            Parts { upstream: true, .. } => Parts { upstream: false, ..self },
            Parts { metrics: true, .. } => Parts { metrics: false, ..self },
            _ => return None,
        })
    }
}

/// A payload with every part within its own limit.
struct BoundedPayload {
    prints: Vec<String>,
    feedback: String,
    /// Validated value, always exact; None if it is too large.
    validated: Option<Value>,
    /// Beginning of a validated value that is too large, its size in bytes, and whether the beginning is all of it.
    preview: Option<(String, usize, bool)>,
    is_cut: bool,
}

impl BoundedPayload {
    fn of(payload: &Payload, limits: &ReplyLimits) -> BoundedPayload {
        let mut is_cut = payload.truncated;
        let mut bytes = 2;
        let mut prints = Vec::new();
        for line in &payload.prints {
            bytes += Value::from(line.as_str()).to_string().len() + 1;
            if prints.len() >= limits.prints || bytes > limits.prints_bytes {
                is_cut = true;
                break;
            }
            prints.push(line.clone());
        }
        let (feedback, is_whole) = cut::bytes(&payload.feedback, limits.feedback_bytes);
        is_cut |= !is_whole;
        let (mut validated, mut preview) = (None, None);
        if let Some(value) = &payload.validated {
            let text = value.to_string();
            let is_shown = match &payload.value {
                Some(shown) => limits.validated_bytes.is_some() && shown.is_whole(),
                None => limits.validated_bytes.is_some_and(|most| text.len() <= most),
            };
            match is_shown {
                true => validated = Some(value.clone()),
                false => {
                    let (shown, is_all) = cut::chars(&text, limits.preview_chars);
                    // A value shown in full in the text of the result is not lost.
                    is_cut |= !is_all && payload.result.is_none();
                    preview = Some((shown.to_string(), text.len(), is_all));
                }
            }
        }
        BoundedPayload { prints, feedback: feedback.to_string(), validated, preview, is_cut }
    }

    fn reply(&self, payload: &Payload, profile: Profile, parts: Parts) -> Reply {
        let is_error = payload.is_error();
        let text = self.text(payload, parts);
        let structured = match profile {
            Profile::Slim => None,
            Profile::Structured => Some(self.object(payload, parts, false)),
            Profile::Debug => Some(self.object(payload, parts, true)),
        };
        // In the debug profile the text mirrors the object, for clients that show only one of them.
        let text = match (profile, &structured) {
            (Profile::Debug, Some(object)) => Value::Object(object.clone()).to_string(),
            _ => text,
        };
        Reply { is_error, text, structured, blocks: Arc::default() }
    }

    fn is_cut(&self, parts: Parts) -> bool {
        self.is_cut || (!parts.prints && !self.prints.is_empty())
    }

    /// Builds the text for the model.
    fn text(&self, payload: &Payload, parts: Parts) -> String {
        let mut text = match payload.reason {
            Some(reason) => self.error_text(payload, reason, parts),
            None => {
                let value = payload.result.clone().or_else(|| self.validated.as_ref().map(Value::to_string));
                let preview = || self.preview.as_ref().map(|(shown, ..)| shown.clone());
                let mut value = value.or_else(preview).unwrap_or_default();
                if let Some(comments) = payload.comments() {
                    value = format!("{value}\n{comments}");
                }
                match parts.prints && !self.prints.is_empty() {
                    true => {
                        format!(
                            "<prints>\n{}\n</prints>\n\n<result>\n{value}\n</result>",
                            self.prints.join("\n")
                        )
                    }
                    false => value,
                }
            }
        };
        if self.is_cut(parts) {
            text.push_str("\n[truncated]");
        }
        if parts.feedback {
            // As comments, so that the text of a value stays readable as code.
            let lines = payload.warnings.iter().map(|line| format!("; {}", warning(line)));
            text = Some(text)
                .filter(|text| !text.is_empty())
                .into_iter()
                .chain(lines)
                .collect::<Vec<_>>()
                .join("\n");
        }
        if let Some(suffix) = payload.suffix() {
            let text_end = text.trim_end().len();
            text.truncate(text_end);
            text = if text.is_empty() { suffix } else { format!("{text}\n{suffix}") };
        }
        text
    }

    fn error_text(&self, payload: &Payload, reason: Reason, parts: Parts) -> String {
        let message = &payload.message;
        let mut text = match message.starts_with(reason.name()) {
            true => message.clone(),
            false => format!("{reason}: {message}"),
        };
        if let Some(comments) = payload.comments() {
            text = format!("{text}\n{comments}");
        }
        if parts.feedback && !self.feedback.is_empty() && self.feedback != *message {
            text = format!("{text}\n{}", self.feedback);
        }
        let failed = payload.upstream_calls.iter().find(|call| call["status"] == "error");
        if let Some(call) = failed {
            let part = |key: &str| call[key].as_str().unwrap_or("?").to_string();
            text = format!("{text}\nupstream {}.{} failed: {}", part("server"), part("tool"), part("reason"));
        }
        text
    }

    /// Builds the object for programs; empty texts, lists and maps are left out.
    fn object(&self, payload: &Payload, parts: Parts, is_full: bool) -> Map<String, Value> {
        let mut object = Map::new();
        let mut put = |key: &str, value: Value| {
            let is_empty = match &value {
                Value::Null => true,
                Value::String(text) => text.is_empty(),
                Value::Array(items) => items.is_empty(),
                Value::Object(fields) => fields.is_empty(),
                _ => false,
            };
            if !is_empty {
                object.insert(key.to_string(), value);
            }
        };
        put("status", json!(if payload.is_error() { "error" } else { "ok" }));
        if let Some(reason) = payload.reason {
            put("reason", json!(reason.name()));
            put("message", json!(payload.message));
        }
        let json = payload.value.as_ref().and_then(|value| value.json.as_ref());
        // The printed value is needed only if JSON cannot express it: the text for the model comes with the
        // object anyway.
        if is_full || json.is_none() {
            put("result", json!(payload.result));
        }
        let in_session = payload.session.as_deref();
        if parts.feedback && (is_full || payload.is_error() || in_session.is_some()) {
            put("feedback", json!(self.feedback));
        }
        if parts.prints && (is_full || in_session.is_some()) {
            put("prints", json!(self.prints));
        }
        if parts.feedback {
            put("warnings", payload.warnings.iter().map(|line| json!(warning(line))).collect());
        }
        put("detail_reason", json!(payload.detail_reason));
        put("detail", json!(payload.detail));
        if let Some(session) = in_session {
            put("session", json!(session.about));
            put("history_notices", json!(session.history_notices));
            if !payload.is_error() {
                put("memory", Value::Object(session.memory(is_full && parts.preview)));
            }
        }
        match (&self.validated, &self.preview) {
            (Some(value), _) => {
                // Exact or absent: an empty list is a valid value, too.
                object.insert("validated".to_string(), value.clone());
            }
            (None, Some((shown, bytes, is_all))) => {
                object.insert("validated_bytes".to_string(), json!(bytes));
                // The excerpt of the value says more.
                if parts.preview && payload.value.is_none() {
                    object.insert("validated_preview".to_string(), json!(shown));
                    object.insert("validated_preview_truncated".to_string(), json!(!is_all));
                }
            }
            (None, None) => {}
        }
        if let Some(value) = &payload.value {
            match (&value.json, &value.left_out) {
                (Some(json), None) if self.validated.is_none() => {
                    object.insert("value".to_string(), json.clone());
                }
                (Some(json), Some(_)) => {
                    object.insert("value_preview".to_string(), json.clone());
                }
                _ => {}
            }
            if let Some(left_out) = &value.left_out {
                object.insert("left_out".to_string(), left_out.to_json());
                object.extend(payload.fetch().map(|form| ("fetch".to_string(), json!(form))));
            }
        }
        if is_full && parts.upstream && !payload.upstream_calls.is_empty() {
            object.insert("upstream_calls".to_string(), json!(payload.upstream_calls));
            object.insert("upstream_results".to_string(), json!(payload.upstream_results));
        }
        if !is_full && parts.upstream && payload.is_error() {
            let failed = payload.upstream_calls.iter().filter(|call| call["status"] == "error");
            let brief = |call: &Value| {
                let keys = ["server", "tool", "status", "reason"];
                Value::Object(keys.iter().map(|key| (key.to_string(), call[*key].clone())).collect())
            };
            let failed: Vec<Value> = failed.map(brief).collect();
            if !failed.is_empty() {
                object.insert("upstream_calls".to_string(), json!(failed));
            }
        }
        if let Some(metrics) = payload.metrics.as_ref().filter(|_| is_full && parts.metrics) {
            object.insert("ptc_metrics".to_string(), metrics.clone());
        }
        if self.is_cut(parts) {
            object.insert("truncated".to_string(), json!(true));
        } else if is_full {
            object.insert("truncated".to_string(), json!(false));
        }
        object
    }

    /// Builds a minimal reply that always fits.
    fn minimal(&self, payload: &Payload, profile: Profile, limits: &ReplyLimits) -> Reply {
        let is_error = payload.is_error();
        if profile == Profile::Slim {
            // Escaped as JSON, the text may be six times as long.
            let text = self.text(payload, Parts { prints: false, feedback: false, ..Parts::ALL });
            let text = format!("{}\n[truncated]", cut::bytes(&text, limits.envelope_bytes / 8).0);
            return Reply { is_error, text, structured: None, blocks: Arc::default() };
        }
        let mut object = Map::new();
        let mut put = |key: &str, value: Value| object.insert(key.to_string(), value);
        put("status", json!(if is_error { "error" } else { "ok" }));
        if let Some(reason) = payload.reason {
            put("reason", json!(reason.name()));
            put("message", json!(cut::bytes(&payload.message, 1024).0));
        }
        if let Some(value) = &payload.validated {
            put("validated_bytes", json!(value.to_string().len()));
        }
        if let Some(session) = &payload.session {
            put("session", json!(session.about));
        }
        put("truncated", json!(true));
        put("output_truncated", json!(true));
        let text = Value::Object(object.clone()).to_string();
        Reply { is_error, text, structured: Some(object), blocks: Arc::default() }
    }
}
