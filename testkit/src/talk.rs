//! A conversation with an obedient model, in every format. The providers' own clients talk to it as well as ours: it
//! refuses what the real providers refuse.
//!
//! | The last message of the user | What it does |
//! |---|---|
//! | `Call …`, with a tool on offer | calls the first tool with `{"q": "tea"}` |
//! | `Cut …`, `Refuse …`, `Filter …` | stops for that reason |
//! | `Fail 529 …` | an error with that status |
//! | anything else | says it back |
//!
//! A conversation that ends with the model's own text is continued, and cut again.
//!
//! If thoughts are requested, the model thinks first; after a call, its thought must come back with the result.

use crate::http::Request;
use crate::provider::{Answer, json};
use crate::wire::{End, Reply, Wire};
use serde_json::{Value, json as value};

/// Signature of the thoughts, as base64, which some clients decode.
pub const SIGNATURE: &str = "c2lnbmVk";
/// Text of the thoughts.
pub const THOUGHT: &str = "Tea is green.";

/// Returns the answer to a request.
pub fn answer(request: &Request) -> Answer {
    let Some(wire) = Wire::of(request) else {
        return json(404, &value!({"error": {"message": "there is no such path"}}));
    };
    let refused = |status: u16, name: &str, message: &str| json(status, &wire.error(status, name, message));
    if !has_key(wire, request) {
        return refused(401, "authentication_error", "there is no key");
    }
    let body = &request.body;
    let version = request.headers.get("anthropic-version");
    if wire == Wire::Anthropic && version.is_some_and(|version| version != "2023-06-01") {
        // Parameters that the following version removed.
        if let Some(name) = ["temperature", "top_p", "top_k"].iter().find(|name| body.get(**name).is_some()) {
            return refused(400, "invalid_request_error", &format!("{name}: no such parameter"));
        }
    }
    let said = last(wire, body);
    if let Some(result) = result(wire, said) {
        let needs_thought = thinks(wire, body);
        if needs_thought && !body.to_string().contains(thought_back(wire)) {
            return refused(400, "invalid_request_error", "the thought before the call is missing");
        }
        return Answer::Says(Reply::text(&format!("The tool said {result}")));
    }
    if said["role"] == "assistant" {
        return Answer::Says(Reply::text(" stop again").end(End::Cut));
    }
    let text = text(wire, said);
    let mut reply = match text.split_whitespace().next() {
        Some("Call") => match tool(wire, body) {
            Some(name) => Reply::default().call("call_1", name, value!({"q": "tea"})),
            None => return refused(400, "invalid_request_error", "no tool is on offer"),
        },
        Some("Fail") => {
            let status = text.split_whitespace().nth(1).and_then(|text| text.parse().ok()).unwrap_or(500);
            return refused(status, "overloaded_error", "as you wish");
        }
        Some("Cut") => Reply::text("I was about to").end(End::Cut),
        Some("Refuse") => Reply::text("I will not").end(End::Refused),
        Some("Filter") => Reply::text("Some words").end(End::Filtered),
        _ => Reply::text(&format!("You said {text}")),
    };
    if thinks(wire, body) {
        reply = reply.thought(THOUGHT, SIGNATURE);
    }
    Answer::Says(reply)
}

fn has_key(wire: Wire, request: &Request) -> bool {
    let has = |name: &str| request.headers.get(name).is_some_and(|value| !value.is_empty());
    match wire {
        // Anthropic's newer clients send a bearer token.
        Wire::Anthropic => (has("x-api-key") || has("authorization")) && has("anthropic-version"),
        Wire::Chat | Wire::Responses => has("authorization"),
        Wire::Gemini => has("x-goog-api-key"),
        Wire::Ollama => true,
    }
}

/// Returns the last message.
fn last(wire: Wire, body: &Value) -> &Value {
    let field = match wire {
        Wire::Responses => "input",
        Wire::Gemini => "contents",
        _ => "messages",
    };
    match &body[field] {
        Value::Array(all) => all.last().unwrap_or(&Value::Null),
        text => text,
    }
}

/// Returns the result of a call, if the message is one.
fn result(wire: Wire, said: &Value) -> Option<String> {
    let found = match wire {
        Wire::Anthropic => {
            let block = said["content"].as_array()?.iter().find(|block| block["type"] == "tool_result")?;
            match &block["content"] {
                Value::Array(parts) => &parts.first()?["text"],
                text => text,
            }
        }
        Wire::Chat | Wire::Ollama if said["role"] == "tool" => &said["content"],
        Wire::Responses if said["type"] == "function_call_output" => &said["output"],
        Wire::Gemini => {
            let parts = said["parts"].as_array()?.iter();
            let response = parts.filter_map(|part| part.get("functionResponse")).next()?;
            response["response"].as_object()?.values().next()?
        }
        _ => return None,
    };
    found.as_str().map(str::to_string)
}

/// Returns the text of a message.
fn text(wire: Wire, said: &Value) -> &str {
    let content = if wire == Wire::Gemini { &said["parts"] } else { &said["content"] };
    let words = match (said, content) {
        (Value::String(text), _) | (_, Value::String(text)) => Some(text.as_str()),
        (_, Value::Array(parts)) => parts.iter().find_map(|part| part["text"].as_str()),
        _ => None,
    };
    words.unwrap_or_default()
}

/// Returns the first offered tool.
fn tool(wire: Wire, body: &Value) -> Option<&str> {
    let name = match wire {
        Wire::Anthropic | Wire::Responses => "/tools/0/name",
        Wire::Chat | Wire::Ollama => "/tools/0/function/name",
        Wire::Gemini => "/tools/0/functionDeclarations/0/name",
    };
    body.pointer(name)?.as_str()
}

/// Returns whether thoughts are requested.
fn thinks(wire: Wire, body: &Value) -> bool {
    let asked = match wire {
        Wire::Anthropic => body.pointer("/thinking/type").filter(|kind| *kind != "disabled"),
        Wire::Chat | Wire::Responses => body.get("reasoning"),
        Wire::Gemini => body.pointer("/generationConfig/thinkingConfig"),
        Wire::Ollama => body.get("think").filter(|think| **think != value!(false)),
    };
    asked.is_some_and(|asked| !asked.is_null())
}

/// Returns the part of a thought that must come back.
fn thought_back(wire: Wire) -> &'static str {
    if wire == Wire::Ollama { THOUGHT } else { SIGNATURE }
}
