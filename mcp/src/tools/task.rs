//! `lisp_task`: plans and runs programs until a task is done.

use super::program;
use crate::args;
use crate::pending::ProgramState;
use crate::reason::Reason;
use crate::task::{self, TaskArgs};
use crate::tool::{Hints, Offer, ProgramWork, Tool, ToolCall, Work};
use serde_json::{Value, json};
use std::time::Duration;

/// Extra time before the server stops a task that is over its limit: tasks end in time by themselves, and say why.
const PATIENCE: Duration = Duration::from_secs(1);

pub(super) const TOOL: Tool = Tool {
    name: "lisp_task",
    title: "Do a task with upstream servers",
    is_offered: |offer| offer.tasks.is_some() && offer.catalogue.is_some(),
    description: |offer| {
        let about = "Does a task that needs upstream servers: plans, writes and runs programs by itself, and gives the answer. Say in `task` what is wanted, and give data in `context`.";
        let tasks = offer.tasks.filter(|tasks| !tasks.is_empty());
        let tasks = tasks.map_or(String::new(), |tasks| format!("\n\nWhat it can use:\n{tasks}"));
        format!("{about}{tasks}")
    },
    hints: |offer| Hints::of_servers(offer).unwrap_or(Hints::READS),
    input: || args::schema(&[TaskArgs::FIELDS]),
    output,
    args_reason: Reason::ArgsError,
    is_recorded: true,
    run,
};

fn run(call: ToolCall<'_>) -> Work {
    let refused = |reason, message: String| Work::done(task::refused(reason, message));
    let Some(planner) = call.server.host.tasks().cloned() else {
        return refused(Reason::AgenticConfigError, "the server was started without --agentic".to_string());
    };
    let args = match TaskArgs::read(call.args, &call.server.settings) {
        Ok(args) => args,
        Err(message) => return refused(Reason::ArgsError, message),
    };
    let (host, left) = (call.server.host.clone(), planner.timeout() + PATIENCE);
    Work::Program(ProgramWork {
        job: Box::new(move |scope| {
            Box::pin(async move { ProgramState::Finished(planner.run(&host, &args, &scope).await) })
        }),
        left,
        // Tasks cannot ask a person, so calls that need approval are denied.
        may_ask: false,
        refusal: task::refused,
    })
}

/// Returns the JSON Schema of results, identical in every profile.
fn output(_: &Offer<'_>) -> Option<Value> {
    let list = json!({"type": "array", "items": {"type": "object"}});
    let object = json!({"type": "object"});
    let text = json!({"type": "string"});
    let mut shared = json!({
        "warnings": list, "planner": object, "execution": object, "upstream_calls": list, "upstream_results": list,
        "program": text, "trace_id": text, "ptc_metrics": object,
    });
    let mut ok = shared.clone();
    ok["answer"] = text;
    ok["structured_result"] = json!({});
    shared["detail"] = json!({});
    let required =
        &["status", "answer", "structured_result", "warnings", "planner", "execution", "upstream_calls"];
    Some(program::either((ok, required), shared))
}
