//! Client of one configured server, for any transport.

use crate::fault::Fault;
use crate::slots::Slots;
use futures_util::future::BoxFuture;
use serde_json::value::RawValue;
use serde_json::{Map, Value};
use std::fmt;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// A server whose tools can be listed and called. Many calls may be in flight at once; dropping the future of a
/// call cancels it and notifies the server.
pub trait Client: Send + Sync {
    /// Returns its tools, starting the server first if needed. All pages, in the server's order.
    fn tools(&self) -> BoxFuture<'_, Result<Vec<Tool>, Fault>>;

    /// Calls a tool. The caller stops waiting at the request's deadline.
    fn call(&self, request: Request) -> BoxFuture<'_, Result<Reply, Fault>>;

    /// Time limit for a reply of this server, in addition to the limits of a call.
    fn request_timeout(&self) -> Option<Duration> {
        None
    }

    /// Slots for concurrent calls; None if there is no limit. Callers take a slot first.
    fn slots(&self) -> Option<&Slots> {
        None
    }

    /// Returns its state, without contacting it.
    fn health(&self) -> Health;

    /// Counter that increases whenever its tools may have changed: the server announced a change, or it was
    /// restarted and may differ. Does not contact it.
    fn generation(&self) -> u64 {
        0
    }

    /// Returns the schema of a tool's replies, if it is too large to be kept with every tool.
    fn output_schema(&self, tool: &str) -> Option<LateSchema> {
        let _ = tool;
        None
    }

    /// Returns problems of its last list of tools, such as tools that were left out.
    fn warnings(&self) -> Vec<String> {
        Vec::new()
    }

    /// Returns what it says about itself, if it has said so. Does not contact it.
    fn introduction(&self) -> Introduction {
        Introduction::default()
    }

    /// Stops the server, its child processes and connections.
    fn stop(&self) -> BoxFuture<'_, ()>;
}

/// A tool as its server describes it: untrusted and not yet scrubbed.
#[derive(Clone, PartialEq, Debug)]
pub struct Tool {
    /// Name at the server.
    pub name: String,
    /// Description by the server.
    pub description: Option<String>,
    /// JSON Schema of the arguments.
    pub input_schema: Value,
    /// JSON Schema of the structured replies.
    pub output_schema: Option<Value>,
    /// Annotations by the server, such as `readOnlyHint`.
    pub annotations: Option<Value>,
    /// Origin of the tool: `_ptc` of tools made from an OpenAPI document.
    pub provenance: Option<Value>,
}

/// A schema that is built whenever it is needed.
#[derive(Clone)]
pub struct LateSchema(Arc<dyn Fn() -> Option<Value> + Send + Sync>);

impl LateSchema {
    /// Takes the function that builds it.
    pub fn new(build: impl Fn() -> Option<Value> + Send + Sync + 'static) -> LateSchema {
        LateSchema(Arc::new(build))
    }

    /// Builds the schema; None if replies may be anything.
    pub fn build(&self) -> Option<Value> {
        (self.0)()
    }
}

impl PartialEq for LateSchema {
    fn eq(&self, other: &LateSchema) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl fmt::Debug for LateSchema {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("LateSchema")
    }
}

/// A server's words about itself: untrusted and not yet scrubbed.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Introduction {
    /// Name for people.
    pub title: Option<String>,
    /// How its tools are meant to be used.
    pub instructions: Option<String>,
}

/// Request to call a tool.
#[derive(Clone, Debug)]
pub struct Request {
    /// Name of the tool at the server.
    pub tool: String,
    /// Arguments of the call.
    pub args: Map<String, Value>,
    /// Time at which the caller stops waiting in any case.
    pub deadline: Instant,
    /// Time limit for the reply, from the moment the request is sent.
    pub timeout: Duration,
    /// Time limit for waiting for a free slot at the server.
    pub queue_timeout: Duration,
    /// Maximum size of the reply, in bytes.
    pub max_bytes: u64,
    /// W3C trace context of the run, passed on to the server.
    pub traceparent: Option<String>,
}

/// A reply as a `tools/call` result of MCP; replies of OpenAPI servers are converted to that shape.
#[derive(Clone, Debug)]
pub struct Reply {
    /// Text of the result object: `content`, `structuredContent`, `isError`. A few bytes of it may become a lot
    /// of data, so it is parsed only where memory is counted.
    pub result: Box<RawValue>,
    /// HTTP status of the reply, if it came over HTTP.
    pub http_status: Option<u16>,
    /// Number of bytes received.
    pub wire_bytes: u64,
}

impl Reply {
    /// Creates a reply from a result, without a status; its size is that of the text.
    pub fn new(result: &Value) -> Reply {
        let text = result.to_string();
        let wire_bytes = text.len() as u64;
        // A value can always be written as text.
        let result = RawValue::from_string(text).unwrap_or_else(|_| RawValue::NULL.to_owned());
        Reply { result, http_status: None, wire_bytes }
    }

    /// Parses the result object in full, whatever memory that takes; null if it nests too deeply.
    pub fn value(&self) -> Value {
        serde_json::from_str(self.result.get()).unwrap_or_default()
    }
}

/// State of a server.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Health {
    /// Not needed yet.
    Cold,
    /// Being started and greeted.
    Starting,
    /// Ready for calls.
    Ready,
    /// Crashed; the first call after a delay restarts it.
    Backoff,
    /// Crashed too often; not restarted for some minutes.
    Failed,
}
