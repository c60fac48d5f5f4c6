//! Missions with servers: their tools in each mode, and the guards on calls to them.
//!
//! Programs call tools with `(tool/call …)` and look them up; a model that calls tools itself is offered each by name,
//! with its server's schema and description. Combined mode offers both.

use super::guard::{Guard, GuardFn};
use super::state::Mode;
use super::step::{CallRecord, Fail, Turn};
use crate::definition::{AgentBuilder, Reason};
use crate::tools::{Body, Effect, Expose, MAX_NATIVE, Tool, ToolKind, free_name, is_offered};
use crate::{Agent, RunOptions};
use ptc_bytecode::{Effects, ToolName};
use ptc_contract::servers::{ServerTool, ServerTools, Servers};
use ptc_runtime::{Known, OfferedExport};
use serde_json::{Value, json};
use std::collections::HashSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

/// Time limit for servers to list their tools, if the mission has no limit.
const LISTING: Duration = Duration::from_secs(60);

/// Returns the run's options with the servers' tools, and with a guard that ends the mission after a turn that wrote,
/// unless the host brings its own. Also returns warnings about missing tools.
pub(super) async fn equipped(
    agent: &Agent,
    run: &RunOptions,
    servers: &Arc<dyn Servers>,
) -> (RunOptions, Vec<String>) {
    // Problems of the changes are reported where the mission starts.
    let Ok(agent) = agent.changed(run) else { return (run.clone(), Vec::new()) };
    let options = agent.options();
    let mode = Mode::of_options(options);
    let (mut tools, mut warnings) = (Vec::new(), Vec::new());
    if mode.offers_tools() {
        // Listing takes time of the mission, so half of it is left for work.
        let within = options.mission_timeout.map_or(LISTING, |ms| Duration::from_millis(ms / 2));
        let listed = tokio::select! {
            listed = servers.tools() => listed,
            () = run.cancel.cancelled() => ServerTools::default(),
            () = tokio::time::sleep(within) => ServerTools {
                problems: vec!["the servers did not list their tools in time".to_string()],
                ..ServerTools::default()
            },
        };
        warnings.extend(listed.problems);
        let taken = options.tools.taken_names(&run.context);
        // The host chose its preludes with more care than servers list tools, so their exports come first.
        let exports = match options.offers_exports() {
            true => OfferedExport::all_of(agent.preludes()).filter(is_offered).count(),
            false => 0,
        };
        let room = MAX_NATIVE.saturating_sub(options.tools.native(true).count() + exports);
        let left_out = listed.tools.len().saturating_sub(room);
        if left_out > 0 {
            let others = match mode {
                Mode::Combined => "; programs can call all of them",
                _ => "; give the agent fewer servers, or programs (`ptc_transport = \"tool_call\"`)",
            };
            warnings.push(format!(
                "{left_out} tools of servers are not offered by name, since providers take {MAX_NATIVE}{others}"
            ));
        }
        tools = offered(listed.tools.into_iter().take(room), taken, servers);
    }
    // In text mode, only the exports of preludes use `call`.
    if mode != Mode::Text || options.offers_exports() && !agent.preludes().is_empty() {
        let calls = servers.clone();
        let body = Body::waiting(move |args, _| calls.call(args));
        let call =
            Tool::of(ToolName::CALL, ToolKind::Plain(body)).verbatim().description(servers.description());
        tools.push(if mode.offers_tools() { call.expose(Expose::PtcLisp) } else { call });
    }
    let mut run =
        run.clone().changing(move |builder| tools.iter().cloned().fold(builder, AgentBuilder::tool));
    let guard = run.continuation_guard.take().unwrap_or_else(|| stop_after_writes(servers, mode));
    run.continuation_guard = Some(still_granted(&agent, servers, guard));
    (run, warnings)
}

/// Returns the failure of a mission whose agent has a tool of the name by which programs call servers: one of them would
/// silently answer in place of the other.
pub(super) fn same_name(agent: &Agent, run: &RunOptions) -> Option<Fail> {
    let agent = agent.changed(run).ok()?;
    agent.options().tools.get(ToolName::CALL)?;
    let message = format!(
        "two tools are called `{0}`: one of the agent (or a stub), and the one by which programs call upstream servers; \
         rename the agent's, or leave the servers out",
        ToolName::CALL
    );
    Some(Fail::new(Reason::NameConflict.name(), message))
}

/// Converts tools of servers to tools offered to a model.
fn offered(
    listed: impl Iterator<Item = ServerTool>,
    mut taken: HashSet<String>,
    servers: &Arc<dyn Servers>,
) -> Vec<Tool> {
    let tool = |tool: ServerTool| {
        let name = free_name(&tool.server, &tool.name, &mut taken);
        servers.offered(&tool.server, &tool.name, &name);
        let operation = format!("{}/{}", tool.server, tool.name);
        let (calls, server, called) = (servers.clone(), tool.server, tool.name);
        let body = Body::waiting(move |args, _| calls.call_tool(&server, &called, args));
        let effect = match tool.effect {
            Effects::Write => Effect::Write,
            effect if effect.may_write() => Effect::Unknown,
            _ => Effect::Read,
        };
        let made = Tool::of(name, ToolKind::Plain(body)).verbatim().expose(Expose::Native).effect(effect);
        let mut made = made.taking(object(tool.input_schema));
        made.operation = Some(operation);
        if tool.description.trim().is_empty() { made } else { made.description(tool.description) }
    };
    listed.map(tool).collect()
}

/// Returns a schema as providers require it: of an object, even if the server omitted that.
fn object(schema: Value) -> Value {
    match schema {
        Value::Object(mut schema) => {
            schema.entry("type").or_insert_with(|| json!("object"));
            Value::Object(schema)
        }
        _ => json!({"type": "object"}),
    }
}

/// Returns a guard that ends a mission after a turn with a call that writes, or whose effect is unknown. A model that
/// called a tool by name has its result, so in those modes only programs and exports that broke off count.
fn stop_after_writes(servers: &Arc<dyn Servers>, mode: Mode) -> GuardFn {
    let (seen, servers) = (AtomicUsize::new(0), servers.clone());
    Arc::new(move |turn, _| {
        let (calls, matched) = servers.writes_since(seen.load(Ordering::SeqCst));
        seen.store(calls, Ordering::SeqCst);
        if mode.offers_tools() && (turn.success || !broke_off(turn)) {
            return Guard::Continue;
        }
        Guard::after(matched, "the turn wrote to a server, or may have, and did not end the mission")
    })
}

/// Returns whether a program of the turn ended early: one that the model wrote, or an export that it called by name.
fn broke_off(turn: &Turn) -> bool {
    let is_export = |call: &CallRecord| call.layer == "native" && call.origin.is_some();
    turn.program.is_some() || turn.tool_calls.iter().any(|call| is_export(call) && call.error.is_some())
}

/// Returns a guard that ends the mission if an operation of its preludes is gone, and else asks the host's guard.
fn still_granted(agent: &Agent, servers: &Arc<dyn Servers>, guard: GuardFn) -> GuardFn {
    let needed: Vec<(String, String)> = agent
        .preludes()
        .iter()
        .flat_map(|prelude| prelude.exports())
        .flat_map(|export| &export.requires)
        .filter_map(|id| id.strip_prefix("upstream:")?.split_once('/'))
        .map(|(server, tool)| (server.to_string(), tool.to_string()))
        .collect();
    let servers = servers.clone();
    Arc::new(move |turn, standing| {
        let view = servers.discovery();
        let gone = |(server, tool): &&(String, String)| {
            matches!(view.operation(server, tool), Known::NoServer | Known::NoTool)
        };
        let decided = match needed.iter().find(gone) {
            Some((server, tool)) => {
                let message = format!("prelude attach failed: upstream:{server}/{tool} no longer exists");
                Guard::Stop(Err(Fail::new("prelude_attach_failed", message)))
            }
            None => guard(turn, standing),
        };
        let is_last = standing.work_left == 0 && standing.retry_left == 0;
        if matches!(decided, Guard::Continue) && !is_last {
            servers.next_program();
        }
        decided
    })
}
