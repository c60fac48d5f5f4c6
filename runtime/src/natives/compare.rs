//! Natives for equality, order and truth.

use super::args::arg;
use super::table::Table;
use ptc_vm::{Call, Heap, Stop, Value};
use std::cmp::Ordering;

/// `(= x …)`: true if all are equal to the first.
pub fn eq(call: &mut Call<'_>) -> Result<Value, Stop> {
    all_equal(call).map(Value::bool)
}

/// `(not= x …)`
pub fn not_eq(call: &mut Call<'_>) -> Result<Value, Stop> {
    all_equal(call).map(|same| Value::bool(!same))
}

fn all_equal(call: &mut Call<'_>) -> Result<bool, Stop> {
    let mut work = call.budget.work();
    let mut same = true;
    for x in &call.args[1..] {
        same = call.heap.equal(call.args[0], *x, &mut work)?;
        if !same {
            break;
        }
        call.heap.look()?;
    }
    call.budget.settle(&work)?;
    Ok(same)
}

/// `(%exact a b)`: compares like `=`, but 1 and 1.0 differ.
pub fn exact(call: &mut Call<'_>) -> Result<Value, Stop> {
    let mut work = call.budget.work();
    let same = call.heap.exact_within(arg(call, 1), arg(call, 2), &mut work)?;
    call.heap.look()?;
    call.budget.settle(&work)?;
    Ok(Value::bool(same))
}

fn chain(call: &mut Call<'_>, holds: fn(&Heap, Value, Value) -> bool) -> Result<Value, Stop> {
    for pair in call.args.windows(2) {
        if !holds(call.heap, pair[0], pair[1]) {
            return Ok(Value::False);
        }
        call.heap.look()?;
    }
    Ok(Value::True)
}

/// `(< x …)`
pub fn less(call: &mut Call<'_>) -> Result<Value, Stop> {
    chain(call, Heap::less)
}

/// `(<= x …)`
pub fn less_eq(call: &mut Call<'_>) -> Result<Value, Stop> {
    chain(call, Heap::less_eq)
}

/// `(> x …)`
pub fn greater(call: &mut Call<'_>) -> Result<Value, Stop> {
    chain(call, |heap, a, b| heap.less(b, a))
}

/// `(>= x …)`
pub fn greater_eq(call: &mut Call<'_>) -> Result<Value, Stop> {
    chain(call, |heap, a, b| heap.less_eq(b, a))
}

/// `(compare a b)`
pub fn compare(call: &mut Call<'_>) -> Result<Value, Stop> {
    let (a, b) = (arg(call, 1), arg(call, 2));
    let is_nan = |v: Value| matches!(v, Value::Float(x) if x.get().is_nan());
    if (is_nan(a) && b.is_number()) || (is_nan(b) && a.is_number()) {
        return Ok(Value::Int(0));
    }
    let mut work = call.budget.work();
    let order = call.heap.compare(a, b, &mut work)?;
    call.budget.settle(&work)?;
    Ok(Value::Int(match order {
        Ordering::Less => -1,
        Ordering::Equal => 0,
        Ordering::Greater => 1,
    }))
}

/// `(not x)`
pub fn not(call: &mut Call<'_>) -> Result<Value, Stop> {
    Ok(Value::bool(!arg(call, 1).truthy()))
}

/// `(boolean x)`
pub fn boolean(call: &mut Call<'_>) -> Result<Value, Stop> {
    Ok(Value::bool(arg(call, 1).truthy()))
}

/// `(identity x)`
pub fn identity(call: &mut Call<'_>) -> Result<Value, Stop> {
    Ok(arg(call, 1))
}

/// `(distinct? x …)`
pub fn distinct_p(call: &mut Call<'_>) -> Result<Value, Stop> {
    let mut seen = Table::new(call.budget.work());
    let mut distinct = true;
    for x in call.args {
        distinct &= seen.enter(call.heap, *x)?.is_new;
    }
    call.budget.settle(seen.work())?;
    Ok(Value::bool(distinct))
}
