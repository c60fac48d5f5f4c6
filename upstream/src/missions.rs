//! Servers as missions see them.

use crate::ledger::matched_calls;
use crate::running::Attachment;
use ptc_contract::servers::{ServerCall, Servers};
use ptc_runtime::ToolArgs;
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
