//! Natives that count in units such as `ChronoUnit/DAYS`: distance, shift, truncation.

use super::args::arg;
use super::date::{HOUR, MILLI, SECOND, day, instant, integer, new_day, new_instant, out_of_range, refuse};
use jiff::Span;
use jiff::civil::Date;
use ptc_bytecode::calendar;
use ptc_vm::{Call, Stop, Value};

/// Returns the name of the unit in argument `n`.
fn unit(call: &Call<'_>, n: usize) -> Result<String, Stop> {
    match arg(call, n) {
        Value::Keyword(r) => Ok(call.heap.str(r).to_string()),
        _ => Err(call.wrong_type(n, "a unit such as ChronoUnit/DAYS")),
    }
}

/// Returns the microseconds of a unit; None for months and years, which have no fixed number.
fn size(unit: &str) -> Option<i64> {
    match unit {
        "millis" => Some(MILLI),
        "seconds" => Some(SECOND),
        "minutes" => Some(60 * SECOND),
        "hours" => Some(HOUR),
        "days" => Some(24 * HOUR),
        "weeks" => Some(7 * 24 * HOUR),
        _ => None,
    }
}

/// `(.between unit start end)`
pub fn between(call: &mut Call<'_>) -> Result<Value, Stop> {
    apart(call, 1, [2, 3], "`(.between ChronoUnit/DAYS a b)`", "`(.between ChronoUnit/HOURS a b)`")
}

/// `(.until start end unit)`
pub fn until(call: &mut Call<'_>) -> Result<Value, Stop> {
    apart(call, 3, [1, 2], "`(.until a b ChronoUnit/DAYS)`", "`(.until a b ChronoUnit/HOURS)`")
}

fn apart(call: &Call<'_>, by: usize, [from, to]: [usize; 2], days: &str, hours: &str) -> Result<Value, Stop> {
    let unit = unit(call, by)?;
    if let (Value::Day(_), Value::Day(_)) = (arg(call, from), arg(call, to)) {
        let (start, end) = (day(call, from)?, day(call, to)?);
        let apart = i64::from(calendar::day_number(end)) - i64::from(calendar::day_number(start));
        return match unit.as_str() {
            "days" => Ok(Value::Int(apart)),
            "weeks" => Ok(Value::Int(apart / 7)),
            "months" => Ok(Value::Int(months_between(start, end))),
            "years" => Ok(Value::Int(months_between(start, end) / 12)),
            _ => Err(refuse(call, format!("the difference of dates cannot be in {unit}"), days)),
        };
    }
    let micros = instant(call, to)?.saturating_sub(instant(call, from)?);
    match size(&unit) {
        Some(size) => Ok(Value::Int(micros / size)),
        None => Err(refuse(call, format!("the difference of datetimes cannot be in {unit}"), hours)),
    }
}

/// Counts whole months from one day to another.
fn months_between(start: Date, end: Date) -> i64 {
    let number = |date: Date| i64::from(date.year()) * 12 + i64::from(date.month());
    let months = number(end) - number(start);
    // The last month is not complete yet.
    match months {
        1.. if end.day() < start.day() => months - 1,
        ..=-1 if end.day() > start.day() => months + 1,
        _ => months,
    }
}

/// `(.plus t n unit)`, `(.plus t duration)`
pub fn plus(call: &mut Call<'_>) -> Result<Value, Stop> {
    shift(call, 1)
}

/// `(.minus t n unit)`, `(.minus t duration)`
pub fn minus(call: &mut Call<'_>) -> Result<Value, Stop> {
    shift(call, -1)
}

fn shift(call: &Call<'_>, sign: i64) -> Result<Value, Stop> {
    if call.args.len() == 2 {
        let Value::Duration(millis) = arg(call, 2) else {
            return Err(call.wrong_type(2, "a duration, or a number with a unit after it"));
        };
        let at = instant(call, 1)?;
        let by = millis.checked_mul(sign * MILLI);
        return new_instant(call, by.and_then(|by| at.checked_add(by)));
    }
    let (unit, by) = (unit(call, 3)?, integer(call, 2)?.checked_mul(sign));
    if let Value::Instant(at) = arg(call, 1) {
        let Some(size) = size(&unit) else {
            let message = format!("a datetime cannot be shifted by {unit}");
            return Err(refuse(call, message, "shift its date: `(.plusMonths (.toLocalDate t) 1)`"));
        };
        return new_instant(call, by.and_then(|by| by.checked_mul(size)).and_then(|by| at.checked_add(by)));
    }
    let date = day(call, 1)?;
    let span =
        |make: fn(Span, i64) -> Result<Span, jiff::Error>| by.and_then(|by| make(Span::new(), by).ok());
    let span = match unit.as_str() {
        "days" => span(Span::try_days),
        "weeks" => span(Span::try_weeks),
        "months" => span(Span::try_months),
        "years" => span(Span::try_years),
        _ => {
            let message = format!("a date cannot be shifted by {unit}");
            return Err(refuse(call, message, "`(.atStartOfDay d)` gives its midnight in UTC"));
        }
    };
    let shifted = span.and_then(|span| date.checked_add(span).ok());
    shifted.map(new_day).ok_or_else(|| out_of_range(call))
}

/// `(.truncatedTo t unit)`
pub fn truncated_to(call: &mut Call<'_>) -> Result<Value, Stop> {
    let (at, unit) = (instant(call, 1)?, unit(call, 2)?);
    match size(&unit).filter(|size| *size <= 24 * HOUR) {
        Some(size) => new_instant(call, at.checked_sub(at.rem_euclid(size))),
        None => Err(refuse(
            call,
            format!("a datetime cannot be cut to {unit}"),
            "cut its date: `(.withDayOfMonth (.toLocalDate t) 1)`",
        )),
    }
}

/// `(.withYear d n)`
pub fn with_year(call: &mut Call<'_>) -> Result<Value, Stop> {
    let (date, year) = (day(call, 1)?, integer(call, 2)?);
    let first = i16::try_from(year).ok().and_then(|year| Date::new(year, date.month(), 1).ok());
    first.map(|first| in_month(first, date)).ok_or_else(|| out_of_range(call))
}

/// `(.withMonth d n)`
pub fn with_month(call: &mut Call<'_>) -> Result<Value, Stop> {
    let (date, month) = (day(call, 1)?, integer(call, 2)?);
    let first = i8::try_from(month).ok().and_then(|month| Date::new(date.year(), month, 1).ok());
    first
        .map(|first| in_month(first, date))
        .ok_or_else(|| refuse(call, format!("there is no month {month}"), "months are 1 to 12"))
}

/// Returns the day of `date` in another month, or that month's last day.
fn in_month(first: Date, date: Date) -> Value {
    let day = date.day().min(first.days_in_month());
    new_day(Date::new(first.year(), first.month(), day).unwrap_or(first))
}
