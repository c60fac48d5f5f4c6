//! Wire format: Ollama's `/api/chat`.

use super::bounds::parts;
use super::chat::{bearer, functions};
use super::pieces::{parts_behind_answers, tool_names};
use super::wire::{Assemble, Framing, Wire};
use super::{HttpOptions, errors};
use crate::{
    LlmError, LlmRequest, LlmResponse, Message, OpaquePart, Part, Role, StopReason, Tokens, ToolCall,
};
use serde_json::{Map, Value, json};
use std::collections::HashMap;

/// Field of a message that holds the model's thoughts.
const THOUGHTS: &str = "thinking";

pub(super) struct Ollama;

impl Wire for Ollama {
    fn path(&self, _: &str, _: bool) -> String {
        "api/chat".to_string()
    }

    fn framing(&self) -> Framing {
        Framing::Lines
    }

    fn headers(&self, key: Option<&str>) -> Vec<(&'static str, String)> {
        bearer(key)
    }

    fn drop_schema(&self, body: &mut Map<String, Value>) -> bool {
        body.remove("format").is_some()
    }

    fn takes_documents(&self) -> bool {
        false
    }

    fn fails_at_parts(&self) -> bool {
        true
    }

    fn max_tokens(&self) -> &'static str {
        "num_predict"
    }

    fn settings(&self) -> Option<&'static str> {
        Some("options")
    }

    fn body(&self, options: &HttpOptions, request: &LlmRequest, stream: bool) -> Map<String, Value> {
        let mut body = Map::new();
        body.insert("model".into(), options.model.clone().into());
        // Ollama streams if this is unset.
        body.insert("stream".into(), stream.into());
        let names = tool_names(&request.messages);
        let system =
            (!request.system.is_empty()).then(|| json!({"role": "system", "content": request.system}));
        let messages = parts_behind_answers(&request.messages);
        let said = messages.iter().map(|said| message(said, &names));
        body.insert("messages".into(), system.into_iter().chain(said).collect());
        if !request.tools.is_empty() {
            body.insert("tools".into(), functions(&request.tools));
        }
        if let Some(schema) = &request.schema {
            body.insert("format".into(), schema.clone());
        }
        body
    }

    fn read(&self, body: &Value) -> Result<LlmResponse, LlmError> {
        let mut reply = Partial::default();
        reply.event(body)?;
        match reply.begun {
            true => Ok(reply.response()),
            false => Err(errors::bad("the reply has no `message`")),
        }
    }

    fn assemble(&self) -> Box<dyn Assemble> {
        Box::<Partial>::default()
    }
}

fn message(message: &Message, names: &HashMap<&str, &str>) -> Value {
    let mut made = json!({"role": message.role.name(), "content": message.content});
    if !message.parts.is_empty() {
        made["images"] = message.parts.iter().map(Part::data).collect();
    }
    if message.role == Role::Tool {
        let id = message.tool_call_id.as_deref().unwrap_or_default();
        made["tool_call_id"] = id.into();
        made["tool_name"] = names.get(id).copied().unwrap_or_default().into();
    }
    if !message.tool_calls.is_empty() {
        let call = |call: &ToolCall| {
            let mut made = json!({"function": {"name": call.name, "arguments": call.args_or_empty()}});
            if let Some(id) = &call.id {
                made["id"] = id.clone().into();
            }
            made
        };
        made["tool_calls"] = message.tool_calls.iter().map(call).collect();
    }
    if let Some(thoughts) = message.opaque.iter().find_map(|opaque| thoughts(&opaque.part)) {
        made[THOUGHTS] = thoughts.into();
    }
    made
}

/// Returns the thoughts in a part of this client. Other providers have such a field too, but never alone in a part.
fn thoughts(part: &Value) -> Option<&str> {
    part.as_object().filter(|part| part.len() == 1)?.get(THOUGHTS)?.as_str()
}

fn stop(reason: &str) -> StopReason {
    match reason {
        "stop" => StopReason::EndTurn,
        "length" => StopReason::MaxTokens,
        other => StopReason::Other(other.to_string()),
    }
}

/// A reply, or its part so far. A line of a reply has the shape of a reply.
#[derive(Default)]
struct Partial {
    reply: LlmResponse,
    thoughts: String,
    begun: bool,
    done: bool,
}

impl Partial {
    fn response(mut self) -> LlmResponse {
        if self.reply.stop == Some(StopReason::EndTurn) && !self.reply.tool_calls.is_empty() {
            self.reply.stop = Some(StopReason::ToolCalls);
        }
        if !self.thoughts.is_empty() {
            let part = json!({THOUGHTS: self.thoughts});
            self.reply.opaque.push(OpaquePart { text_before: 0, calls_before: 0, part });
        }
        self.reply
    }
}

impl Assemble for Partial {
    fn event(&mut self, event: &Value) -> Result<Option<String>, LlmError> {
        if event.get("error").is_some_and(|error| !error.is_null()) {
            return Err(errors::event(event));
        }
        let reply = &mut self.reply;
        if let Some(model) = event.get("model").and_then(Value::as_str) {
            reply.model = Some(model.to_string());
        }
        let count = |name: &str| event.get(name).and_then(Value::as_u64);
        let (input, output) = (count("prompt_eval_count"), count("eval_count"));
        if input.is_some() || output.is_some() {
            reply.tokens = Some(Tokens { input, output, ..Tokens::default() });
        }
        self.done |= event.get("done").and_then(Value::as_bool) == Some(true);
        if let Some(reason) = event.get("done_reason").and_then(Value::as_str) {
            reply.stop = Some(stop(reason));
        }
        let Some(message) = event.get("message").filter(|message| message.is_object()) else {
            return Ok(None);
        };
        self.begun = true;
        let text = |name: &str| message.get(name).and_then(Value::as_str).filter(|text| !text.is_empty());
        self.thoughts.extend(text(THOUGHTS));
        for call in parts(message.get("tool_calls"))? {
            let word = |path: &str| call.pointer(path).and_then(Value::as_str).unwrap_or_default();
            let args = Ok(call.pointer("/function/arguments").cloned().unwrap_or_default());
            reply.tool_calls.push(ToolCall::of(Some(word("/id")), word("/function/name"), args));
        }
        let Some(more) = text("content") else { return Ok(None) };
        reply.content.get_or_insert_default().push_str(more);
        Ok(Some(more.to_string()))
    }

    fn is_complete(&self) -> bool {
        self.done
    }

    fn finish(self: Box<Self>) -> Result<LlmResponse, LlmError> {
        match self.done {
            true => Ok(self.response()),
            false => Err(errors::cut_off()),
        }
    }
}
