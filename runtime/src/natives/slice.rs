//! Natives for parts of sequences: prefixes, suffixes, chunks.

use super::args::{amount, arg, items, size, whole, whole_call};
use super::seq::{part, part_or_nil};
use ptc_vm::{Call, Fault, Stop, Value};

/// `(take n coll)`
pub fn take(call: &mut Call<'_>) -> Result<Value, Stop> {
    whole_call(call, 2)?;
    let n = amount(call, 1)?;
    part(call, 2, 0, n)
}

/// `(drop n coll)`
pub fn drop(call: &mut Call<'_>) -> Result<Value, Stop> {
    whole_call(call, 2)?;
    let n = amount(call, 1)?;
    part(call, 2, n, usize::MAX)
}

/// `(take-last n coll)`
pub fn take_last(call: &mut Call<'_>) -> Result<Value, Stop> {
    let (n, len) = (amount(call, 1)?, size(call, 2)?);
    part_or_nil(call, 2, len.saturating_sub(n), usize::MAX)
}

/// `(drop-last coll)`, `(drop-last n coll)`
pub fn drop_last(call: &mut Call<'_>) -> Result<Value, Stop> {
    let (n, coll) = if call.args.len() == 1 { (1, 1) } else { (amount(call, 1)?, 2) };
    let len = size(call, coll)?;
    part(call, coll, 0, len.saturating_sub(n))
}

/// `(nthrest coll n)`
pub fn nthrest(call: &mut Call<'_>) -> Result<Value, Stop> {
    let n = amount(call, 2)?;
    part(call, 1, n, usize::MAX)
}

/// `(nthnext coll n)`
pub fn nthnext(call: &mut Call<'_>) -> Result<Value, Stop> {
    let n = amount(call, 2)?;
    part_or_nil(call, 1, n, usize::MAX)
}

/// `(split-at n coll)`
pub fn split_at(call: &mut Call<'_>) -> Result<Value, Stop> {
    let n = amount(call, 1)?;
    let (head, tail) = (part(call, 2, 0, n)?, part(call, 2, n, usize::MAX)?);
    call.heap.new_vec(&[head, tail])
}

/// `(take-nth n coll)`
pub fn take_nth(call: &mut Call<'_>) -> Result<Value, Stop> {
    whole_call(call, 2)?;
    let n = positive(call, 1)?;
    let items = items(call, 2)?;
    let taken: Vec<Value> = items.into_iter().step_by(n).collect();
    call.heap.new_vec(&taken)
}

/// Returns argument `n` as a number of at least 1.
fn positive(call: &Call<'_>, n: usize) -> Result<usize, Stop> {
    match usize::try_from(whole(call, n)?) {
        Ok(count) if count > 0 => Ok(count),
        _ => Err(Fault::type_error(format!("`{}`: argument {n} must be above 0", call.name()))
            .hint("`(partition-all 2 xs)` makes chunks of two")
            .into()),
    }
}

/// `(partition n coll)`, `(partition n step coll)`, `(partition n step pad coll)`
pub fn partition(call: &mut Call<'_>) -> Result<Value, Stop> {
    let last = call.args.len();
    if whole(call, 1)? < 0 {
        size(call, last)?;
        return Ok(call.heap.empty_vec());
    }
    let n = positive(call, 1)?;
    let step = if last > 2 { positive(call, 2)? } else { n };
    let pad = if last == 4 { Some(items(call, 3)?) } else { None };
    let items = items(call, last)?;
    let whole_chunks = if items.len() < n { 0 } else { (items.len() - n) / step + 1 };
    let mut chunks = room_for_chunks(call, whole_chunks, n)?;
    for i in 0..whole_chunks {
        chunks.push(call.heap.new_vec(&items[i * step..i * step + n])?);
    }
    let rest = whole_chunks.saturating_mul(step);
    if let (Some(pad), true) = (pad, rest < items.len()) {
        let mut chunk = items[rest..].to_vec();
        chunk.extend(pad.into_iter().take(n - chunk.len().min(n)));
        chunks.push(call.heap.new_vec(&chunk)?);
    }
    call.heap.new_vec(&chunks)
}

/// `(partition-all n coll)`, `(partition-all n step coll)`
pub fn partition_all(call: &mut Call<'_>) -> Result<Value, Stop> {
    whole_call(call, 2)?;
    let last = call.args.len();
    let n = positive(call, 1)?;
    let step = if last > 2 { positive(call, 2)? } else { n };
    let items = items(call, last)?;
    let count = items.len().div_ceil(step);
    let mut chunks = room_for_chunks(call, count, n.min(items.len()))?;
    for start in (0..items.len()).step_by(step) {
        let end = start.saturating_add(n).min(items.len());
        chunks.push(call.heap.new_vec(&items[start..end])?);
    }
    call.heap.new_vec(&chunks)
}

/// Reserves room and pays for `count` chunks of `n`, and the vector of them.
fn room_for_chunks(call: &mut Call<'_>, count: usize, n: usize) -> Result<Vec<Value>, Stop> {
    let cells = count.saturating_mul(n.saturating_add(2));
    call.heap.room(cells, 0)?;
    call.pay_items(cells)?;
    Ok(Vec::with_capacity(count))
}

/// Splits the items of argument 1 where the keys in argument 2 change.
pub fn split_changes(call: &mut Call<'_>) -> Result<Value, Stop> {
    let (items, keys) = (items(call, 1)?, items(call, 2)?);
    call.heap.room(items.len().saturating_mul(2), 0)?;
    let mut chunks = Vec::new();
    let mut start = 0;
    let mut work = call.budget.work();
    for i in 1..=items.len() {
        let goes_on = i < items.len()
            && match (keys.get(i - 1), keys.get(i)) {
                (Some(a), Some(b)) => call.heap.equal(*a, *b, &mut work)?,
                _ => false,
            };
        if !goes_on {
            chunks.push(call.heap.new_vec(&items[start..i])?);
            start = i;
        }
    }
    call.budget.settle(&work)?;
    call.heap.new_vec(&chunks)
}

/// Returns argument 1 after argument 2 elements, nil if nothing is left: `& rest` in a pattern.
pub fn drop_or_nil(call: &mut Call<'_>) -> Result<Value, Stop> {
    match arg(call, 1) {
        Value::Nil => Ok(Value::Nil),
        _ => nthnext(call),
    }
}
