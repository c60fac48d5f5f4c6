//! JSON-RPC messages, parsed from bytes, and the error replies to invalid ones.

use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Map, Number, Value, json};
use std::fmt;

/// Id of a request. `1` and `"1"` are different.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Id {
    /// A number.
    Number(Number),
    /// A string.
    Text(String),
}

impl Id {
    /// Reads an id; None if the value cannot be one.
    pub fn read(value: &Value) -> Option<Id> {
        match value {
            Value::Number(number) => Some(Id::Number(number.clone())),
            Value::String(text) => Some(Id::Text(text.clone())),
            _ => None,
        }
    }

    /// Returns the id as JSON.
    pub fn to_json(&self) -> Value {
        match self {
            Id::Number(number) => Value::Number(number.clone()),
            Id::Text(text) => Value::String(text.clone()),
        }
    }
}

impl fmt::Display for Id {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Id::Number(number) => number.fmt(f),
            Id::Text(text) => f.write_str(text),
        }
    }
}

/// A JSON-RPC message.
#[derive(Clone, PartialEq, Debug)]
pub enum Message {
    /// A message that gets a reply.
    Request(Request),
    /// A message that never gets a reply, not even an error.
    Notification {
        /// Name of the event.
        method: String,
        /// Parameters of the event.
        params: Map<String, Value>,
    },
    /// The reply to one of our requests.
    Response {
        /// Id of the request.
        id: Id,
        /// Result or error.
        result: Result<Value, Value>,
    },
}

/// A message that gets a reply.
#[derive(Clone, PartialEq, Debug)]
pub struct Request {
    /// Id of the request.
    pub id: Id,
    /// Name of the method.
    pub method: String,
    /// Parameters of the method.
    pub params: Map<String, Value>,
    /// JSON text of `params.arguments.context` if it may have integers of more than 64 bits, which `params` rounds.
    pub exact_context: Option<String>,
}

impl Request {
    /// Returns a member of the request's `_meta`.
    pub fn meta(&self, key: &str) -> Option<&Value> {
        self.params.get("_meta")?.get(key)
    }
}

/// A JSON-RPC error.
#[derive(Clone, PartialEq, Debug)]
pub struct RpcError {
    /// Code of the error.
    pub code: i64,
    /// Message for people.
    pub message: String,
    /// Details for programs.
    pub data: Option<Value>,
}

impl RpcError {
    /// Code for text that is not JSON.
    pub const PARSE: i64 = -32700;
    /// Code for JSON that is not a message.
    pub const INVALID_REQUEST: i64 = -32600;
    /// Code for unknown methods.
    pub const NO_METHOD: i64 = -32601;
    /// Code for parameters that the method cannot use.
    pub const INVALID_PARAMS: i64 = -32602;
    /// Code for a bug of the server.
    pub const INTERNAL: i64 = -32603;
    /// Code for requests that the server cannot serve now.
    pub const UNAVAILABLE: i64 = -32000;
    /// Code for a header that contradicts the body.
    pub const HEADER_MISMATCH: i64 = -32020;
    /// Code for a missing capability of the client.
    pub const MISSING_CAPABILITY: i64 = -32021;
    /// Code for a revision of the protocol that is not supported.
    pub const UNSUPPORTED_VERSION: i64 = -32022;

    /// Creates an error without data.
    pub fn new(code: i64, message: impl Into<String>) -> RpcError {
        RpcError { code, message: message.into(), data: None }
    }

    /// Builds the error reply to a request; its id is `null` if none could be read.
    ///
    /// ```
    /// use ptc_mcp::frame::RpcError;
    /// let error = RpcError::new(RpcError::PARSE, "no JSON");
    /// assert_eq!(error.answer(None).to_string(), r#"{"error":{"code":-32700,"message":"no JSON"},"id":null,"jsonrpc":"2.0"}"#);
    /// ```
    pub fn answer(&self, id: Option<&Id>) -> Value {
        let mut error = json!({"code": self.code, "message": self.message});
        if let Some(data) = &self.data {
            error["data"] = data.clone();
        }
        let mut answer = Map::new();
        answer.insert("jsonrpc".to_string(), json!("2.0"));
        answer.insert("id".to_string(), id.map_or(Value::Null, Id::to_json));
        answer.insert("error".to_string(), error);
        Value::Object(answer)
    }
}

/// Builds the reply to a request with a result.
pub fn answer(id: &Id, result: Value) -> Value {
    json!({"jsonrpc": "2.0", "id": id.to_json(), "result": result})
}

/// An invalid message: its id, if that could be read, and the error.
pub type Unreadable = (Option<Id>, RpcError);

impl Message {
    /// Parses one message.
    ///
    /// ```
    /// use ptc_mcp::frame::Message;
    /// let message = Message::read(br#"{"jsonrpc":"2.0","id":"a","method":"ping"}"#).unwrap();
    /// assert!(matches!(message, Message::Request(request) if request.method == "ping"));
    /// let (id, error) = Message::read(b"[]").unwrap_err();
    /// assert_eq!((id, error.code), (None, -32600));
    /// ```
    pub fn read(bytes: &[u8]) -> Result<Message, Unreadable> {
        let text = std::str::from_utf8(bytes)
            .map_err(|_| (None, RpcError::new(RpcError::PARSE, "Parse error: the message is not UTF-8")))?;
        let value: Value = serde_json::from_str(text)
            .map_err(|error| (None, RpcError::new(RpcError::PARSE, format!("Parse error: {error}"))))?;
        let Value::Object(mut object) = value else {
            let message = match value {
                Value::Array(_) => "Invalid Request: batches are not supported, send one message at a time",
                _ => "Invalid Request: a message must be an object",
            };
            return Err((None, RpcError::new(RpcError::INVALID_REQUEST, message)));
        };
        let id = object.get("id").map(Id::read);
        let known = id.clone().flatten();
        let invalid = |message: &str| {
            Err((
                known.clone(),
                RpcError::new(RpcError::INVALID_REQUEST, format!("Invalid Request: {message}")),
            ))
        };
        let is_rpc = object.get("jsonrpc").is_some_and(|version| version == "2.0");
        let method = match object.remove("method") {
            Some(Value::String(method)) => method,
            Some(_) => return invalid("`method` must be a string"),
            None => {
                return response(object, known.clone()).map_or_else(|| invalid("`method` is missing"), Ok);
            }
        };
        let params = match object.remove("params") {
            None | Some(Value::Null) => Ok(Map::new()),
            Some(Value::Object(params)) => Ok(params),
            Some(_) => {
                Err(RpcError::new(RpcError::INVALID_PARAMS, "Invalid params: `params` must be an object"))
            }
        };
        let id = match id {
            // Invalid notifications are accepted, because nobody waits for a reply.
            None => return Ok(Message::Notification { method, params: params.unwrap_or_default() }),
            Some(None) => return invalid("`id` must be a string or a number"),
            Some(Some(id)) => id,
        };
        if !is_rpc {
            return invalid("`jsonrpc` must be \"2.0\"");
        }
        match params {
            Ok(params) => {
                Ok(Message::Request(Request { id, method, params, exact_context: exact_context(text) }))
            }
            Err(error) => Err((Some(id), error)),
        }
    }
}

/// Digits of the shortest integer that 64 bits may not hold.
const LONG_INTEGER: usize = 19;

/// Returns the text of the context of a call that contains long numbers.
fn exact_context(text: &str) -> Option<String> {
    #[derive(Deserialize)]
    struct Message<'m> {
        #[serde(borrow)]
        params: Option<Params<'m>>,
    }
    #[derive(Deserialize)]
    struct Params<'m> {
        #[serde(borrow)]
        arguments: Option<Arguments<'m>>,
    }
    #[derive(Deserialize)]
    struct Arguments<'m> {
        #[serde(borrow)]
        context: Option<&'m RawValue>,
    }
    let has_long = |text: &str| {
        let mut digits = text.as_bytes().chunk_by(|a, b| a.is_ascii_digit() && b.is_ascii_digit());
        digits.any(|run| run.len() >= LONG_INTEGER)
    };
    if !has_long(text) {
        return None;
    }
    // Messages of other forms have no context.
    let message: Message<'_> = serde_json::from_str(text).ok()?;
    let context = message.params?.arguments?.context?.get();
    has_long(context).then(|| context.to_string())
}

fn response(mut object: Map<String, Value>, id: Option<Id>) -> Option<Message> {
    let result = match (object.remove("result"), object.remove("error")) {
        (Some(result), None) => Ok(result),
        (None, Some(error)) => Err(error),
        _ => return None,
    };
    Some(Message::Response { id: id?, result })
}
