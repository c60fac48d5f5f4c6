//! Guards that decide after each turn whether a mission continues.

use super::step::{CallRecord, Fail, Turn};
use ptc_bytecode::Datum;
use serde_json::{Value, json};
use std::sync::Arc;

/// Decision of a guard.
#[derive(Clone, Debug)]
pub enum Guard {
    /// Lets the next turn begin.
    Continue,
    /// Ends the mission with this value, or this failure.
    Stop(Result<Datum, Fail>),
}

impl Guard {
    /// Stops a mission whose turn made these calls, if there are any.
    pub(super) fn after(matched: Vec<Value>, message: &str) -> Guard {
        if matched.is_empty() {
            return Guard::Continue;
        }
        let fail = Fail::new("partial_side_effects", message);
        Guard::Stop(Err(fail.details(json!({"matched_calls": matched}))))
    }
}

/// Input of a guard, besides the turn.
#[derive(Clone, Copy, Debug)]
pub struct Standing<'s> {
    /// Number of the finished turn.
    pub turn: u32,
    /// Work turns left.
    pub work_left: u32,
    /// Retries left.
    pub retry_left: u32,
    /// Tool calls of the turn.
    pub tool_calls: &'s [CallRecord],
}

/// Guard function, called after every turn that did not end the mission.
pub type GuardFn = Arc<dyn Fn(&Turn, &Standing<'_>) -> Guard + Send + Sync>;

/// Returns a guard that ends a mission after a turn that changed something outside, or may have done so: a model that does not
/// know how far its program got might make the change again. Calls that a ledger holds, or that a person approved, do not count.
///
/// ```
/// use ptc_agent::{mission::stop_after_writes, run, tools::{LlmRef, Tool}, Agent, RunOptions};
/// use ptc_model::Scripted;
/// let agent = Agent::builder().prompt("Pay").tool(Tool::new("pay", |_, _| Ok(true))).build()?;
/// let model = Scripted::new(["(tool/pay {:amount 5})", "(tool/pay {:amount 5})"]);
/// let options = RunOptions { continuation_guard: Some(stop_after_writes()), ..RunOptions::new() };
/// let step = run(&agent, &options.llm(LlmRef::client(model.clone()))).unwrap_err();
/// assert_eq!((step.reason(), model.left()), ("partial_side_effects", 1));
/// # Ok::<(), ptc_agent::BuildError>(())
/// ```
pub fn stop_after_writes() -> GuardFn {
    Arc::new(|_, standing| {
        let matched: Vec<_> = standing
            .tool_calls
            .iter()
            .filter(|call| call.effect != "read" && !call.is_covered)
            .map(|call| json!({"server": null, "tool": call.name, "effect": call.effect}))
            .collect();
        Guard::after(matched, "the turn changed something outside, or may have, and did not end the mission")
    })
}
