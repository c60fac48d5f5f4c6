//! Natives for sorted maps and sets.

use super::args::{arg, items, refuse};
use super::internal::sort_direction;
use ptc_bytecode::lookup;
use ptc_vm::{Call, Fault, Heap, Ref, Stop, Value};

/// `(sorted-map k v …)`
pub fn sorted_map(call: &mut Call<'_>) -> Result<Value, Stop> {
    make_map(call, 0, false)
}

/// `(sorted-map-by comparator k v …)`
pub fn sorted_map_by(call: &mut Call<'_>) -> Result<Value, Stop> {
    let descending = order(call)?;
    make_map(call, 1, descending)
}

/// `(sorted-set x …)`
pub fn sorted_set(call: &mut Call<'_>) -> Result<Value, Stop> {
    make_set(call, 0, false)
}

/// `(sorted-set-by comparator x …)`
pub fn sorted_set_by(call: &mut Call<'_>) -> Result<Value, Stop> {
    let descending = order(call)?;
    make_set(call, 1, descending)
}

fn make_map(call: &mut Call<'_>, from: usize, descending: bool) -> Result<Value, Stop> {
    let given = call.args[from..].to_vec();
    if given.len() % 2 == 1 {
        let name = call.name();
        return Err(refuse(format!("`{name}` takes keys and values in turn, but one key has no value")));
    }
    call.pay_items(given.len())?;
    call.heap.new_sorted_map(&given, descending)
}

fn make_set(call: &mut Call<'_>, from: usize, descending: bool) -> Result<Value, Stop> {
    let given = call.args[from..].to_vec();
    call.pay_items(given.len())?;
    call.heap.new_sorted_set(&given, descending)
}

/// True if the comparator means the reverse of the usual order. Other comparators would have to be called for every
/// step of a lookup, and are refused.
fn order(call: &mut Call<'_>) -> Result<bool, Stop> {
    match sort_direction(call)? {
        descending @ (Value::True | Value::False) => Ok(descending.truthy()),
        _ => Err(Fault::type_error(format!("`{}` takes the comparators <, > and compare", call.name()))
            .hint("maps keep the order in which they are filled: `(into {} (sort-by val > m))`")
            .into()),
    }
}

/// `(sorted? x)`
pub fn sorted_p(call: &mut Call<'_>) -> Result<Value, Stop> {
    Ok(Value::bool(opened(call.heap, arg(call, 1)).is_some()))
}

fn opened(heap: &Heap, value: Value) -> Option<(Ref, bool)> {
    match value {
        Value::Map(r) | Value::Set(r) => heap.sorted_order(r).map(|descending| (r, descending)),
        _ => None,
    }
}

/// `(subseq coll test key)`, `(subseq coll test key test key)`
pub fn subseq(call: &mut Call<'_>) -> Result<Value, Stop> {
    let part = part(call)?;
    call.heap.new_vec(&part)
}

/// `(rsubseq coll test key)`, `(rsubseq coll test key test key)`
pub fn rsubseq(call: &mut Call<'_>) -> Result<Value, Stop> {
    let mut part = part(call)?;
    part.reverse();
    call.heap.new_vec(&part)
}

fn part(call: &mut Call<'_>) -> Result<Vec<Value>, Stop> {
    let Some((_, descending)) = opened(call.heap, arg(call, 1)) else {
        return Err(call.wrong_type(1, "a sorted map or set"));
    };
    let tests = call.args[1..].to_vec();
    if tests.len() % 2 == 1 {
        return Err(refuse(format!("`{}` needs a key after each test", call.name())));
    }
    let is_map = matches!(arg(call, 1), Value::Map(_));
    let entries = items(call, 1)?;
    let mut kept = Vec::new();
    for entry in entries {
        let key = match entry {
            Value::Vector(pair) if is_map => call.heap.vec_get(pair, 0).unwrap_or(Value::Nil),
            other => other,
        };
        let mut holds = true;
        for test in tests.chunks_exact(2) {
            holds &= passes(call, test[0], key, test[1], descending)?;
        }
        if holds {
            kept.push(entry);
        }
    }
    Ok(kept)
}

/// Evaluates `(test key bound)` by the order of the collection.
fn passes(
    call: &mut Call<'_>,
    test: Value,
    key: Value,
    bound: Value,
    descending: bool,
) -> Result<bool, Stop> {
    let mut work = call.budget.work();
    let order = call.heap.compare(key, bound, &mut work)?;
    call.budget.settle(&work)?;
    let order = if descending { order.reverse() } else { order };
    let is = |id: u64, name: &str| lookup(name).is_some_and(|known| u64::from(known.0) == id);
    match test {
        Value::Builtin(id) if is(id, "<") => Ok(order.is_lt()),
        Value::Builtin(id) if is(id, "<=") => Ok(order.is_le()),
        Value::Builtin(id) if is(id, ">") => Ok(order.is_gt()),
        Value::Builtin(id) if is(id, ">=") => Ok(order.is_ge()),
        _ => Err(Fault::type_error(format!("`{}` takes the tests < <= > >=", call.name()))
            .hint("`(subseq (sorted-set 1 2 3) > 1)`")
            .into()),
    }
}
