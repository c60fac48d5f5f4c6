//! Replies of web services as results of MCP tools: JSON, text, images and other bytes.

use super::body::{essence, is_json};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::json;
use serde_json::value::RawValue;

/// Builds the text of a `tools/call` result; None if a reply that must be JSON is not. With `narrow`, all replies must be.
pub(super) fn result(body: &[u8], media: Option<&str>, narrow: bool) -> Option<String> {
    let trimmed = body.trim_ascii();
    let is_known_json = media.is_none_or(is_json);
    if narrow || is_known_json || trimmed.is_empty() {
        let read = match trimmed {
            [] => Some(r#"{"content":[]}"#.to_string()),
            // As structured content, null would be lost.
            b"null" => Some(r#"{"content":[{"type":"text","text":"null"}]}"#.to_string()),
            json => serde_json::from_slice::<&RawValue>(json)
                .ok()
                .map(|value| format!(r#"{{"content":[],"structuredContent":{value}}}"#)),
        };
        // Without a type, the bytes may be anything.
        if read.is_some() || narrow || media.is_some() {
            return read;
        }
    }
    let media = essence(media.unwrap_or("application/octet-stream"));
    let block = match (&*media, std::str::from_utf8(body)) {
        (kind, _) if kind.starts_with("image/") && kind != "image/svg+xml" => {
            json!({"type": "image", "data": STANDARD.encode(body), "mimeType": media})
        }
        (kind, _) if kind.starts_with("audio/") => {
            json!({"type": "audio", "data": STANDARD.encode(body), "mimeType": media})
        }
        (_, Ok(text)) => json!({"type": "text", "text": text}),
        (kind, Err(_)) if kind.starts_with("text/") => {
            json!({"type": "text", "text": String::from_utf8_lossy(body)})
        }
        _ => {
            let resource = json!({"uri": "data:", "mimeType": media, "blob": STANDARD.encode(body)});
            json!({"type": "resource", "resource": resource})
        }
    };
    Some(json!({"content": [block]}).to_string())
}
