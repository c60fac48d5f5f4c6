//! OpenAI Responses.

use crate::reply::{End, Reply, TOKENS};
use serde_json::{Value, json};

fn part(reply: &Reply, text: &str) -> Value {
    match reply.end {
        End::Refused => json!({"type": "refusal", "refusal": text}),
        _ => json!({"type": "output_text", "text": text, "annotations": []}),
    }
}

fn items(reply: &Reply) -> Vec<Value> {
    let mut items = Vec::new();
    if let Some((thought, signature)) = &reply.thought {
        let summary = json!([{"type": "summary_text", "text": thought}]);
        items.push(
            json!({"type": "reasoning", "id": "rs_1", "summary": summary, "encrypted_content": signature}),
        );
    }
    if !reply.text.is_empty() {
        let content = [part(reply, &reply.text)];
        items.push(json!({
            "type": "message", "id": "msg_1", "role": "assistant", "status": "completed", "content": content,
        }));
    }
    for (id, name, args) in &reply.calls {
        items.push(json!({
            "type": "function_call", "id": format!("fc_{id}"), "call_id": id, "name": name,
            "arguments": args.to_string(), "status": "completed",
        }));
    }
    items
}

pub(super) fn whole(reply: &Reply) -> Value {
    let (read, cached, written) = TOKENS;
    let reason = match reply.end {
        End::Cut => Some("max_output_tokens"),
        End::Filtered => Some("content_filter"),
        End::Done | End::Refused => None,
    };
    json!({
        "id": "resp_1", "object": "response", "created_at": 1, "model": "fake", "error": null,
        "status": if reason.is_some() { "incomplete" } else { "completed" },
        "incomplete_details": reason.map(|reason| json!({"reason": reason})),
        "instructions": null, "metadata": {}, "parallel_tool_calls": true, "temperature": 1.0, "top_p": 1.0,
        "tool_choice": "auto", "tools": [], "output": items(reply),
        "usage": {
            "input_tokens": read, "output_tokens": written, "total_tokens": read + written,
            "input_tokens_details": {"cached_tokens": cached, "cache_write_tokens": 0},
            "output_tokens_details": {"reasoning_tokens": 0},
        },
    })
}

pub(super) fn events(reply: &Reply) -> Vec<Value> {
    let whole = whole(reply);
    let mut begun = whole.clone();
    begun["status"] = "in_progress".into();
    begun["output"] = json!([]);
    let mut events = vec![json!({"type": "response.created", "response": begun})];
    for (index, item) in items(reply).into_iter().enumerate() {
        let mut empty = item.clone();
        if item["type"] == "message" {
            empty["content"] = json!([]);
        }
        events.push(json!({"type": "response.output_item.added", "output_index": index, "item": empty}));
        if item["type"] == "message" {
            let at = |kind: &str| json!({"type": kind, "item_id": "msg_1", "output_index": index, "content_index": 0});
            let word = if reply.end == End::Refused { "refusal" } else { "output_text" };
            let mut added = at("response.content_part.added");
            added["part"] = part(reply, "");
            events.push(added);
            for half in reply.halves() {
                let mut delta = at(&format!("response.{word}.delta"));
                delta["delta"] = half.into();
                events.push(delta);
            }
            let mut done = at("response.content_part.done");
            done["part"] = part(reply, &reply.text);
            events.push(done);
        }
        events.push(json!({"type": "response.output_item.done", "output_index": index, "item": item}));
    }
    let kind = format!("response.{}", whole["status"].as_str().unwrap_or_default());
    events.push(json!({"type": kind, "response": whole}));
    for (number, event) in events.iter_mut().enumerate() {
        event["sequence_number"] = number.into();
    }
    events
}
