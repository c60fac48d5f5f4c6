//! One configured server, whatever it speaks.

use crate::fault::Fault;
use crate::seats::Seats;
use futures_util::future::BoxFuture;
use serde_json::value::RawValue;
use serde_json::{Map, Value};
use std::time::{Duration, Instant};

/// A server that can be asked for its tools and called. Many calls may be in flight at one time; dropping
/// the future of a call cancels it, and the server is told.
pub trait Client: Send + Sync {
    /// Its tools, once it has been started and greeted. All pages, in the order of the server.
    fn tools(&self) -> BoxFuture<'_, Result<Vec<Tool>, Fault>>;

    /// Calls a tool. Whoever calls stops waiting when the time of the request is over.
    fn call(&self, request: Request) -> BoxFuture<'_, Result<Reply, Fault>>;

    /// Time limit for an answer of this server, besides the limits of a call.
    fn request_timeout(&self) -> Option<Duration> {
        None
    }

    /// Places for calls at one time; None if any number may be under way. Whoever calls takes one first.
    fn seats(&self) -> Option<&Seats> {
        None
    }

    /// How it is, without asking it anything.
    fn health(&self) -> Health;

    /// Goes up whenever its tools may be others than those listed before: it said so, or it was started
    /// again and is no longer the same. Asks it nothing.
    fn generation(&self) -> u64 {
        0
    }

    /// Ends it, children and connections too.
    fn stop(&self) -> BoxFuture<'_, ()>;
}

/// A tool as its server describes it. Nothing here is to be trusted, and nothing is scrubbed yet.
#[derive(Clone, PartialEq, Debug)]
pub struct Tool {
    /// Its name at the server.
    pub name: String,
    /// What it does.
    pub description: Option<String>,
    /// JSON Schema of its arguments.
    pub input_schema: Value,
    /// JSON Schema of its structured answers.
    pub output_schema: Option<Value>,
    /// `readOnlyHint` and its kind.
    pub annotations: Option<Value>,
    /// Where we made it from: `_ptc` of tools that come from an OpenAPI document.
    pub provenance: Option<Value>,
}

/// A call.
#[derive(Clone, Debug)]
pub struct Request {
    /// The tool's name at the server.
    pub tool: String,
    /// Its arguments.
    pub args: Map<String, Value>,
    /// When the caller stops waiting, whatever happens.
    pub deadline: Instant,
    /// Time limit for the answer, from the moment the request is sent.
    pub timeout: Duration,
    /// Time limit for waiting until the server has a place for the call.
    pub queue_timeout: Duration,
    /// How many bytes the answer may have.
    pub max_bytes: u64,
    /// W3C trace context of the run, to be handed on.
    pub traceparent: Option<String>,
}

/// An answer, as a `tools/call` result of MCP; OpenAPI answers are put into that shape.
#[derive(Clone, Debug)]
pub struct Reply {
    /// Text of the result object: `content`, `structuredContent`, `isError`. A few bytes of it may be very large as data,
    /// so it is read where that is counted.
    pub result: Box<RawValue>,
    /// The status of an answer over HTTP.
    pub http_status: Option<u16>,
    /// How many bytes arrived.
    pub wire_bytes: u64,
}

impl Reply {
    /// An answer with this result and no status, as many bytes long as its text.
    pub fn new(result: &Value) -> Reply {
        let text = result.to_string();
        let wire_bytes = text.len() as u64;
        // A value always has text.
        let result = RawValue::from_string(text).unwrap_or_else(|_| RawValue::NULL.to_owned());
        Reply { result, http_status: None, wire_bytes }
    }

    /// The result object as a whole, whatever memory that takes; null if it nests too deep for that.
    pub fn value(&self) -> Value {
        serde_json::from_str(self.result.get()).unwrap_or_default()
    }
}

/// How a server is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Health {
    /// Nobody has needed it yet.
    Cold,
    /// It is being started and greeted.
    Starting,
    /// It can be called.
    Ready,
    /// It crashed; it is started again by the first call after a while.
    Backoff,
    /// It crashed too often and is left alone for some minutes.
    Failed,
}
