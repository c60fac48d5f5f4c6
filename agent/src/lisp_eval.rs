//! The tool `lisp_eval`, through which models send programs and get results back. Shared by all surfaces that offer it.
//!
//! ```
//! use ptc_agent::lisp_eval::{self, ErrorReply, Success};
//! use ptc_model::ToolCall;
//! let call = ToolCall::read(Some("c1"), "lisp_eval", r#"{"program": "(+ 1 2)"}"#);
//! assert_eq!(lisp_eval::program(&call).unwrap(), "(+ 1 2)");
//!
//! let success = Success { result: Some("user=> 3".into()), ..Success::default() };
//! assert_eq!(success.render(), r#"{"status":"ok","result":"user=> 3","prints":[],"feedback":"","truncated":false}"#);
//! let failed = ErrorReply::new("fail", "no rows").result("{:reason :no_rows}");
//! assert!(failed.render().starts_with(r#"{"status":"error","reason":"fail""#));
//! ```

use crate::prompt::FormatOptions;
use ptc_bytecode::{Code, Datum, Node};
use ptc_contract::data::{Shown, Tree, show_public_cut};
use ptc_contract::firewall::{FIREWALLED, is_firewalled};
use ptc_model::{ToolCall, ToolSpec};
use serde::Serialize;
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// Name of the tool.
pub const NAME: &str = "lisp_eval";

/// Prefix of a printed result.
pub const PROMPT: &str = "user=> ";

/// Place where the tool is offered; each has its own description, which never changes within a release.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Profile {
    /// Agents that answer with programs: it is the only tool that their model is offered.
    AppTools,
    /// Agents that answer in text: other tools may be offered too.
    Text,
    /// Clients of the MCP server: data comes with each call, and nothing is kept.
    Mcp,
}

impl Profile {
    /// Returns the tool's description for models.
    pub fn description(self) -> &'static str {
        match self {
            Profile::AppTools => include_str!("../prompts/lisp_eval_app_tools.md").trim_ascii(),
            Profile::Text => include_str!("../prompts/lisp_eval_text.md").trim_ascii(),
            Profile::Mcp => include_str!("../prompts/lisp_eval_mcp.md").trim_ascii(),
        }
    }

    /// Returns the tool as it is offered to models.
    pub fn spec(self) -> ToolSpec {
        ToolSpec {
            name: NAME.to_string(),
            description: self.description().to_string(),
            parameters: json!({
                "type": "object",
                "properties": {"program": {"type": "string", "description": "A PTC-Lisp program."}},
                "required": ["program"],
                "additionalProperties": false,
            }),
        }
    }
}

/// Returns the program of a call, or an error for its arguments.
pub fn program(call: &ToolCall) -> Result<&str, ErrorReply> {
    let wrong = |message: &str| Err(ErrorReply::new("args_error", message));
    let args = match &call.args {
        Ok(args) => args,
        Err(error) => return wrong(error),
    };
    match args.get("program") {
        Some(Value::String(program)) if !program.trim().is_empty() => Ok(program),
        Some(Value::String(_)) => wrong("`program` is blank; send a PTC-Lisp program"),
        Some(_) => wrong("`program` must be a string: a PTC-Lisp program"),
        None => wrong("`program` is missing: send {\"program\": \"(+ 1 2)\"}"),
    }
}

/// Reply to a program that succeeded.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Success {
    /// Printed value after [`PROMPT`]; None for nil.
    pub result: Option<String>,
    /// Printed texts.
    pub prints: Vec<String>,
    /// Feedback as text.
    pub feedback: String,
    /// Flag: something shown was cut.
    pub truncated: bool,
    /// Definitions; None on surfaces that keep nothing.
    pub memory: Option<Memory>,
    /// Value as JSON, where a caller checked it.
    pub validated: Option<Value>,
}

/// Definitions, as a reply shows them.
#[derive(Clone, PartialEq, Debug, Default, Serialize)]
pub struct Memory {
    /// New or changed definitions, with the beginning of each value.
    pub changed: BTreeMap<String, String>,
    /// Names of all definitions.
    pub stored_keys: Vec<String>,
    /// Flag: one of the shown values was cut.
    pub truncated: bool,
}

/// Limits and redaction of values in replies.
pub struct Preview<'p> {
    /// Items shown of each collection.
    pub items: usize,
    /// Characters shown of a value.
    pub chars: usize,
    /// Function that removes secrets, applied before anything is cut.
    pub redact: &'p mut dyn FnMut(&str) -> String,
}

impl<'p> Preview<'p> {
    /// Returns the default limits of replies.
    pub fn usual(redact: &'p mut dyn FnMut(&str) -> String) -> Preview<'p> {
        let format = FormatOptions::default();
        Preview { items: format.result_limit, chars: format.preview_max_chars, redact }
    }

    /// Shows a value, and returns whether anything was left out.
    pub fn show(&mut self, value: &Datum) -> (String, bool) {
        let limits = Shown { items: self.items, string: 1000, chars: usize::MAX, depth: 8 };
        let (whole, is_partial) = show_public_cut(Tree::new(value).root(), limits);
        let public = (self.redact)(&whole);
        let shown = ptc_contract::data::cut(&public, self.chars);
        let is_cut = shown != public;
        (shown, is_partial || is_cut)
    }
}

impl Memory {
    /// Reports these definitions as new ones; the caller adds the names of all.
    pub(crate) fn of(definitions: &[(String, Datum)], preview: &mut Preview<'_>) -> Memory {
        let mut memory = Memory::default();
        for (name, value) in definitions {
            let (shown, is_cut) = match is_firewalled(name) {
                true => (FIREWALLED.to_string(), false),
                false => preview.show(value),
            };
            memory.truncated |= is_cut;
            memory.changed.insert(name.clone(), shown);
        }
        memory
    }
}

impl Success {
    /// Returns a reply with only a value.
    pub fn of(value: &Datum, preview: &mut Preview<'_>) -> Success {
        if value.nodes() == [Node::Nil] {
            return Success::default();
        }
        let (shown, truncated) = preview.show(value);
        Success { result: Some(format!("{PROMPT}{shown}")), truncated, ..Success::default() }
    }

    /// Renders the reply for the model.
    pub fn render(&self) -> String {
        #[derive(Serialize)]
        struct Wire<'s> {
            status: &'static str,
            #[serde(skip_serializing_if = "Option::is_none")]
            result: Option<&'s String>,
            prints: &'s [String],
            feedback: &'s str,
            truncated: bool,
            #[serde(skip_serializing_if = "Option::is_none")]
            memory: Option<&'s Memory>,
            #[serde(skip_serializing_if = "Option::is_none")]
            validated: Option<&'s Value>,
        }
        let memory_cut = self.memory.as_ref().is_some_and(|memory| memory.truncated);
        text(&Wire {
            status: "ok",
            result: self.result.as_ref(),
            prints: &self.prints,
            feedback: &self.feedback,
            truncated: self.truncated || memory_cut,
            memory: self.memory.as_ref(),
            validated: self.validated.as_ref(),
        })
    }
}

/// Reply to a call that failed.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct ErrorReply {
    status: &'static str,
    /// Kind of failure.
    pub reason: String,
    /// Description of the failure.
    pub message: String,
    /// Feedback as text for the model; absent from replies that are about the call and not about a program.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub feedback: Option<String>,
    /// Printed value that the program failed with.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub result: Option<String>,
}

impl ErrorReply {
    /// Returns the reply to a failed program, with the message as feedback.
    pub fn new(reason: impl Into<String>, message: impl Into<String>) -> ErrorReply {
        let message = message.into();
        ErrorReply { feedback: Some(message.clone()), ..ErrorReply::protocol(reason, message) }
    }

    /// Returns the reply to a call that failed before any program ran: an unknown tool, or several calls at once.
    pub fn protocol(reason: impl Into<String>, message: impl Into<String>) -> ErrorReply {
        let (reason, message) = (reason.into(), message.into());
        ErrorReply { status: "error", reason, message, feedback: None, result: None }
    }

    /// Replaces the feedback.
    #[must_use]
    pub fn feedback(mut self, text: impl Into<String>) -> ErrorReply {
        self.feedback = Some(text.into());
        self
    }

    /// Adds the value that the program failed with.
    #[must_use]
    pub fn result(mut self, printed: impl Into<String>) -> ErrorReply {
        self.result = Some(printed.into());
        self
    }

    /// Renders the reply for the model.
    pub fn render(&self) -> String {
        text(self)
    }
}

/// Returns the reason that replies give for a fault of a program.
pub(crate) fn wire_reason(code: Code) -> &'static str {
    match code as u16 {
        100..=299 => "parse_error",
        _ => match code {
            Code::Timeout | Code::FuelExceeded | Code::LoopLimitExceeded | Code::Cancelled => "timeout",
            Code::MemoryExceeded | Code::StackExceeded => "memory_limit",
            Code::Fail => "fail",
            _ => "runtime_error",
        },
    }
}

fn text(value: &impl Serialize) -> String {
    // Strings, lists and maps with string keys always serialise.
    serde_json::to_string(value)
        .unwrap_or_else(|_| r#"{"status":"error","reason":"runtime_error"}"#.to_string())
}
