//! Missions with servers: the tool that calls them, and the guards that look at what was called.

use super::guard::{Guard, GuardFn};
use super::step::Fail;
use crate::tools::{Body, Tool, ToolKind};
use crate::{Agent, RunOptions};
use ptc_bytecode::ToolName;
use ptc_contract::servers::Servers;
use ptc_runtime::Known;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// The options of the run with the tool `call`, and with the end of the mission after a turn that wrote, unless the
/// host brings a guard of its own.
pub(super) fn equipped(agent: &Agent, run: &RunOptions, servers: &Arc<dyn Servers>) -> RunOptions {
    let calls = servers.clone();
    let body = Body::waiting(move |args, _| calls.call(args));
    let tool = Tool::of(ToolName::CALL, ToolKind::Plain(body)).verbatim().description(servers.description());
    let mut run = run.clone().changing(move |builder| builder.tool(tool.clone()));
    let guard = run.continuation_guard.take().unwrap_or_else(|| stop_after_writes(servers));
    run.continuation_guard = Some(still_granted(agent, servers, guard));
    run
}

/// Ends a mission after a turn that called what writes, or what nobody knows of.
fn stop_after_writes(servers: &Arc<dyn Servers>) -> GuardFn {
    let (seen, servers) = (AtomicUsize::new(0), servers.clone());
    Arc::new(move |_, _| {
        let (calls, matched) = servers.writes_since(seen.load(Ordering::SeqCst));
        seen.store(calls, Ordering::SeqCst);
        Guard::after(matched, "the turn wrote to a server, or may have, and did not end the mission")
    })
}

/// Before every further turn: are the operations the prelude needs still there? Then the host's guard.
fn still_granted(agent: &Agent, servers: &Arc<dyn Servers>, guard: GuardFn) -> GuardFn {
    let needed: Vec<(String, String)> = agent
        .prelude()
        .into_iter()
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
                let message =
                    format!("prelude attach failed: upstream:{server}/{tool} is not there any more");
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
