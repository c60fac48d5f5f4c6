//! What a mission says of faults of its programs.

use super::step::{Fail, json_of};
use crate::data::Tree;
use crate::keys::{normalize_key, normalize_keys};
use ptc_bytecode::{Code, Node};
use ptc_runtime::Failure;
use serde_json::{Value, json};

/// Definitions that are larger than allowed.
pub(super) fn too_much(bytes: usize, limit: usize) -> Fail {
    let message = format!("definitions use {bytes} of {limit} bytes (`memory_limit`)");
    Fail::new("memory_exceeded", message)
        .details(json!({"kind": "memory_map", "bytes": bytes, "limit": limit}))
}

/// What a turn that defined too much ran into.
pub(super) const MEMORY_LIMIT: &str = "memory_limit";

/// The limit a program ran into, if it was one that stopped it.
pub(crate) fn limit_of(code: Code) -> Option<&'static str> {
    let is_limit = matches!(
        code,
        Code::ProgramTooLarge
            | Code::SymbolLimitExceeded
            | Code::CompileTimeout
            | Code::CompileFuelExceeded
            | Code::CompileMemoryExceeded
            | Code::ToolCallLimitExceeded
            | Code::FuelExceeded
            | Code::MemoryExceeded
            | Code::StackExceeded
            | Code::Timeout
            | Code::LoopLimitExceeded
            | Code::OutputExceeded
            | Code::ParallelCapacityExceeded
    );
    is_limit.then(|| code.reason())
}

/// Why a program failed, as a step says it.
pub(crate) fn program_fail(failure: &Failure) -> Fail {
    let code = failure.diagnostic().code;
    if code == Code::Fail {
        return Fail { from_program: true, ..failed_with(failure) };
    }
    Fail::new(reason_of(code), failure.diagnostic().message.clone()).details(details_of(code, failure))
}

/// What `(fail v)` says.
pub(super) fn failed_with(failure: &Failure) -> Fail {
    let Some(value) = &failure.value else {
        return Fail::new("failed", failure.diagnostic().message.clone());
    };
    let value = normalize_keys(value);
    let tree = Tree::new(&value);
    let root = tree.root();
    let printed = || crate::data::show(root, crate::data::Shown { chars: 2000, ..Default::default() });
    let text = |key: &str| {
        root.get(key).map(|view| match view.node() {
            Node::Str(text) => text.to_string(),
            _ => crate::data::plain(view),
        })
    };
    match (root.node(), text("reason")) {
        (Node::Map(_), Some(reason)) => Fail {
            reason: normalize_key(&reason).into_owned(),
            message: text("message").unwrap_or_else(printed),
            op: text("op"),
            details: root.get("details").map_or(Value::Null, |view| json_of(&view.datum())),
            ..Fail::default()
        },
        (Node::Map(_), None) => Fail::new("failed", printed()).details(json_of(&value)),
        (Node::Str(text), _) => Fail::new("failed", text.to_string()),
        _ => Fail::new("failed", printed()),
    }
}

/// The reason of a mission for a fault of a program.
pub(super) fn reason_of(code: Code) -> &'static str {
    match code {
        Code::ParseError
        | Code::ProgramTooLarge
        | Code::SymbolLimitExceeded
        | Code::CompileTimeout
        | Code::CompileFuelExceeded
        | Code::CompileMemoryExceeded => "parse_error",
        Code::InvalidForm
        | Code::InvalidArity
        | Code::InvalidCondForm
        | Code::InvalidThreadForm
        | Code::UnsupportedPattern
        | Code::InvalidPlaceholder
        | Code::DuplicateKey
        | Code::UnboundVar
        | Code::CompileError
        | Code::PrivateToolUnauthorized => "analysis_error",
        Code::UnknownTool => "tool_not_found",
        Code::InvalidToolArgs | Code::ValidationError | Code::PrivateToolArgsError => "validation_error",
        Code::ToolError => "tool_error",
        Code::ToolCallLimitExceeded => "tool_call_limit_exceeded",
        Code::Timeout | Code::FuelExceeded | Code::LoopLimitExceeded => "timeout",
        Code::MemoryExceeded | Code::StackExceeded => "memory_exceeded",
        Code::PreludeAttachFailed => "prelude_attach_failed",
        Code::Cancelled => "cancelled",
        _ => "eval_error",
    }
}

pub(super) fn details_of(code: Code, failure: &Failure) -> Value {
    let place = failure.diagnostic().place(failure.source());
    let mut details = serde_json::Map::new();
    details.insert("code".to_string(), json!(code.reason()));
    if let Some(place) = place {
        details.insert("line".to_string(), json!(place.line));
        details.insert("column".to_string(), json!(place.column));
    }
    match code {
        Code::InvalidToolArgs => details.insert("kind".to_string(), json!("invalid_tool_args")),
        Code::MemoryExceeded | Code::StackExceeded => details.insert("kind".to_string(), json!("heap")),
        Code::ToolError => details.insert("class".to_string(), json!("eval_error")),
        _ => None,
    };
    Value::Object(details)
}
