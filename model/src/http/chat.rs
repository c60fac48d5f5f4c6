//! Wire format: OpenAI Chat Completions, for OpenAI and compatible servers.

use super::bounds::parts;
use super::pieces::parts_behind_answers;
use super::wire::{Assemble, Wire};
use super::{HttpOptions, errors};
use crate::{
    LlmError, LlmRequest, LlmResponse, Message, OpaquePart, Part, Role, StopReason, Tokens, ToolCall,
    ToolSpec,
};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

/// Fields in which thoughts are sent back: OpenRouter's in the message, Google's in each call.
const THOUGHTS: &str = "reasoning_details";
const SIGNATURE: &str = "extra_content";

/// Fields of a thought that arrive in pieces, and the number of thoughts that may be open at one time.
const GROWS: [&str; 4] = ["text", "summary", "data", "signature"];
const OPEN_PARTS: usize = 16;

pub(super) struct Chat {
    /// Flag: the server is not OpenAI's own.
    pub compatible: bool,
}

impl Wire for Chat {
    fn path(&self, _: &str, _: bool) -> String {
        "chat/completions".to_string()
    }

    fn headers(&self, key: Option<&str>) -> Vec<(&'static str, String)> {
        bearer(key)
    }

    fn drop_schema(&self, body: &mut Map<String, Value>) -> bool {
        body.remove("response_format").is_some()
    }

    fn fails_at_parts(&self) -> bool {
        self.compatible
    }

    fn max_tokens(&self) -> &'static str {
        // OpenAI's newer models refuse the old name, and other servers do not know the new one.
        if self.compatible { "max_tokens" } else { "max_completion_tokens" }
    }

    fn body(&self, options: &HttpOptions, request: &LlmRequest, stream: bool) -> Map<String, Value> {
        let mut body = Map::new();
        body.insert("model".into(), options.model.clone().into());
        // Other models cache without being asked; Anthropic's behind OpenRouter do not.
        let marked = (request.cache || options.prompt_cache)
            && self.compatible
            && options.model.starts_with("anthropic/");
        let content = match marked {
            true => json!([{"type": "text", "text": request.system, "cache_control": {"type": "ephemeral"}}]),
            false => json!(request.system),
        };
        let system = (!request.system.is_empty()).then(|| json!({"role": "system", "content": content}));
        let messages = parts_behind_answers(&request.messages);
        body.insert("messages".into(), system.into_iter().chain(messages.iter().map(message)).collect());
        if !request.tools.is_empty() {
            body.insert("tools".into(), functions(&request.tools));
        }
        if let Some(schema) = &request.schema {
            let format = json!({"type": "json_schema", "json_schema": {"name": "answer", "schema": schema}});
            body.insert("response_format".into(), format);
        }
        if stream {
            body.insert("stream".into(), true.into());
            body.insert("stream_options".into(), json!({"include_usage": true}));
        }
        body
    }

    fn read(&self, body: &Value) -> Result<LlmResponse, LlmError> {
        let Some(message) = body.pointer("/choices/0/message") else {
            return Err(match body.get("error") {
                Some(_) => errors::event(body),
                None => errors::bad("the reply has no `choices[0].message`"),
            });
        };
        let mut reply = Partial::default();
        reply.about(body);
        reply.stop = stop(body.pointer("/choices/0/finish_reason"));
        reply.add(message)?;
        reply.thoughts = message.get(THOUGHTS).filter(|thoughts| thoughts.is_array()).cloned();
        Ok(reply.response())
    }

    fn assemble(&self) -> Box<dyn Assemble> {
        Box::<Partial>::default()
    }
}

/// Converts tools to the list that this format and Ollama's use.
pub(super) fn functions(tools: &[ToolSpec]) -> Value {
    let function = |tool: &ToolSpec| {
        json!({"type": "function", "function": {
            "name": tool.name, "description": tool.description, "parameters": tool.parameters,
        }})
    };
    tools.iter().map(function).collect()
}

pub(super) fn bearer(key: Option<&str>) -> Vec<(&'static str, String)> {
    key.map(|key| ("authorization", format!("Bearer {key}"))).into_iter().collect()
}

fn message(message: &Message) -> Value {
    let mut made = plain(message);
    for opaque in &message.opaque {
        let Value::Object(part) = &opaque.part else { continue };
        if let Some(thoughts) = part.get(THOUGHTS) {
            made[THOUGHTS] = thoughts.clone();
        }
        let call = made.get_mut("tool_calls").and_then(|calls| calls.get_mut(opaque.calls_before));
        if let (Some(signature), Some(call)) = (part.get(SIGNATURE), call) {
            call[SIGNATURE] = signature.clone();
        }
    }
    made
}

/// Converts a message without its thoughts.
fn plain(message: &Message) -> Value {
    match message.role {
        Role::Tool => json!({
            "role": "tool",
            "tool_call_id": message.tool_call_id.as_deref().unwrap_or_default(),
            "content": message.content,
        }),
        role if !message.parts.is_empty() => {
            let words =
                (!message.content.is_empty()).then(|| json!({"type": "text", "text": message.content}));
            let content: Vec<Value> = message.parts.iter().map(attached).chain(words).collect();
            json!({"role": role.name(), "content": content})
        }
        role if message.tool_calls.is_empty() => json!({"role": role.name(), "content": message.content}),
        role => {
            let call = |call: &ToolCall| {
                let arguments = Value::Object(call.args_or_empty()).to_string();
                json!({
                    "id": call.id.as_deref().unwrap_or_default(),
                    "type": "function",
                    "function": {"name": call.name, "arguments": arguments},
                })
            };
            let content = (!message.content.is_empty()).then_some(&message.content);
            let calls: Vec<Value> = message.tool_calls.iter().map(call).collect();
            json!({"role": role.name(), "content": content, "tool_calls": calls})
        }
    }
}

/// Converts an image or a document.
fn attached(part: &Part) -> Value {
    match part {
        Part::Image { .. } => json!({"type": "image_url", "image_url": {"url": part.data_url()}}),
        Part::Document { .. } => {
            json!({"type": "file", "file": {"filename": part.file_name(), "file_data": part.data_url()}})
        }
    }
}

fn stop(reason: Option<&Value>) -> Option<StopReason> {
    Some(match reason?.as_str()? {
        "stop" => StopReason::EndTurn,
        "length" | "model_length" => StopReason::MaxTokens,
        "tool_calls" | "function_call" => StopReason::ToolCalls,
        "content_filter" | "safety" | "SAFETY" => StopReason::Filtered,
        other => StopReason::Other(other.to_string()),
    })
}

/// A reply, or its part so far. A piece of a message has the shape of a message.
#[derive(Default)]
struct Partial {
    content: Option<String>,
    refused: bool,
    calls: BTreeMap<u64, Call>,
    thoughts: Option<Value>,
    tokens: Option<Tokens>,
    model: Option<String>,
    stop: Option<StopReason>,
    /// Flag: the token counts are final.
    counted: bool,
}

#[derive(Default)]
struct Call {
    id: String,
    name: String,
    arguments: String,
    signature: Option<Value>,
}

impl Partial {
    fn about(&mut self, body: &Value) {
        if let Some(model) = body.get("model").and_then(Value::as_str).filter(|_| self.model.is_none()) {
            self.model = Some(model.to_string());
        }
        if let Some(usage) = body.get("usage").filter(|usage| usage.is_object()) {
            let count = |path: &str| usage.pointer(path).and_then(Value::as_u64);
            self.tokens = Some(Tokens {
                input: count("/prompt_tokens"),
                output: count("/completion_tokens"),
                cache_creation: None,
                cache_read: count("/prompt_tokens_details/cached_tokens"),
                // Only OpenRouter reports the cost.
                total_cost: usage.get("cost").and_then(Value::as_f64),
            });
        }
    }

    /// Adds a message or a piece of one; returns the added text.
    fn add(&mut self, message: &Value) -> Result<Option<String>, LlmError> {
        self.think(parts(message.get(THOUGHTS))?);
        let text = |name: &str| message.get(name).and_then(Value::as_str).filter(|text| !text.is_empty());
        let refusal = text("refusal");
        self.refused |= refusal.is_some();
        for (i, call) in parts(message.get("tool_calls"))?.iter().enumerate() {
            let index = call.get("index").and_then(Value::as_u64).unwrap_or(i as u64);
            let all = self.calls.entry(index).or_default();
            let text = |path: &str| call.pointer(path).and_then(Value::as_str).unwrap_or_default();
            all.id.push_str(text("/id"));
            all.name.push_str(text("/function/name"));
            all.signature =
                call.get(SIGNATURE).filter(|part| part.is_object()).cloned().or(all.signature.take());
            match call.pointer("/function/arguments") {
                Some(Value::String(more)) => all.arguments.push_str(more),
                // Some servers send an object instead of its JSON text.
                Some(Value::Object(args)) => all.arguments = Value::Object(args.clone()).to_string(),
                _ => {}
            }
        }
        let Some(more) = text("content").or(refusal) else { return Ok(None) };
        self.content.get_or_insert_default().push_str(more);
        Ok(Some(more.to_string()))
    }

    /// Adds thoughts. In a stream they arrive in pieces, each for the part of its index.
    fn think(&mut self, pieces: &[Value]) {
        for piece in pieces.iter().filter_map(Value::as_object) {
            let all = self.thoughts.get_or_insert_with(|| json!([]));
            let Value::Array(parts) = all else { return };
            let index = piece.get("index").filter(|index| index.is_u64());
            // Only the last parts are searched, so that a long reply is not searched again for each piece.
            let known = parts.iter_mut().rev().take(OPEN_PARTS).filter_map(Value::as_object_mut);
            let known = known.into_iter().find(|part| index.is_some() && part.get("index") == index);
            let Some(part) = known else {
                parts.push(Value::Object(piece.clone()));
                continue;
            };
            for (name, more) in piece {
                match (part.get_mut(name), more) {
                    (Some(Value::String(text)), Value::String(more)) if GROWS.contains(&&**name) => {
                        text.push_str(more);
                    }
                    (Some(_), Value::Null) => {}
                    _ => drop(part.insert(name.clone(), more.clone())),
                }
            }
        }
    }

    fn response(self) -> LlmResponse {
        let text_before = self.content.as_ref().map_or(0, String::len);
        let part = |name: &str, value: Value| Value::Object(Map::from_iter([(name.to_string(), value)]));
        let thoughts = self.thoughts.map(|thoughts| OpaquePart {
            text_before: 0,
            calls_before: 0,
            part: part(THOUGHTS, thoughts),
        });
        let mut reply = LlmResponse {
            content: self.content,
            tokens: self.tokens,
            stop: if self.refused { Some(StopReason::Refusal) } else { self.stop },
            model: self.model,
            opaque: thoughts.into_iter().collect(),
            ..LlmResponse::default()
        };
        for (calls_before, call) in self.calls.into_values().enumerate() {
            if let Some(signature) = call.signature {
                let part = part(SIGNATURE, signature);
                reply.opaque.push(OpaquePart { text_before, calls_before, part });
            }
            reply.tool_calls.push(ToolCall::read(Some(&call.id), call.name, &call.arguments));
        }
        reply
    }
}

impl Assemble for Partial {
    fn event(&mut self, event: &Value) -> Result<Option<String>, LlmError> {
        if event.get("error").is_some_and(|error| !error.is_null()) {
            return Err(errors::event(event));
        }
        self.about(event);
        // The token counts come last, after the stop reason and without choices.
        let choices = event.get("choices").and_then(Value::as_array);
        self.counted = self.stop.is_some() && self.tokens.is_some() && choices.is_none_or(Vec::is_empty);
        self.stop = stop(event.pointer("/choices/0/finish_reason")).or(self.stop.take());
        event.pointer("/choices/0/delta").map_or(Ok(None), |delta| self.add(delta))
    }

    fn is_complete(&self) -> bool {
        self.counted
    }

    fn finish(self: Box<Self>) -> Result<LlmResponse, LlmError> {
        match self.stop {
            Some(_) => Ok(self.response()),
            None => Err(errors::cut_off()),
        }
    }
}
