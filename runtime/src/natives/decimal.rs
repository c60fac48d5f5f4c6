//! Decimal digits of numbers, for rounding as people do: halves away from zero, on the visible digits.

use num_bigint::{BigInt, Sign};

/// A number `0.d₁d₂d₃… × 10^exponent`, without leading zeros; no digits at all for zero.
pub struct Decimal {
    /// True for a number below zero.
    pub negative: bool,
    digits: Vec<u8>,
    exponent: i64,
}

impl Decimal {
    /// Returns the shortest digits that read back as `x`, which must be finite.
    pub fn of_float(x: f64) -> Decimal {
        let text = format!("{:e}", x.abs());
        let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
        let digits = mantissa.bytes().filter(u8::is_ascii_digit).map(|b| b - b'0').collect();
        let exponent = exponent.parse::<i64>().unwrap_or(0) + 1;
        Decimal { negative: x.is_sign_negative(), digits, exponent }.trimmed()
    }

    /// Returns the digits of an integer.
    pub fn of_integer(n: &BigInt) -> Decimal {
        let digits: Vec<u8> = n.magnitude().to_string().bytes().map(|b| b - b'0').collect();
        let exponent = digits.len() as i64;
        Decimal { negative: n.sign() == Sign::Minus, digits, exponent }.trimmed()
    }

    fn trimmed(mut self) -> Decimal {
        if self.digits.iter().all(|d| *d == 0) {
            self.digits.clear();
            self.exponent = 1;
        }
        self
    }

    /// Returns the first `count` digits, rounded; the exponent grows when rounding carries over.
    fn rounded(&self, count: i64) -> (Vec<u8>, i64) {
        let Ok(count) = usize::try_from(count) else { return (Vec::new(), self.exponent) };
        let mut digits = self.digits.clone();
        let up = digits.get(count).is_some_and(|d| *d >= 5);
        digits.resize(count, 0);
        if !up {
            return (digits, self.exponent);
        }
        for d in digits.iter_mut().rev() {
            if *d < 9 {
                *d += 1;
                return (digits, self.exponent);
            }
            *d = 0;
        }
        digits.insert(0, 1);
        (digits, self.exponent + 1)
    }

    /// Formats it with `precision` digits after the point.
    pub fn fixed(&self, precision: usize) -> String {
        let (digits, exponent) = self.rounded(self.exponent + precision as i64);
        let mut out = String::new();
        // Place 0 is right before the point; places below it come after.
        let first = (exponent - 1).max(0);
        for place in (-(precision as i64)..=first).rev() {
            if place == -1 {
                out.push('.');
            }
            let digit = usize::try_from(exponent - 1 - place).ok().and_then(|i| digits.get(i));
            out.push(char::from(b'0' + digit.copied().unwrap_or(0)));
        }
        out
    }

    /// Formats it as one digit, `precision` digits after the point, and the exponent.
    pub fn scientific(&self, precision: usize) -> String {
        let (digits, exponent) = self.rounded(precision as i64 + 1);
        let power = if self.digits.is_empty() { 0 } else { exponent - 1 };
        let mut out = String::new();
        for i in 0..=precision {
            if i == 1 {
                out.push('.');
            }
            out.push(char::from(b'0' + digits.get(i).copied().unwrap_or(0)));
        }
        let sign = if power < 0 { '-' } else { '+' };
        out + &format!("e{sign}{:02}", power.abs())
    }

    /// Formats it with `precision` digits in all, without an exponent where that reads better.
    pub fn general(&self, precision: usize) -> String {
        let (_, exponent) = self.rounded(precision as i64);
        let power = if self.digits.is_empty() { 0 } else { exponent - 1 };
        match (-4..precision as i64).contains(&power) {
            true => self.fixed((precision as i64 - 1 - power).max(0) as usize),
            false => self.scientific(precision - 1),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Decimal;

    #[test]
    fn halves_go_away_from_zero_on_the_digits_shown() {
        let fixed = |x, precision| Decimal::of_float(x).fixed(precision);
        assert_eq!(fixed(2.675, 2), "2.68");
        assert_eq!(fixed(0.05, 1), "0.1");
        assert_eq!(fixed(0.04, 1), "0.0");
        assert_eq!(fixed(2.5, 0), "3");
        assert_eq!(fixed(9.995, 2), "10.00");
        assert_eq!(fixed(0.5, 0), "1");
        assert_eq!(fixed(0.004, 1), "0.0");
        assert_eq!(fixed(1e21, 1), "1000000000000000000000.0");
        assert_eq!(fixed(0.0, 2), "0.00");
        assert_eq!(Decimal::of_float(12345.678).scientific(6), "1.234568e+04");
        assert_eq!(Decimal::of_float(0.0001).general(6), "0.000100000");
        assert_eq!(Decimal::of_float(1e10).general(6), "1.00000e+10");
    }
}
