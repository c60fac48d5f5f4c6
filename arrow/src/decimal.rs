//! Decimals as exact numbers.

use arrow_array::cast::AsArray;
use arrow_array::types::{Decimal32Type, Decimal64Type, Decimal128Type, Decimal256Type};
use arrow_array::{Array, ArrayRef};
use arrow_buffer::{NullBuffer, i256};
use arrow_schema::DataType;
use serde::ser::{Error, Serializer};

/// Integers up to this size, and powers of ten up to 10²², are floats exactly: then a division rounds once.
const MAX_EXACT: u128 = 1 << 53;
const MAX_POWER: u8 = 22;

/// A column of decimals: integers, and the number of digits behind the point.
#[derive(Debug)]
pub(crate) struct Decimals {
    digits: Digits,
    scale: i8,
    nulls: Option<NullBuffer>,
    /// Names the column and its type.
    about: String,
}

#[derive(Debug)]
enum Digits {
    Small(Vec<i128>),
    Large(Vec<i256>),
}

/// A number that a decimal is, exactly.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Number {
    Int(i128),
    Float(f64),
}

impl Decimals {
    /// Takes the decimals of an array; None if it has others. `about` names a value in errors.
    pub fn new(array: &ArrayRef, about: String) -> Option<Decimals> {
        let small = |values: Vec<i128>, scale| Some((Digits::Small(values), scale));
        let (digits, scale) = match array.data_type() {
            DataType::Decimal32(_, scale) => {
                let values = array.as_primitive::<Decimal32Type>().values().iter();
                small(values.map(|n| i128::from(*n)).collect(), *scale)
            }
            DataType::Decimal64(_, scale) => {
                let values = array.as_primitive::<Decimal64Type>().values().iter();
                small(values.map(|n| i128::from(*n)).collect(), *scale)
            }
            DataType::Decimal128(_, scale) => {
                small(array.as_primitive::<Decimal128Type>().values().to_vec(), *scale)
            }
            DataType::Decimal256(_, scale) => {
                let values = array.as_primitive::<Decimal256Type>().values().to_vec();
                Some((Digits::Large(values), *scale))
            }
            _ => None,
        }?;
        Some(Decimals { digits, scale, nulls: array.nulls().cloned(), about })
    }

    /// Writes a value, or says that it is no number exactly.
    pub fn serialize<S: Serializer>(&self, at: usize, serializer: S) -> Result<S::Ok, S::Error> {
        if self.nulls.as_ref().is_some_and(|nulls| nulls.is_null(at)) {
            return serializer.serialize_unit();
        }
        let digits = match &self.digits {
            Digits::Small(values) => Some(values[at]),
            Digits::Large(values) => values[at].to_i128(),
        };
        match digits.and_then(|digits| exact(digits, self.scale)) {
            Some(Number::Int(n)) => serializer.serialize_i128(n),
            Some(Number::Float(x)) => serializer.serialize_f64(x),
            None => Err(S::Error::custom(format!(
                "{} has too many digits to be a number exactly; cast the column to text",
                self.about
            ))),
        }
    }
}

/// Returns the number that is `digits · 10^-scale`; None if there is none. With digits behind the point it is a float, also
/// if these are zeros: all values of a column are of one type.
fn exact(digits: i128, scale: i8) -> Option<Number> {
    if scale <= 0 {
        let power = 10_i128.checked_pow(u32::from(scale.unsigned_abs()))?;
        return digits.checked_mul(power).map(Number::Int);
    }
    let scale = scale.unsigned_abs();
    if digits.unsigned_abs() <= MAX_EXACT && scale <= MAX_POWER {
        let x = digits as f64 / 10_f64.powi(i32::from(scale));
        // At most 15 digits: no other decimal of as many is this float.
        if digits.unsigned_abs() < 1_000_000_000_000_000 {
            return Some(Number::Float(x));
        }
    }
    let (mut shortest, mut left) = (digits, scale);
    while left > 0 && shortest % 10 == 0 {
        (shortest, left) = (shortest / 10, left - 1);
    }
    let x: f64 = format!("{shortest}e-{left}").parse().ok()?;
    // It is exact if it reads back as the same digits.
    (same_digits(x, shortest, left)).then_some(Number::Float(x))
}

/// True if a float, written with the fewest digits, is `digits · 10^-scale`.
fn same_digits(x: f64, digits: i128, scale: u8) -> bool {
    let text = format!("{x:e}");
    let Some((mantissa, exponent)) = text.split_once('e') else { return false };
    let Ok(exponent) = exponent.parse::<i32>() else { return false };
    let behind = mantissa.split_once('.').map_or(0, |(_, behind)| behind.len() as i32);
    let Ok(mut written) = mantissa.replace('.', "").parse::<i128>() else { return false };
    // written · 10^(exponent - behind) == digits · 10^-scale
    let mut shift = exponent - behind + i32::from(scale);
    let mut digits = digits;
    while shift != 0 {
        let side = if shift > 0 { &mut written } else { &mut digits };
        match side.checked_mul(10) {
            Some(more) => *side = more,
            None => return false,
        }
        shift -= shift.signum();
    }
    written == digits
}

#[cfg(test)]
mod tests {
    use super::{Number, exact};

    #[test]
    fn decimals_are_exact_or_refused() {
        let float = |x| Some(Number::Float(x));
        for (digits, scale, expected) in [
            (1250, 2, float(12.5)),
            (-1, 1, float(-0.1)),
            (0, 3, float(0.0)),
            (1200, 2, float(12.0)),
            (7, 0, Some(Number::Int(7))),
            (7, -3, Some(Number::Int(7000))),
            (i128::MAX, 0, Some(Number::Int(i128::MAX))),
            (i128::MAX, -1, None),
            (123_456_789_012_345_678, 2, None),
            (1_234_567_890_123_456, 2, float(12_345_678_901_234.56)),
            (100_000_000_000_000_000_000_000, 20, float(1000.0)),
            (1, 38, float(1e-38)),
            (i128::MAX, 5, None),
        ] {
            assert_eq!(exact(digits, scale), expected, "{digits} {scale}");
        }
    }
}
