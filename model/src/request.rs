//! Requests to models.

use crate::opaque::OpaquePart;
use crate::part::Part;
use crate::stream::ChunkSink;
use ptc_runtime::Cancel;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::time::Instant;

/// Form of an agent's answers.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Output {
    /// Programs.
    #[default]
    PtcLisp,
    /// Text, or JSON in text.
    Text,
}

/// Request to a model. Fields that concern only the call (stream, deadline, cancellation) are not serialised.
///
/// ```
/// use ptc_model::{LlmRequest, Message};
/// let mut request = LlmRequest::new("You answer with programs.", "Count the orders");
/// request.messages.push(Message::assistant("(count data/orders)"));
/// assert_eq!(request.prompt, "Count the orders");
/// assert_eq!(request.messages.len(), 2);
/// ```
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct LlmRequest {
    /// System message.
    pub system: String,
    /// Conversation so far, oldest first.
    pub messages: Vec<Message>,
    /// Turn of the mission, from 1.
    pub turn: u32,
    /// Mission, with its placeholders filled.
    pub prompt: String,
    /// Names of the tools that programs may call.
    pub tool_names: Vec<String>,
    /// Options of the host for the client, passed on unchanged.
    pub llm_opts: Map<String, Value>,
    /// Form of the agent's answers.
    pub output: Output,
    /// Flag: the provider should cache the system message.
    pub cache: bool,
    /// Tools that the model may call itself.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tools: Vec<ToolSpec>,
    /// JSON schema of the answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub schema: Option<Value>,
    /// Number of agents above the agent that sends the request.
    pub depth: u32,
    /// Name of the agent that sends the request.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent_name: Option<String>,
    /// Flag: images and documents that the model cannot be shown are replaced by a text, instead of causing an error.
    #[serde(skip)]
    pub tells_unseen: bool,
    /// Sink for pieces of the reply as they arrive.
    #[serde(skip)]
    pub stream: Option<ChunkSink>,
    /// Deadline of the mission.
    #[serde(skip)]
    pub deadline: Option<Instant>,
    /// Signal that nobody waits for the reply any more. Dropping the future ends the call at once.
    #[serde(skip)]
    pub cancel: Cancel,
}

impl LlmRequest {
    /// Returns the first request of a mission.
    pub fn new(system: impl Into<String>, prompt: impl Into<String>) -> LlmRequest {
        let prompt = prompt.into();
        LlmRequest {
            system: system.into(),
            messages: vec![Message::user(prompt.clone())],
            turn: 1,
            prompt,
            ..LlmRequest::default()
        }
    }
}

/// Author of a message.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// The user: mission and feedback.
    #[default]
    User,
    /// The model.
    Assistant,
    /// The result of a call that the model made itself.
    Tool,
}

impl Role {
    /// Returns the name used in messages.
    pub fn name(self) -> &'static str {
        match self {
            Role::User => "user",
            Role::Assistant => "assistant",
            Role::Tool => "tool",
        }
    }
}

/// Message of a conversation.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Message {
    /// Author of the message.
    pub role: Role,
    /// Text of the message; may be empty next to calls.
    pub content: String,
    /// Images and documents next to the text; in user messages and results of calls.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub parts: Vec<Part>,
    /// Calls that the model made in the message.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tool_calls: Vec<ToolCall>,
    /// Id of the call whose result this is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool_call_id: Option<String>,
    /// Parts that only the model's provider can read, such as signed thoughts. They are sent back unchanged.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub opaque: Vec<OpaquePart>,
}

impl Message {
    /// Returns a message from the host.
    pub fn user(content: impl Into<String>) -> Message {
        Message { role: Role::User, content: content.into(), ..Message::default() }
    }

    /// Returns a message from the model.
    pub fn assistant(content: impl Into<String>) -> Message {
        Message { role: Role::Assistant, content: content.into(), ..Message::default() }
    }

    /// Returns the result of a call.
    pub fn tool(call_id: impl Into<String>, content: impl Into<String>) -> Message {
        Message {
            role: Role::Tool,
            content: content.into(),
            tool_call_id: Some(call_id.into()),
            ..Message::default()
        }
    }

    /// Adds an image or a document.
    #[must_use]
    pub fn part(mut self, part: Part) -> Message {
        self.parts.push(part);
        self
    }

    /// Removes the images and documents that `why` gives a reason for, and puts the reason at their places in the text.
    /// Returns their number.
    ///
    /// ```
    /// use ptc_model::{Message, Part};
    /// let photo = Part::image("image/png", b"\x89PNG");
    /// let mut message = Message::user(format!("photo = {photo}")).part(photo);
    /// assert_eq!(message.take_parts(|_| Some("this model takes none".into())), 1);
    /// assert_eq!(message.content, "photo = <image image/png, 4 bytes, not shown: this model takes none>");
    /// ```
    pub fn take_parts(&mut self, mut why: impl FnMut(&Part) -> Option<String>) -> usize {
        let (mut kept, mut count) = (Vec::new(), 0);
        for part in std::mem::take(&mut self.parts) {
            let Some(why) = why(&part) else {
                kept.push(part);
                continue;
            };
            count += 1;
            let (shown, unseen) = (part.to_string(), part.media().unseen(&why));
            if self.content.contains(&shown) {
                self.content = self.content.replacen(&shown, &unseen, 1);
            } else {
                let gap = if self.content.is_empty() { "" } else { "\n\n" };
                self.content.push_str(&format!("{gap}{unseen}"));
            }
        }
        self.parts = kept;
        count
    }

    /// Sets the calls that the model made in the message.
    #[must_use]
    pub fn calls(mut self, calls: Vec<ToolCall>) -> Message {
        self.tool_calls = calls;
        self
    }
}

/// A call that a model makes through its provider's tool calling.
///
/// ```
/// use ptc_model::ToolCall;
/// let call = ToolCall::read(Some("c1"), "search", r#"{"query": "tea"}"#);
/// assert_eq!(call.args.unwrap()["query"], "tea");
/// let broken = ToolCall::read(Some("c2"), "search", r#"{"query": "#);
/// assert!(broken.args.unwrap_err().starts_with("the arguments are not valid JSON"));
/// ```
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(from = "CallWire", into = "CallWire")]
pub struct ToolCall {
    /// Id that pairs the call with its result.
    pub id: Option<String>,
    /// Name of the tool.
    pub name: String,
    /// Arguments, or the reason why they cannot be read.
    pub args: Result<Map<String, Value>, String>,
}

impl ToolCall {
    /// Returns a call with these arguments.
    pub fn new(id: Option<&str>, name: impl Into<String>, args: Map<String, Value>) -> ToolCall {
        ToolCall { id: id.map(str::to_string), name: name.into(), args: Ok(args) }
    }

    /// Returns a call whose arguments are JSON text. For no arguments, models write nothing, or null.
    pub fn read(id: Option<&str>, name: impl Into<String>, text: &str) -> ToolCall {
        let args = match text.trim() {
            "" => Ok(Value::Null),
            text => serde_json::from_str(text)
                .map_err(|error| format!("the arguments are not valid JSON: {error}")),
        };
        ToolCall::of(id, name, args)
    }

    /// Returns a call whose arguments are any JSON.
    pub(crate) fn of(id: Option<&str>, name: impl Into<String>, args: Result<Value, String>) -> ToolCall {
        let args = args.and_then(|args| match args {
            args if is_deep(&args) => Err(format!("the arguments nest deeper than {MAX_DEPTH} levels")),
            Value::Object(args) => Ok(args),
            Value::Null => Ok(Map::new()),
            Value::Array(_) => Err("the arguments are a list, not an object".to_string()),
            Value::String(_) => Err("the arguments are a string, not an object".to_string()),
            other => Err(format!("the arguments are `{other}`, not an object")),
        });
        ToolCall { id: id.filter(|id| !id.is_empty()).map(str::to_string), name: name.into(), args }
    }

    /// Returns the arguments to repeat to a provider: none if they could not be read.
    #[cfg(feature = "http")]
    pub(crate) fn args_or_empty(&self) -> Map<String, Value> {
        self.args.clone().unwrap_or_default()
    }
}

/// Maximum nesting of JSON written by a model. JSON readers stop at 128 levels, and conversations are themselves some
/// levels deep in requests, checkpoints and cassettes.
const MAX_DEPTH: usize = 64;

/// Returns whether JSON written by a model nests too deep to be kept.
pub(crate) fn is_deep(value: &Value) -> bool {
    let mut open = vec![(value, 1)];
    while let Some((value, depth)) = open.pop() {
        match value {
            Value::Array(_) | Value::Object(_) if depth > MAX_DEPTH => return true,
            Value::Array(items) => open.extend(items.iter().map(|item| (item, depth + 1))),
            Value::Object(fields) => open.extend(fields.values().map(|field| (field, depth + 1))),
            _ => {}
        }
    }
    false
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct CallWire {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    id: Option<String>,
    name: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    args: Option<Map<String, Value>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    args_error: Option<String>,
}

impl From<CallWire> for ToolCall {
    fn from(wire: CallWire) -> ToolCall {
        let args = match (wire.args_error, wire.args) {
            (Some(error), _) => Err(error),
            (None, args) => Ok(args.unwrap_or_default()),
        };
        ToolCall { id: wire.id, name: wire.name, args }
    }
}

impl From<ToolCall> for CallWire {
    fn from(call: ToolCall) -> CallWire {
        let (args, args_error) = match call.args {
            Ok(args) => (Some(args), None),
            Err(error) => (None, Some(error)),
        };
        CallWire { id: call.id, name: call.name, args, args_error }
    }
}

/// A tool as models are offered it: `{type: "function", function: {name, description, parameters}}`.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(from = "SpecWire", into = "SpecWire")]
pub struct ToolSpec {
    /// Name by which models call the tool.
    pub name: String,
    /// Description for models.
    pub description: String,
    /// JSON Schema of the arguments.
    pub parameters: Value,
}

#[derive(Serialize, Deserialize)]
struct SpecWire {
    r#type: SpecType,
    function: Function,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum SpecType {
    Function,
}

#[derive(Serialize, Deserialize)]
struct Function {
    name: String,
    #[serde(default)]
    description: String,
    parameters: Value,
}

impl From<SpecWire> for ToolSpec {
    fn from(wire: SpecWire) -> ToolSpec {
        let Function { name, description, parameters } = wire.function;
        ToolSpec { name, description, parameters }
    }
}

impl From<ToolSpec> for SpecWire {
    fn from(tool: ToolSpec) -> SpecWire {
        let ToolSpec { name, description, parameters } = tool;
        SpecWire { r#type: SpecType::Function, function: Function { name, description, parameters } }
    }
}
