//! Methods of strings, `(.method s …)`, as in Java: -1 for "not found", a fault for a bad receiver or index. Positions
//! count graphemes. A few also take collections, as Java's do.

use super::args::{arg, each, growing_room, text, whole};
use super::regex::{replace_in, split_by_text};
use super::string::{byte_at, is_blank};
use super::text::{display, finish};
use super::{map, search};
use ptc_vm::{Call, Fault, Stop, Value};
use std::cmp::Ordering;

/// `(.length s)`; Clojure's vectors have the method too.
pub fn length(call: &mut Call<'_>) -> Result<Value, Stop> {
    if let Value::Vector(_) | Value::Range(_) = arg(call, 1) {
        return Ok(Value::Int(super::args::size(call, 1)? as i64));
    }
    let r = text(call, 1)?;
    Ok(Value::Int(call.heap.text_len(r) as i64))
}

/// `(.isEmpty x)`
pub fn is_empty(call: &mut Call<'_>) -> Result<Value, Stop> {
    match arg(call, 1) {
        Value::Nil => Err(call.wrong_type(1, "a string or a collection")),
        _ => Ok(Value::bool(super::args::size(call, 1)? == 0)),
    }
}

/// `(.isBlank s)`
pub fn is_blank_text(call: &mut Call<'_>) -> Result<Value, Stop> {
    let r = text(call, 1)?;
    Ok(Value::bool(call.heap.str(r).chars().all(is_blank)))
}

/// `(.charAt s i)`
pub fn char_at(call: &mut Call<'_>) -> Result<Value, Stop> {
    let r = text(call, 1)?;
    let at = whole(call, 2)?;
    let len = call.heap.text_len(r);
    match usize::try_from(at) {
        Ok(at) if at < len => {
            let (from, to) = (byte_at(call.heap, r, at), byte_at(call.heap, r, at + 1));
            call.heap.new_substr(r, from, to)
        }
        _ => Err(outside(call, at, len)),
    }
}

#[cold]
fn outside(call: &Call<'_>, at: i64, len: usize) -> Stop {
    Fault::type_error(format!("`{}`: there is no position {at} in a string of length {len}", call.name()))
        .hint("`(subs s start end)` clamps its positions, `(nth s i)` gives nil outside")
        .into()
}

/// `(.substring s start)`, `(.substring s start end)`
pub fn substring(call: &mut Call<'_>) -> Result<Value, Stop> {
    let r = text(call, 1)?;
    let len = call.heap.text_len(r) as i64;
    let start = whole(call, 2)?;
    let end = if call.args.len() > 2 { whole(call, 3)? } else { len };
    if start < 0 || start > end {
        return Err(outside(call, start, len as usize));
    }
    if end > len {
        return Err(outside(call, end, len as usize));
    }
    let (from, to) = (byte_at(call.heap, r, start as usize), byte_at(call.heap, r, end as usize));
    call.heap.new_substr(r, from, to)
}

/// Returns the index of argument 2 among the elements of argument 1, of the last one if `last` is true.
fn element_at(call: &mut Call<'_>, last: bool) -> Result<Value, Stop> {
    let wanted = arg(call, 2);
    let mut work = call.budget.work();
    let (mut at, mut found) = (0, -1);
    each(call, 1, |heap, item| {
        if (last || found < 0) && heap.equal(item, wanted, &mut work)? {
            found = at;
        }
        at += 1;
        Ok(())
    })?;
    call.budget.settle(&work)?;
    Ok(Value::Int(found))
}

fn or_minus_one(found: Value) -> Value {
    if let Value::Nil = found { Value::Int(-1) } else { found }
}

/// `(.indexOf s part)`, `(.indexOf s part from)`
pub fn index_of(call: &mut Call<'_>) -> Result<Value, Stop> {
    if let Value::Vector(_) | Value::Range(_) = arg(call, 1) {
        return element_at(call, false);
    }
    search::index_of(call).map(or_minus_one)
}

/// `(.lastIndexOf s part)`, `(.lastIndexOf s part from)`
pub fn last_index_of(call: &mut Call<'_>) -> Result<Value, Stop> {
    if let Value::Vector(_) | Value::Range(_) = arg(call, 1) {
        return element_at(call, true);
    }
    search::last_index_of(call).map(or_minus_one)
}

/// `(.contains s part)`
pub fn contains(call: &mut Call<'_>) -> Result<Value, Stop> {
    match arg(call, 1) {
        Value::Vector(_) | Value::Range(_) => {
            element_at(call, false).map(|at| Value::bool(matches!(at, Value::Int(0..))))
        }
        Value::Set(_) => map::contains_p(call),
        _ => test(call, |whole, part| whole.contains(part)),
    }
}

fn test(call: &mut Call<'_>, holds: fn(&str, &str) -> bool) -> Result<Value, Stop> {
    let (whole, part) = (text(call, 1)?, text(call, 2)?);
    Ok(Value::bool(holds(call.heap.str(whole), call.heap.str(part))))
}

/// `(.startsWith s prefix)`
pub fn starts_with(call: &mut Call<'_>) -> Result<Value, Stop> {
    test(call, |whole, part| whole.starts_with(part))
}

/// `(.endsWith s suffix)`
pub fn ends_with(call: &mut Call<'_>) -> Result<Value, Stop> {
    test(call, |whole, part| whole.ends_with(part))
}

/// `(.equalsIgnoreCase s other)`
pub fn equals_ignore_case(call: &mut Call<'_>) -> Result<Value, Stop> {
    let whole = text(call, 1)?;
    let Value::Str(other) = arg(call, 2) else { return Ok(Value::False) };
    let (whole, other) = (call.heap.str(whole), call.heap.str(other));
    Ok(Value::bool(fold_case(whole).eq(fold_case(other))))
}

fn fold_case(text: &str) -> impl Iterator<Item = char> {
    text.chars().flat_map(char::to_lowercase)
}

/// `(.equals x other)`
pub fn equals(call: &mut Call<'_>) -> Result<Value, Stop> {
    let (a, b) = (arg(call, 1), arg(call, 2));
    match (a, b) {
        (Value::Nil, _) => Err(call.wrong_type(1, "a value")),
        // Java's 1 and 1.0 have different classes.
        (Value::Float(_), Value::Int(_) | Value::Big(_))
        | (Value::Int(_) | Value::Big(_), Value::Float(_)) => Ok(Value::False),
        _ => super::compare::eq(call),
    }
}

/// `(.compareTo x other)`
pub fn compare_to(call: &mut Call<'_>) -> Result<Value, Stop> {
    if arg(call, 1).type_word() != arg(call, 2).type_word() || matches!(arg(call, 1), Value::Nil) {
        return Err(call.wrong_type(2, &format!("{}, as argument 1 is", arg(call, 1).type_phrase())));
    }
    super::compare::compare(call)
}

/// `(.compareToIgnoreCase s other)`
pub fn compare_to_ignore_case(call: &mut Call<'_>) -> Result<Value, Stop> {
    let (a, b) = (text(call, 1)?, text(call, 2)?);
    let order = fold_case(call.heap.str(a)).cmp(fold_case(call.heap.str(b)));
    Ok(Value::Int(match order {
        Ordering::Less => -1,
        Ordering::Equal => 0,
        Ordering::Greater => 1,
    }))
}

/// Checks that argument 1 is a string, before a function that accepts more.
fn on_text(call: &mut Call<'_>, f: fn(&mut Call<'_>) -> Result<Value, Stop>) -> Result<Value, Stop> {
    text(call, 1)?;
    f(call)
}

/// `(.toLowerCase s)`
pub fn to_lower_case(call: &mut Call<'_>) -> Result<Value, Stop> {
    on_text(call, super::string::lower_case)
}

/// `(.toUpperCase s)`
pub fn to_upper_case(call: &mut Call<'_>) -> Result<Value, Stop> {
    on_text(call, super::string::upper_case)
}

/// `(.concat s other)`
pub fn concat(call: &mut Call<'_>) -> Result<Value, Stop> {
    text(call, 1)?;
    text(call, 2)?;
    super::text::str(call)
}

/// `(.repeat s n)`
pub fn repeat(call: &mut Call<'_>) -> Result<Value, Stop> {
    let r = text(call, 1)?;
    let times = whole(call, 2)?;
    let Ok(times) = usize::try_from(times) else {
        return Err(Fault::type_error(format!(
            "`.repeat`: the count must not be negative, but it is {times}"
        ))
        .into());
    };
    let len = call.heap.str(r).len().saturating_mul(times);
    call.heap.room(1, len)?;
    call.pay_items(len / 8)?;
    let out = call.heap.str(r).repeat(times);
    call.heap.new_str(&out)
}

/// `(.replace s match replacement)`: replaces all matches, as text.
pub fn replace(call: &mut Call<'_>) -> Result<Value, Stop> {
    let (r, part, by) = (text(call, 1)?, text(call, 2)?, text(call, 3)?);
    let (text, part, by) = (call.heap.str(r), call.heap.str(part), call.heap.str(by));
    let matches = text.matches(part).count();
    call.heap.room(1, matches.saturating_mul(by.len()).saturating_add(text.len()))?;
    let out = text.replace(part, by);
    finish(call, &out)
}

/// `(.replaceAll s pattern replacement)`
pub fn replace_all(call: &mut Call<'_>) -> Result<Value, Stop> {
    replace_in(call, usize::MAX)
}

/// `(.replaceFirst s pattern replacement)`
pub fn replace_first(call: &mut Call<'_>) -> Result<Value, Stop> {
    replace_in(call, 1)
}

/// `(.split s pattern)`, `(.split s pattern limit)`
pub fn split(call: &mut Call<'_>) -> Result<Value, Stop> {
    split_by_text(call)
}

/// `(.toString x)`
pub fn to_string(call: &mut Call<'_>) -> Result<Value, Stop> {
    match arg(call, 1) {
        Value::Nil => Err(call.wrong_type(1, "a value")),
        found @ Value::Str(_) => Ok(found),
        found => {
            let mut out = String::new();
            display(call, found, &mut out)?;
            growing_room(call.heap, 1, out.len())?;
            finish(call, &out)
        }
    }
}

/// `(.size coll)`
pub fn size(call: &mut Call<'_>) -> Result<Value, Stop> {
    match arg(call, 1) {
        Value::Nil | Value::Str(_) => Err(call.wrong_type(1, "a collection")),
        _ => Ok(Value::Int(super::args::size(call, 1)? as i64)),
    }
}

/// `(.get coll key)`, `(.getOrDefault m key default)`
pub fn get(call: &mut Call<'_>) -> Result<Value, Stop> {
    match arg(call, 1) {
        Value::Map(_) | Value::Vector(_) | Value::Range(_) => map::get(call),
        _ => Err(call.wrong_type(1, "a map or a vector")),
    }
}

/// `(.containsKey m key)`
pub fn contains_key(call: &mut Call<'_>) -> Result<Value, Stop> {
    match arg(call, 1) {
        Value::Map(_) => map::contains_p(call),
        _ => Err(call.wrong_type(1, "a map")),
    }
}
