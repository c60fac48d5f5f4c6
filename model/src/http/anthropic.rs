//! Wire format: Anthropic Messages.

use super::bounds::parts;
use super::pieces::{Piece, pieces};
use super::wire::{Assemble, Wire};
use super::{HttpOptions, errors};
use crate::{
    LlmError, LlmRequest, LlmResponse, Message, OpaquePart, Part, Role, StopReason, Tokens, ToolCall,
};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

/// Default maximum tokens of a reply; every Anthropic model allows them.
const MAX_TOKENS: u32 = 4096;

pub(super) struct Messages;

impl Wire for Messages {
    fn path(&self, _: &str, _: bool) -> String {
        "messages".to_string()
    }

    fn headers(&self, key: Option<&str>) -> Vec<(&'static str, String)> {
        let version = ("anthropic-version", "2023-06-01".to_string());
        key.map(|key| ("x-api-key", key.to_string())).into_iter().chain([version]).collect()
    }

    fn drop_schema(&self, body: &mut Map<String, Value>) -> bool {
        body.remove("output_config").is_some()
    }

    fn goes_on(&self) -> bool {
        true
    }

    fn max_tokens(&self) -> &'static str {
        "max_tokens"
    }

    fn body(&self, options: &HttpOptions, request: &LlmRequest, stream: bool) -> Map<String, Value> {
        let mut body = Map::new();
        body.insert("model".into(), options.model.clone().into());
        body.insert("max_tokens".into(), MAX_TOKENS.into());
        if !request.system.is_empty() {
            let mut block = json!({"type": "text", "text": request.system});
            if request.cache || options.prompt_cache {
                block["cache_control"] = json!({"type": "ephemeral"});
            }
            body.insert("system".into(), json!([block]));
        }
        body.insert("messages".into(), messages(&request.messages));
        if !request.tools.is_empty() {
            let tools = request.tools.iter().map(|tool| {
                json!({"name": tool.name, "description": tool.description, "input_schema": tool.parameters})
            });
            body.insert("tools".into(), tools.collect());
        }
        if let Some(schema) = request.schema.as_ref().and_then(closed) {
            body.insert("output_config".into(), json!({"format": {"type": "json_schema", "schema": schema}}));
        }
        if stream {
            body.insert("stream".into(), true.into());
        }
        body
    }

    fn read(&self, body: &Value) -> Result<LlmResponse, LlmError> {
        if !body.get("content").is_some_and(Value::is_array) {
            return Err(match body.get("error") {
                Some(_) => errors::event(body),
                None => errors::bad("the reply has no `content`"),
            });
        }
        let mut reply = Partial::default();
        reply.about(body);
        reply.stop = stop(body.get("stop_reason"));
        for (i, block) in parts(body.get("content"))?.iter().enumerate() {
            reply.blocks.insert(i as u64, Block::of(block));
        }
        Ok(reply.response())
    }

    fn assemble(&self) -> Box<dyn Assemble> {
        Box::<Partial>::default()
    }
}

/// Converts messages. Results of calls are said by the user, all in one message after the calls; so neighbours of the
/// same role are merged.
fn messages(messages: &[Message]) -> Value {
    let mut all: Vec<(&str, Vec<Value>)> = Vec::new();
    for message in messages {
        let mut blocks = Vec::new();
        let role = match message.role {
            Role::Tool => {
                let id = message.tool_call_id.as_deref().unwrap_or_default();
                let content = match message.parts.is_empty() {
                    true => message.content.as_str().into(),
                    false => {
                        // Words before images: they say what the images belong to.
                        let words = block(Piece::Text(&message.content)).into_iter();
                        words.chain(message.parts.iter().map(attached)).collect::<Value>()
                    }
                };
                blocks.push(json!({"type": "tool_result", "tool_use_id": id, "content": content}));
                "user"
            }
            role => {
                blocks.extend(message.parts.iter().map(attached));
                blocks.extend(pieces(message, is_thought).into_iter().filter_map(block));
                // The API refuses messages that end with a thought.
                if blocks.iter().all(is_thought) {
                    blocks.clear();
                }
                role.name()
            }
        };
        match all.last_mut() {
            _ if blocks.is_empty() => {}
            Some((last, together)) if *last == role => together.append(&mut blocks),
            _ => all.push((role, blocks)),
        }
    }
    all.into_iter().map(|(role, content)| json!({"role": role, "content": content})).collect()
}

/// Converts an image or a document. The API recommends them before the words about them.
fn attached(part: &Part) -> Value {
    let source = json!({"type": "base64", "media_type": part.media_type(), "data": part.data()});
    match part {
        Part::Image { .. } => json!({"type": "image", "source": source}),
        Part::Document { .. } => json!({"type": "document", "title": part.file_name(), "source": source}),
    }
}

/// Converts a piece of a message.
fn block(piece: Piece<'_>) -> Option<Value> {
    Some(match piece {
        // The API refuses texts without a visible character.
        Piece::Text(text) if text.trim().is_empty() => return None,
        Piece::Text(text) => json!({"type": "text", "text": text}),
        Piece::Opaque(part) => part.clone(),
        Piece::Call(call) => {
            let id = call.id.as_deref().unwrap_or_default();
            json!({"type": "tool_use", "id": id, "name": call.name, "input": call.args_or_empty()})
        }
    })
}

/// Returns whether a part is a thought that can be sent back: the API refuses unsigned ones, as cut thoughts are.
fn is_thought(part: &Value) -> bool {
    let has = |name: &str| part.get(name).and_then(Value::as_str).is_some_and(|text| !text.is_empty());
    match part.get("type").and_then(Value::as_str) {
        Some("thinking") => has("signature"),
        Some("redacted_thinking") => has("data"),
        _ => false,
    }
}

/// Constraints that the API refuses in schemas. Results are checked against the whole contract anyway.
const REFUSED: [&str; 9] = [
    "minimum",
    "maximum",
    "exclusiveMinimum",
    "exclusiveMaximum",
    "multipleOf",
    "minLength",
    "maxLength",
    "maxItems",
    "uniqueItems",
];

/// Converts a schema for the API: every object is closed, and only types and choices constrain. None if an object has
/// unknown fields, which the API cannot guarantee.
fn closed(schema: &Value) -> Option<Value> {
    Some(match schema {
        Value::Object(schema) => {
            let is_object = schema.get("type").is_some_and(|kind| kind == "object");
            if is_object && !schema.get("properties").is_some_and(Value::is_object) {
                return None;
            }
            let mut made = Map::new();
            for (name, value) in schema {
                let few = name == "minItems" && value.as_u64().is_some_and(|least| least > 1);
                if few || REFUSED.contains(&name.as_str()) {
                    continue;
                }
                let value = match (name.as_str(), value) {
                    // Names of fields are not keywords.
                    ("properties", Value::Object(fields)) => {
                        let fields = fields.iter().map(|(name, field)| Some((name.clone(), closed(field)?)));
                        Value::Object(fields.collect::<Option<Map<String, Value>>>()?)
                    }
                    ("enum" | "const" | "default" | "required", value) => value.clone(),
                    (_, value) => closed(value)?,
                };
                made.insert(name.clone(), value);
            }
            if is_object {
                made.insert("additionalProperties".into(), false.into());
            }
            Value::Object(made)
        }
        Value::Array(items) => Value::Array(items.iter().map(closed).collect::<Option<Vec<Value>>>()?),
        other => other.clone(),
    })
}

fn stop(reason: Option<&Value>) -> Option<StopReason> {
    Some(match reason?.as_str()? {
        "end_turn" => StopReason::EndTurn,
        "max_tokens" | "model_context_window_exceeded" => StopReason::MaxTokens,
        "stop_sequence" => StopReason::StopSequence,
        "tool_use" => StopReason::ToolCalls,
        "refusal" => StopReason::Refusal,
        other => StopReason::Other(other.to_string()),
    })
}

/// A part of a reply.
enum Block {
    Text(String),
    Call {
        id: String,
        name: String,
        input: Value,
        json: String,
    },
    /// Thought, in the form in which it is sent back.
    Thought(Map<String, Value>),
    /// Any part that this client does not know.
    Other,
}

impl Block {
    fn of(block: &Value) -> Block {
        let text = |name: &str| block.get(name).and_then(Value::as_str).unwrap_or_default().to_string();
        match block.get("type").and_then(Value::as_str) {
            Some("thinking" | "redacted_thinking") => {
                Block::Thought(block.as_object().cloned().unwrap_or_default())
            }
            Some("text") => Block::Text(text("text")),
            Some("tool_use") => Block::Call {
                id: text("id"),
                name: text("name"),
                input: block.get("input").cloned().unwrap_or_default(),
                json: String::new(),
            },
            _ => Block::Other,
        }
    }
}

/// Appends to a text field of a block.
fn add(block: &mut Map<String, Value>, name: &str, more: &str) {
    match block.get_mut(name) {
        _ if more.is_empty() => {}
        Some(Value::String(text)) => text.push_str(more),
        _ => {
            block.insert(name.to_string(), more.into());
        }
    }
}

/// A reply that is still arriving.
#[derive(Default)]
struct Partial {
    blocks: BTreeMap<u64, Block>,
    usage: Map<String, Value>,
    model: Option<String>,
    stop: Option<StopReason>,
    complete: bool,
}

impl Partial {
    fn about(&mut self, message: &Value) {
        self.model = message.get("model").and_then(Value::as_str).map(str::to_string);
        self.usage(message.get("usage"));
    }

    /// Updates the token counts; later counts replace earlier ones.
    fn usage(&mut self, usage: Option<&Value>) {
        let counts = usage.and_then(Value::as_object).into_iter().flatten();
        self.usage.extend(counts.filter(|(_, n)| n.is_u64()).map(|(name, n)| (name.clone(), n.clone())));
    }

    fn response(self) -> LlmResponse {
        let mut response = LlmResponse { stop: self.stop, model: self.model, ..LlmResponse::default() };
        for block in self.blocks.into_values() {
            match block {
                Block::Text(text) => response.content.get_or_insert_default().push_str(&text),
                Block::Call { id, name, input, json } if json.is_empty() => {
                    response.tool_calls.push(ToolCall::of(Some(&id), name, Ok(input)));
                }
                Block::Call { id, name, json, .. } => {
                    response.tool_calls.push(ToolCall::read(Some(&id), name, &json));
                }
                Block::Thought(thought) => {
                    let part = Value::Object(thought);
                    if is_thought(&part) {
                        let (text_before, calls_before) = (response.text().len(), response.tool_calls.len());
                        response.opaque.push(OpaquePart { text_before, calls_before, part });
                    }
                }
                Block::Other => {}
            }
        }
        let count = |name: &str| self.usage.get(name).and_then(Value::as_u64);
        let (made, read) = (count("cache_creation_input_tokens"), count("cache_read_input_tokens"));
        response.tokens = (!self.usage.is_empty()).then(|| Tokens {
            // The API's `input_tokens` excludes tokens written to or read from the cache.
            input: count("input_tokens")
                .map(|plain| plain.saturating_add(made.unwrap_or(0)).saturating_add(read.unwrap_or(0))),
            output: count("output_tokens"),
            cache_creation: made,
            cache_read: read,
            total_cost: None,
        });
        response
    }
}

impl Assemble for Partial {
    fn event(&mut self, event: &Value) -> Result<Option<String>, LlmError> {
        let index = || event.get("index").and_then(Value::as_u64).unwrap_or(0);
        match event.get("type").and_then(Value::as_str) {
            Some("message_start") => self.about(event.get("message").unwrap_or(&Value::Null)),
            Some("content_block_start") => {
                let block = Block::of(event.get("content_block").unwrap_or(&Value::Null));
                let text = match &block {
                    Block::Text(text) => Some(text.clone()),
                    _ => None,
                };
                self.blocks.insert(index(), block);
                return Ok(text);
            }
            Some("content_block_delta") => {
                let text = |name| event.pointer(name).and_then(Value::as_str).unwrap_or_default();
                match self.blocks.get_mut(&index()) {
                    Some(Block::Text(all)) => {
                        let more = text("/delta/text");
                        all.push_str(more);
                        return Ok(Some(more.to_string()));
                    }
                    Some(Block::Call { json, .. }) => json.push_str(text("/delta/partial_json")),
                    Some(Block::Thought(thought)) => {
                        add(thought, "thinking", text("/delta/thinking"));
                        add(thought, "signature", text("/delta/signature"));
                    }
                    Some(Block::Other) => {}
                    None => return Err(errors::bad("the stream adds to a block that it did not begin")),
                }
            }
            Some("message_delta") => {
                self.stop = stop(event.pointer("/delta/stop_reason")).or(self.stop.take());
                self.usage(event.get("usage"));
            }
            Some("message_stop") => self.complete = true,
            Some("error") => return Err(errors::event(event)),
            // Pings, and events that this client does not know.
            _ => {}
        }
        Ok(None)
    }

    fn is_complete(&self) -> bool {
        self.complete
    }

    fn finish(self: Box<Self>) -> Result<LlmResponse, LlmError> {
        match self.complete {
            true => Ok(self.response()),
            false => Err(errors::cut_off()),
        }
    }
}
