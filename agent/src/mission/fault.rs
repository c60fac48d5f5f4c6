//! Failures of missions: missions that cannot start, and faults of programs.

use super::step::{Fail, json_of};
use crate::definition::BuildError;
use ptc_bytecode::{Code, Datum, Node, Subject};
use ptc_contract::data::Tree;
use ptc_contract::firewall::{redact, without_media};
use ptc_contract::keys::{normalize_key, normalize_keys};
use ptc_model::LlmError;
use ptc_runtime::Failure;
use serde_json::{Value, json};

/// Definitions that exceed the memory limit.
#[derive(Clone, Copy)]
pub(super) struct MemoryOverflow {
    /// Bytes that would be in use.
    pub bytes: usize,
    pub limit: usize,
}

/// Returns the failure of a mission whose definitions are too large.
pub(super) fn too_much(over: MemoryOverflow) -> Fail {
    let MemoryOverflow { bytes, limit } = over;
    let message = format!("definitions use {bytes} of {limit} bytes (`memory_limit`)");
    Fail::new("memory_exceeded", message)
        .details(json!({"kind": "memory_map", "bytes": bytes, "limit": limit}))
}

/// Name of the limit, in records of turns that defined too much.
pub(super) const MEMORY_LIMIT: &str = "memory_limit";

/// Returns the limit that stopped a program, if one did.
pub(crate) fn limit_of(code: Code) -> Option<&'static str> {
    (code.is_compile_limit() || code.is_run_limit()).then(|| code.reason())
}

/// Returns the failure of a program in the form of a step.
pub(crate) fn program_fail(failure: &Failure) -> Fail {
    let code = failure.diagnostic().code;
    if code == Code::Fail {
        let mut fail = failed_with(failure);
        fail.from_program = true;
        fail.public.iter_mut().for_each(|public| public.from_program = true);
        return fail;
    }
    Fail::new(reason_of(code), failure.diagnostic().message.clone()).details(details_of(code, failure))
}

/// Returns the failure that `(fail v)` states.
pub(super) fn failed_with(failure: &Failure) -> Fail {
    let Some(value) = &failure.value else {
        return Fail::new("failed", failure.diagnostic().message.clone());
    };
    let fail = told_by(value);
    let public = redact(value);
    match public == *value {
        true => fail,
        false => Fail { public: Some(Box::new(told_by(&public))), ..fail },
    }
}

/// Reasons reserved for the system. A program that could use one would make a host believe that the mission ran out of
/// time, was cancelled or was never started.
const SYSTEM_REASONS: &[&str] = &[
    "analysis_error",
    "budget_callback_exceeded",
    "budget_exhausted",
    "cancelled",
    "chain_error",
    "chained_failure",
    "consecutive_failures",
    "cost_budget_exceeded",
    "empty_response",
    "eval_error",
    "internal_error",
    "invalid_option",
    "invalid_signature",
    "invalid_tool",
    "json_parse_error",
    "llm_error",
    "llm_required",
    "max_depth_exceeded",
    "max_turns_exceeded",
    "memory_exceeded",
    "missing_prompt",
    "mission_timeout",
    "model_not_found",
    "model_refused",
    "multiple_code_blocks",
    "must_return_missing",
    "name_conflict",
    "no_code_found",
    "not_compilable",
    "parse_error",
    "partial_side_effects",
    "plan_differs",
    "planned",
    "unknown_answer",
    "prelude_attach_failed",
    "reply_cut",
    "reply_filtered",
    "reserved_tool_name",
    "template_error",
    "timeout",
    "tool_call_limit_exceeded",
    "tool_error",
    "tool_not_found",
    "turn_budget_exhausted",
    "validation_error",
];

fn is_system_reason(name: &str) -> bool {
    SYSTEM_REASONS.iter().any(|reason| ptc_contract::keys::same(reason, name))
}

/// Returns why `(fail v)` must not end the mission while the model can correct it; None if it may. A map is a failure
/// with a name, so it needs a reason and a message; any other value is the message itself.
pub(super) fn unfit_fail(failure: &Failure) -> Option<String> {
    let value = normalize_keys(failure.value.as_ref()?);
    let tree = Tree::new(&value);
    let root = tree.root();
    if !matches!(root.node(), Node::Map(_)) {
        return None;
    }
    let name = root.get("reason").and_then(|view| view.name()).filter(|name| !name.trim().is_empty());
    let message = root.get("message").map(|view| view.node());
    let has_message = matches!(message, Some(Node::Str(text)) if !text.trim().is_empty());
    let needs = match (name, has_message) {
        (None, false) => "needs `:reason`, a keyword, and `:message`, a text".to_string(),
        (None, true) => "needs `:reason`, a keyword".to_string(),
        (Some(_), false) => "needs `:message`, a text".to_string(),
        // Quoting is safe: a firewalled text that equals such a name reveals no more than the refusal itself.
        (Some(name), true) if is_system_reason(name) => {
            format!("cannot have the reason `{}`, which is one of the system's own", normalize_key(name))
        }
        (Some(_), true) => return None,
    };
    Some(format!("`fail` {needs}: (fail {{:reason :not_found :message \"why\"}})"))
}

/// Returns the failure that the value of `(fail v)` states.
fn told_by(value: &Datum) -> Fail {
    // Failures are shown to models and written to traces.
    let value = normalize_keys(&without_media(value));
    let tree = Tree::new(&value);
    let root = tree.root();
    let printed =
        || ptc_contract::data::show(root, ptc_contract::data::Shown { chars: 2000, ..Default::default() });
    let text = |key: &str| {
        root.get(key).map(|view| match view.node() {
            Node::Str(text) => text.to_string(),
            _ => ptc_contract::data::plain(view),
        })
    };
    let reason = text("reason").filter(|reason| !reason.trim().is_empty() && !is_system_reason(reason));
    match (root.node(), reason) {
        (Node::Map(_), Some(reason)) => Fail {
            reason: normalize_key(&reason).into_owned(),
            message: text("message").unwrap_or_else(printed),
            op: text("op"),
            details: root.get("details").map_or(Value::Null, |view| json_of(&view.datum())),
            ..Fail::default()
        },
        (Node::Map(_), None) => Fail {
            op: text("op"),
            details: root.get("details").map_or_else(|| json_of(&value), |view| json_of(&view.datum())),
            ..Fail::new("failed", text("message").unwrap_or_else(printed))
        },
        (Node::Str(text), _) => Fail::new("failed", text.to_string()),
        _ => Fail::new("failed", printed()),
    }
}

/// Returns the mission's reason for a fault of a program.
pub(super) fn reason_of(code: Code) -> &'static str {
    match code {
        Code::ParseError => "parse_error",
        limit if limit.is_compile_limit() => "parse_error",
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
        Code::InvalidToolArgs
        | Code::RefusedArguments
        | Code::ValidationError
        | Code::PrivateToolArgsError => "validation_error",
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
        Code::UnknownAnswer => match failure.diagnostic().subject.as_deref() {
            Some(Subject::Write(number)) => details.insert("write".to_string(), json!(number)),
            _ => None,
        },
        _ => None,
    };
    Value::Object(details)
}

/// Returns the failure of a mission that cannot start: the first problem, and all of them in its details.
pub(super) fn fail_of(problems: &[BuildError]) -> Fail {
    let Some(first) = problems.first() else { return Fail::new("invalid_option", "the agent is not valid") };
    let fail = Fail::new(first.reason.name(), first.message.clone());
    if problems.len() == 1 {
        return fail;
    }
    let all: Vec<String> = problems.iter().map(ToString::to_string).collect();
    fail.details(json!({"problems": all}))
}

pub(super) fn no_model(error: &LlmError) -> Fail {
    let fail = Fail::new(error.reason(), error.message.clone());
    match &error.cause {
        Some(cause) => fail.details(json!({"cause": cause})),
        None => fail,
    }
}

/// Returns the failure of a mission whose data should come from a failed step.
pub(super) fn chained(fail: &Fail) -> Fail {
    let told = |fail: &Fail| {
        let message = format!("the previous step failed with {fail}");
        let detail = json!(fail);
        Fail::new("chained_failure", message).details(json!({"original_failure": detail, "upstream": detail}))
    };
    Fail { public: fail.public.as_deref().map(|public| Box::new(told(public))), ..told(fail) }
}
