//! Natives for tasks and progress of programs that work in turns.
//!
//! The journal belongs to the host that runs the turns. A run without one behaves as if the journal were empty and kept
//! nothing: lookups find nothing, and stored values are just returned. A parallel branch does the same, since its
//! writes would depend on which branch came first.

use super::args::arg;
use crate::prelude::Surroundings;
use crate::turn::TurnHost;
use ptc_vm::{Call, FIREWALLED, Fault, Stop, Value};
use std::sync::Arc;

/// Returns the mission this run is a turn of.
pub(super) fn turn_host(call: &Call<'_>) -> Option<Arc<dyn TurnHost>> {
    call.output.context::<Surroundings>()?.turn.clone()
}

/// Returns the mission, if this run may use its journal.
fn journal(call: &Call<'_>) -> Option<Arc<dyn TurnHost>> {
    turn_host(call).filter(|_| !call.output.is_branch())
}

/// Returns argument 1 as the id of a task or step, in its `str` form.
fn id(call: &mut Call<'_>) -> Result<String, Stop> {
    if let Value::Veiled(_) = arg(call, 1) {
        return Err(Fault::type_error("an id is shown to models, so it cannot be a firewalled value")
            .hint("name the task or step by what it does: `(task \"load-rows\" …)`")
            .into());
    }
    let mut text = String::new();
    super::text::display(call, arg(call, 1), &mut text)?;
    call.pay_items(text.len() / 8)?;
    if !text.is_empty() {
        return Ok(text);
    }
    let (form, fix) = match call.name() {
        "%step-done" => ("step-done", "`(step-done \"load-rows\" \"loaded 44 rows\")`"),
        "%task-reset" => ("task-reset", "`(task-reset \"load-rows\")`"),
        _ => ("task", "`(task \"load-rows\" (tool/rows {}))`"),
    };
    let found = if matches!(arg(call, 1), Value::Nil) { "nil" } else { "empty" };
    Err(Fault::type_error(format!("`{form}` needs an id, but it is {found}")).hint(fix).into())
}

/// `(%task-get id)`: returns a vector of the stored value, or nil if the task has not been done.
pub fn task_get(call: &mut Call<'_>) -> Result<Value, Stop> {
    let Some(journal) = journal(call) else { return Ok(Value::Nil) };
    let id = id(call)?;
    // The stored value is fetched once there is room for the vector around it.
    call.heap.room(2, 0)?;
    match call.thaw(|| journal.task(&id))? {
        Some(value) => call.heap.new_vec(&[value]),
        None => Ok(Value::Nil),
    }
}

/// `(%task-put id value)`: stores the value of a task and returns it.
pub fn task_put(call: &mut Call<'_>) -> Result<Value, Stop> {
    let value = arg(call, 2);
    if let Some(journal) = journal(call) {
        let id = id(call)?;
        let frozen = call.freeze(value);
        call.pay_items(frozen.bytes() / size_of::<Value>())?;
        call.output.keep(id.len() + frozen.bytes())?;
        journal.task_done(&id, frozen);
    }
    Ok(value)
}

/// `(%task-reset id)`
pub fn task_reset(call: &mut Call<'_>) -> Result<Value, Stop> {
    if let Some(journal) = journal(call) {
        journal.task_reset(&id(call)?);
    }
    Ok(Value::Nil)
}

/// `(%step-done id summary)`: records a step with its summary as text.
pub fn step_done(call: &mut Call<'_>) -> Result<Value, Stop> {
    let summary = match arg(call, 2) {
        summary @ Value::Str(_) => summary,
        // Summaries are shown to models, so firewalled ones are replaced.
        Value::Veiled(_) => call.heap.new_str(FIREWALLED)?,
        summary @ (Value::Int(_)
        | Value::Float(_)
        | Value::Big(_)
        | Value::True
        | Value::False
        | Value::Keyword(_)) => {
            let mut text = String::new();
            super::text::display(call, summary, &mut text)?;
            call.heap.new_str(&text)?
        }
        other => {
            return Err(Fault::type_error(format!(
                "`step-done` needs a summary as text, but it is {}",
                other.type_phrase()
            ))
            .hint("`(step-done \"load\" (str \"loaded \" n \" rows\"))`")
            .into());
        }
    };
    if let (Some(journal), Value::Str(text)) = (journal(call), summary) {
        let id = id(call)?;
        let bytes = call.heap.str(text).len();
        call.pay_items(bytes / 8)?;
        call.output.keep(id.len() + bytes)?;
        journal.step_done(&id, call.heap.str(text));
    }
    Ok(summary)
}
