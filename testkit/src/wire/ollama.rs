//! Ollama's `/api/chat`.

use crate::reply::{End, Reply, TOKENS};
use serde_json::{Value, json};

fn line(message: Value) -> Value {
    json!({"model": "fake", "created_at": "2030-01-01T00:00:00Z", "message": message, "done": false})
}

fn calls(reply: &Reply) -> Value {
    let call = |(id, name, args): &(String, String, Value)| json!({"id": id, "function": {"name": name, "arguments": args}});
    reply.calls.iter().map(call).collect()
}

fn ended(mut line: Value, reply: &Reply) -> Value {
    let (read, _, written) = TOKENS;
    line["done"] = true.into();
    line["done_reason"] = if reply.end == End::Cut { "length" } else { "stop" }.into();
    line["prompt_eval_count"] = read.into();
    line["eval_count"] = written.into();
    line
}

pub(super) fn whole(reply: &Reply) -> Value {
    let mut message = json!({"role": "assistant", "content": reply.text});
    if let Some((thought, _)) = &reply.thought {
        message["thinking"] = thought.clone().into();
    }
    if !reply.calls.is_empty() {
        message["tool_calls"] = calls(reply);
    }
    ended(line(message), reply)
}

pub(super) fn events(reply: &Reply) -> Vec<Value> {
    let said = |text: &str| json!({"role": "assistant", "content": text});
    let mut lines = Vec::new();
    if let Some((thought, _)) = &reply.thought {
        let mut message = said("");
        message["thinking"] = thought.clone().into();
        lines.push(line(message));
    }
    lines.extend(reply.halves().into_iter().map(|text| line(said(text))));
    if !reply.calls.is_empty() {
        let mut message = said("");
        message["tool_calls"] = calls(reply);
        lines.push(line(message));
    }
    lines.push(ended(line(said("")), reply));
    lines
}
