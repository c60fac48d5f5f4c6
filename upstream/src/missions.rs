//! Servers for missions.

use crate::ledger::matched_calls;
use crate::running::Attachment;
use ptc_bytecode::{Datum, Node};
use ptc_contract::data::Tree;
use ptc_contract::servers::{ServerCall, ServerListing, Servers};
use ptc_runtime::{ToolAnswer, ToolArgs, ToolError};
use serde_json::Value;
use std::sync::Arc;

impl Servers for Attachment {
    fn description(&self) -> String {
        self.upstream().render()
    }

    fn discovery(&self) -> Arc<dyn ptc_runtime::Upstream> {
        Attachment::discovery(self)
    }

    fn call(&self, args: ToolArgs) -> ServerCall {
        Box::pin(Attachment::call(self, args))
    }

    fn tools(&self) -> ServerListing {
        Box::pin(Attachment::tools(self))
    }

    fn call_tool(&self, server: &str, tool: &str, args: ToolArgs) -> ServerCall {
        let args = by_name(server, tool, &args);
        let call = Attachment::call(self, args);
        Box::pin(async move { value_of(call.await?) })
    }

    fn writes_since(&self, seen: usize) -> (usize, Vec<Value>) {
        let calls = self.context().calls();
        (calls.len(), matched_calls(calls.iter().skip(seen)))
    }

    fn next_program(&self) {
        self.context().next_program();
    }

    fn finish(&self) -> Vec<Value> {
        let context = self.context();
        context.close();
        context.catalog_ops()
    }
}

/// Builds the arguments of `(tool/call …)` for a call by server and tool name.
fn by_name(server: &str, tool: &str, args: &ToolArgs) -> ToolArgs {
    let (key, text) = (|name: &str| Node::Keyword(name.into()), |text: &str| Node::Str(text.into()));
    let mut nodes = vec![key("server"), text(server), key("tool"), text(tool), key("args")];
    let tree = Tree::new(args.datum());
    let veiled: Vec<u32> = tree.root().veiled_below(nodes.len()).collect();
    nodes.extend_from_slice(args.datum().nodes());
    nodes.push(Node::Map(3));
    let call = Datum::new(nodes).unwrap_or_else(|| Datum::scalar(Node::Nil)).with_veiled(veiled);
    // Everything else stays, most of all its place in the run: without it, the call would be made unseen.
    args.with_datum(call)
}

/// Returns the value in `{:ok true :value v}`; `{:ok false :reason r :message m}` becomes an error.
fn value_of(answer: ToolAnswer) -> Result<ToolAnswer, ToolError> {
    let datum = match answer {
        // Only values are large enough to be frozen.
        ToolAnswer::Frozen(frozen) => match frozen.field("value") {
            Some(value) => return Ok(value.into()),
            None => frozen.to_datum(usize::MAX).map_err(ToolError::new)?,
        },
        ToolAnswer::Datum(datum) => datum,
    };
    let tree = Tree::new(&datum);
    if let Some(value) = tree.root().get("value") {
        return Ok(value.datum().into());
    }
    let said = |key: &str| tree.root().get(key).and_then(|view| view.name()).unwrap_or_default();
    Err(ToolError::new(format!("{}: {}", said("reason"), said("message"))))
}
