//! Natives for access to elements, and the constructors of vectors.

use super::args::{arg, indexed, size, whole};
use ptc_vm::{Call, Stop, Value};

/// `(count coll)`
pub fn count(call: &mut Call<'_>) -> Result<Value, Stop> {
    let len = size(call, 1)?;
    Ok(Value::Int(i64::try_from(len).unwrap_or(i64::MAX)))
}

/// `(first coll)`
pub fn first(call: &mut Call<'_>) -> Result<Value, Stop> {
    size(call, 1)?;
    call.heap.first(arg(call, 1))
}

/// Returns element `i` of any collection, or nil.
pub fn element(call: &mut Call<'_>, n: usize, i: usize) -> Result<Value, Stop> {
    let coll = arg(call, n);
    match coll {
        Value::Map(_) | Value::Set(_) => {
            call.pay_items(i.min(size(call, n)?))?;
            let mut cursor = 0;
            for left in (0..=i).rev() {
                // Pairs are made for skipped entries too; destructuring needs only the first few.
                match call.heap.iter_next(coll, cursor)? {
                    Some((item, _)) if left == 0 => return Ok(item),
                    Some((_, next)) => cursor = next,
                    None => return Ok(Value::Nil),
                }
            }
            Ok(Value::Nil)
        }
        _ => {
            size(call, n)?;
            Ok(call.heap.nth(coll, i)?.unwrap_or(Value::Nil))
        }
    }
}

/// `(second coll)`
pub fn second(call: &mut Call<'_>) -> Result<Value, Stop> {
    element(call, 1, 1)
}

/// `(last coll)`
pub fn last(call: &mut Call<'_>) -> Result<Value, Stop> {
    match size(call, 1)?.checked_sub(1) {
        Some(i) => {
            let coll = indexed(call, 1)?;
            Ok(call.heap.nth(coll, i)?.unwrap_or(Value::Nil))
        }
        None => Ok(Value::Nil),
    }
}

/// Returns elements `from..to` of argument `n`; short parts of long vectors are copied, and paid for.
pub fn part(call: &mut Call<'_>, n: usize, from: usize, to: usize) -> Result<Value, Stop> {
    let len = size(call, n)?;
    let to = to.min(len);
    let from = from.min(to);
    let coll = indexed(call, n)?;
    if (to - from) * 2 < len && matches!(coll, Value::Vector(_)) {
        call.pay_items(to - from)?;
    }
    call.heap.slice(coll, from, to)
}

/// Returns elements `from..to` of argument `n`, nil if there are none.
pub fn part_or_nil(call: &mut Call<'_>, n: usize, from: usize, to: usize) -> Result<Value, Stop> {
    if from >= size(call, n)?.min(to) { Ok(Value::Nil) } else { part(call, n, from, to) }
}

/// `(rest coll)`
pub fn rest(call: &mut Call<'_>) -> Result<Value, Stop> {
    part(call, 1, 1, usize::MAX)
}

/// `(next coll)`
pub fn next(call: &mut Call<'_>) -> Result<Value, Stop> {
    part_or_nil(call, 1, 1, usize::MAX)
}

/// `(nnext coll)`
pub fn nnext(call: &mut Call<'_>) -> Result<Value, Stop> {
    part_or_nil(call, 1, 2, usize::MAX)
}

/// `(butlast coll)`
pub fn butlast(call: &mut Call<'_>) -> Result<Value, Stop> {
    let len = size(call, 1)?;
    part_or_nil(call, 1, 0, len.saturating_sub(1))
}

/// `(ffirst coll)`
pub fn ffirst(call: &mut Call<'_>) -> Result<Value, Stop> {
    let inner = first(call)?;
    call.heap.first(inner)
}

/// `(nfirst coll)`
pub fn nfirst(call: &mut Call<'_>) -> Result<Value, Stop> {
    let inner = first(call)?;
    let len = call.heap.count(inner)?;
    call.pay_items(len)?;
    if len < 2 { Ok(Value::Nil) } else { call.heap.slice(inner, 1, len) }
}

/// `(nth coll i)`, `(nth coll i default)`
pub fn nth(call: &mut Call<'_>) -> Result<Value, Stop> {
    let (coll, default) = (arg(call, 1), arg(call, 3));
    let index = whole(call, 2)?;
    if matches!(coll, Value::Map(_) | Value::Set(_)) {
        return Err(ptc_vm::no_positions(coll));
    }
    size(call, 1)?;
    if matches!(coll, Value::Nil) {
        return Ok(default);
    }
    let Ok(index) = usize::try_from(index) else { return Ok(default) };
    match (call.heap.nth(coll, index)?, call.args) {
        (Some(found), _) => Ok(found),
        (None, [_, index]) => ptc_vm::float_out_of_range(*index).map(|()| default),
        (None, _) => Ok(default),
    }
}

/// True if argument 1 is nil; faults unless it is nil or a vector.
fn is_nil_or_vector(call: &Call<'_>) -> Result<bool, Stop> {
    match arg(call, 1) {
        Value::Nil => Ok(true),
        Value::Vector(_) | Value::Range(_) => Ok(false),
        _ => Err(call.wrong_type(1, "a list")),
    }
}

/// `(peek coll)`
pub fn peek(call: &mut Call<'_>) -> Result<Value, Stop> {
    if is_nil_or_vector(call)? { Ok(Value::Nil) } else { last(call) }
}

/// `(pop coll)`
pub fn pop(call: &mut Call<'_>) -> Result<Value, Stop> {
    if is_nil_or_vector(call)? {
        return Ok(Value::Nil);
    }
    match arg(call, 1) {
        Value::Vector(r) => Ok(call.heap.vec_pop(r)?.unwrap_or(Value::Nil)),
        coll => {
            let len = size(call, 1)?;
            call.heap.slice(coll, 0, len.saturating_sub(1))
        }
    }
}

/// `(subvec v start)`, `(subvec v start end)`
pub fn subvec(call: &mut Call<'_>) -> Result<Value, Stop> {
    if !matches!(arg(call, 1), Value::Vector(_) | Value::Range(_)) {
        return Err(call.wrong_type(1, "a list"));
    }
    let clamp = |i: i64| usize::try_from(i).unwrap_or(0);
    let from = clamp(whole(call, 2)?);
    let to = if call.args.len() > 2 { clamp(whole(call, 3)?) } else { usize::MAX };
    part(call, 1, from, to)
}

/// `(seq coll)`
pub fn seq(call: &mut Call<'_>) -> Result<Value, Stop> {
    if size(call, 1)? == 0 { Ok(Value::Nil) } else { indexed(call, 1) }
}

/// `(empty? coll)`
pub fn empty_p(call: &mut Call<'_>) -> Result<Value, Stop> {
    match arg(call, 1) {
        // Counting graphemes would walk the text.
        Value::Str(r) => Ok(Value::bool(call.heap.str(r).is_empty())),
        _ => Ok(Value::bool(size(call, 1)? == 0)),
    }
}

/// `(not-empty coll)`
pub fn not_empty(call: &mut Call<'_>) -> Result<Value, Stop> {
    match empty_p(call)? {
        Value::False => Ok(arg(call, 1)),
        _ => Ok(Value::Nil),
    }
}

/// `(empty coll)`
pub fn empty(call: &mut Call<'_>) -> Result<Value, Stop> {
    Ok(match arg(call, 1) {
        Value::Vector(_) | Value::Range(_) => call.heap.empty_vec(),
        Value::Map(r) => call.heap.new_map_like(r, &[])?,
        Value::Set(r) => call.heap.new_set_like(r, &[])?,
        _ => Value::Nil,
    })
}

/// `(conj coll x …)`
pub fn conj(call: &mut Call<'_>) -> Result<Value, Stop> {
    let [coll, items @ ..] = call.args else { return Ok(call.heap.empty_vec()) };
    call.budget.pay_items(items.len())?;
    items.iter().try_fold(*coll, |acc, item| ptc_vm::conj(call.heap, call.budget, acc, *item))
}

/// `(vector x …)`
pub fn vector(call: &mut Call<'_>) -> Result<Value, Stop> {
    call.pay_items(call.args.len())?;
    call.heap.new_vec(call.args)
}

/// `(vec coll)`
pub fn vec(call: &mut Call<'_>) -> Result<Value, Stop> {
    match arg(call, 1) {
        Value::Nil => Ok(call.heap.empty_vec()),
        // A range needs no copy: programs cannot tell it from a vector.
        _ => indexed(call, 1),
    }
}

/// `(dorun coll)`
pub fn dorun(_call: &mut Call<'_>) -> Result<Value, Stop> {
    Ok(Value::Nil)
}
