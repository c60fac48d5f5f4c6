//! Outcomes of calls, and replies to them.

use crate::reason::Reason;
use crate::result_value::ResultValue;
use ptc_agent::lisp_eval::PROMPT;
use ptc_upstream::redact::Redactor;
use serde_json::{Map, Value, json};
use std::borrow::Cow;
use std::sync::Arc;

/// Full outcome of a call. [`Payload::reply`] alone decides which parts of it leave the server.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Payload {
    /// Reason of a failure.
    pub reason: Option<Reason>,
    /// Message of a failure.
    pub message: String,
    /// Printed value, or the value given to `fail`.
    pub result: Option<String>,
    /// Printed lines.
    pub prints: Vec<String>,
    /// Explanation for the model.
    pub feedback: String,
    /// Warnings about the program, one line each.
    pub warnings: Vec<String>,
    /// Value for programs, and what it and `result` leave out.
    pub value: Option<ResultValue>,
    /// True if `result` is only a part of the value.
    pub truncated: bool,
    /// Value as JSON, if the client asked for validation.
    pub validated: Option<Value>,
    /// Calls of upstream servers: `{server, tool, status, reason, …}`.
    pub upstream_calls: Vec<Value>,
    /// Beginnings of the servers' replies.
    pub upstream_results: Vec<Value>,
    /// Metrics of the calls.
    pub metrics: Option<Value>,
    /// Requests to the model of a task and their cost; only for records.
    pub planner_calls: Vec<Value>,
    /// The engine's own reason, if `reason` is more general.
    pub detail_reason: Option<&'static str>,
    /// Exceeded limit, and the actual amount.
    pub detail: Option<Value>,
    /// The session that the program ran in.
    pub session: Option<Box<InSession>>,
    /// Complete result of a tool that runs no program, shown in every profile.
    pub answer: Option<Map<String, Value>>,
}

/// Facts about the session a program ran in.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct InSession {
    /// `session_id`, `turn` and sizes.
    pub about: Map<String, Value>,
    /// The stored preludes that the session started with: ids, versions and checksums. Only records of calls have them.
    pub preludes: Vec<Value>,
    /// Names that the program defined or redefined.
    pub changed_keys: Vec<String>,
    /// Beginnings of their values; only shown in the debug profile.
    pub changed: Map<String, Value>,
    /// All names defined in the session.
    pub stored_keys: Vec<String>,
    /// True if a value in `changed` was cut.
    pub memory_truncated: bool,
    /// Notices about results that were too large and are kept only as a note.
    pub history_notices: Vec<Value>,
    /// True if nothing of the program was kept.
    pub rolled_back: bool,
}

/// A result of `tools/call`.
#[derive(Clone, PartialEq, Debug)]
pub struct Reply {
    /// True if the call failed.
    pub is_error: bool,
    /// Text for the model.
    pub text: String,
    /// Structured content for programs.
    pub structured: Option<Map<String, Value>>,
    /// Images and links, as content blocks after the text.
    pub blocks: Arc<[Value]>,
}

impl Reply {
    /// Returns the reply as JSON for the protocol.
    pub fn to_json(&self) -> Value {
        let text = json!({"type": "text", "text": self.text});
        let content: Vec<Value> = std::iter::once(text).chain(self.blocks.iter().cloned()).collect();
        let mut json = json!({"isError": self.is_error, "content": content});
        if let Some(structured) = &self.structured {
            json["structuredContent"] = Value::Object(structured.clone());
        }
        json
    }
}

impl Payload {
    /// Creates a failure.
    pub fn error(reason: Reason, message: impl Into<String>) -> Payload {
        Payload { reason: Some(reason), message: message.into(), ..Payload::default() }
    }

    /// Creates the failure of a cancelled call.
    pub fn cancelled() -> Payload {
        Payload::error(Reason::Cancelled, "the call was cancelled before it was done")
    }

    /// Creates the result of a tool that runs no program, shown in every profile.
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

    /// Creates the failure of a tool that runs no program, shown in every profile.
    pub fn refused(reason: Reason, message: impl Into<String>) -> Payload {
        let payload = Payload::error(reason, message);
        let mut answer = Map::new();
        answer.insert("status".to_string(), json!("error"));
        answer.insert("reason".to_string(), json!(reason.name()));
        answer.insert("message".to_string(), json!(payload.message));
        Payload { answer: Some(answer), ..payload }
    }

    /// Returns the size of the value that the program returned, as text in bytes; 0 for failures and for nil.
    pub fn returned_bytes(&self) -> u64 {
        match (&self.result, &self.value) {
            (Some(_), Some(value)) if !self.is_error() => PROMPT.len() as u64 + value.bytes,
            _ => 0,
        }
    }

    /// Returns whether the call failed.
    pub fn is_error(&self) -> bool {
        self.reason.is_some()
    }

    /// Removes secrets from the whole payload.
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
            // Content in base64 was scrubbed when it arrived, and is too large to be searched twice.
            let is_link = |block: &Value| block["type"] == "resource_link";
            if value.blocks.iter().any(is_link) {
                let scrub = |block: &Value| match is_link(block) {
                    true => redactor.scrub_json(block.clone()),
                    false => block.clone(),
                };
                value.blocks = value.blocks.iter().map(scrub).collect();
            }
        }
    }
}
