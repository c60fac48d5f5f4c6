//! Natives for bit operations on integers of any size, in two's complement of unlimited width.

use super::args::arg;
use num_bigint::BigInt;
use num_traits::{One, Signed, Zero};
use ptc_vm::{CELL_BYTES, Call, Heap, Stop, Value};

fn integer(call: &Call<'_>, n: usize) -> Result<BigInt, Stop> {
    call.heap.to_bigint(arg(call, n)).ok_or_else(|| call.wrong_type(n, "an integer"))
}

fn fold(
    call: &mut Call<'_>,
    small: fn(i64, i64) -> i64,
    large: fn(BigInt, BigInt) -> BigInt,
) -> Result<Value, Stop> {
    let mut acc = arg(call, 1);
    for n in 2..=call.args.len() {
        acc = match (acc, arg(call, n)) {
            (Value::Int(a), Value::Int(b)) => Value::Int(small(a, b)),
            (a, _) => {
                let a = call.heap.to_bigint(a).ok_or_else(|| call.wrong_type(1, "an integer"))?;
                let b = integer(call, n)?;
                call.heap.new_integer(&large(a, b))?
            }
        };
        call.heap.look()?;
    }
    Ok(acc)
}

/// `(bit-and x y …)`
pub fn bit_and(call: &mut Call<'_>) -> Result<Value, Stop> {
    fold(call, |a, b| a & b, |a, b| a & b)
}

/// `(bit-or x y …)`
pub fn bit_or(call: &mut Call<'_>) -> Result<Value, Stop> {
    fold(call, |a, b| a | b, |a, b| a | b)
}

/// `(bit-xor x y …)`
pub fn bit_xor(call: &mut Call<'_>) -> Result<Value, Stop> {
    fold(call, |a, b| a ^ b, |a, b| a ^ b)
}

/// `(bit-and-not x y …)`
pub fn bit_and_not(call: &mut Call<'_>) -> Result<Value, Stop> {
    fold(call, |a, b| a & !b, |a, b| a & !b)
}

/// `(bit-not x)`
pub fn bit_not(call: &mut Call<'_>) -> Result<Value, Stop> {
    let x = integer(call, 1)?;
    call.heap.new_integer(&!x)
}

/// Returns argument 2 as a number of bits.
fn places(call: &Call<'_>) -> Result<u64, Stop> {
    match arg(call, 2) {
        Value::Int(n) if n >= 0 => Ok(n as u64),
        _ => Err(call.wrong_type(2, "an integer of at least 0")),
    }
}

/// Computes `2^n`, if the heap could hold it.
fn bit(call: &Call<'_>, n: u64) -> Result<BigInt, Stop> {
    Heap::check_bits(n)?;
    call.heap.room(usize::try_from(n / 64).unwrap_or(usize::MAX), CELL_BYTES)?;
    Ok(BigInt::one() << n)
}

/// `(bit-shift-left x n)`
pub fn bit_shift_left(call: &mut Call<'_>) -> Result<Value, Stop> {
    let (x, n) = (integer(call, 1)?, places(call)?);
    if x.is_zero() {
        return Ok(Value::Int(0));
    }
    Heap::check_bits(n)?;
    let cells = usize::try_from(n / 64).unwrap_or(usize::MAX);
    call.heap.room(cells, 0)?;
    call.pay_items(cells)?;
    call.heap.new_integer(&(x << n))
}

/// `(bit-shift-right x n)`
pub fn bit_shift_right(call: &mut Call<'_>) -> Result<Value, Stop> {
    let (x, n) = (integer(call, 1)?, places(call)?);
    // Beyond its length only the sign remains.
    let n = n.min(x.bits() + 1);
    call.heap.new_integer(&(x >> n))
}

/// `(unsigned-bit-shift-right x n)`: works on 64 bits, since an integer of unlimited width has no first bit to fill
/// with zeros.
pub fn unsigned_bit_shift_right(call: &mut Call<'_>) -> Result<Value, Stop> {
    let n = places(call)?;
    let Value::Int(x) = arg(call, 1) else { return Err(call.wrong_type(1, "an integer of 64 bits")) };
    match n {
        0 => Ok(Value::Int(x)),
        // Shifted by at least one place, it fits without its sign.
        _ => Ok(Value::Int((x as u64).checked_shr(u32::try_from(n).unwrap_or(u32::MAX)).unwrap_or(0) as i64)),
    }
}

fn is_set(x: &BigInt, n: u64) -> bool {
    if n > x.bits() { x.is_negative() } else { x.bit(n) }
}

/// `(bit-set x n)`
pub fn bit_set(call: &mut Call<'_>) -> Result<Value, Stop> {
    change(call, |_| true)
}

/// `(bit-clear x n)`
pub fn bit_clear(call: &mut Call<'_>) -> Result<Value, Stop> {
    change(call, |_| false)
}

/// `(bit-flip x n)`
pub fn bit_flip(call: &mut Call<'_>) -> Result<Value, Stop> {
    change(call, |set| !set)
}

fn change(call: &mut Call<'_>, wanted: fn(bool) -> bool) -> Result<Value, Stop> {
    let (x, n) = (integer(call, 1)?, places(call)?);
    let set = is_set(&x, n);
    if wanted(set) == set {
        return call.heap.new_integer(&x);
    }
    let bit = bit(call, n)?;
    call.heap.new_integer(&(x ^ bit))
}

/// `(bit-test x n)`
pub fn bit_test(call: &mut Call<'_>) -> Result<Value, Stop> {
    let (x, n) = (integer(call, 1)?, places(call)?);
    Ok(Value::bool(is_set(&x, n)))
}
