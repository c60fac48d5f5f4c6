//! Chat Completions, of OpenAI and many others. Thoughts are in OpenRouter's form, since OpenAI has none there.

use crate::reply::{End, Reply, TOKENS};
use serde_json::{Value, json};

fn usage() -> Value {
    let (read, cached, written) = TOKENS;
    json!({
        "prompt_tokens": read, "completion_tokens": written, "total_tokens": read + written,
        "prompt_tokens_details": {"cached_tokens": cached},
    })
}

fn finish(reply: &Reply) -> &'static str {
    match reply.end {
        End::Cut => "length",
        End::Filtered => "content_filter",
        End::Done | End::Refused if reply.calls.is_empty() => "stop",
        End::Done | End::Refused => "tool_calls",
    }
}

fn calls(reply: &Reply) -> Value {
    let call = |(index, (id, name, args)): (usize, &(String, String, Value))| {
        json!({
            "index": index, "id": id, "type": "function",
            "function": {"name": name, "arguments": args.to_string()},
        })
    };
    reply.calls.iter().enumerate().map(call).collect()
}

/// Returns the field that holds the text.
fn field(reply: &Reply) -> &'static str {
    if reply.end == End::Refused { "refusal" } else { "content" }
}

pub(super) fn whole(reply: &Reply) -> Value {
    let mut message = json!({"role": "assistant", "content": null});
    if !reply.text.is_empty() {
        message[field(reply)] = reply.text.clone().into();
    }
    if !reply.calls.is_empty() {
        message["tool_calls"] = calls(reply);
    }
    if let Some((_, signature)) = &reply.thought {
        message["reasoning_details"] = json!([{"type": "reasoning.encrypted", "data": signature}]);
    }
    let choice = json!({"index": 0, "message": message, "finish_reason": finish(reply), "logprobs": null});
    json!({
        "id": "chat_1", "object": "chat.completion", "created": 1, "model": "fake", "choices": [choice],
        "usage": usage(),
    })
}

pub(super) fn events(reply: &Reply) -> Vec<Value> {
    let chunk = |choices: Value, usage: Value| {
        json!({
            "id": "chat_1", "object": "chat.completion.chunk", "created": 1, "model": "fake",
            "choices": choices, "usage": usage,
        })
    };
    let delta = |delta: Value, finish: Value| {
        chunk(json!([{"index": 0, "delta": delta, "finish_reason": finish}]), Value::Null)
    };
    let mut events = vec![delta(json!({"role": "assistant"}), Value::Null)];
    events.extend(reply.halves().into_iter().map(|text| delta(json!({field(reply): text}), Value::Null)));
    if !reply.calls.is_empty() {
        events.push(delta(json!({"tool_calls": calls(reply)}), Value::Null));
    }
    events.push(delta(json!({}), finish(reply).into()));
    events.push(chunk(json!([]), usage()));
    events
}
