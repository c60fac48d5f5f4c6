//! OpenAI Chat Completions, as OpenAI and others speak it.

use super::wire::{Assemble, Wire};
use super::{HttpOptions, errors};
use crate::{LlmError, LlmRequest, LlmResponse, Message, Role, StopReason, Tokens, ToolCall};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

pub(super) struct Chat {
    /// Another server than OpenAI's.
    pub compatible: bool,
}

impl Wire for Chat {
    fn path(&self) -> &'static str {
        "/chat/completions"
    }

    fn headers(&self, key: Option<&str>) -> Vec<(&'static str, String)> {
        bearer(key)
    }

    fn max_tokens(&self) -> &'static str {
        // OpenAI's newer models refuse the old name, and other servers do not know the new one.
        if self.compatible { "max_tokens" } else { "max_completion_tokens" }
    }

    fn body(&self, options: &HttpOptions, request: &LlmRequest, stream: bool) -> Map<String, Value> {
        let mut body = Map::new();
        body.insert("model".into(), options.model.clone().into());
        // Others keep what they saw without being told; behind OpenRouter these models do not.
        let marked = request.cache && self.compatible && options.model.starts_with("anthropic/");
        let content = match marked {
            true => json!([{"type": "text", "text": request.system, "cache_control": {"type": "ephemeral"}}]),
            false => json!(request.system),
        };
        let system = (!request.system.is_empty()).then(|| json!({"role": "system", "content": content}));
        body.insert(
            "messages".into(),
            system.into_iter().chain(request.messages.iter().map(message)).collect(),
        );
        if !request.tools.is_empty() {
            let tools = request.tools.iter().map(|tool| {
                json!({"type": "function", "function": {
                    "name": tool.name, "description": tool.description, "parameters": tool.parameters,
                }})
            });
            body.insert("tools".into(), tools.collect());
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
        reply.add(message);
        Ok(reply.response())
    }

    fn assemble(&self) -> Box<dyn Assemble> {
        Box::<Partial>::default()
    }
}

pub(super) fn bearer(key: Option<&str>) -> Vec<(&'static str, String)> {
    key.map(|key| ("authorization", format!("Bearer {key}"))).into_iter().collect()
}

fn message(message: &Message) -> Value {
    match message.role {
        Role::Tool => json!({
            "role": "tool",
            "tool_call_id": message.tool_call_id.as_deref().unwrap_or_default(),
            "content": message.content,
        }),
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

fn stop(reason: Option<&Value>) -> Option<StopReason> {
    Some(match reason?.as_str()? {
        "stop" => StopReason::EndTurn,
        "length" => StopReason::MaxTokens,
        "tool_calls" | "function_call" => StopReason::ToolCalls,
        "content_filter" => StopReason::Refusal,
        other => StopReason::Other(other.to_string()),
    })
}

/// A reply, or as much of it as has arrived. A piece of a message has the shape of a message.
#[derive(Default)]
struct Partial {
    content: Option<String>,
    refused: bool,
    calls: BTreeMap<u64, Call>,
    tokens: Option<Tokens>,
    model: Option<String>,
    stop: Option<StopReason>,
    /// Nothing comes behind the count of tokens.
    counted: bool,
}

#[derive(Default)]
struct Call {
    id: String,
    name: String,
    arguments: String,
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
                // OpenRouter tells.
                total_cost: usage.get("cost").and_then(Value::as_f64),
            });
        }
    }

    /// Adds a message or a piece of one; gives the text it adds.
    fn add(&mut self, message: &Value) -> Option<String> {
        let text = |name: &str| message.get(name).and_then(Value::as_str).filter(|text| !text.is_empty());
        let refusal = text("refusal");
        self.refused |= refusal.is_some();
        for (i, call) in message.get("tool_calls").and_then(Value::as_array).into_iter().flatten().enumerate()
        {
            let index = call.get("index").and_then(Value::as_u64).unwrap_or(i as u64);
            let all = self.calls.entry(index).or_default();
            let text = |path: &str| call.pointer(path).and_then(Value::as_str).unwrap_or_default();
            all.id.push_str(text("/id"));
            all.name.push_str(text("/function/name"));
            match call.pointer("/function/arguments") {
                Some(Value::String(more)) => all.arguments.push_str(more),
                // Some servers send what they should have written.
                Some(Value::Object(args)) => all.arguments = Value::Object(args.clone()).to_string(),
                _ => {}
            }
        }
        let more = text("content").or(refusal)?;
        self.content.get_or_insert_default().push_str(more);
        Some(more.to_string())
    }

    fn response(self) -> LlmResponse {
        let calls = self.calls.into_values();
        LlmResponse {
            content: self.content,
            tool_calls: calls
                .map(|call| ToolCall::read(Some(&call.id), call.name, &call.arguments))
                .collect(),
            tokens: self.tokens,
            stop: if self.refused { Some(StopReason::Refusal) } else { self.stop },
            model: self.model,
            retries: 0,
        }
    }
}

impl Assemble for Partial {
    fn event(&mut self, event: &Value) -> Result<Option<String>, LlmError> {
        if event.get("error").is_some_and(|error| !error.is_null()) {
            return Err(errors::event(event));
        }
        self.about(event);
        // The count comes last, behind the reason to stop and with no choices.
        let choices = event.get("choices").and_then(Value::as_array);
        self.counted = self.stop.is_some() && self.tokens.is_some() && choices.is_none_or(Vec::is_empty);
        self.stop = stop(event.pointer("/choices/0/finish_reason")).or(self.stop.take());
        Ok(event.pointer("/choices/0/delta").and_then(|delta| self.add(delta)))
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
