//! Natives for sets.

use super::args::{arg, items};
use ptc_bytecode::Code;
use ptc_vm::{Call, Fault, Ref, Stop, Value};

/// `(hash-set x …)`
pub fn hash_set(call: &mut Call<'_>) -> Result<Value, Stop> {
    call.pay_items(call.args.len())?;
    call.heap.new_set(call.args)
}

/// `(set coll)`
pub fn set(call: &mut Call<'_>) -> Result<Value, Stop> {
    if let Value::Set(_) = arg(call, 1) {
        return Ok(arg(call, 1));
    }
    let members = items(call, 1)?;
    call.heap.new_set(&members)
}

/// Returns argument `n` as a set; None for nil.
fn set_or_nil(call: &Call<'_>, n: usize) -> Result<Option<Ref>, Stop> {
    match arg(call, n) {
        Value::Set(set) => Ok(Some(set)),
        Value::Nil => Ok(None),
        found => Err(Fault::new(
            Code::RuntimeError,
            format!("`{}`: argument {n} must be a set, but it is {}", call.name(), found.type_phrase()),
        )
        .hint("`(set xs)` makes one")
        .into()),
    }
}

fn len_of(call: &Call<'_>, set: Option<Ref>) -> usize {
    set.map_or(0, |set| call.heap.set_len(set))
}

/// `(disj s x …)`
pub fn disj(call: &mut Call<'_>) -> Result<Value, Stop> {
    set_or_nil(call, 1)?;
    call.pay_items(call.args.len())?;
    call.args[1..].iter().try_fold(arg(call, 1), |acc, item| match acc {
        Value::Set(set) => call.heap.set_disj(set, *item),
        _ => Ok(acc),
    })
}

/// Adds the elements of argument 2 to the set in argument 1.
pub fn pour(call: &mut Call<'_>, set: Ref) -> Result<Value, Stop> {
    let more = items(call, 2)?;
    add_all(call, set, &more)
}

fn add_all(call: &mut Call<'_>, set: Ref, more: &[Value]) -> Result<Value, Stop> {
    let len = call.heap.set_len(set);
    if more.len() < len / 4 {
        return more.iter().try_fold(Value::Set(set), |acc, item| match acc {
            Value::Set(set) => call.heap.set_conj(set, *item),
            // A set that is veiled for one of its members stays so.
            _ => ptc_vm::conj(call.heap, call.budget, acc, *item),
        });
    }
    call.pay_items(len)?;
    let mut all = call.heap.set_items(set);
    all.extend_from_slice(more);
    call.heap.new_set_like(set, &all)
}

/// Maximum elements of further sets that `union` gathers before it adds them: shared sets can be many times as
/// large as the program's memory.
const AT_ONCE: usize = 1 << 16;

/// Units for looking up one element in a large set, most of which is not in the processor's cache.
const LOOKUP_UNITS: usize = 2;

/// `(union s …)`
pub fn union(call: &mut Call<'_>) -> Result<Value, Stop> {
    let mut base = None;
    let mut more = Vec::new();
    let mut is_long = false;
    for n in 1..=call.args.len() {
        let Some(set) = set_or_nil(call, n)? else { continue };
        let Some(mut all) = base else {
            base = Some(set);
            continue;
        };
        let len = call.heap.set_len(set);
        call.pay_items(len.saturating_mul(1 + LOOKUP_UNITS))?;
        if more.len() + len > AT_ONCE && !more.is_empty() {
            if let Value::Set(added) = add_all(call, all, &more)? {
                (all, base, is_long) = (added, Some(added), true);
            }
            more.clear();
        }
        let items = call.heap.set_items(set).into_iter();
        more.extend(items.filter(|item| !is_long || call.heap.set_get(all, *item).is_none()));
    }
    match base {
        Some(base) if more.is_empty() => Ok(Value::Set(base)),
        Some(base) => add_all(call, base, &more),
        None if call.args.is_empty() => Ok(call.heap.empty_set()),
        None => Ok(Value::Nil),
    }
}

/// Returns the members of the first set that are, or are not, in the others.
fn choose(call: &mut Call<'_>, keep_if_in_others: bool) -> Result<Value, Stop> {
    let mut others = Vec::new();
    for n in 2..=call.args.len() {
        others.extend(set_or_nil(call, n)?);
    }
    let first = set_or_nil(call, 1)?;
    let Some(set) = first else { return Ok(Value::Nil) };
    if keep_if_in_others && others.len() + 1 < call.args.len() {
        // One of them is nil, so nothing is in all of them.
        return Ok(Value::Nil);
    }
    if others.is_empty() {
        return Ok(Value::Set(set));
    }
    // Each member is looked up, and most are read and kept as well.
    call.pay_items(len_of(call, first).saturating_mul(others.len()).saturating_mul(2 * LOOKUP_UNITS))?;
    let mut kept = call.heap.set_items(set);
    let len = kept.len();
    kept.retain(|item| match keep_if_in_others {
        true => others.iter().all(|other| call.heap.set_get(*other, *item).is_some()),
        false => others.iter().all(|other| call.heap.set_get(*other, *item).is_none()),
    });
    if kept.len() == len { Ok(Value::Set(set)) } else { call.heap.new_set_like(set, &kept) }
}

/// `(intersection s …)`
pub fn intersection(call: &mut Call<'_>) -> Result<Value, Stop> {
    choose(call, true)
}

/// `(difference s …)`
pub fn difference(call: &mut Call<'_>) -> Result<Value, Stop> {
    choose(call, false)
}

fn is_inside(call: &mut Call<'_>, small: usize, large: usize) -> Result<Value, Stop> {
    let (inner, outer) = (set_or_nil(call, small)?, set_or_nil(call, large)?);
    call.pay_items(len_of(call, inner))?;
    let Some(inner) = inner else { return Ok(Value::True) };
    let members = call.heap.set_items(inner);
    Ok(Value::bool(match outer {
        Some(outer) => members.iter().all(|item| call.heap.set_get(outer, *item).is_some()),
        None => members.is_empty(),
    }))
}

/// `(subset? a b)`
pub fn subset_p(call: &mut Call<'_>) -> Result<Value, Stop> {
    is_inside(call, 1, 2)
}

/// `(superset? a b)`
pub fn superset_p(call: &mut Call<'_>) -> Result<Value, Stop> {
    is_inside(call, 2, 1)
}
