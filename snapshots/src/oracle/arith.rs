//! Arithmetic: unbounded integers, and floats as soon as one operand is a float.

use super::order::{is_nan, numeric};
use super::value::{Fault, TYPE, Value, work};
use num_bigint::BigInt;
use num_integer::Integer;
use num_traits::{FromPrimitive, Signed, ToPrimitive, Zero};
use std::cmp::Ordering;

const ARITHMETIC: Fault = "arithmetic_error";

/// Two numbers of one kind.
enum Pair {
    Ints(BigInt, BigInt),
    Floats(f64, f64),
}

pub fn to_float(v: &Value<'_>) -> Result<f64, Fault> {
    match v {
        Value::Int(n) => Ok(n.to_f64().unwrap_or(f64::NAN)),
        Value::Float(x) => Ok(*x),
        _ => Err(TYPE),
    }
}

fn pair(a: &Value<'_>, b: &Value<'_>) -> Result<Pair, Fault> {
    match (a, b) {
        (Value::Int(a), Value::Int(b)) => Ok(Pair::Ints(a.clone(), b.clone())),
        _ => Ok(Pair::Floats(to_float(a)?, to_float(b)?)),
    }
}

/// Applies one of the seven operations of two numbers.
pub fn binary<'a>(op: &str, a: &Value<'a>, b: &Value<'a>) -> Result<Value<'a>, Fault> {
    let whole_division = matches!(op, "quot" | "rem" | "mod");
    Ok(match pair(a, b)? {
        Pair::Ints(a, b) => {
            work(((a.bits() + 64) * (b.bits() + 64) / 65_536) as usize);
            integers(op, a, b)?
        }
        Pair::Floats(_, 0.0) if whole_division => return Err(ARITHMETIC),
        Pair::Floats(x, y) if whole_division && !(x.is_finite() && y.is_finite()) => Value::Float(f64::NAN),
        Pair::Floats(x, y) => Value::Float(match op {
            "+" => x + y,
            "-" => x - y,
            "*" => x * y,
            "/" => x / y,
            "quot" => (x / y).trunc() + 0.0,
            "rem" => float_rem(x, y),
            _ => floored(x, y),
        }),
    })
}

fn integers<'a>(op: &str, a: BigInt, b: BigInt) -> Result<Value<'a>, Fault> {
    Ok(match op {
        "+" => Value::Int(a + b),
        "-" => Value::Int(a - b),
        "*" => Value::Int(a * b),
        _ if b.is_zero() => return Err(ARITHMETIC),
        "/" => Value::Float(a.to_f64().unwrap_or(f64::NAN) / b.to_f64().unwrap_or(f64::NAN)),
        "quot" => Value::Int(a / b),
        "rem" => Value::Int(a % b),
        _ => Value::Int(a.mod_floor(&b)),
    })
}

/// Returns the remainder of truncated division.
fn float_rem(x: f64, y: f64) -> f64 {
    let whole = (x / y).trunc();
    if whole.is_infinite() { f64::NAN } else { x - y * whole }
}

/// Returns the remainder with the sign of the divisor.
fn floored(x: f64, y: f64) -> f64 {
    let r = float_rem(x, y);
    if r != 0.0 && r.is_sign_negative() != y.is_sign_negative() { r + y } else { r }
}

/// Applies `+ - * /` to any number of arguments.
pub fn fold<'a>(op: &str, args: &[Value<'a>]) -> Result<Value<'a>, Fault> {
    let unit = Value::int(if matches!(op, "*" | "/") { 1 } else { 0 });
    match (op, args) {
        (_, []) => Ok(unit),
        ("-", [Value::Float(x)]) => Ok(Value::Float(-x)),
        ("-" | "/", [only]) => binary(op, &unit, only),
        (_, [only]) if only.is_number() => Ok(only.clone()),
        (_, [_]) => Err(TYPE),
        (_, [first, rest @ ..]) => rest.iter().try_fold(first.clone(), |acc, x| binary(op, &acc, x)),
    }
}

/// Implements `max` and `min`: the last of equals, NaN first.
pub fn extreme<'a>(args: &[Value<'a>], wanted: Ordering) -> Result<Value<'a>, Fault> {
    if let [only] = args {
        return Ok(only.clone());
    }
    if !args.iter().all(Value::is_number) {
        return Err(TYPE);
    }
    if let Some(nan) = args.iter().find(|x| is_nan(x)) {
        return Ok(nan.clone());
    }
    let mut best = args[0].clone();
    for x in &args[1..] {
        if numeric(x, &best).is_some_and(|order| order.is_eq() || order == wanted) {
            best = x.clone();
        }
    }
    Ok(best)
}

pub fn abs<'a>(v: &Value<'a>) -> Result<Value<'a>, Fault> {
    match v {
        Value::Int(n) => Ok(Value::Int(n.abs())),
        Value::Float(x) => Ok(Value::Float(x.abs())),
        _ => Err(TYPE),
    }
}

/// Implements `floor`, `ceil`, `round` and `trunc`: an integer, unless the number is infinite or NaN.
pub fn rounded<'a>(v: &Value<'a>, round: fn(f64) -> f64) -> Result<Value<'a>, Fault> {
    match v {
        Value::Float(x) => Ok(BigInt::from_f64(round(*x)).map_or(Value::Float(*x), Value::Int)),
        Value::Int(_) => Ok(v.clone()),
        _ => Err(TYPE),
    }
}

/// Returns whether a number is whole, and odd or even as asked.
pub fn parity(v: &Value<'_>, odd: bool) -> bool {
    match v {
        Value::Int(n) => n.is_odd() == odd,
        Value::Float(x) => x.is_finite() && x.fract() == 0.0 && ((x % 2.0 != 0.0) == odd),
        _ => false,
    }
}
