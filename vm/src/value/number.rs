//! Integers of any size. Those beyond 64 bits are a sign and limbs in the arena; arithmetic on them goes through
//! `num-bigint`.

use std::cmp::Ordering;

use num_bigint::{BigInt, Sign};
use num_traits::{FromPrimitive, ToPrimitive};

use crate::fault::{Fault, Stop};
use crate::heap::Heap;
use crate::value::{Ref, Two, Value};
use ptc_bytecode::Code;

/// Maximum limbs of an integer. It bounds the time of one operation, as multiplying, dividing, parsing and printing
/// take more than linear time.
const MOST_LIMBS: usize = 1 << 13;

/// Number of limbs from which integers are beyond all floats.
const FLOAT_LIMBS: usize = 16;

/// Digits of the longest integer, with a sign.
pub(crate) const MOST_DIGITS: usize = 157_828;

impl Heap {
    /// Faults for integers with too many limbs.
    pub(crate) fn check_limbs(limbs: usize) -> Result<(), Stop> {
        if limbs <= MOST_LIMBS { Ok(()) } else { Err(Heap::too_long().into()) }
    }

    /// Faults for integers with too many bits.
    pub fn check_bits(bits: u64) -> Result<(), Stop> {
        Heap::check_limbs(usize::try_from(bits / 64).unwrap_or(usize::MAX).saturating_add(1))
    }

    #[cold]
    pub(crate) fn too_long() -> Fault {
        let bits = MOST_LIMBS * 64;
        Fault::new(Code::ArithmeticError, format!("the result is an integer of more than {bits} bits"))
            .hint("`(double x)` makes a float of a large integer, whose size does not grow")
    }

    /// Returns an integer of any size; None if the value is not one.
    pub fn to_bigint(&self, v: Value) -> Option<BigInt> {
        match v {
            Value::Int(n) => Some(BigInt::from(n)),
            Value::Big(r) => {
                let limbs = self.big_limbs(r);
                self.charge(limbs.len());
                let limbs = limbs.iter().flat_map(|limb| match limb {
                    Value::Int(n) => [*n as u64 as u32, (*n as u64 >> 32) as u32],
                    _ => [0; 2],
                });
                let sign = if self.big_is_negative(r) { Sign::Minus } else { Sign::Plus };
                Some(BigInt::new(sign, limbs.collect()))
            }
            _ => None,
        }
    }

    /// Makes an integer value, small if it fits 64 bits.
    pub fn new_integer(&mut self, n: &BigInt) -> Result<Value, Stop> {
        if let Some(small) = n.to_i64() {
            return Ok(Value::Int(small));
        }
        let (sign, limbs) = n.to_u64_digits();
        Heap::check_limbs(limbs.len())?;
        self.charge(limbs.len());
        self.room(1 + limbs.len(), 0)?;
        let r = self.push_head(Value::BigHead(Two::new(u32::from(sign == Sign::Minus), limbs.len() as u32)));
        self.own.cells.extend(limbs.iter().map(|limb| Value::Int(*limb as i64)));
        Ok(Value::Big(r))
    }

    /// Converts any number to the nearest float.
    pub fn to_float(&self, v: Value) -> Option<f64> {
        match v {
            Value::Int(n) => Some(n as f64),
            Value::Float(x) => Some(x.get()),
            Value::Big(r) if self.big_limbs(r).len() > FLOAT_LIMBS => {
                Some(if self.big_is_negative(r) { f64::NEG_INFINITY } else { f64::INFINITY })
            }
            Value::Big(_) => self.to_bigint(v)?.to_f64(),
            _ => None,
        }
    }

    pub(crate) fn big_is_negative(&self, r: Ref) -> bool {
        matches!(self.head(r), Value::BigHead(parts) if parts.get().0 == 1)
    }

    /// Returns the limbs, lowest first: `Int` cells holding 64 bits each.
    pub(crate) fn big_limbs(&self, r: Ref) -> &[Value] {
        match self.head(r) {
            Value::BigHead(parts) => self.raw(r, 0, parts.get().1 as usize),
            _ => &[],
        }
    }

    /// Returns the number of limbs of a big integer, of 64 bits each.
    pub fn big_len(&self, r: Ref) -> usize {
        self.big_limbs(r).len()
    }

    /// True if two big integers are equal.
    pub(crate) fn same_big(&self, a: Ref, b: Ref) -> bool {
        let (x, y) = (self.big_limbs(a), self.big_limbs(b));
        self.owe(x.len());
        self.big_is_negative(a) == self.big_is_negative(b)
            && x.len() == y.len()
            && x.iter().zip(y).all(|(x, y)| x.same(*y))
    }

    /// Compares a big integer with zero.
    fn sign_of(&self, r: Ref) -> Ordering {
        if self.big_is_negative(r) { Ordering::Less } else { Ordering::Greater }
    }

    /// Compares two big integers.
    fn compare_bigs(&self, a: Ref, b: Ref) -> Ordering {
        let (x, y) = (self.big_limbs(a), self.big_limbs(b));
        self.charge(x.len().min(y.len()));
        let signs = self.sign_of(a).cmp(&self.sign_of(b));
        if signs.is_ne() {
            return signs;
        }
        let limb = |cell: &Value| if let Value::Int(n) = cell { *n as u64 } else { 0 };
        let sizes = x.len().cmp(&y.len());
        let order = sizes.then_with(|| x.iter().rev().map(limb).cmp(y.iter().rev().map(limb)));
        if self.big_is_negative(a) { order.reverse() } else { order }
    }

    /// Compares a big integer with a float. It is beyond 64 bits, where floats have no fraction.
    fn compare_big_float(&self, a: Ref, b: f64) -> Option<Ordering> {
        if b.is_nan() {
            return None;
        }
        if self.big_limbs(a).len() > FLOAT_LIMBS && b.is_finite() {
            return Some(self.sign_of(a));
        }
        match BigInt::from_f64(b) {
            Some(b) => Some(self.to_bigint(Value::Big(a))?.cmp(&b)),
            None if b > 0.0 => Some(Ordering::Less),
            None => Some(Ordering::Greater),
        }
    }

    /// Compares two numbers by their exact values; None if either is NaN or no number.
    pub(crate) fn compare_numbers(&self, a: Value, b: Value) -> Option<Ordering> {
        match (a, b) {
            (Value::Int(a), Value::Int(b)) => Some(a.cmp(&b)),
            (Value::Float(a), Value::Float(b)) => a.get().partial_cmp(&b.get()),
            (Value::Int(a), Value::Float(b)) => compare_int_float(a, b.get()),
            (Value::Float(a), Value::Int(b)) => compare_int_float(b, a.get()).map(Ordering::reverse),
            (Value::Big(a), Value::Float(b)) => self.compare_big_float(a, b.get()),
            (Value::Float(a), Value::Big(b)) => self.compare_big_float(b, a.get()).map(Ordering::reverse),
            (Value::Big(a), Value::Big(b)) => Some(self.compare_bigs(a, b)),
            // A big integer is beyond all small ones.
            (Value::Big(a), Value::Int(_)) => Some(self.sign_of(a)),
            (Value::Int(_), Value::Big(b)) => Some(self.sign_of(b).reverse()),
            _ => None,
        }
    }
}

/// Compares exactly, where converting the integer to a float would round.
fn compare_int_float(a: i64, b: f64) -> Option<Ordering> {
    const TWO_63: f64 = 9_223_372_036_854_775_808.0;
    if b.is_nan() {
        return None;
    }
    Some(if b >= TWO_63 {
        Ordering::Less
    } else if b < -TWO_63 {
        Ordering::Greater
    } else {
        let whole = b.trunc();
        a.cmp(&(whole as i64)).then(if b > whole {
            Ordering::Less
        } else if b < whole {
            Ordering::Greater
        } else {
            Ordering::Equal
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_are_small_when_they_fit() {
        let mut heap = Heap::unbounded();
        for n in ["0", "-9223372036854775808", "9223372036854775807"] {
            assert!(matches!(heap.new_integer(&n.parse().unwrap()).unwrap(), Value::Int(_)));
        }
        for n in ["9223372036854775808", "-9223372036854775809", "340282366920938463463374607431768211456"] {
            let n: BigInt = n.parse().unwrap();
            let v = heap.new_integer(&n).unwrap();
            assert!(matches!(v, Value::Big(_)));
            assert_eq!(heap.to_bigint(v), Some(n));
        }
    }

    #[test]
    fn comparing_with_floats_is_exact() {
        let heap = Heap::unbounded();
        let cmp = |a, b| heap.compare_numbers(a, b);
        let big = (1i64 << 53) + 1;
        assert_eq!(cmp(Value::Int(big), Value::float((1i64 << 53) as f64)), Some(Ordering::Greater));
        assert_eq!(cmp(Value::Int(i64::MAX), Value::float(i64::MAX as f64)), Some(Ordering::Less));
        assert_eq!(cmp(Value::Int(i64::MIN), Value::float(i64::MIN as f64)), Some(Ordering::Equal));
        assert_eq!(cmp(Value::Int(-1), Value::float(-1.5)), Some(Ordering::Greater));
        assert_eq!(cmp(Value::float(1.5), Value::Int(1)), Some(Ordering::Greater));
        assert_eq!(cmp(Value::Int(1), Value::float(f64::NAN)), None);
    }

    #[test]
    fn big_integers_compare_with_floats() {
        let mut heap = Heap::unbounded();
        let n = heap.new_integer(&BigInt::from(10u8).pow(20)).unwrap();
        assert_eq!(heap.compare_numbers(n, Value::float(1e20)), Some(Ordering::Equal));
        assert_eq!(heap.compare_numbers(Value::float(f64::INFINITY), n), Some(Ordering::Greater));
        assert_eq!(heap.compare_numbers(n, Value::float(f64::NEG_INFINITY)), Some(Ordering::Greater));
        assert_eq!(heap.compare_numbers(Value::Int(3), n), Some(Ordering::Less));
    }
}
