//! Natives of `Math/` beyond the bare names: floats in, floats out, with Java's special cases.

use super::number::number;
use num_bigint::BigInt;
use num_integer::Integer;
use num_traits::Zero;
use ptc_bytecode::Code;
use ptc_vm::{Call, Fault, Stop, Value};

/// Returns argument `n` as a float.
pub fn float(call: &Call<'_>, n: usize) -> Result<f64, Stop> {
    let x = number(call, n)?;
    call.heap.to_float(x).ok_or_else(|| call.wrong_type(n, "a number"))
}

/// Defines functions of one float.
macro_rules! of_one {
    ($($name:ident $f:expr;)*) => {
        $(
            #[doc = concat!("`(Math/", stringify!($name), " x)`")]
            pub fn $name(call: &mut Call<'_>) -> Result<Value, Stop> {
                let f: fn(f64) -> f64 = $f;
                Ok(Value::float(f(float(call, 1)?)))
            }
        )*
    };
}

of_one! {
    log f64::ln;
    log10 f64::log10;
    log1p f64::ln_1p;
    exp f64::exp;
    expm1 f64::exp_m1;
    sin f64::sin;
    cos f64::cos;
    tan f64::tan;
    asin f64::asin;
    acos f64::acos;
    atan f64::atan;
    sinh f64::sinh;
    cosh f64::cosh;
    tanh f64::tanh;
    cbrt f64::cbrt;
    to_radians f64::to_radians;
    to_degrees f64::to_degrees;
    rint f64::round_ties_even;
    next_up f64::next_up;
    next_down f64::next_down;
    // Zero keeps its sign, and so does NaN.
    signum |x| if x == 0.0 || x.is_nan() { x } else { x.signum() };
}

/// Defines functions of two floats.
macro_rules! of_two {
    ($($name:ident $f:expr;)*) => {
        $(
            #[doc = concat!("`(Math/", stringify!($name), " x y)`")]
            pub fn $name(call: &mut Call<'_>) -> Result<Value, Stop> {
                let f: fn(f64, f64) -> f64 = $f;
                Ok(Value::float(f(float(call, 1)?, float(call, 2)?)))
            }
        )*
    };
}

of_two! {
    atan2 f64::atan2;
    hypot f64::hypot;
    copy_sign f64::copysign;
}

/// Returns both arguments as integers, the second not zero; their division is paid for.
fn integers(call: &Call<'_>) -> Result<(BigInt, BigInt), Stop> {
    let integer = |n| call.heap.to_bigint(call.args[n - 1]).ok_or_else(|| call.wrong_type(n, "an integer"));
    let (a, b) = (integer(1)?, integer(2)?);
    if b.is_zero() {
        return Err(Fault::new(Code::ArithmeticError, format!("`{}` divides by zero", call.name()))
            .hint("test the divisor first: `(if (zero? d) nil (/ n d))`")
            .into());
    }
    call.heap.charge_products(&a, &b)?;
    Ok((a, b))
}

/// `(Math/floorDiv a b)`
pub fn floor_div(call: &mut Call<'_>) -> Result<Value, Stop> {
    let (a, b) = integers(call)?;
    call.heap.new_integer(&a.div_floor(&b))
}

/// `(Math/floorMod a b)`
pub fn floor_mod(call: &mut Call<'_>) -> Result<Value, Stop> {
    let (a, b) = integers(call)?;
    call.heap.new_integer(&a.mod_floor(&b))
}

/// `(Math/ceilDiv a b)`
pub fn ceil_div(call: &mut Call<'_>) -> Result<Value, Stop> {
    let (a, b) = integers(call)?;
    call.heap.new_integer(&Integer::div_ceil(&a, &b))
}

/// `(Math/clamp x low high)`
pub fn clamp(call: &mut Call<'_>) -> Result<Value, Stop> {
    let (x, low, high) = (number(call, 1)?, number(call, 2)?, number(call, 3)?);
    if call.heap.less(high, low) {
        return Err(super::args::refuse("`Math/clamp`: the lower bound is above the upper one"));
    }
    Ok(if call.heap.less(x, low) {
        low
    } else if call.heap.less(high, x) {
        high
    } else {
        x
    })
}
