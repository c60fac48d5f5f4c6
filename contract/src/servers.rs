//! Interface between missions and the servers that their programs call: crates that run servers implement it, the
//! agent crate uses it, and neither depends on the other.

use ptc_bytecode::Effects;
use ptc_runtime::{ToolAnswer, ToolArgs, ToolError, Upstream};
use serde_json::Value;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

/// A pending result of a tool.
pub type ServerCall = Pin<Box<dyn Future<Output = Result<ToolAnswer, ToolError>> + Send>>;

/// A pending list of tools.
pub type ServerListing = Pin<Box<dyn Future<Output = ServerTools> + Send>>;

/// A server's tool, as it is offered to models that call tools by name.
#[derive(Clone, Debug)]
pub struct ServerTool {
    /// Server that offers the tool.
    pub server: String,
    /// Name of the tool on its server.
    pub name: String,
    /// Description of the tool, on one line.
    pub description: String,
    /// JSON Schema of the arguments.
    pub input_schema: Value,
    /// Effect of a call.
    pub effect: Effects,
}

/// Tools of all servers.
#[derive(Clone, Debug, Default)]
pub struct ServerTools {
    /// Tools, sorted by server and name.
    pub tools: Vec<ServerTool>,
    /// Reasons why the tools of some servers are missing.
    pub problems: Vec<String>,
}

/// The servers of one run.
pub trait Servers: Send + Sync {
    /// Returns text that tells a model what can be called, and how.
    fn description(&self) -> String;

    /// Returns the catalogue that programs look tools up in.
    fn discovery(&self) -> Arc<dyn Upstream>;

    /// Calls a tool of a server, with the arguments of `(tool/call …)`.
    fn call(&self, args: ToolArgs) -> ServerCall;

    /// Lists the tools of all servers, starting servers as needed.
    fn tools(&self) -> ServerListing;

    /// Takes note of the name under which a tool is offered to a model.
    fn offered(&self, _server: &str, _tool: &str, _name: &str) {}

    /// Calls a tool by name and returns the value that its server sends. Failures of servers are errors here.
    fn call_tool(&self, server: &str, tool: &str, args: ToolArgs) -> ServerCall;

    /// Returns the number of calls so far, and a row for each call after the first `seen` that wrote or may have
    /// written: server, tool and effect, without arguments and results.
    fn writes_since(&self, seen: usize) -> (usize, Vec<Value>);

    /// Begins the next program, or the next turn of a model that calls tools by name: its budgets start again.
    fn next_program(&self);

    /// Ends the run: further calls are refused. Returns what its last program looked up.
    fn finish(&self) -> Vec<Value>;
}
