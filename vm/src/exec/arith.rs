//! Arithmetic beyond the fast paths: mixed numbers, large integers, and the messages for other values. The natives of
//! the same names use it too.

use crate::budget::{Budget, STEPS};
use crate::fault::{Fault, Stop};
use crate::heap::Heap;
use crate::machine::WINDOW;
use crate::value::Value;
use num_bigint::BigInt;
use num_integer::Integer;
use num_traits::{ToPrimitive, Zero};
use ptc_bytecode::{Code, Op};

/// Two numbers converted to a common kind.
enum Pair {
    Ints(i64, i64),
    Bigs(BigInt, BigInt),
    Floats(f64, f64),
}

fn pair(heap: &Heap, op: &str, a: Value, b: Value) -> Result<Pair, Stop> {
    match (a, b) {
        (Value::Int(x), Value::Int(y)) => Ok(Pair::Ints(x, y)),
        (Value::Float(_), _) | (_, Value::Float(_)) => match (heap.to_float(a), heap.to_float(b)) {
            (Some(x), Some(y)) => Ok(Pair::Floats(x, y)),
            _ => Err(not_numbers(op, a, b)),
        },
        _ => match (heap.to_bigint(a), heap.to_bigint(b)) {
            (Some(x), Some(y)) => Ok(Pair::Bigs(x, y)),
            _ => Err(not_numbers(op, a, b)),
        },
    }
}

/// Reports which of the two is not a number.
#[cold]
fn not_numbers(op: &str, a: Value, b: Value) -> Stop {
    if a.is_number() { not_a_number(op, 2, b) } else { not_a_number(op, 1, a) }
}

/// Makes the `type_error` of arithmetic on another value.
#[cold]
pub fn not_a_number(op: &str, arg: usize, found: Value) -> Stop {
    let fault =
        Fault::type_error(format!("`{op}` needs numbers, but argument {arg} is {}", found.type_phrase()));
    match found {
        Value::Nil => {
            // The neutral number: 1 for products, 0 for sums.
            let neutral = if matches!(op, "*" | "*'" | "/" | "quot" | "rem" | "mod") { 1 } else { 0 };
            // `fnil` replaces as many arguments as it has defaults.
            let defaults = if arg == 1 { format!("{neutral}") } else { format!("{neutral} {neutral}") };
            fault.hint(format!(
                "`(or x {neutral})` supplies a default; `(fnil {op} {defaults})` makes `{op}` take nil"
            ))
        }
        Value::Str(_) => fault.hint("`(parse-long s)` and `(parse-double s)` read a number from text"),
        _ => fault.unread(found.type_phrase()),
    }
    .into()
}

#[cold]
fn divided_by_zero(op: &str) -> Stop {
    Fault::new(Code::ArithmeticError, format!("`{op}` divides by zero"))
        .hint("test the divisor first: `(if (zero? d) nil (/ n d))`")
        .into()
}

fn limbs(n: &BigInt) -> usize {
    (n.bits() / 64) as usize + 1
}

/// Returns the price of an operation linear in the limbs of two integers.
fn sums(x: &BigInt, y: &BigInt) -> usize {
    (limbs(x) + limbs(y)) / 8
}

/// Returns the price of an operation on all pairs of their limbs.
fn products(x: &BigInt, y: &BigInt) -> usize {
    sums(x, y) + limbs(x).saturating_mul(limbs(y)) / 64
}

/// Charges this many units of fuel in advance; faults if there are fewer.
fn price(heap: &Heap, units: usize) -> Result<(), Stop> {
    heap.charge(units.saturating_mul(STEPS as usize));
    Ok(heap.look()?)
}

impl Heap {
    /// Charges for multiplying or dividing two integers, and faults if fuel does not cover it.
    pub fn charge_products(&self, x: &BigInt, y: &BigInt) -> Result<(), Stop> {
        price(self, products(x, y))
    }
}

/// Computes `a + b`.
#[cold]
pub fn add(heap: &mut Heap, a: Value, b: Value) -> Result<Value, Stop> {
    match pair(heap, "+", a, b)? {
        Pair::Ints(x, y) => match x.checked_add(y) {
            Some(z) => Ok(Value::Int(z)),
            None => heap.new_integer(&(BigInt::from(x) + y)),
        },
        Pair::Bigs(x, y) => {
            price(heap, sums(&x, &y))?;
            heap.new_integer(&(x + y))
        }
        Pair::Floats(x, y) => Ok(Value::float(x + y)),
    }
}

type Binary = fn(&mut Heap, Value, Value) -> Result<Value, Stop>;

/// Executes an arithmetic instruction off the fast path. Its operands are decoded here, so that the fast path need
/// not keep them.
#[inline(never)]
pub(super) fn general(
    heap: &mut Heap,
    budget: &mut Budget,
    regs: &mut [Value; WINDOW],
    op: &Op,
) -> Result<(), Stop> {
    let (dst, a, b, function): (_, _, _, Binary) = match *op {
        Op::Add { dst, a, b } => (dst, a, b, add),
        Op::Sub { dst, a, b } => (dst, a, b, sub),
        Op::Mul { dst, a, b } => (dst, a, b, mul),
        Op::Div { dst, a, b } => (dst, a, b, div),
        Op::Quot { dst, a, b } => (dst, a, b, quot),
        Op::Rem { dst, a, b } => (dst, a, b, rem),
        Op::Mod { dst, a, b } => (dst, a, b, modulo),
        Op::AddInt { dst, a, said, imm } => {
            add_int(heap, regs, dst, a, said, imm)?;
            heap.settle(budget);
            return Ok(());
        }
        _ => return Err(Fault::new(Code::Internal, "not an instruction of arithmetic").into()),
    };
    let (x, y) = (regs[a as usize], regs[b as usize]);
    regs[dst as usize] = match function(heap, x, y) {
        // Off every path for plain numbers.
        Err(_) if is_veiled(x) || is_veiled(y) => {
            let value = function(heap, heap.unveil(x), heap.unveil(y))?;
            heap.veil(value)?
        }
        other => other?,
    };
    heap.settle(budget);
    Ok(())
}

fn is_veiled(value: Value) -> bool {
    matches!(value, Value::Veiled(_))
}

/// Computes `dst ← a + imm`, for `inc`, `dec` and sums with a literal on anything but a small integer.
fn add_int(
    heap: &mut Heap,
    regs: &mut [Value; WINDOW],
    dst: u8,
    a: u8,
    said: u8,
    imm: i32,
) -> Result<(), Stop> {
    regs[dst as usize] = match regs[a as usize] {
        value @ (Value::Int(_) | Value::Big(_)) => add(heap, value, Value::Int(i64::from(imm)))?,
        veiled if heap.unveil(veiled).is_number() => {
            let sum = add(heap, heap.unveil(veiled), Value::Int(i64::from(imm)))?;
            heap.veil(sum)?
        }
        other => {
            let other = heap.unveil(other);
            let (op, arg) = match said {
                1 => ("+", 2),
                2 => ("-", 1),
                3 => ("inc", 1),
                4 => ("dec", 1),
                _ => ("+", 1),
            };
            return Err(not_a_number(op, arg, other));
        }
    };
    Ok(())
}

/// Computes `a - b`.
#[cold]
pub fn sub(heap: &mut Heap, a: Value, b: Value) -> Result<Value, Stop> {
    match pair(heap, "-", a, b)? {
        Pair::Ints(x, y) => match x.checked_sub(y) {
            Some(z) => Ok(Value::Int(z)),
            None => heap.new_integer(&(BigInt::from(x) - y)),
        },
        Pair::Bigs(x, y) => {
            price(heap, sums(&x, &y))?;
            heap.new_integer(&(x - y))
        }
        Pair::Floats(x, y) => Ok(Value::float(x - y)),
    }
}

/// Computes `a * b`.
#[cold]
pub fn mul(heap: &mut Heap, a: Value, b: Value) -> Result<Value, Stop> {
    match pair(heap, "*", a, b)? {
        Pair::Ints(x, y) => match x.checked_mul(y) {
            Some(z) => Ok(Value::Int(z)),
            None => heap.new_integer(&(BigInt::from(x) * y)),
        },
        Pair::Bigs(x, y) => {
            // A product needs as much room as both factors; reserve it before the work.
            let limbs = limbs(&x) + limbs(&y);
            Heap::check_limbs(limbs.saturating_sub(1))?;
            heap.room(limbs + 2, 0)?;
            price(heap, products(&x, &y))?;
            heap.new_integer(&(x * y))
        }
        Pair::Floats(x, y) => Ok(Value::float(x * y)),
    }
}

/// Computes `a / b`, always a float; an integer divided by the integer zero faults, a float gives an infinity.
pub fn div(heap: &mut Heap, a: Value, b: Value) -> Result<Value, Stop> {
    if matches!((a, b), (Value::Int(_) | Value::Big(_), Value::Int(0))) {
        return Err(divided_by_zero("/"));
    }
    match pair(heap, "/", a, b)? {
        Pair::Ints(x, y) => Ok(Value::float(x as f64 / y as f64)),
        Pair::Floats(x, y) => Ok(Value::float(x / y)),
        Pair::Bigs(x, y) => {
            price(heap, sums(&x, &y))?;
            Ok(Value::float(big_ratio(&x, &y)))
        }
    }
}

/// Computes the quotient of large integers as a float, without overflowing on the way.
fn big_ratio(x: &BigInt, y: &BigInt) -> f64 {
    match (x.to_f64(), y.to_f64()) {
        (Some(a), Some(b)) if a.is_finite() && b.is_finite() => a / b,
        _ => {
            let shift = x.bits().max(y.bits()).saturating_sub(1000);
            let (a, b) = (x >> shift, y >> shift);
            a.to_f64().unwrap_or(f64::INFINITY) / b.to_f64().unwrap_or(f64::INFINITY)
        }
    }
}

/// Computes the quotient cut toward zero.
pub fn quot(heap: &mut Heap, a: Value, b: Value) -> Result<Value, Stop> {
    match pair(heap, "quot", a, b)? {
        Pair::Ints(_, 0) => Err(divided_by_zero("quot")),
        Pair::Ints(x, y) => match x.checked_div(y) {
            Some(z) => Ok(Value::Int(z)),
            None => heap.new_integer(&(-BigInt::from(x))),
        },
        Pair::Bigs(_, y) if y.is_zero() => Err(divided_by_zero("quot")),
        Pair::Bigs(x, y) => {
            price(heap, products(&x, &y))?;
            heap.new_integer(&(x / y))
        }
        Pair::Floats(_, 0.0) => Err(divided_by_zero("quot")),
        Pair::Floats(x, y) if x.is_finite() && y.is_finite() => {
            // Never -0.0: Clojure's quotient passes through an integer.
            Ok(Value::float((x / y).trunc() + 0.0))
        }
        Pair::Floats(..) => Ok(Value::float(f64::NAN)),
    }
}

/// Computes the remainder of the quotient, as Clojure does: `quot` and `rem` fit each other, where the exact
/// remainder of `10.0` by `0.001` is nearly the whole divisor.
fn float_rem(x: f64, y: f64) -> f64 {
    let quotient = (x / y).trunc();
    if quotient.is_finite() { x - quotient * y } else { f64::NAN }
}

/// Computes the remainder with the sign of `a`.
pub fn rem(heap: &mut Heap, a: Value, b: Value) -> Result<Value, Stop> {
    match pair(heap, "rem", a, b)? {
        Pair::Ints(_, 0) => Err(divided_by_zero("rem")),
        Pair::Ints(x, y) => Ok(Value::Int(x.wrapping_rem(y))),
        Pair::Bigs(_, y) if y.is_zero() => Err(divided_by_zero("rem")),
        Pair::Bigs(x, y) => {
            price(heap, products(&x, &y))?;
            heap.new_integer(&(x % y))
        }
        Pair::Floats(_, 0.0) => Err(divided_by_zero("rem")),
        Pair::Floats(x, y) if x.is_finite() && y.is_finite() => Ok(Value::float(float_rem(x, y))),
        Pair::Floats(..) => Ok(Value::float(f64::NAN)),
    }
}

/// Computes the modulus with the sign of `b`.
pub fn modulo(heap: &mut Heap, a: Value, b: Value) -> Result<Value, Stop> {
    match pair(heap, "mod", a, b)? {
        Pair::Ints(_, 0) => Err(divided_by_zero("mod")),
        Pair::Ints(x, y) => {
            let r = x.wrapping_rem(y);
            Ok(Value::Int(if r != 0 && (r < 0) != (y < 0) { r + y } else { r }))
        }
        Pair::Bigs(_, y) if y.is_zero() => Err(divided_by_zero("mod")),
        Pair::Bigs(x, y) => {
            price(heap, products(&x, &y))?;
            heap.new_integer(&(x.mod_floor(&y)))
        }
        Pair::Floats(_, 0.0) => Err(divided_by_zero("mod")),
        Pair::Floats(x, y) if x.is_finite() && y.is_finite() => {
            let r = float_rem(x, y);
            Ok(Value::float(if r != 0.0 && (r < 0.0) != (y < 0.0) { r + y } else { r }))
        }
        Pair::Floats(..) => Ok(Value::float(f64::NAN)),
    }
}

/// Number of divisors with a known reciprocal. Programs mostly divide by small literals.
const RECIPROCALS: usize = 128;

/// Reciprocals `(m, s)` for each divisor from 2 on, such that `x / d` is the upper half of `x * m`, shifted by `s`,
/// for every `x` below 2⁶³: `m` is `⌊2^(63+l) / d⌋ + 1` and `s` is `l - 1`, where `2^l` is the first power of two
/// not below `d`.
static RECIPROCAL: [(u64, u32); RECIPROCALS] = {
    let mut table = [(0, 0); RECIPROCALS];
    let mut d = 2;
    while d < RECIPROCALS {
        let l = (d as u32).next_power_of_two().trailing_zeros();
        table[d] = (((1u128 << (63 + l)) / d as u128) as u64 + 1, l - 1);
        d += 1;
    }
    table
};

/// Computes `x mod y` for a positive `y`. Multiplying takes a fraction of the time of dividing.
#[inline(always)]
pub(super) fn mod_positive(x: i64, y: i64) -> i64 {
    match RECIPROCAL.get(y as usize) {
        Some(&(m, s)) if x >= 0 && y > 1 => {
            let quotient = ((u128::from(x as u64) * u128::from(m)) >> 64) as i64 >> s;
            x - quotient * y
        }
        _ => x.rem_euclid(y),
    }
}

#[cfg(test)]
mod tests {
    use super::mod_positive;

    #[test]
    fn a_reciprocal_divides_exactly() {
        let edges = [0, 1, 2, 63, 64, 65, 1 << 31, 1 << 32, 1 << 53, i64::MAX / 2, i64::MAX - 1, i64::MAX];
        for y in 1..300 {
            let multiples = [i64::MAX / y * y, i64::MAX / y * y - 1, i64::MAX / 3 / y * y];
            for x in edges.into_iter().chain(multiples).flat_map(|x| [x, -x, (x - y).max(0)]) {
                assert_eq!(mod_positive(x, y), x.rem_euclid(y), "{x} mod {y}");
            }
        }
    }
}
