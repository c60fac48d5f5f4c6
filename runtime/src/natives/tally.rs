//! Natives that count, group and fold elements.

use super::args::{arg, each, items};
use super::table::Table;
use ptc_vm::{Call, Fault, Stop, Value};
use std::cmp::Ordering;

/// `(frequencies coll)`
pub fn frequencies(call: &mut Call<'_>) -> Result<Value, Stop> {
    let mut seen = Table::new(call.budget.work());
    let mut counts: Vec<i64> = Vec::new();
    each(call, 1, |heap, item| {
        let entered = seen.enter(heap, item)?;
        if entered.is_new {
            counts.push(0);
        }
        counts[entered.number] += 1;
        Ok(())
    })?;
    call.budget.settle(seen.work())?;
    let pairs: Vec<Value> =
        counts.iter().enumerate().flat_map(|(i, count)| [seen.key(i), Value::Int(*count)]).collect();
    call.heap.new_distinct_map(&pairs, &seen.hashes())
}

/// `(distinct coll)`
pub fn distinct(call: &mut Call<'_>) -> Result<Value, Stop> {
    super::args::whole_call(call, 1)?;
    if matches!(arg(call, 1), Value::Map(_)) {
        return Err(call.wrong_type(1, "a list, a string or a set (`(seq m)` gives the pairs of a map)"));
    }
    let mut seen = Table::new(call.budget.work());
    let mut kept = Vec::new();
    each(call, 1, |heap, item| {
        if seen.enter(heap, item)?.is_new {
            kept.push(item);
        }
        Ok(())
    })?;
    call.budget.settle(seen.work())?;
    call.heap.new_vec(&kept)
}

/// Steps for comparing two elements, besides those for their parts.
const COMPARING: u64 = 8;

/// `(dedupe coll)`
pub fn dedupe(call: &mut Call<'_>) -> Result<Value, Stop> {
    super::args::whole_call(call, 1)?;
    let mut kept: Vec<Value> = Vec::new();
    let mut work = call.budget.work();
    each(call, 1, |heap, item| {
        let repeats = match kept.last() {
            Some(last) => {
                work.step(COMPARING)?;
                heap.exact_within(*last, item, &mut work)?
            }
            None => false,
        };
        if !repeats {
            kept.push(item);
        }
        Ok(())
    })?;
    call.budget.settle(&work)?;
    call.heap.new_vec(&kept)
}

/// Groups items of argument 1 by the keys in argument 2: a map of vectors.
pub fn group(call: &mut Call<'_>) -> Result<Value, Stop> {
    let (items, keys) = (items(call, 1)?, items(call, 2)?);
    let mut seen = Table::new(call.budget.work());
    let mut groups: Vec<Vec<Value>> = Vec::new();
    for (item, key) in items.iter().zip(keys) {
        let entered = seen.enter(call.heap, key)?;
        if entered.is_new {
            groups.push(Vec::new());
        }
        groups[entered.number].push(*item);
    }
    call.budget.settle(seen.work())?;
    call.heap.room(items.len() + groups.len() * 3, 0)?;
    let mut pairs = Vec::with_capacity(groups.len() * 2);
    for (i, group) in groups.iter().enumerate() {
        pairs.extend([seen.key(i), call.heap.new_vec(group)?]);
    }
    call.heap.new_distinct_map(&pairs, &seen.hashes())
}

/// Returns the first item of argument 1 for each key in argument 2.
pub fn first_by_key(call: &mut Call<'_>) -> Result<Value, Stop> {
    let (items, keys) = (items(call, 1)?, items(call, 2)?);
    let mut seen = Table::new(call.budget.work());
    let mut kept = Vec::new();
    for (item, key) in items.iter().zip(keys) {
        if seen.enter(call.heap, key)?.is_new {
            kept.push(*item);
        }
    }
    call.budget.settle(seen.work())?;
    call.heap.new_vec(&kept)
}

/// `(%extreme items keys greatest? last?)`: returns the item with the least or greatest key that is not nil, or
/// nil; of equal ones the first or the last.
pub fn extreme(call: &mut Call<'_>) -> Result<Value, Stop> {
    let (items, keys) = (items(call, 1)?, items(call, 2)?);
    let wanted = if arg(call, 3).truthy() { Ordering::Greater } else { Ordering::Less };
    let ties = arg(call, 4).truthy();
    let mut work = call.budget.work();
    let mut best: Option<(Value, Value)> = None;
    for (item, key) in items.into_iter().zip(keys) {
        if matches!(key, Value::Nil) {
            continue;
        }
        let better = match best {
            None => true,
            Some((_, known)) => match call.heap.compare(key, known, &mut work)? {
                Ordering::Equal => ties,
                order => order == wanted,
            },
        };
        if better {
            best = Some((item, key));
        }
    }
    call.budget.settle(&work)?;
    Ok(best.map_or(Value::Nil, |(item, _)| item))
}

/// Returns the sum of the elements that are not nil, and their number.
fn total(call: &mut Call<'_>) -> Result<(Value, usize), Stop> {
    let name = call.name();
    let (mut sum, mut count) = (Value::Int(0), 0);
    each(call, 1, |heap, item| {
        if matches!(item, Value::Nil) {
            return Ok(());
        }
        if !item.is_number() {
            return Err(not_summed(name, item));
        }
        sum = ptc_vm::add(heap, sum, item)?;
        count += 1;
        Ok(())
    })?;
    Ok((sum, count))
}

#[cold]
fn not_summed(name: &str, found: Value) -> Stop {
    let fault =
        Fault::type_error(format!("`{name}` needs numbers, but one of them is {}", found.type_phrase()));
    match found {
        Value::Str(_) => fault.hint("`(sum (keep parse-double xs))` reads numbers from text"),
        _ => fault,
    }
    .into()
}

/// `(sum coll)`
pub fn sum(call: &mut Call<'_>) -> Result<Value, Stop> {
    Ok(total(call)?.0)
}

/// `(avg coll)`
pub fn avg(call: &mut Call<'_>) -> Result<Value, Stop> {
    match total(call)? {
        (_, 0) => Ok(Value::Nil),
        (sum, count) => ptc_vm::div(call.heap, sum, Value::Int(count as i64)),
    }
}
