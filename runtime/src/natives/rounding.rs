//! Natives for rounding, roots and powers, and conversion between kinds of numbers.

use super::args::{arg, refuse};
use super::number::number;
use num_bigint::BigInt;
use num_traits::FromPrimitive;
use ptc_bytecode::Code;
use ptc_vm::{Call, Fault, Stop, Value};

/// Rounds a float to an integer of any size. Infinities and NaN stay as they are.
fn to_integer(call: &mut Call<'_>, round: fn(f64) -> f64) -> Result<Value, Stop> {
    match number(call, 1)? {
        Value::Float(x) if x.get().is_finite() => integer_of(call, round(x.get())),
        other => Ok(other),
    }
}

fn integer_of(call: &mut Call<'_>, x: f64) -> Result<Value, Stop> {
    // Inside ±2^63 the conversion is exact.
    if x.abs() < 9.2e18 {
        return Ok(Value::Int(x as i64));
    }
    match BigInt::from_f64(x) {
        Some(n) => call.heap.new_integer(&n),
        None => Ok(Value::float(x)),
    }
}

/// `(floor x)`
pub fn floor(call: &mut Call<'_>) -> Result<Value, Stop> {
    to_integer(call, f64::floor)
}

/// `(ceil x)`
pub fn ceil(call: &mut Call<'_>) -> Result<Value, Stop> {
    to_integer(call, f64::ceil)
}

/// `(round x)`
pub fn round(call: &mut Call<'_>) -> Result<Value, Stop> {
    to_integer(call, f64::round)
}

/// `(trunc x)`
pub fn trunc(call: &mut Call<'_>) -> Result<Value, Stop> {
    to_integer(call, f64::trunc)
}

fn float(call: &Call<'_>, n: usize) -> Result<f64, Stop> {
    let x = number(call, n)?;
    call.heap.to_float(x).ok_or_else(|| call.wrong_type(n, "a number"))
}

/// `(sqrt x)`
pub fn sqrt(call: &mut Call<'_>) -> Result<Value, Stop> {
    Ok(Value::float(float(call, 1)?.sqrt()))
}

/// `(pow x y)`
pub fn pow(call: &mut Call<'_>) -> Result<Value, Stop> {
    let (x, y) = (float(call, 1)?, float(call, 2)?);
    // Two results differ from IEEE in the table this follows.
    let power = if y == 0.0 {
        1.0
    } else if y.is_nan() || (x.abs() == 1.0 && y.is_infinite()) {
        f64::NAN
    } else {
        x.powf(y)
    };
    Ok(Value::float(power))
}

/// `(double x)`
pub fn double(call: &mut Call<'_>) -> Result<Value, Stop> {
    match call.heap.to_float(arg(call, 1)) {
        Some(x) => Ok(Value::float(x)),
        None => Err(refuse_conversion(call)),
    }
}

#[cold]
fn refuse_conversion(call: &Call<'_>) -> Stop {
    let (name, found) = (call.name(), arg(call, 1).type_phrase());
    let message = format!("`{name}` needs a number, but argument 1 is {found}");
    match arg(call, 1) {
        Value::Str(_) => {
            let parse = if name == "double" || name == "float" { "parse-double" } else { "parse-long" };
            Fault::new(Code::RuntimeError, message)
                .hint(format!("`({parse} s)` reads a number from text"))
                .into()
        }
        _ => refuse(message),
    }
}

/// `(long x)`
pub fn long(call: &mut Call<'_>) -> Result<Value, Stop> {
    match arg(call, 1) {
        x @ (Value::Int(_) | Value::Big(_)) => Ok(x),
        Value::Float(x) if x.get().is_nan() => Ok(Value::Int(0)),
        Value::Float(x) if x.get().is_finite() => integer_of(call, x.get().trunc()),
        Value::Float(_) => Err(out_of_range(call)),
        Value::Str(r) => match call.heap.str(r).chars().next().filter(|_| call.heap.text_len(r) == 1) {
            Some(first) => Ok(Value::Int(i64::from(u32::from(first)))),
            None => Err(refuse_conversion(call)),
        },
        _ => Err(refuse_conversion(call)),
    }
}

/// `(int x)`
pub fn int(call: &mut Call<'_>) -> Result<Value, Stop> {
    match long(call)? {
        Value::Int(n) if i32::try_from(n).is_ok() => Ok(Value::Int(n)),
        _ => Err(out_of_range(call)),
    }
}

#[cold]
fn out_of_range(call: &Call<'_>) -> Stop {
    Fault::new(Code::ArithmeticError, format!("`{}`: the number is out of range", call.name()))
        .hint("`(long x)` and `(round x)` give integers of any size")
        .into()
}
