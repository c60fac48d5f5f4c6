//! Google's `generateContent`.

use crate::reply::{End, Reply, TOKENS};
use serde_json::{Value, json};

/// Returns a candidate with these parts; the last one of a reply has a stop reason.
fn piece(parts: Vec<Value>, finish: Option<&str>) -> Value {
    let (read, cached, written) = TOKENS;
    let mut candidate = json!({"index": 0, "content": {"role": "model", "parts": parts}});
    if let Some(finish) = finish {
        candidate["finishReason"] = finish.into();
    }
    json!({
        "candidates": [candidate], "modelVersion": "fake", "responseId": "r_1",
        "usageMetadata": {
            "promptTokenCount": read, "cachedContentTokenCount": cached, "candidatesTokenCount": written - 2,
            "thoughtsTokenCount": 2, "totalTokenCount": read + written,
        },
    })
}

fn finish(reply: &Reply) -> &'static str {
    match reply.end {
        End::Cut => "MAX_TOKENS",
        End::Filtered => "SAFETY",
        End::Done | End::Refused => "STOP",
    }
}

/// Returns the parts of a reply. A thought's signature is on the first call, or else on the last text.
fn parts(reply: &Reply, texts: &[&str]) -> Vec<Value> {
    let mut parts = Vec::new();
    if let Some((thought, _)) = &reply.thought {
        parts.push(json!({"text": thought, "thought": true}));
    }
    parts.extend(texts.iter().map(|text| json!({"text": text})));
    let mut signed = parts.len().saturating_sub(1);
    for (i, (id, name, args)) in reply.calls.iter().enumerate() {
        if i == 0 {
            signed = parts.len();
        }
        parts.push(json!({"functionCall": {"id": id, "name": name, "args": args}}));
    }
    if let (Some((_, signature)), Some(part)) = (&reply.thought, parts.get_mut(signed)) {
        part["thoughtSignature"] = signature.clone().into();
    }
    parts
}

pub(super) fn whole(reply: &Reply) -> Value {
    let texts: Vec<&str> = Some(reply.text.as_str()).filter(|text| !text.is_empty()).into_iter().collect();
    piece(parts(reply, &texts), Some(finish(reply)))
}

pub(super) fn events(reply: &Reply) -> Vec<Value> {
    let mut events: Vec<Value> =
        parts(reply, &reply.halves()).into_iter().map(|part| piece(vec![part], None)).collect();
    events.push(piece(Vec::new(), Some(finish(reply))));
    events
}
