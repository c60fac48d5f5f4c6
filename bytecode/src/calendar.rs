//! Parses dates as days and microseconds since 1970. The reader of `#inst` and the date functions share it, so a date
//! means the same in a program and in data.

use jiff::civil::{Date, DateTime};
use jiff::fmt::rfc2822;
use jiff::tz::TimeZone;
use jiff::{Timestamp, Unit};

/// Maximum length of a date text in bytes; longer texts are not dates.
const LONGEST: usize = 100;

/// Parses a day, `YYYY-MM-DD`, as days since 1970-01-01.
///
/// ```
/// assert_eq!(ptc_bytecode::calendar::read_day("1970-01-02"), Some(1));
/// assert_eq!(ptc_bytecode::calendar::read_day("2023-02-29"), None);
/// ```
pub fn read_day(text: &str) -> Option<i32> {
    // The date crate accepts more spellings (with a time, without dashes); those are not days here.
    let digits = text.strip_prefix(['+', '-']).unwrap_or(text);
    let is_plain = (10..=12).contains(&digits.len())
        && digits.bytes().all(|b| b.is_ascii_digit() || b == b'-')
        && digits.bytes().filter(|b| *b == b'-').count() == 2;
    let date: Date = is_plain.then(|| text.parse().ok()).flatten()?;
    Some(day_number(date))
}

/// Parses a date with a time, as microseconds since 1970-01-01T00:00Z; without an offset it is in UTC.
///
/// ```
/// use ptc_bytecode::calendar::read_instant;
/// assert_eq!(read_instant("1970-01-01T01:00:00+01:00"), Some(0));
/// assert_eq!(read_instant("1970-01-01T00:00:01.5"), Some(1_500_000));
/// assert_eq!(read_instant("1970-01-01"), None);
/// ```
pub fn read_instant(text: &str) -> Option<i64> {
    if text.len() > LONGEST || !text.bytes().any(|b| matches!(b, b'T' | b't' | b' ')) {
        return None;
    }
    if let Ok(instant) = text.parse::<Timestamp>() {
        return Some(micros(instant));
    }
    let local: DateTime = text.parse().ok()?;
    Some(micros(local.to_zoned(TimeZone::UTC).ok()?.timestamp()))
}

/// Parses a date with or without a time; a day alone is its midnight in UTC.
pub fn read_moment(text: &str) -> Option<i64> {
    read_instant(text).or_else(|| read_day(text).map(midnight))
}

/// Parses the text after `#inst`: a date, a year, or a year and a month.
///
/// ```
/// use ptc_bytecode::calendar::read_literal;
/// assert_eq!(read_literal("1970"), Some(0));
/// assert_eq!(read_literal("1970-01-02T00:00:00Z"), Some(86_400_000_000));
/// ```
pub fn read_literal(text: &str) -> Option<i64> {
    match text.len() {
        4 => read_moment(&format!("{text}-01-01")),
        7 => read_moment(&format!("{text}-01")),
        _ => read_moment(text),
    }
}

/// Parses a date as mails write it (RFC 2822); the weekday and the zone are optional.
///
/// ```
/// use ptc_bytecode::calendar::read_mail_date;
/// assert_eq!(read_mail_date("Thu, 01 Jan 1970 02:00:00 +0200"), Some(0));
/// assert_eq!(read_mail_date("1 Jan 1970 00:00:01"), Some(1_000_000));
/// ```
pub fn read_mail_date(text: &str) -> Option<i64> {
    if text.len() > LONGEST {
        return None;
    }
    let parser = rfc2822::DateTimeParser::new();
    let read = |text: &str| parser.parse_timestamp(text).ok().map(micros);
    read(text).or_else(|| read(&format!("{} +0000", text.trim_end())))
}

/// Returns the first microsecond of a day.
pub fn midnight(day: i32) -> i64 {
    i64::from(day) * 86_400_000_000
}

/// Returns the days since 1970-01-01.
pub fn day_number(date: Date) -> i32 {
    let epoch = Date::constant(1970, 1, 1);
    epoch.until((Unit::Day, date)).map_or(0, |span| span.get_days())
}

/// Returns the microseconds since 1970-01-01T00:00Z; finer parts are cut off.
fn micros(instant: Timestamp) -> i64 {
    // The date crate covers ±9999 years, far inside 64 bits.
    instant.as_nanosecond().div_euclid(1000) as i64
}

#[cfg(test)]
mod tests {
    use super::{read_day, read_instant, read_literal, read_mail_date};

    #[test]
    fn literals_with_and_without_time_and_offset() {
        assert_eq!(read_literal("1970-01-01"), Some(0));
        assert_eq!(read_literal("1970-02"), Some(31 * 86_400_000_000));
        assert_eq!(read_literal("2024-02-29T12:30:15.250+02:00"), Some(1_709_202_615_250_000));
        assert_eq!(read_literal("1969-12-31T23:59:59.999999Z"), Some(-1));
        assert_eq!(read_literal("1969-12-31T23:59:59.9999995Z"), Some(-1));
        for bad in
            ["", "2024-13-01", "2023-02-29", "2024-01-01T25:00", "2024-01-01x", "12", "2024-01-01T10:00+2"]
        {
            assert_eq!(read_literal(bad), None, "{bad}");
        }
    }

    #[test]
    fn days_have_one_spelling() {
        assert_eq!(read_day("2024-03-01"), Some(19_783));
        assert_eq!(read_day("0001-01-01"), Some(-719_162));
        assert_eq!(read_day("9999-12-31"), Some(2_932_896));
        for bad in
            ["20240301", "2024-3-1", "2024-03-01T00:00", "24-03-01", "2024-060", "2024-W09-5", "é2024-03-01"]
        {
            assert_eq!(read_day(bad), None, "{bad}");
        }
    }

    #[test]
    fn instants_at_the_edges() {
        assert_eq!(read_instant("9999-12-31T23:59:59Z"), None);
        assert!(read_instant("9999-12-30T21:59:59Z").is_some());
        assert!(read_instant("-009999-01-03T00:00:00Z").is_some());
        assert_eq!(read_instant("+010000-01-01T00:00:00Z"), None);
        assert_eq!(read_instant(&"2024-01-01T".repeat(1000)), None);
        assert_eq!(read_instant("2024-01-15 10:30:00"), read_instant("2024-01-15T10:30:00Z"));
    }

    #[test]
    fn mail_dates_apply_their_offset() {
        let noon = read_instant("2003-07-01T10:52:37+02:00");
        assert_eq!(read_mail_date("Tue, 1 Jul 2003 10:52:37 +0200"), noon);
        assert_eq!(read_mail_date("1 Jul 2003 08:52:37 GMT"), noon);
        assert_eq!(read_mail_date("1 Jul 2003 08:52:37"), noon);
        assert_eq!(read_mail_date("32 Jul 2003 08:52:37"), None);
    }
}
