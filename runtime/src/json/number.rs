//! JSON numbers: integers of any size, and correctly rounded floats.

use num_bigint::BigInt;

/// A number as it was written.
pub(super) enum Number<'t> {
    Int(i64),
    Float(f64),
    /// Sign and digits of an integer beyond 64 bits.
    Big(&'t str),
}

/// A JSON number that broke off: the expected text, and the offset.
pub(super) struct BadNumber {
    pub(super) offset: usize,
    pub(super) expected: &'static str,
}

/// Powers of ten that a float holds exactly.
const EXACT: [f64; 23] = [
    1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18,
    1e19, 1e20, 1e21, 1e22,
];

/// Reads the number at `start`; also returns its end. The caller checks the text that follows.
#[inline]
pub(super) fn read_number(text: &str, start: usize) -> Result<(Number<'_>, usize), BadNumber> {
    scan_number::<true>(text, start)
}

/// Finds the end of the number at `start`, with the digits of an integer that may be beyond 64 bits.
#[inline]
pub(super) fn skip_number(text: &str, start: usize) -> Result<(Option<&str>, usize), BadNumber> {
    let (number, end) = scan_number::<false>(text, start)?;
    let digits = match number {
        Number::Big(digits) => Some(digits),
        Number::Int(_) | Number::Float(_) => None,
    };
    Ok((digits, end))
}

/// Reads a number; without `VALUE`, floats are 0.
#[inline]
fn scan_number<const VALUE: bool>(text: &str, start: usize) -> Result<(Number<'_>, usize), BadNumber> {
    let bytes = text.as_bytes();
    let at = |pos: usize| bytes.get(pos).copied().unwrap_or(0);
    let negative = at(start) == b'-';
    let first = start + usize::from(negative);
    let mut pos = first;
    // Wraps for long numbers, which are then parsed again from their text.
    let mut digits: u64 = 0;
    while at(pos).is_ascii_digit() {
        digits = digits.wrapping_mul(10).wrapping_add(u64::from(at(pos) - b'0'));
        pos += 1;
    }
    let whole = pos - first;
    if whole == 0 {
        return Err(BadNumber { offset: pos, expected: "a digit" });
    }
    if whole > 1 && at(first) == b'0' {
        return Err(BadNumber { offset: first + 1, expected: "no digit after a leading 0" });
    }
    if !matches!(at(pos), b'.' | b'e' | b'E') {
        let number = if whole <= 18 {
            let n = digits as i64;
            Number::Int(if negative { -n } else { n })
        } else {
            let digits = &text[start..pos];
            digits.parse().map_or(Number::Big(digits), Number::Int)
        };
        return Ok((number, pos));
    }

    let mut scale: i64 = 0;
    let mut significant = whole;
    if at(pos) == b'.' {
        pos += 1;
        let point = pos;
        while at(pos).is_ascii_digit() {
            digits = digits.wrapping_mul(10).wrapping_add(u64::from(at(pos) - b'0'));
            pos += 1;
        }
        if pos == point {
            return Err(BadNumber { offset: pos, expected: "a digit after the decimal point" });
        }
        significant += pos - point;
        scale -= (pos - point) as i64;
    }
    if matches!(at(pos), b'e' | b'E') {
        pos += 1;
        let below = at(pos) == b'-';
        pos += usize::from(below || at(pos) == b'+');
        let from = pos;
        let mut exponent: i64 = 0;
        while at(pos).is_ascii_digit() {
            exponent = exponent.saturating_mul(10).saturating_add(i64::from(at(pos) - b'0'));
            pos += 1;
        }
        if pos == from {
            return Err(BadNumber { offset: pos, expected: "a digit in the exponent" });
        }
        scale = scale.saturating_add(if below { -exponent } else { exponent });
    }

    if !VALUE {
        return Ok((Number::Float(0.0), pos));
    }
    // Both factors are exact, so one rounding gives the nearest float (Clinger's fast path).
    let exact = EXACT.get(scale.unsigned_abs() as usize).filter(|_| significant <= 19 && digits <= 1 << 53);
    let float = match exact {
        Some(power) => {
            let size = if scale < 0 { digits as f64 / power } else { digits as f64 * power };
            if negative { -size } else { size }
        }
        // The JSON grammar is part of Rust's, which reads numbers beyond the range as infinity.
        None => text[start..pos].parse().unwrap_or(f64::NAN),
    };
    Ok((Number::Float(float), pos))
}

/// Parses the integer of [`Number::Big`].
pub(super) fn big(digits: &str) -> BigInt {
    digits.parse().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn float(text: &str) -> f64 {
        match read_number(text, 0) {
            Ok((Number::Float(x), end)) if end == text.len() => x,
            _ => panic!("{text} is no float"),
        }
    }

    #[test]
    fn integers_end_where_64_bits_do() {
        for n in [0, 1, -1, i64::MAX, i64::MIN, 999_999_999_999_999_999, 1_000_000_000_000_000_000] {
            let text = n.to_string();
            assert!(matches!(read_number(&text, 0), Ok((Number::Int(m), _)) if m == n), "{n}");
        }
        for text in ["9223372036854775808", "-9223372036854775809", "100000000000000000000"] {
            assert!(matches!(read_number(text, 0), Ok((Number::Big(d), _)) if d == text));
        }
        assert!(matches!(read_number("-0", 0), Ok((Number::Int(0), 2))));
    }

    #[test]
    fn floats_at_the_edges() {
        assert!(float("-0.0").is_sign_negative());
        assert_eq!(float("1e400"), f64::INFINITY);
        assert_eq!(float("-1e400"), f64::NEG_INFINITY);
        assert_eq!(float("1e99999999999999999999"), f64::INFINITY);
        assert_eq!(float("1e-99999999999999999999"), 0.0);
        assert_eq!(float("5e-324"), f64::from_bits(1));
        assert_eq!(float("9007199254740993.0"), 9_007_199_254_740_992.0);
        assert_eq!(float("0e400"), 0.0);
    }

    #[test]
    fn malformed_numbers_say_what_is_missing() {
        for (text, offset) in [("-", 1), ("1.", 2), ("1.e3", 2), ("1e", 2), ("1e+", 3), ("01", 1), ("-01", 2)]
        {
            let error = read_number(text, 0).err().unwrap();
            assert_eq!(error.offset, offset, "{text}");
        }
    }

    proptest! {
        #[test]
        fn floats_are_the_nearest(text in "-?(0|[1-9][0-9]{0,24})\\.[0-9]{1,24}([eE][-+]?[0-9]{1,3})?") {
            prop_assert_eq!(float(&text).to_bits(), text.parse::<f64>().unwrap().to_bits());
        }

        #[test]
        fn printed_floats_come_back(bits: u64) {
            let x = f64::from_bits(bits);
            prop_assume!(x.is_finite());
            prop_assert_eq!(float(&format!("{x:?}")).to_bits(), bits);
        }
    }
}
