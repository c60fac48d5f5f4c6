//! Natives and firewalled values: one wrapper around all natives, which runs only if there are veils.
//!
//! The treatment of veils is a property of a builtin's row. Natives need not know of veils: those that compute get
//! clear values, and those that move elements never look inside. A native that does look, and refuses a veil, is run
//! again with clear values.

use super::unknown;
use ptc_bytecode::{Elements, Veil};
use ptc_vm::{Call, NativeFn, Stop, Value};

/// Runs a native with arguments that are veiled or contain veiled values.
#[inline(never)]
pub(super) fn through(call: &mut Call<'_>, body: NativeFn) -> Result<Value, Stop> {
    if call.heap.has_unknowns() && unknown::leaves(call)? {
        return Ok(Value::Nil);
    }
    match call.id.row().map_or(Veil::Clears, |row| row.veil) {
        Veil::Clears => match clear(call)? {
            Some(args) => run(call, &args, body, true),
            None => body(call),
        },
        Veil::Measures => match call.args.iter().any(|arg| matches!(arg, Value::Veiled(_))) {
            true => {
                let args: Vec<Value> = call.args.iter().map(|arg| call.heap.unveil(*arg)).collect();
                let name = call.name();
                with(call, &args, body).map_err(|stop| stop.veiled(name))
            }
            false => body(call),
        },
        Veil::Keeps(Elements::All) => body(call),
        Veil::Keeps(elements) => {
            let n = call.args.len();
            kept(call, body, |at| elements.contain(at, n), None)
        }
        Veil::Keyed => kept(call, body, |at| at > 1, Some(1)),
    }
}

/// Runs a native that moves elements: veils around its collections are lifted, those around elements stay. Argument
/// `key`, counted from 0, is cleared at any depth.
fn kept(
    call: &mut Call<'_>,
    body: NativeFn,
    is_element: impl Fn(usize) -> bool,
    key: Option<usize>,
) -> Result<Value, Stop> {
    let mut is_secret = false;
    let mut args = call.args.to_vec();
    for (at, arg) in args.iter_mut().enumerate().filter(|(at, _)| !is_element(*at)) {
        let found = match key == Some(at) {
            true => call.heap.unveil_deep(*arg)?,
            false => matches!(arg, Value::Veiled(_)).then(|| call.heap.unveil(*arg)),
        };
        if let Some(clear) = found {
            (*arg, is_secret) = (clear, true);
        }
    }
    match run(call, &args, body, is_secret) {
        // It met a veil where it had to look.
        Err(stop) if stop.is_refusal() => match clear(call)? {
            Some(args) => run(call, &args, body, true),
            None => Err(stop),
        },
        other => other,
    }
}

/// Returns the arguments without veils at any depth; None if there are none.
fn clear(call: &mut Call<'_>) -> Result<Option<Vec<Value>>, Stop> {
    let mut args = call.args.to_vec();
    let mut has_veils = false;
    for arg in &mut args {
        if let Some(clear) = call.heap.unveil_deep(*arg)? {
            (*arg, has_veils) = (clear, true);
        }
    }
    Ok(has_veils.then_some(args))
}

/// Runs a native with other arguments; with secret ones, its result and its messages are veiled.
fn run(call: &mut Call<'_>, args: &[Value], body: NativeFn, is_secret: bool) -> Result<Value, Stop> {
    let name = call.name();
    match with(call, args, body) {
        Ok(value) if is_secret => call.heap.veil(value),
        Err(stop) if is_secret => Err(stop.veiled(name)),
        other => other,
    }
}

fn with(call: &mut Call<'_>, args: &[Value], body: NativeFn) -> Result<Value, Stop> {
    let Call { id, heap, budget, output, .. } = call;
    body(&mut Call { id: *id, args, heap, budget, output, owns_first: false })
}
