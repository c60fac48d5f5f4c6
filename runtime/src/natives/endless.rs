//! Natives for the parts of endless sequences, and the state of core library functions.

use super::args::{arg, refuse};
use ptc_bytecode::lookup;
use ptc_vm::{Call, StateKind, Stop, Value};

/// `(%endless? x)`
pub fn endless_p(call: &mut Call<'_>) -> Result<Value, Stop> {
    Ok(Value::bool(matches!(arg(call, 1), Value::Endless(_))))
}

/// `(%bounded coll)`: returns the collection; an endless one is left to the twin.
pub fn bounded(call: &mut Call<'_>) -> Result<Value, Stop> {
    match arg(call, 1) {
        Value::Endless(_) => Err(Stop::twin()),
        coll => Ok(coll),
    }
}

/// `(%link x more)`
pub fn link(call: &mut Call<'_>) -> Result<Value, Stop> {
    call.heap.new_link(arg(call, 1), arg(call, 2))
}

/// `(%step f args…)`
pub fn step(call: &mut Call<'_>) -> Result<Value, Stop> {
    let parts = call.args.to_vec();
    call.heap.new_step(&parts)
}

/// `(%step-call g)`: returns function and arguments of a step, nil for a link.
pub fn step_call(call: &mut Call<'_>) -> Result<Value, Stop> {
    let Value::Endless(r) = arg(call, 1) else {
        return Err(call.heap.not_a_collection(arg(call, 1)));
    };
    let parts = call.heap.step_parts(r);
    if parts.is_empty() { Ok(Value::Nil) } else { call.heap.new_vec(&parts) }
}

/// `(%head link)`
pub fn head(call: &mut Call<'_>) -> Result<Value, Stop> {
    Ok(parts(call)?.0)
}

/// `(%tail link)`
pub fn tail(call: &mut Call<'_>) -> Result<Value, Stop> {
    Ok(parts(call)?.1)
}

fn parts(call: &Call<'_>) -> Result<(Value, Value), Stop> {
    match arg(call, 1) {
        Value::Endless(r) => call.heap.link_parts(r).ok_or_else(Stop::twin),
        other => Err(call.heap.not_a_collection(other)),
    }
}

/// `(%counts-from g)`: returns the next of the integers it counts up by one, nil if it is another sequence.
pub fn counts_from(call: &mut Call<'_>) -> Result<Value, Stop> {
    let Value::Endless(r) = arg(call, 1) else { return Ok(Value::Nil) };
    Ok(match call.heap.step_parts(r)[..] {
        [Value::Builtin(step), from @ Value::Int(_), Value::Int(1)]
            if lookup("%count-step").is_some_and(|id| u64::from(id.0) == step) =>
        {
            from
        }
        _ => Value::Nil,
    })
}

/// `(%state x)`
pub fn state(call: &mut Call<'_>) -> Result<Value, Stop> {
    call.heap.new_state(StateKind::Memory, arg(call, 1))
}

/// `(%held state)`
pub fn held(call: &mut Call<'_>) -> Result<Value, Stop> {
    match arg(call, 1) {
        Value::State(r) => Ok(call.heap.state(r)),
        _ => Ok(Value::Nil),
    }
}

/// `(%hold! state x)`
pub fn hold(call: &mut Call<'_>) -> Result<Value, Stop> {
    match hold_if_own(call)? {
        Value::True => Ok(Value::Nil),
        _ => Err(refuse(
            "a transducer that remembers what it saw cannot go on in a branch of `pmap` or a later turn",
        )),
    }
}

/// `(%hold-if-own! state x)`: writes the state if it may; returns whether it did.
pub fn hold_if_own(call: &mut Call<'_>) -> Result<Value, Stop> {
    let value = arg(call, 2);
    match arg(call, 1) {
        Value::State(r) => Ok(Value::bool(call.heap.set_state(r, value))),
        _ => Ok(Value::False),
    }
}
