//! Wire format: Google's Gemini, `generateContent`.

use super::pieces::{Piece, parts_behind_answers, pieces, tool_names};
use super::wire::{Assemble, Wire};
use super::{HttpOptions, bounds, errors};
use crate::{
    LlmError, LlmRequest, LlmResponse, Message, OpaquePart, Part, Role, StopReason, Tokens, ToolCall,
};
use serde_json::{Map, Value, json};
use std::collections::HashMap;

/// Field of a part that signs the thoughts behind it.
const SIGNATURE: &str = "thoughtSignature";
/// Object of a request that holds numbers and the schema.
const SETTINGS: &str = "generationConfig";

pub(super) struct Gemini;

impl Wire for Gemini {
    fn path(&self, model: &str, stream: bool) -> String {
        let method = if stream { "streamGenerateContent" } else { "generateContent" };
        // Names of tuned models contain their own folder.
        let folder = if model.contains('/') { "" } else { "models/" };
        format!("{folder}{model}:{method}")
    }

    fn stream_query(&self) -> Option<(&'static str, &'static str)> {
        Some(("alt", "sse"))
    }

    fn headers(&self, key: Option<&str>) -> Vec<(&'static str, String)> {
        key.map(|key| ("x-goog-api-key", key.to_string())).into_iter().collect()
    }

    fn drop_schema(&self, body: &mut Map<String, Value>) -> bool {
        let Some(Value::Object(settings)) = body.get_mut(SETTINGS) else { return false };
        settings.remove("responseMimeType");
        settings.remove("responseJsonSchema").is_some()
    }

    fn max_tokens(&self) -> &'static str {
        "maxOutputTokens"
    }

    fn settings(&self) -> Option<&'static str> {
        Some(SETTINGS)
    }

    fn body(&self, _: &HttpOptions, request: &LlmRequest, _: bool) -> Map<String, Value> {
        let mut body = Map::new();
        if !request.system.is_empty() {
            body.insert("systemInstruction".into(), json!({"parts": [{"text": request.system}]}));
        }
        body.insert("contents".into(), contents(&request.messages));
        if !request.tools.is_empty() {
            let tools = request.tools.iter().map(|tool| {
                json!({
                    "name": tool.name, "description": tool.description, "parametersJsonSchema": tool.parameters,
                })
            });
            let tools: Vec<Value> = tools.collect();
            body.insert("tools".into(), json!([{"functionDeclarations": tools}]));
        }
        if let Some(schema) = &request.schema {
            let settings = json!({"responseMimeType": "application/json", "responseJsonSchema": schema});
            body.insert(SETTINGS.into(), settings);
        }
        body
    }

    fn read(&self, body: &Value) -> Result<LlmResponse, LlmError> {
        let mut reply = Partial::default();
        reply.event(body)?;
        match reply.begun {
            true => Ok(reply.response()),
            false => Err(errors::bad("the reply has no `candidates[0]`")),
        }
    }

    fn assemble(&self) -> Box<dyn Assemble> {
        Box::<Partial>::default()
    }
}

/// Converts messages. Results of calls are said by the user, all in one message after the calls; so neighbours of the
/// same role are merged.
fn contents(messages: &[Message]) -> Value {
    let names = tool_names(messages);
    let mut all: Vec<(&str, Vec<Value>)> = Vec::new();
    // Only the newest models take images within results of calls; all take them next to the results.
    for message in parts_behind_answers(messages).iter() {
        let role = if message.role == Role::Assistant { "model" } else { "user" };
        let mut parts = parts(message, &names);
        match all.last_mut() {
            _ if parts.is_empty() => {}
            Some((last, together)) if *last == role => together.append(&mut parts),
            _ => all.push((role, parts)),
        }
    }
    all.into_iter().map(|(role, parts)| json!({"role": role, "parts": parts})).collect()
}

fn parts(message: &Message, names: &HashMap<&str, &str>) -> Vec<Value> {
    if message.role == Role::Tool {
        let id = message.tool_call_id.as_deref().unwrap_or_default();
        let name = names.get(id).copied().unwrap_or_default();
        let response = json!({"id": id, "name": name, "response": {"output": message.content}});
        return vec![json!({"functionResponse": response})];
    }
    let mut parts: Vec<Value> = message.parts.iter().map(attached).collect();
    // A signature precedes the piece that it signs.
    let (mut of_text, mut of_call) = (None, None);
    for piece in pieces(message, is_signed) {
        match piece {
            Piece::Opaque(part) => {
                match part.get("text").and_then(Value::as_str) {
                    None => of_call = Some(part),
                    // A signature at the end of a stream comes with an empty text.
                    Some("") => parts.push(part.clone()),
                    Some(text) => of_text = Some((text, part)),
                }
            }
            Piece::Text(text) => {
                let signed =
                    of_text.take().and_then(|(signed, part)| Some((text.strip_prefix(signed)?, part)));
                let rest = signed.map_or(text, |(rest, part)| {
                    parts.push(part.clone());
                    rest
                });
                parts.extend((!rest.is_empty()).then(|| json!({"text": rest})));
            }
            Piece::Call(call) => {
                let mut made = json!({"name": call.name, "args": call.args_or_empty()});
                if let Some(id) = &call.id {
                    made["id"] = id.clone().into();
                }
                let mut made = json!({"functionCall": made});
                if let Some(part) = of_call.take() {
                    made[SIGNATURE] = part[SIGNATURE].clone();
                }
                parts.push(made);
            }
        }
    }
    parts
}

/// Converts an image or a document.
fn attached(part: &Part) -> Value {
    json!({"inlineData": {"mimeType": part.media_type(), "data": part.data()}})
}

/// Returns whether a part is a signature that can be sent back: of a call, or of a text that the part holds.
fn is_signed(part: &Value) -> bool {
    part.get(SIGNATURE).and_then(Value::as_str).is_some_and(|signature| !signature.is_empty())
}

fn stop(reason: &str) -> StopReason {
    match reason {
        "STOP" => StopReason::EndTurn,
        "MAX_TOKENS" => StopReason::MaxTokens,
        "SAFETY" | "RECITATION" | "BLOCKLIST" | "PROHIBITED_CONTENT" | "SPII" | "MODEL_ARMOR"
        | "JAILBREAK" | "IMAGE_SAFETY" => StopReason::Filtered,
        other => StopReason::Other(other.to_string()),
    }
}

/// A reply, or its part so far. A piece of a reply has the shape of a reply.
#[derive(Default)]
struct Partial {
    reply: LlmResponse,
    /// Flag: a candidate arrived, or a reason why there is none.
    begun: bool,
}

impl Partial {
    /// Adds a part; returns the added text.
    fn add(&mut self, part: &Value) -> Option<String> {
        if part.get("thought").and_then(Value::as_bool) == Some(true) {
            // Summaries are for people: only signatures are sent back, and they stand on other parts.
            return None;
        }
        let reply = &mut self.reply;
        let text = part.get("text").and_then(Value::as_str);
        if let Some(signature) = part.get(SIGNATURE).filter(|_| is_signed(part)) {
            let mut kept = Map::new();
            kept.insert(SIGNATURE.into(), signature.clone());
            if let Some(text) = text {
                kept.insert("text".into(), text.into());
            }
            reply.opaque.push(OpaquePart {
                text_before: reply.text().len(),
                calls_before: reply.tool_calls.len(),
                part: kept.into(),
            });
        }
        if let Some(call) = part.get("functionCall") {
            let word = |name: &str| call.get(name).and_then(Value::as_str).unwrap_or_default();
            let args = Ok(call.get("args").cloned().unwrap_or_default());
            reply.tool_calls.push(ToolCall::of(Some(word("id")), word("name"), args));
        }
        let text = text.filter(|text| !text.is_empty())?;
        reply.content.get_or_insert_default().push_str(text);
        Some(text.to_string())
    }

    fn response(mut self) -> LlmResponse {
        // The API has one stop reason for the end of text and for calls.
        if self.reply.stop == Some(StopReason::EndTurn) && !self.reply.tool_calls.is_empty() {
            self.reply.stop = Some(StopReason::ToolCalls);
        }
        self.reply
    }
}

impl Assemble for Partial {
    fn event(&mut self, event: &Value) -> Result<Option<String>, LlmError> {
        if event.get("error").is_some_and(|error| !error.is_null()) {
            return Err(errors::event(event));
        }
        if let Some(model) = event.get("modelVersion").and_then(Value::as_str) {
            self.reply.model = Some(model.to_string());
        }
        if let Some(usage) = event.get("usageMetadata").filter(|usage| usage.is_object()) {
            self.reply.tokens = Some(tokens(usage));
        }
        let candidate = event.pointer("/candidates/0");
        let word = |path: &str| event.pointer(path).and_then(Value::as_str);
        let held_back = word("/promptFeedback/blockReason").filter(|_| candidate.is_none());
        self.begun |= candidate.is_some_and(Value::is_object) || held_back.is_some();
        let mut more = String::new();
        for part in bounds::parts(event.pointer("/candidates/0/content/parts"))? {
            more.extend(self.add(part));
        }
        if let Some(reason) = word("/candidates/0/finishReason") {
            self.reply.stop = Some(stop(reason));
        }
        if held_back.is_some() {
            self.reply.stop = Some(StopReason::Filtered);
        }
        Ok(Some(more))
    }

    fn is_complete(&self) -> bool {
        self.reply.stop.is_some()
    }

    fn finish(self: Box<Self>) -> Result<LlmResponse, LlmError> {
        match self.reply.stop {
            Some(_) => Ok(self.response()),
            None => Err(errors::cut_off()),
        }
    }
}

fn tokens(usage: &Value) -> Tokens {
    let count = |name: &str| usage.get(name).and_then(Value::as_u64);
    let sum = |one: &str, other: &str| match (count(one), count(other)) {
        (Some(a), Some(b)) => Some(a.saturating_add(b)),
        (a, b) => a.or(b),
    };
    Tokens {
        input: sum("promptTokenCount", "toolUsePromptTokenCount"),
        // Thoughts are billed as output.
        output: sum("candidatesTokenCount", "thoughtsTokenCount"),
        cache_creation: None,
        cache_read: count("cachedContentTokenCount"),
        total_cost: None,
    }
}
