//! What tools take and give, as JSON Schema.

use super::ToolName;
use crate::profile::Profile;
use crate::reason::Reason;
use serde_json::{Value, json};

/// What a tool takes.
pub fn input(tool: ToolName) -> Value {
    let session_id = json!({"type": "string", "description": "What lisp_session_start gave."});
    let context = json!({
        "type": ["object", "null"],
        "description": "Data for the program: each member `name` is read as `data/name`. Keys keep their spelling, and (:name m) finds them.",
    });
    match tool {
        ToolName::Eval => object(program(context), &["program"]),
        ToolName::SessionEval => {
            let mut properties = program(context);
            properties["session_id"] = session_id;
            object(properties, &["session_id", "program"])
        }
        ToolName::Task => object(
            json!({
                "task": {"type": "string", "description": "What is wanted, in words."},
                "context": context,
                "constraints": {
                    "type": ["object", "null"],
                    "description": "What the answer must keep to.",
                    "properties": {
                        "max_items": {"type": "integer", "minimum": 1},
                        "preferred_fields": {"type": "array", "items": {"type": "string"}},
                    },
                },
            }),
            &["task"],
        ),
        ToolName::Debug => object(
            json!({
                "op": {"type": "string", "enum": ["stats", "recent", "get"]},
                "since_seconds": {"type": "integer", "minimum": 1, "maximum": 86_400},
                "errors_only": {"type": "boolean"},
                "limit": {"type": "integer", "minimum": 1, "maximum": 200},
                "request_id": {"type": "string"},
            }),
            &["op"],
        ),
        ToolName::SessionStart => object(
            json!({
                "title": {"type": "string", "description": "What the session is for."},
                "ttl_ms": {"type": "integer", "minimum": 1, "description": "How long it may live."},
                "mode": {
                    "type": "string", "enum": ["read_only", "write_capable"],
                    "description": "Whether its programs may write preludes.",
                },
                "preludes": {
                    "type": "array",
                    "description": "Stored preludes to start with: \"id\", \"id@version\", or {id, version, checksum}.",
                    "items": {
                        "anyOf": [
                            {"type": "string"},
                            {
                                "type": "object",
                                "properties": {
                                    "id": {"type": "string"},
                                    "version": {"type": "integer"},
                                    "checksum": {"type": "string"},
                                },
                                "required": ["id", "version"],
                            },
                        ],
                    },
                },
            }),
            &[],
        ),
        ToolName::SessionList => object(json!({}), &[]),
        ToolName::SessionListPreludes => object(json!({"session_id": session_id}), &[]),
        ToolName::SessionInspect => object(
            json!({
                "session_id": session_id,
                "view": {
                    "type": "string",
                    "enum": ["overview", "memory", "prints", "tool_calls", "history", "limits"],
                },
            }),
            &["session_id"],
        ),
        ToolName::SessionForget => object(
            json!({
                "session_id": session_id,
                "bindings": {"type": "array", "items": {"type": "string"}, "description": "Names to forget."},
                "clear": {
                    "type": "array",
                    "items": {
                        "type": "string",
                        "enum": ["memory", "history", "prints", "tool_calls", "upstream_calls"],
                    },
                },
            }),
            &["session_id"],
        ),
        ToolName::SessionClose => {
            object(json!({"session_id": session_id, "reason": {"type": "string"}}), &["session_id"])
        }
    }
}

fn program(context: Value) -> Value {
    json!({
        "program": {"type": "string", "description": "A PTC-Lisp program."},
        "context": context,
        "output_schema": {
            "type": "object",
            "description": "What the value must look like: a JSON Schema of type, properties, required, additionalProperties, items, enum, const, anyOf with null, minItems, maxItems and description.",
        },
    })
}

fn object(properties: Value, required: &[&str]) -> Value {
    let mut schema = json!({"type": "object", "properties": properties, "additionalProperties": false});
    if !required.is_empty() {
        schema["required"] = json!(required);
    }
    schema
}

/// What a tool gives, where the profile says so.
pub fn output(tool: ToolName, profile: Profile, has_upstreams: bool) -> Option<Value> {
    if tool == ToolName::Task {
        return Some(task());
    }
    let is_eval = matches!(tool, ToolName::Eval | ToolName::SessionEval);
    if !is_eval || profile == Profile::Slim {
        return None;
    }
    let is_full = profile == Profile::Debug;
    let text = json!({"type": "string"});
    let flag = json!({"type": "boolean"});
    let mut shared = json!({
        "result": text,
        "truncated": flag,
        "output_truncated": flag,
    });
    if is_full {
        shared["prints"] = json!({"type": "array", "items": {"type": "string"}});
        shared["feedback"] = text.clone();
    }
    if is_full && has_upstreams {
        shared["upstream_results"] = json!({"type": "array", "items": {"type": "object"}});
        shared["ptc_metrics"] = json!({"type": "object"});
    }
    if has_upstreams {
        shared["upstream_calls"] = json!({"type": "array", "items": {"type": "object"}});
    }
    if tool == ToolName::SessionEval {
        for key in ["memory", "session"] {
            shared[key] = json!({"type": "object"});
        }
        shared["history_notices"] = json!({"type": "array"});
    }
    let mut ok = shared.clone();
    ok["status"] = json!({"const": "ok"});
    ok["validated"] = json!({});
    ok["validated_bytes"] = json!({"type": "integer"});
    ok["validated_preview"] = text.clone();
    ok["validated_preview_truncated"] = flag;
    let mut error = shared;
    error["status"] = json!({"const": "error"});
    error["reason"] = reasons();
    for key in ["message", "feedback", "detail_reason"] {
        error[key] = text.clone();
    }
    error["detail"] = json!({"type": "object"});
    error["validated_bytes"] = json!({"type": "integer"});
    Some(json!({
        "type": "object",
        "oneOf": [
            {"properties": ok, "required": ["status"]},
            {"properties": error, "required": ["status", "reason", "message"]},
        ],
    }))
}

/// What a task gives, whatever the profile.
fn task() -> Value {
    let list = json!({"type": "array", "items": {"type": "object"}});
    let object = json!({"type": "object"});
    let text = json!({"type": "string"});
    let shared = json!({
        "warnings": list, "planner": object, "execution": object, "upstream_calls": list, "upstream_results": list,
        "program": text, "trace_id": text, "ptc_metrics": object,
    });
    let mut ok = shared.clone();
    ok["status"] = json!({"const": "ok"});
    ok["answer"] = text.clone();
    ok["structured_result"] = json!({});
    let mut error = shared;
    error["status"] = json!({"const": "error"});
    error["reason"] = reasons();
    for key in ["message", "feedback", "detail_reason"] {
        error[key] = text.clone();
    }
    error["detail"] = json!({});
    json!({
        "type": "object",
        "oneOf": [
            {"properties": ok, "required": ["status", "answer", "structured_result", "warnings", "planner", "execution", "upstream_calls"]},
            {"properties": error, "required": ["status", "reason", "message"]},
        ],
    })
}

fn reasons() -> Value {
    let reasons: Vec<&str> = Reason::ALL.iter().map(|reason| reason.name()).collect();
    json!({"enum": reasons})
}
