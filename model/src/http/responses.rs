//! Wire format: OpenAI Responses.

use super::bounds::parts;
use super::chat::bearer;
use super::pieces::{Piece, pieces};
use super::wire::{Assemble, Wire};
use super::{HttpOptions, errors};
use crate::{
    LlmError, LlmRequest, LlmResponse, Message, OpaquePart, Part, Role, StopReason, Tokens, ToolCall,
};
use serde_json::{Map, Value, json};

pub(super) struct Responses;

impl Wire for Responses {
    fn path(&self, _: &str, _: bool) -> String {
        "responses".to_string()
    }

    fn headers(&self, key: Option<&str>) -> Vec<(&'static str, String)> {
        bearer(key)
    }

    fn drop_schema(&self, body: &mut Map<String, Value>) -> bool {
        body.remove("text").is_some()
    }

    fn max_tokens(&self) -> &'static str {
        "max_output_tokens"
    }

    fn body(&self, options: &HttpOptions, request: &LlmRequest, stream: bool) -> Map<String, Value> {
        let mut body = Map::new();
        body.insert("model".into(), options.model.clone().into());
        // Each request sends the whole conversation, so the server need not store it.
        body.insert("store".into(), false.into());
        // A reasoning model's thoughts can only be sent back if they are requested; other models refuse this field.
        if request.llm_opts.contains_key("reasoning") {
            body.insert("include".into(), json!(["reasoning.encrypted_content"]));
        }
        if !request.system.is_empty() {
            body.insert("instructions".into(), request.system.clone().into());
        }
        body.insert("input".into(), request.messages.iter().flat_map(items).collect());
        if !request.tools.is_empty() {
            let tools = request.tools.iter().map(|tool| {
                json!({
                    "type": "function", "name": tool.name, "description": tool.description,
                    // Strict tools have no optional arguments.
                    "parameters": tool.parameters, "strict": false,
                })
            });
            body.insert("tools".into(), tools.collect());
        }
        if let Some(schema) = &request.schema {
            let format = json!({"type": "json_schema", "name": "answer", "schema": schema, "strict": false});
            body.insert("text".into(), json!({"format": format}));
        }
        if stream {
            body.insert("stream".into(), true.into());
        }
        body
    }

    fn read(&self, body: &Value) -> Result<LlmResponse, LlmError> {
        let failed = body.get("status").and_then(Value::as_str) == Some("failed");
        if failed || body.get("error").is_some_and(|error| !error.is_null()) {
            return Err(errors::event(body));
        }
        if !body.get("output").is_some_and(Value::is_array) {
            return Err(errors::bad("the reply has no `output`"));
        }
        let mut reply = LlmResponse::default();
        let mut refused = false;
        for item in parts(body.get("output"))? {
            let text = |name: &str| item.get(name).and_then(Value::as_str).unwrap_or_default();
            match text("type") {
                "message" => {
                    for part in item.get("content").and_then(Value::as_array).into_iter().flatten() {
                        let text = |name: &str| part.get(name).and_then(Value::as_str);
                        refused |= text("refusal").is_some();
                        let more = text("text").or(text("refusal"));
                        reply.content.get_or_insert_default().push_str(more.unwrap_or_default());
                    }
                }
                "function_call" => {
                    let call = ToolCall::read(Some(text("call_id")), text("name"), text("arguments"));
                    reply.tool_calls.push(call);
                }
                // The server stores nothing, so a thought without its content in the item would be lost.
                "reasoning" if is_thought(item) => reply.opaque.push(OpaquePart {
                    text_before: reply.text().len(),
                    calls_before: reply.tool_calls.len(),
                    part: item.clone(),
                }),
                // Items that this client does not know.
                _ => {}
            }
        }
        reply.model = body.get("model").and_then(Value::as_str).map(str::to_string);
        reply.stop = Some(match body.pointer("/incomplete_details/reason").and_then(Value::as_str) {
            Some("max_output_tokens") => StopReason::MaxTokens,
            Some("content_filter") => StopReason::Filtered,
            Some(other) => StopReason::Other(other.to_string()),
            None if refused => StopReason::Refusal,
            None if reply.tool_calls.is_empty() => StopReason::EndTurn,
            None => StopReason::ToolCalls,
        });
        reply.tokens = body.get("usage").filter(|usage| usage.is_object()).map(|usage| {
            let count = |path: &str| usage.pointer(path).and_then(Value::as_u64);
            Tokens {
                input: count("/input_tokens"),
                output: count("/output_tokens"),
                cache_creation: None,
                cache_read: count("/input_tokens_details/cached_tokens"),
                total_cost: usage.get("cost").and_then(Value::as_f64),
            }
        });
        Ok(reply)
    }

    fn assemble(&self) -> Box<dyn Assemble> {
        Box::<Last>::default()
    }
}

/// Converts a message to items: its text and its calls.
fn items(message: &Message) -> Vec<Value> {
    if message.role == Role::Tool {
        let id = message.tool_call_id.as_deref().unwrap_or_default();
        let output = with_parts(message).unwrap_or_else(|| message.content.as_str().into());
        return vec![json!({"type": "function_call_output", "call_id": id, "output": output})];
    }
    if let Some(content) = with_parts(message) {
        return vec![json!({"role": message.role.name(), "content": content})];
    }
    let said = |text: &str| json!({"role": message.role.name(), "content": text});
    if message.content.is_empty() && message.tool_calls.is_empty() {
        return vec![said("")];
    }
    let item = |piece: Piece<'_>| match piece {
        Piece::Text(text) => said(text),
        Piece::Opaque(part) => part.clone(),
        Piece::Call(call) => {
            let id = call.id.as_deref().unwrap_or_default();
            let arguments = Value::Object(call.args_or_empty()).to_string();
            json!({"type": "function_call", "call_id": id, "name": call.name, "arguments": arguments})
        }
    };
    pieces(message, is_thought).into_iter().map(item).collect()
}

/// Returns the content of a message with images and documents; None for one without.
fn with_parts(message: &Message) -> Option<Value> {
    let words = (!message.content.is_empty()).then(|| json!({"type": "input_text", "text": message.content}));
    (!message.parts.is_empty()).then(|| message.parts.iter().map(attached).chain(words).collect())
}

/// Converts an image or a document.
fn attached(part: &Part) -> Value {
    match part {
        Part::Image { .. } => json!({"type": "input_image", "image_url": part.data_url()}),
        Part::Document { .. } => {
            json!({"type": "input_file", "filename": part.file_name(), "file_data": part.data_url()})
        }
    }
}

/// Returns whether an item is reasoning that can be sent back.
fn is_thought(item: &Value) -> bool {
    let text = |name: &str| item.get(name).and_then(Value::as_str).unwrap_or_default();
    text("type") == "reasoning" && !text("encrypted_content").is_empty()
}

/// Reply that is read from the last event, which holds all of it; the others only show it.
#[derive(Default)]
struct Last(Option<Value>);

impl Assemble for Last {
    fn event(&mut self, event: &Value) -> Result<Option<String>, LlmError> {
        match event.get("type").and_then(Value::as_str) {
            Some("response.output_text.delta" | "response.refusal.delta") => {
                Ok(event.get("delta").and_then(Value::as_str).map(str::to_string))
            }
            Some("response.completed" | "response.incomplete") => {
                self.0 = Some(event.get("response").cloned().unwrap_or_default());
                Ok(None)
            }
            Some("response.failed") => Err(errors::event(event.get("response").unwrap_or(event))),
            Some("error") => Err(errors::event(event)),
            _ => Ok(None),
        }
    }

    fn is_complete(&self) -> bool {
        self.0.is_some()
    }

    fn finish(self: Box<Self>) -> Result<LlmResponse, LlmError> {
        match &self.0 {
            Some(body) => Responses.read(body),
            None => Err(errors::cut_off()),
        }
    }
}
