//! Anthropic Messages.

use crate::reply::{End, Reply, TOKENS};
use serde_json::{Value, json};

fn usage() -> Value {
    let (read, cached, written) = TOKENS;
    json!({
        "input_tokens": read - cached, "cache_creation_input_tokens": 0, "cache_read_input_tokens": cached,
        "output_tokens": written,
    })
}

fn stop(reply: &Reply) -> &'static str {
    match reply.end {
        End::Cut => "max_tokens",
        End::Refused => "refusal",
        End::Done | End::Filtered if reply.calls.is_empty() => "end_turn",
        End::Done | End::Filtered => "tool_use",
    }
}

fn message(content: Value, stop_reason: Value) -> Value {
    json!({
        "id": "msg_1", "type": "message", "role": "assistant", "model": "fake", "content": content,
        "stop_reason": stop_reason, "stop_sequence": null, "usage": usage(),
    })
}

pub(super) fn whole(reply: &Reply) -> Value {
    let mut content = Vec::new();
    if let Some((thinking, signature)) = &reply.thought {
        content.push(json!({"type": "thinking", "thinking": thinking, "signature": signature}));
    }
    if !reply.text.is_empty() {
        content.push(json!({"type": "text", "text": reply.text}));
    }
    for (id, name, args) in &reply.calls {
        content.push(json!({"type": "tool_use", "id": id, "name": name, "input": args}));
    }
    message(content.into(), stop(reply).into())
}

pub(super) fn events(reply: &Reply) -> Vec<Value> {
    let mut blocks: Vec<(Value, Vec<Value>)> = Vec::new();
    if let Some((thinking, signature)) = &reply.thought {
        let deltas = vec![
            json!({"type": "thinking_delta", "thinking": thinking}),
            json!({"type": "signature_delta", "signature": signature}),
        ];
        blocks.push((json!({"type": "thinking", "thinking": "", "signature": ""}), deltas));
    }
    if !reply.text.is_empty() {
        let deltas = reply.halves().into_iter().map(|text| json!({"type": "text_delta", "text": text}));
        blocks.push((json!({"type": "text", "text": ""}), deltas.collect()));
    }
    for (id, name, args) in &reply.calls {
        let args = args.to_string();
        let (first, rest) = args.split_at(args.len() / 2);
        let deltas = [first, rest].map(|json| json!({"type": "input_json_delta", "partial_json": json}));
        blocks.push((json!({"type": "tool_use", "id": id, "name": name, "input": {}}), deltas.into()));
    }
    let mut events = vec![
        json!({"type": "message_start", "message": message(json!([]), Value::Null)}),
        json!({"type": "ping"}),
    ];
    for (index, (block, deltas)) in blocks.into_iter().enumerate() {
        events.push(json!({"type": "content_block_start", "index": index, "content_block": block}));
        for delta in deltas {
            events.push(json!({"type": "content_block_delta", "index": index, "delta": delta}));
        }
        events.push(json!({"type": "content_block_stop", "index": index}));
    }
    let delta = json!({"stop_reason": stop(reply), "stop_sequence": null});
    events.push(json!({"type": "message_delta", "delta": delta, "usage": usage()}));
    events.push(json!({"type": "message_stop"}));
    events
}
