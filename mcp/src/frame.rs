//! One message of JSON-RPC, from bytes; and the errors that are answered to those that are none.

use serde_json::{Map, Number, Value, json};
use std::fmt;

/// What a request is known by. `1` and `"1"` are two.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Id {
    /// A number.
    Number(Number),
    /// A text.
    Text(String),
}

impl Id {
    /// Reads one; None for what cannot be an id.
    pub fn read(value: &Value) -> Option<Id> {
        match value {
            Value::Number(number) => Some(Id::Number(number.clone())),
            Value::String(text) => Some(Id::Text(text.clone())),
            _ => None,
        }
    }

    /// As it stands in messages.
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

/// A message.
#[derive(Clone, PartialEq, Debug)]
pub enum Message {
    /// One that is answered.
    Request(Request),
    /// One that never is, not even with an error.
    Notification {
        /// What happened.
        method: String,
        /// The rest of it.
        params: Map<String, Value>,
    },
    /// The answer to a request of ours.
    Response {
        /// Of which.
        id: Id,
        /// What came of it, or the error.
        result: Result<Value, Value>,
    },
}

/// A message that is answered.
#[derive(Clone, PartialEq, Debug)]
pub struct Request {
    /// What it is known by.
    pub id: Id,
    /// What is asked for.
    pub method: String,
    /// The rest of it.
    pub params: Map<String, Value>,
}

impl Request {
    /// What the client says about the request beside it.
    pub fn meta(&self, key: &str) -> Option<&Value> {
        self.params.get("_meta")?.get(key)
    }
}

/// An error of the protocol.
#[derive(Clone, PartialEq, Debug)]
pub struct RpcError {
    /// Which one.
    pub code: i64,
    /// What is wrong.
    pub message: String,
    /// For machines.
    pub data: Option<Value>,
}

impl RpcError {
    /// Not JSON.
    pub const PARSE: i64 = -32700;
    /// JSON, but no message.
    pub const INVALID_REQUEST: i64 = -32600;
    /// There is no such method.
    pub const NO_METHOD: i64 = -32601;
    /// The method cannot use these parameters.
    pub const INVALID_PARAMS: i64 = -32602;
    /// A bug of ours.
    pub const INTERNAL: i64 = -32603;
    /// The server cannot serve that now.
    pub const UNAVAILABLE: i64 = -32000;
    /// A header says something else than the body.
    pub const HEADER_MISMATCH: i64 = -32020;
    /// The client cannot do what the request needs.
    pub const MISSING_CAPABILITY: i64 = -32021;
    /// The revision of the protocol is not served.
    pub const UNSUPPORTED_VERSION: i64 = -32022;

    /// An error without data.
    pub fn new(code: i64, message: impl Into<String>) -> RpcError {
        RpcError { code, message: message.into(), data: None }
    }

    /// The message that answers a request with it; `null` where no id could be read.
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

/// The message that answers a request with a result.
pub fn answer(id: &Id, result: Value) -> Value {
    json!({"jsonrpc": "2.0", "id": id.to_json(), "result": result})
}

/// What is no message, and as far as it could be read whose.
pub type Unreadable = (Option<Id>, RpcError);

impl Message {
    /// Reads one message.
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
            .map_err(|_| (None, RpcError::new(RpcError::PARSE, "Parse error: the message is no UTF-8")))?;
        let value: Value = serde_json::from_str(text)
            .map_err(|error| (None, RpcError::new(RpcError::PARSE, format!("Parse error: {error}"))))?;
        let Value::Object(mut object) = value else {
            let message = match value {
                Value::Array(_) => "Invalid Request: batches are not served, send one message at a time",
                _ => "Invalid Request: a message is an object",
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
            // Whatever is wrong with a notification, nobody waits for an answer.
            None => return Ok(Message::Notification { method, params: params.unwrap_or_default() }),
            Some(None) => return invalid("`id` must be a string or a number"),
            Some(Some(id)) => id,
        };
        if !is_rpc {
            return invalid("`jsonrpc` must be \"2.0\"");
        }
        match params {
            Ok(params) => Ok(Message::Request(Request { id, method, params })),
            Err(error) => Err((Some(id), error)),
        }
    }
}

fn response(mut object: Map<String, Value>, id: Option<Id>) -> Option<Message> {
    let result = match (object.remove("result"), object.remove("error")) {
        (Some(result), None) => Ok(result),
        (None, Some(error)) => Err(error),
        _ => return None,
    };
    Some(Message::Response { id: id?, result })
}
