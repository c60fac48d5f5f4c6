//! The text of `#inst "…"` → microseconds since 1970.

/// Reads `YYYY[-MM[-DD[Thh:mm[:ss[.fraction]][Z|±hh:mm]]]]`; None if the text is anything else.
pub(super) fn parse(text: &str) -> Option<i64> {
    let mut reader = Reader { rest: text };
    let year = reader.digits(4)?;
    let month = if reader.take("-") { reader.digits(2)? } else { 1 };
    let day = if reader.take("-") { reader.digits(2)? } else { 1 };
    if !(1..=12).contains(&month) || day < 1 || day > days_in_month(year, month) {
        return None;
    }
    let mut micros = days_from_civil(year, month, day) * 86_400_000_000;
    if reader.take("T") || reader.take(" ") {
        let (hour, minute) = reader.clock()?;
        let second = if reader.take(":") { reader.digits(2)? } else { 0 };
        if second > 59 {
            return None;
        }
        let fraction = if reader.take(".") { reader.fraction()? } else { 0 };
        micros += ((hour * 60 + minute) * 60 + second) * 1_000_000 + fraction;
        micros -= reader.offset()? * 60_000_000;
    }
    reader.rest.is_empty().then_some(micros)
}

struct Reader<'t> {
    rest: &'t str,
}

impl Reader<'_> {
    fn take(&mut self, token: &str) -> bool {
        match self.rest.strip_prefix(token) {
            Some(rest) => {
                self.rest = rest;
                true
            }
            None => false,
        }
    }

    fn digits(&mut self, count: usize) -> Option<i64> {
        let digits = self.rest.get(..count)?;
        if !digits.bytes().all(|b| b.is_ascii_digit()) {
            return None;
        }
        self.rest = &self.rest[count..];
        digits.parse().ok()
    }

    fn clock(&mut self) -> Option<(i64, i64)> {
        let hour = self.digits(2)?;
        let minute = if self.take(":") { self.digits(2)? } else { 0 };
        (hour < 24 && minute < 60).then_some((hour, minute))
    }

    /// Up to microseconds; further digits are cut.
    fn fraction(&mut self) -> Option<i64> {
        let count = self.rest.bytes().take_while(u8::is_ascii_digit).count();
        if count == 0 {
            return None;
        }
        let micros = (0..6).fold(0, |sum, i| {
            let digit = if i < count { i64::from(self.rest.as_bytes()[i] - b'0') } else { 0 };
            sum * 10 + digit
        });
        self.rest = &self.rest[count..];
        Some(micros)
    }

    /// Minutes east of Greenwich; none means UTC.
    fn offset(&mut self) -> Option<i64> {
        if self.take("Z") || self.rest.is_empty() {
            return Some(0);
        }
        let sign = if self.take("-") {
            -1
        } else if self.take("+") {
            1
        } else {
            return None;
        };
        let (hours, minutes) = self.clock()?;
        Some(sign * (hours * 60 + minutes))
    }
}

fn days_in_month(year: i64, month: i64) -> i64 {
    match month {
        2 if year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

/// Days since 1970-01-01 in the Gregorian calendar, counted in 400-year eras that start in March.
fn days_from_civil(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let era = year.div_euclid(400);
    let of_era = year.rem_euclid(400);
    let of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719_468
}

#[cfg(test)]
mod tests {
    use super::parse;

    #[test]
    fn reads_dates_with_and_without_time_and_offset() {
        assert_eq!(parse("1970-01-01"), Some(0));
        assert_eq!(parse("1970-01-02T00:00:00Z"), Some(86_400_000_000));
        assert_eq!(parse("2024-02-29T12:30:15.250+02:00"), Some(1_709_202_615_250_000));
        assert_eq!(parse("1969-12-31T23:59:59.999999Z"), Some(-1));
        for bad in
            ["", "2024-13-01", "2023-02-29", "2024-01-01T25:00", "2024-01-01x", "12", "2024-01-01T10:00+2"]
        {
            assert_eq!(parse(bad), None, "{bad}");
        }
    }
}
