//! Servers of a replayed mission: asked for what they have, and never called.

use super::tools::answer;
use super::{RecordedMission, Shared, Tape};
use crate::trace::Event;
use ptc_bytecode::ToolName;
use ptc_contract::servers::{ServerCall, ServerListing, Servers};
use ptc_runtime::{ToolArgs, Upstream};
use serde_json::Value;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

/// Servers that are there for their catalogue; the trace answers their calls.
pub(super) struct ReplayedServers {
    servers: Arc<dyn Servers>,
    tape: Arc<Tape>,
    playing: Shared,
    state: Arc<Mutex<State>>,
}

#[derive(Default)]
struct State {
    /// Names under which tools are offered to the model, by server and tool.
    offered: BTreeMap<(String, String), String>,
    calls: usize,
}

impl RecordedMission {
    /// Returns the servers with the trace's answers in place of theirs.
    pub(super) fn serving(&self, servers: &Arc<dyn Servers>, playing: &Shared) -> Arc<dyn Servers> {
        let (servers, tape) = (servers.clone(), self.0.clone());
        Arc::new(ReplayedServers { servers, tape, playing: playing.clone(), state: Arc::default() })
    }
}

impl ReplayedServers {
    fn answered(&self, name: String, args: ToolArgs) -> ServerCall {
        let (tape, playing, state) = (self.tape.clone(), self.playing.clone(), self.state.clone());
        Box::pin(async move {
            lock(&state).calls += 1;
            // Only the mission itself has servers, not those below it.
            answer(&tape, &playing, &name, &args, 0)
        })
    }
}

fn lock(state: &Mutex<State>) -> std::sync::MutexGuard<'_, State> {
    state.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Servers for ReplayedServers {
    fn description(&self) -> String {
        self.servers.description()
    }

    fn discovery(&self) -> Arc<dyn Upstream> {
        self.servers.discovery()
    }

    fn call(&self, args: ToolArgs) -> ServerCall {
        self.answered(ToolName::CALL.to_string(), args)
    }

    fn tools(&self) -> ServerListing {
        self.servers.tools()
    }

    fn offered(&self, server: &str, tool: &str, name: &str) {
        let key = (server.to_string(), tool.to_string());
        lock(&self.state).offered.insert(key, name.to_string());
    }

    fn call_tool(&self, server: &str, tool: &str, args: ToolArgs) -> ServerCall {
        let key = (server.to_string(), tool.to_string());
        let name = lock(&self.state).offered.get(&key).cloned().unwrap_or_else(|| tool.to_string());
        self.answered(name, args)
    }

    /// A trace does not tell which calls wrote, but it tells whether the mission ended because of them.
    fn writes_since(&self, seen: usize) -> (usize, Vec<Value>) {
        let calls = lock(&self.state).calls;
        let is_over = calls > seen && calls >= self.recorded_calls();
        (calls, if is_over { wrote(&self.tape.root) } else { Vec::new() })
    }

    fn next_program(&self) {
        self.servers.next_program();
    }

    fn finish(&self) -> Vec<Value> {
        self.servers.finish()
    }
}

impl ReplayedServers {
    /// Number of calls to servers in the trace.
    fn recorded_calls(&self) -> usize {
        let state = lock(&self.state);
        let is_ours = |tool: &str| tool == ToolName::CALL || state.offered.values().any(|name| name == tool);
        self.tape.answered.iter().filter(|call| call.depth == 0 && is_ours(&call.tool)).count()
    }
}

/// Returns the calls for which the recorded mission ended; empty if it ended for another reason.
fn wrote(root: &[Event]) -> Vec<Value> {
    let fail = root.iter().find(|event| event.kind.ends_run()).and_then(|stop| stop.data.get("fail"));
    let fail = fail.filter(|fail| fail.get("reason").and_then(Value::as_str) == Some("partial_side_effects"));
    let calls = fail.and_then(|fail| fail.pointer("/details/matched_calls")).and_then(Value::as_array);
    calls.cloned().unwrap_or_default()
}
