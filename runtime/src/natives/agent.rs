//! Tasks and progress of programs that work in turns.
//!
//! The journal belongs to the host that runs the turns. A run without one behaves as if it were
//! empty and forgot at once: nothing is found, and what is put comes back.

use super::args::arg;
use ptc_vm::{Call, Fault, Stop, Value};

/// `(%task-get id)`: a vector of the stored value, or nil if the task has not been done.
pub fn task_get(_: &mut Call<'_>) -> Result<Value, Stop> {
    Ok(Value::Nil)
}

/// `(%task-put id value)`: stores the value of a task and gives it.
pub fn task_put(call: &mut Call<'_>) -> Result<Value, Stop> {
    Ok(arg(call, 2))
}

/// `(%task-reset id)`
pub fn task_reset(_: &mut Call<'_>) -> Result<Value, Stop> {
    Ok(Value::Nil)
}

/// `(%step-done id summary)`: the summary as text.
pub fn step_done(call: &mut Call<'_>) -> Result<Value, Stop> {
    match arg(call, 2) {
        summary @ Value::Str(_) => Ok(summary),
        summary @ (Value::Int(_)
        | Value::Float(_)
        | Value::Big(_)
        | Value::True
        | Value::False
        | Value::Keyword(_)) => {
            let mut text = String::new();
            super::text::display(call, summary, &mut text)?;
            call.heap.new_str(&text)
        }
        other => Err(Fault::type_error(format!(
            "`step-done` needs a summary as text, but it is {}",
            other.type_phrase()
        ))
        .hint("`(step-done \"load\" (str \"loaded \" n \" rows\"))`")
        .into()),
    }
}
