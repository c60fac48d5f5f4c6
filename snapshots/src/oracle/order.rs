//! The total order of `compare` and `sort`, and the partial one of `<`.

use super::value::{Value, work};
use num_bigint::BigInt;
use num_traits::{FromPrimitive, ToPrimitive};
use std::cmp::Ordering;

/// Compares numbers by value; None if one is NaN or not a number.
pub fn numeric(a: &Value<'_>, b: &Value<'_>) -> Option<Ordering> {
    match (a, b) {
        (Value::Int(a), Value::Int(b)) => Some(a.cmp(b)),
        (Value::Float(a), Value::Float(b)) => a.partial_cmp(b),
        (Value::Int(a), Value::Float(b)) => integer_with_float(a, *b),
        (Value::Float(a), Value::Int(b)) => integer_with_float(b, *a).map(Ordering::reverse),
        _ => None,
    }
}

fn integer_with_float(n: &BigInt, x: f64) -> Option<Ordering> {
    if x.is_nan() {
        return None;
    }
    if x.is_infinite() {
        return Some(if x > 0.0 { Ordering::Less } else { Ordering::Greater });
    }
    let whole = BigInt::from_f64(x.trunc())?;
    // If the whole parts are equal, the sign of the fraction decides.
    Some(n.cmp(&whole).then(0.0.partial_cmp(&x.fract())?))
}

/// Compares values as `<` and its kin do; None except for numbers, strings and keywords.
pub fn partial(a: &Value<'_>, b: &Value<'_>) -> Option<Ordering> {
    match (a, b) {
        (Value::Str(a), Value::Str(b)) | (Value::Keyword(a), Value::Keyword(b)) => {
            Some(a.chars().cmp(b.chars()))
        }
        _ => numeric(a, b),
    }
}

fn kind(v: &Value<'_>) -> u8 {
    match v {
        Value::Nil => 0,
        Value::Bool(_) => 1,
        Value::Int(_) | Value::Float(_) => 2,
        Value::Keyword(_) => 3,
        Value::Str(_) => 4,
        Value::Vector(_) => 5,
        Value::Set(_) => 6,
        Value::Map(_) => 7,
        _ => 8,
    }
}

/// Compares values by kind, then within each kind; NaN after all numbers; maps and sets by size.
pub fn total(a: &Value<'_>, b: &Value<'_>) -> Ordering {
    work(1);
    match (a, b) {
        (Value::Bool(a), Value::Bool(b)) => a.cmp(b),
        (Value::Vector(a), Value::Vector(b)) => a.len().cmp(&b.len()).then_with(|| {
            let orders = a.iter().zip(b.iter()).map(|(a, b)| total(a, b));
            orders.into_iter().find(|order| order.is_ne()).unwrap_or(Ordering::Equal)
        }),
        (Value::Map(a), Value::Map(b)) => a.len().cmp(&b.len()),
        (Value::Set(a), Value::Set(b)) => a.len().cmp(&b.len()),
        _ if kind(a) != kind(b) => kind(a).cmp(&kind(b)),
        _ => partial(a, b).unwrap_or_else(|| is_nan(a).cmp(&is_nan(b))),
    }
}

pub fn is_nan(v: &Value<'_>) -> bool {
    matches!(v, Value::Float(x) if x.is_nan())
}

/// Converts a number to an index or count; None for NaN and other values.
pub fn whole(v: &Value<'_>) -> Option<i64> {
    match v {
        Value::Int(n) => {
            Some(n.to_i64().unwrap_or(if n.sign() == num_bigint::Sign::Minus { i64::MIN } else { i64::MAX }))
        }
        Value::Float(x) if !x.is_nan() => Some(*x as i64),
        _ => None,
    }
}
