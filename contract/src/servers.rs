//! Servers that programs call, as a mission needs them: whoever runs servers implements it, whoever runs missions
//! uses it, and neither knows the other.

use ptc_runtime::{ToolAnswer, ToolArgs, ToolError, Upstream};
use serde_json::Value;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

/// An answer that is on its way.
pub type ServerCall = Pin<Box<dyn Future<Output = Result<ToolAnswer, ToolError>> + Send>>;

/// The servers of one run.
pub trait Servers: Send + Sync {
    /// Text that tells a model what can be called, and how.
    fn description(&self) -> String;

    /// The catalogue that programs look into.
    fn discovery(&self) -> Arc<dyn Upstream>;

    /// Calls a tool of a server, with the arguments of `(tool/call …)`.
    fn call(&self, args: ToolArgs) -> ServerCall;

    /// The number of calls so far, and those behind the first `seen` that wrote, or may have: server, tool and effect,
    /// no argument and no answer.
    fn writes_since(&self, seen: usize) -> (usize, Vec<Value>);

    /// Begins the next program: it may look up as much as the one before.
    fn next_program(&self);

    /// Ends the run, after which calls are refused. Gives what its last program looked up.
    fn finish(&self) -> Vec<Value>;
}
