//! Servers that programs call, as a mission needs them: whoever runs servers implements it, whoever runs missions
//! uses it, and neither knows the other.

use ptc_bytecode::Effects;
use ptc_runtime::{ToolAnswer, ToolArgs, ToolError, Upstream};
use serde_json::Value;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

/// An answer that is on its way.
pub type ServerCall = Pin<Box<dyn Future<Output = Result<ToolAnswer, ToolError>> + Send>>;

/// A list of tools that is on its way.
pub type ServerListing = Pin<Box<dyn Future<Output = ServerTools> + Send>>;

/// A tool of a server, as a model is offered it that calls tools by name.
#[derive(Clone, Debug)]
pub struct ServerTool {
    /// The server it belongs to.
    pub server: String,
    /// Its name there.
    pub name: String,
    /// A description, on one line.
    pub description: String,
    /// JSON Schema of its arguments.
    pub input_schema: Value,
    /// Effect of calling it.
    pub effect: Effects,
}

/// The tools of all servers.
#[derive(Clone, Debug, Default)]
pub struct ServerTools {
    /// By server and name.
    pub tools: Vec<ServerTool>,
    /// Why the tools of a server are not among them.
    pub problems: Vec<String>,
}

/// The servers of one run.
pub trait Servers: Send + Sync {
    /// Text that tells a model what can be called, and how.
    fn description(&self) -> String;

    /// The catalogue that programs look into.
    fn discovery(&self) -> Arc<dyn Upstream>;

    /// Calls a tool of a server, with the arguments of `(tool/call …)`.
    fn call(&self, args: ToolArgs) -> ServerCall;

    /// Lists the tools of all servers, which are started if they have to be.
    fn tools(&self) -> ServerListing;

    /// Calls a tool by name. Gives the value that its server answers; a failure of the world is an error here.
    fn call_tool(&self, server: &str, tool: &str, args: ToolArgs) -> ServerCall;

    /// The number of calls so far, and those behind the first `seen` that wrote, or may have: server, tool and effect,
    /// no argument and no answer.
    fn writes_since(&self, seen: usize) -> (usize, Vec<Value>);

    /// Begins the next program, or the next turn of a model that calls tools by name: it may call and look up as much as
    /// the one before.
    fn next_program(&self);

    /// Ends the run, after which calls are refused. Gives what its last program looked up.
    fn finish(&self) -> Vec<Value>;
}
