//! Code shared by `lisp_eval` and `lisp_session_eval`.

use crate::profile::Profile;
use crate::reason::Reason;
use crate::tool::Offer;
use ptc_agent::prompt::reference_card;
use ptc_upstream::DISCOVERY_HINT;
use serde_json::{Value, json};

/// Returns everything a model must know to write a program.
pub(super) fn description(offer: &Offer<'_>, about: &str) -> String {
    let discovery = offer.catalogue.map(|_| DISCOVERY_HINT);
    let authoring = include_str!("../../prompts/authoring.md").trim_ascii();
    let profile = profile_note(offer.settings.profile());
    let parts = discovery.into_iter().chain([about, authoring, reference_card(), profile]);
    let preludes = offer.preludes.map(str::trim_end);
    parts.chain(preludes).chain(offer.catalogue).collect::<Vec<_>>().join("\n\n")
}

fn profile_note(profile: Profile) -> &'static str {
    match profile {
        Profile::Slim => "Results come back as text: the value after `user=> `, or `reason: message`.",
        Profile::Structured => {
            "Results come back as text and as an object: `status` is `ok` or `error`, then `value` (as text in `result` where JSON has no such value), `validated`, `reason`, `message`."
        }
        Profile::Debug => {
            "Results come back as an object with all that happened: `result`, `value`, `prints`, `feedback`, and calls of upstream servers."
        }
    }
}

/// Returns the JSON Schema of results, if the profile has structured ones. Both successes and errors include `more`.
pub(super) fn output(offer: &Offer<'_>, more: &[(&str, Value)]) -> Option<Value> {
    let profile = offer.settings.profile();
    if profile == Profile::Slim {
        return None;
    }
    let (is_full, has_upstreams) = (profile == Profile::Debug, offer.catalogue.is_some());
    let text = json!({"type": "string"});
    let flag = json!({"type": "boolean"});
    let mut shared = json!({"result": text, "truncated": flag, "output_truncated": flag});
    shared["value"] = json!({});
    shared["warnings"] = json!({"type": "array", "items": {"type": "string"}});
    shared["value_preview"] = json!({});
    shared["left_out"] = json!({"type": "array", "items": {"type": "object"}});
    shared["fetch"] = text.clone();
    for (name, schema) in more {
        shared[*name] = schema.clone();
    }
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
    let mut ok = shared.clone();
    ok["validated"] = json!({});
    ok["validated_bytes"] = json!({"type": "integer"});
    ok["validated_preview"] = text;
    ok["validated_preview_truncated"] = flag;
    shared["validated_bytes"] = json!({"type": "integer"});
    shared["detail"] = json!({"type": "object"});
    Some(either((ok, &["status"]), shared))
}

/// Returns the JSON Schema of an object for a success, or for an error with its reason.
pub(super) fn either((mut ok, required): (Value, &[&str]), mut error: Value) -> Value {
    ok["status"] = json!({"const": "ok"});
    error["status"] = json!({"const": "error"});
    let reasons: Vec<&str> = Reason::ALL.iter().map(|reason| reason.name()).collect();
    error["reason"] = json!({"enum": reasons});
    for key in ["message", "feedback", "detail_reason"] {
        error[key] = json!({"type": "string"});
    }
    json!({
        "type": "object",
        "oneOf": [
            {"properties": ok, "required": required},
            {"properties": error, "required": ["status", "reason", "message"]},
        ],
    })
}
