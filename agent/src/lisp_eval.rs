//! The tool `lisp_eval`: how a model sends a program through the tools of its provider, and what it gets back. The
//! same on every surface that has the tool.
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

/// What the tool is called by.
pub const NAME: &str = "lisp_eval";

/// What stands before a printed result.
pub const PROMPT: &str = "user=> ";

/// Where the tool is offered; each place has a description of its own, which never changes within a release.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Profile {
    /// To agents that answer with programs: it is the only tool their model is offered.
    AppTools,
    /// To agents that answer in text: other tools may stand beside it.
    Text,
    /// To clients of the server: data comes with each call, and nothing is kept.
    Mcp,
}

impl Profile {
    /// What a model is told about the tool.
    pub fn description(self) -> &'static str {
        match self {
            Profile::AppTools => include_str!("../prompts/lisp_eval_app_tools.md").trim_ascii(),
            Profile::Text => include_str!("../prompts/lisp_eval_text.md").trim_ascii(),
            Profile::Mcp => include_str!("../prompts/lisp_eval_mcp.md").trim_ascii(),
        }
    }

    /// The tool as it is offered.
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

/// The program of a call, or what is wrong with its arguments.
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

/// What a program that ended well gives.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Success {
    /// The printed value behind [`PROMPT`]; None for nil.
    pub result: Option<String>,
    /// What was printed.
    pub prints: Vec<String>,
    /// What happened, in words.
    pub feedback: String,
    /// Whether anything that is shown was cut.
    pub truncated: bool,
    /// Definitions; None on surfaces that keep nothing.
    pub memory: Option<Memory>,
    /// The value as JSON, where a caller checked it.
    pub validated: Option<Value>,
}

/// Definitions, as a reply shows them.
#[derive(Clone, PartialEq, Debug, Default, Serialize)]
pub struct Memory {
    /// New or changed ones and how they begin.
    pub changed: BTreeMap<String, String>,
    /// All names.
    pub stored_keys: Vec<String>,
    /// Whether one of them was cut.
    pub truncated: bool,
}

/// How values are shown in replies.
pub struct Preview<'p> {
    /// So many items of any collection.
    pub items: usize,
    /// So many characters of a value.
    pub chars: usize,
    /// What must not appear is taken out before anything is cut.
    pub redact: &'p mut dyn FnMut(&str) -> String,
}

impl<'p> Preview<'p> {
    /// As replies show values unless somebody says otherwise.
    pub fn usual(redact: &'p mut dyn FnMut(&str) -> String) -> Preview<'p> {
        let format = FormatOptions::default();
        Preview { items: format.result_limit, chars: format.preview_max_chars, redact }
    }

    /// A value, and whether anything was left out.
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
    /// These definitions as new ones; the names of all are for the caller to add.
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
    /// A value alone.
    pub fn of(value: &Datum, preview: &mut Preview<'_>) -> Success {
        if value.nodes() == [Node::Nil] {
            return Success::default();
        }
        let (shown, truncated) = preview.show(value);
        Success { result: Some(format!("{PROMPT}{shown}")), truncated, ..Success::default() }
    }

    /// As the model gets it.
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

/// What a call that did not end well gives.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct ErrorReply {
    status: &'static str,
    /// The kind of failure.
    pub reason: String,
    /// What happened.
    pub message: String,
    /// The same in words for the model; absent from replies that are about the call and not about a program.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub feedback: Option<String>,
    /// What the program failed with.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub result: Option<String>,
}

impl ErrorReply {
    /// Of a program: the message is the feedback, unless there is more to say.
    pub fn new(reason: impl Into<String>, message: impl Into<String>) -> ErrorReply {
        let message = message.into();
        ErrorReply { feedback: Some(message.clone()), ..ErrorReply::protocol(reason, message) }
    }

    /// Of a call that is no program's fault: an unknown tool, several at once.
    pub fn protocol(reason: impl Into<String>, message: impl Into<String>) -> ErrorReply {
        let (reason, message) = (reason.into(), message.into());
        ErrorReply { status: "error", reason, message, feedback: None, result: None }
    }

    /// The same with more to say.
    #[must_use]
    pub fn feedback(mut self, text: impl Into<String>) -> ErrorReply {
        self.feedback = Some(text.into());
        self
    }

    /// The same with what the program failed with.
    #[must_use]
    pub fn result(mut self, printed: impl Into<String>) -> ErrorReply {
        self.result = Some(printed.into());
        self
    }

    /// As the model gets it.
    pub fn render(&self) -> String {
        text(self)
    }
}

/// The name under which a fault of a program is told.
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
    // Strings, lists and maps with names: nothing here can fail to be written.
    serde_json::to_string(value)
        .unwrap_or_else(|_| r#"{"status":"error","reason":"runtime_error"}"#.to_string())
}
