//! Natives for arithmetic over any number of arguments, on top of the instructions for two.

use super::args::arg;
use ptc_vm::{Call, Heap, Stop, Value, not_a_number};

type Binary = fn(&mut Heap, Value, Value) -> Result<Value, Stop>;

/// Folds the arguments from the left. A single argument is combined with `unit`, which also checks it.
fn fold(call: &mut Call<'_>, unit: Value, op: Binary) -> Result<Value, Stop> {
    match call.args {
        [] => Ok(unit),
        [only] => op(call.heap, *only, unit),
        [first, rest @ ..] => rest.iter().try_fold(*first, |acc, x| op(call.heap, acc, *x)),
    }
}

/// `(+ x …)`
pub fn add(call: &mut Call<'_>) -> Result<Value, Stop> {
    fold(call, Value::Int(0), ptc_vm::add)
}

/// `(* x …)`
pub fn mul(call: &mut Call<'_>) -> Result<Value, Stop> {
    fold(call, Value::Int(1), ptc_vm::mul)
}

/// `(- x …)`
pub fn sub(call: &mut Call<'_>) -> Result<Value, Stop> {
    match call.args {
        // Zero minus 0.0 would lose the sign.
        [Value::Float(x)] => Ok(Value::float(-x.get())),
        [only] => ptc_vm::sub(call.heap, Value::Int(0), *only),
        _ => fold(call, Value::Int(0), ptc_vm::sub),
    }
}

/// `(/ x …)`
pub fn div(call: &mut Call<'_>) -> Result<Value, Stop> {
    match call.args {
        [only] => ptc_vm::div(call.heap, Value::Int(1), *only),
        _ => fold(call, Value::Int(1), ptc_vm::div),
    }
}

/// `(inc x)`
pub fn inc(call: &mut Call<'_>) -> Result<Value, Stop> {
    step(call, 1)
}

/// `(dec x)`
pub fn dec(call: &mut Call<'_>) -> Result<Value, Stop> {
    step(call, -1)
}

fn step(call: &mut Call<'_>, by: i64) -> Result<Value, Stop> {
    let x = number(call, 1)?;
    ptc_vm::add(call.heap, x, Value::Int(by))
}

/// Returns argument `n` if it is a number.
pub fn number(call: &Call<'_>, n: usize) -> Result<Value, Stop> {
    let x = arg(call, n);
    if x.is_number() { Ok(x) } else { Err(not_a_number(call.name(), n, x)) }
}

/// `(quot n d)`
pub fn quot(call: &mut Call<'_>) -> Result<Value, Stop> {
    ptc_vm::quot(call.heap, call.args[0], call.args[1])
}

/// `(rem n d)`
pub fn rem(call: &mut Call<'_>) -> Result<Value, Stop> {
    ptc_vm::rem(call.heap, call.args[0], call.args[1])
}

/// `(mod n d)`
pub fn modulo(call: &mut Call<'_>) -> Result<Value, Stop> {
    ptc_vm::modulo(call.heap, call.args[0], call.args[1])
}

/// `(abs x)`
pub fn abs(call: &mut Call<'_>) -> Result<Value, Stop> {
    let x = number(call, 1)?;
    match x {
        Value::Float(f) => Ok(Value::float(f.get().abs())),
        _ if call.heap.less(x, Value::Int(0)) => ptc_vm::sub(call.heap, Value::Int(0), x),
        _ => Ok(x),
    }
}

/// `(max x …)`
pub fn max(call: &mut Call<'_>) -> Result<Value, Stop> {
    extreme(call, |heap, best, x| heap.less_eq(best, x))
}

/// `(min x …)`
pub fn min(call: &mut Call<'_>) -> Result<Value, Stop> {
    extreme(call, |heap, best, x| heap.less_eq(x, best))
}

/// Returns the best argument: of equal numbers the last, and NaN over all.
fn extreme(call: &mut Call<'_>, better: fn(&Heap, Value, Value) -> bool) -> Result<Value, Stop> {
    let mut best = call.args[0];
    if call.args.len() == 1 {
        return Ok(best);
    }
    for n in 1..=call.args.len() {
        let x = number(call, n)?;
        let is_nan = |v: Value| matches!(v, Value::Float(f) if f.get().is_nan());
        if is_nan(x) || (!is_nan(best) && better(call.heap, best, x)) {
            best = x;
        }
        call.heap.look()?;
    }
    Ok(best)
}
