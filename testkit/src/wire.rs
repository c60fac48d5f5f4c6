//! Wire formats of model providers: one reply, written in each of them, whole or in events.

mod anthropic;
mod chat;
mod gemini;
mod ollama;
mod responses;

use crate::http::Request;
pub use crate::reply::{End, Reply, TOKENS};
use serde_json::{Map, Value, json};

/// A wire format. The path of a request determines it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Wire {
    /// Anthropic Messages.
    Anthropic,
    /// Chat Completions, of OpenAI and many others.
    Chat,
    /// OpenAI Responses.
    Responses,
    /// Google's `generateContent`.
    Gemini,
    /// Ollama's `/api/chat`.
    Ollama,
}

impl Wire {
    /// All formats.
    pub const ALL: [Wire; 5] = [Wire::Anthropic, Wire::Chat, Wire::Responses, Wire::Gemini, Wire::Ollama];

    /// Returns the format of a request.
    pub fn of(request: &Request) -> Option<Wire> {
        let path = request.path.split('?').next().unwrap_or_default();
        Some(match path {
            // Bedrock takes the same body, at a path that names the model.
            _ if path.ends_with("/messages") || path.ends_with("/invoke") => Wire::Anthropic,
            _ if path.ends_with("/chat/completions") => Wire::Chat,
            _ if path.ends_with("/responses") => Wire::Responses,
            _ if path.contains("enerateContent") => Wire::Gemini,
            _ if path.ends_with("/api/chat") => Wire::Ollama,
            _ => return None,
        })
    }

    /// Returns whether a request asks for events.
    pub fn is_streamed(self, request: &Request) -> bool {
        match self {
            Wire::Gemini => request.path.contains(":streamGenerateContent"),
            // Ollama streams if this is unset.
            Wire::Ollama => request.body["stream"] != json!(false),
            _ => request.body["stream"] == json!(true),
        }
    }

    /// Returns whether the format can express this stop reason.
    pub fn can_say(self, end: End) -> bool {
        match end {
            End::Done | End::Cut => true,
            End::Refused => !matches!(self, Wire::Gemini | Wire::Ollama),
            End::Filtered => !matches!(self, Wire::Anthropic | Wire::Ollama),
        }
    }

    /// Returns the reply as a body.
    pub fn whole(self, reply: &Reply) -> Value {
        match self {
            Wire::Anthropic => anthropic::whole(reply),
            Wire::Chat => chat::whole(reply),
            Wire::Responses => responses::whole(reply),
            Wire::Gemini => gemini::whole(reply),
            Wire::Ollama => ollama::whole(reply),
        }
    }

    /// Returns the reply as events.
    pub fn events(self, reply: &Reply) -> Vec<Value> {
        match self {
            Wire::Anthropic => anthropic::events(reply),
            Wire::Chat => chat::events(reply),
            Wire::Responses => responses::events(reply),
            Wire::Gemini => gemini::events(reply),
            Wire::Ollama => ollama::events(reply),
        }
    }

    /// Returns an error in the provider's form; an empty `name` leaves out its kind.
    pub fn error(self, status: u16, name: &str, message: &str) -> Value {
        let mut error = Map::new();
        error.insert("message".to_string(), message.into());
        if !name.is_empty() {
            let field = if self == Wire::Gemini { "status" } else { "type" };
            error.insert(field.to_string(), name.into());
        }
        match self {
            Wire::Anthropic => json!({"type": "error", "error": error}),
            Wire::Gemini if name.is_empty() => json!({"error": error}),
            Wire::Gemini => {
                error.insert("code".to_string(), status.into());
                json!({"error": error})
            }
            Wire::Chat => json!({"error": error}),
            // In a stream an error is an event, so it has the shape of one.
            Wire::Responses => json!({"type": "error", "code": name, "message": message, "error": error}),
            Wire::Ollama => json!({"error": message}),
        }
    }

    /// Returns an event as bytes.
    pub fn frame(self, event: &Value) -> Vec<u8> {
        let text = match self {
            Wire::Anthropic | Wire::Responses => {
                format!("event: {}\ndata: {event}\n\n", event["type"].as_str().unwrap_or("x"))
            }
            Wire::Chat | Wire::Gemini => format!("data: {event}\n\n"),
            Wire::Ollama => format!("{event}\n"),
        };
        text.into_bytes()
    }

    /// Returns the bytes after the last event.
    pub fn last_frame(self) -> &'static [u8] {
        if self == Wire::Chat { b"data: [DONE]\n\n" } else { b"" }
    }

    /// Returns the content type of a body of events.
    pub fn stream_type(self) -> &'static str {
        if self == Wire::Ollama { "application/x-ndjson" } else { "text/event-stream" }
    }
}
