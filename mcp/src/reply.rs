//! What came of a call.

use crate::reason::Reason;
use crate::result_value::ResultValue;
use ptc_upstream::redact::Redactor;
use serde_json::{Map, Value, json};
use std::borrow::Cow;

/// What came of a program, in full. Which parts of it leave the server is decided once, in [`Payload::reply`].
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Payload {
    /// Why it failed.
    pub reason: Option<Reason>,
    /// What happened, if it failed.
    pub message: String,
    /// The printed value, or what the program failed with.
    pub result: Option<String>,
    /// What was printed.
    pub prints: Vec<String>,
    /// What happened, in words for the model.
    pub feedback: String,
    /// Warnings about the program, one line each.
    pub warnings: Vec<String>,
    /// The same value for machines, and what both leave out.
    pub value: Option<ResultValue>,
    /// Whether `result` is only a part of the value.
    pub truncated: bool,
    /// The value as JSON, where the client asked for a shape.
    pub validated: Option<Value>,
    /// Calls of upstream servers: `{server, tool, status, reason, …}`.
    pub upstream_calls: Vec<Value>,
    /// The beginnings of what they answered.
    pub upstream_results: Vec<Value>,
    /// What was measured.
    pub metrics: Option<Value>,
    /// What the model of a task was asked, and what it took; for the record only.
    pub planner_calls: Vec<Value>,
    /// The engine's own name for what went wrong, where `reason` is a wider one.
    pub detail_reason: Option<&'static str>,
    /// Which limit was passed, and by how much.
    pub detail: Option<Value>,
    /// The session that the program ran in.
    pub session: Option<Box<InSession>>,
    /// What a tool that runs no program answers. Every profile shows all of it.
    pub answer: Option<Map<String, Value>>,
}

/// What a reply tells of the session a program ran in.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct InSession {
    /// `session_id`, `turn` and sizes.
    pub about: Map<String, Value>,
    /// The stored preludes that the session started with: ids, versions and checksums. Only records of calls have them.
    pub preludes: Vec<Value>,
    /// Names that the program defined, or defined anew.
    pub changed_keys: Vec<String>,
    /// How their values begin; only the full view shows them.
    pub changed: Map<String, Value>,
    /// All names.
    pub stored_keys: Vec<String>,
    /// Whether one of `changed` was cut.
    pub memory_truncated: bool,
    /// Results that are kept as a note of what they were.
    pub history_notices: Vec<Value>,
    /// Whether nothing of the program was kept.
    pub rolled_back: bool,
}

/// A result of `tools/call`.
#[derive(Clone, PartialEq, Debug)]
pub struct Reply {
    /// Whether the call failed.
    pub is_error: bool,
    /// The text for the model.
    pub text: String,
    /// The same for machines.
    pub structured: Option<Map<String, Value>>,
}

impl Reply {
    /// As the protocol has it.
    pub fn to_json(&self) -> Value {
        let mut json = json!({"isError": self.is_error, "content": [{"type": "text", "text": self.text}]});
        if let Some(structured) = &self.structured {
            json["structuredContent"] = Value::Object(structured.clone());
        }
        json
    }
}

impl Payload {
    /// A failure.
    pub fn error(reason: Reason, message: impl Into<String>) -> Payload {
        Payload { reason: Some(reason), message: message.into(), ..Payload::default() }
    }

    /// A call that the client gave up.
    pub fn cancelled() -> Payload {
        Payload::error(Reason::Cancelled, "the call was cancelled before it was done")
    }

    /// What a tool that runs no program answers, the same in every profile.
    ///
    /// ```
    /// use ptc_mcp::{Payload, Profile};
    /// let closed = serde_json::json!({"status": "ok", "closed": true});
    /// let reply = Payload::answered(closed.as_object().unwrap().clone()).reply(Profile::Slim);
    /// assert!(reply.text.contains(r#""closed":true"#));
    /// assert_eq!(reply.structured.unwrap()["closed"], true);
    /// ```
    pub fn answered(answer: Map<String, Value>) -> Payload {
        Payload { answer: Some(answer), ..Payload::default() }
    }

    /// The same for one that failed.
    pub fn refused(reason: Reason, message: impl Into<String>) -> Payload {
        let payload = Payload::error(reason, message);
        let mut answer = Map::new();
        answer.insert("status".to_string(), json!("error"));
        answer.insert("reason".to_string(), json!(reason.name()));
        answer.insert("message".to_string(), json!(payload.message));
        Payload { answer: Some(answer), ..payload }
    }

    /// Whether the call failed.
    pub fn is_error(&self) -> bool {
        self.reason.is_some()
    }

    /// Takes secrets out of all that came of the program.
    pub fn scrub(&mut self, redactor: &Redactor) {
        let clean = |text: &mut String| {
            if let Cow::Owned(clean) = redactor.scrub(text) {
                *text = clean;
            }
        };
        clean(&mut self.message);
        clean(&mut self.feedback);
        self.result.iter_mut().chain(&mut self.prints).chain(&mut self.warnings).for_each(clean);
        self.validated = self.validated.take().map(|value| redactor.scrub_json(value));
        if let Some(value) = &mut self.value {
            value.json = value.json.take().map(|json| redactor.scrub_json(json));
        }
    }
}
