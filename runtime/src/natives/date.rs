//! Natives for days, points in time and the time between them. A crate does the calendar; a value that would leave its
//! range of ±9999 years is a fault.

use super::args::{arg, text};
use super::text::finish;
use jiff::civil::{Date, Weekday};
use jiff::tz::Offset;
use jiff::{Span, Timestamp};
use ptc_bytecode::{Code, calendar};
use ptc_vm::{Call, Fault, Stop, Value};
use std::time::SystemTime;

pub(super) const MILLI: i64 = 1_000;
pub(super) const SECOND: i64 = 1_000 * MILLI;
pub(super) const HOUR: i64 = 3_600 * SECOND;

/// Maximum length of a date or pattern in bytes.
pub(super) const LONGEST: usize = 100;

/// Makes a `type_error` about dates.
#[cold]
pub(super) fn refuse(call: &Call<'_>, message: impl std::fmt::Display, hint: &str) -> Stop {
    Fault::type_error(format!("`{}`: {message}", call.name())).hint(hint).into()
}

#[cold]
pub(super) fn out_of_range(call: &Call<'_>) -> Stop {
    let message = format!("`{}`: the date is outside the years -9999 to 9999", call.name());
    Fault::new(Code::ArithmeticError, message).into()
}

/// Converts to a day of the calendar; None beyond its range.
fn date_of(days: i32) -> Option<Date> {
    Date::constant(1970, 1, 1).checked_add(Span::new().try_days(days).ok()?).ok()
}

fn timestamp(micros: i64) -> Option<Timestamp> {
    Timestamp::from_microsecond(micros).ok()
}

/// Returns argument `n` as a day.
pub(super) fn day(call: &Call<'_>, n: usize) -> Result<Date, Stop> {
    match arg(call, n) {
        Value::Day(days) => date_of(days as i32).ok_or_else(|| out_of_range(call)),
        Value::Instant(_) => {
            let message = format!("argument {n} must be a date, but it is a datetime");
            Err(refuse(call, message, "`(.toLocalDate t)` gives its day"))
        }
        Value::Str(_) => Err(not_parsed(call, n, "a date")),
        _ => Err(call.wrong_type(n, "a date")),
    }
}

/// Returns argument `n` as microseconds since 1970.
pub(super) fn instant(call: &Call<'_>, n: usize) -> Result<i64, Stop> {
    match arg(call, n) {
        Value::Instant(micros) => Ok(micros),
        Value::Day(_) => {
            let message = format!("argument {n} must be a datetime, but it is a date");
            Err(refuse(call, message, "`(.atStartOfDay d)` gives its midnight in UTC"))
        }
        Value::Str(_) => Err(not_parsed(call, n, "a datetime")),
        _ => Err(call.wrong_type(n, "a datetime")),
    }
}

#[cold]
fn not_parsed(call: &Call<'_>, n: usize, wanted: &str) -> Stop {
    let message = format!("argument {n} must be {wanted}, but it is a string");
    refuse(call, message, "`(parse s)` reads one from text")
}

/// Returns argument `n` as an integer.
pub(super) fn integer(call: &Call<'_>, n: usize) -> Result<i64, Stop> {
    match arg(call, n) {
        Value::Int(i) => Ok(i),
        Value::Big(_) => Err(out_of_range(call)),
        // Results of `/` and `*` with floats are often whole.
        Value::Float(x) if x.get().fract() == 0.0 && x.get().abs() < 1e15 => Ok(x.get() as i64),
        _ => Err(call.wrong_type(n, "an integer")),
    }
}

pub(super) fn new_day(date: Date) -> Value {
    Value::day(calendar::day_number(date))
}

/// Makes an instant, if it is inside the range of the calendar.
pub(super) fn new_instant(call: &Call<'_>, micros: Option<i64>) -> Result<Value, Stop> {
    match micros.filter(|micros| timestamp(*micros).is_some()) {
        Some(micros) => Ok(Value::Instant(micros)),
        None => Err(out_of_range(call)),
    }
}

/// Reads the clock, in microseconds since 1970.
fn now() -> i64 {
    match SystemTime::now().duration_since(SystemTime::UNIX_EPOCH) {
        Ok(since) => i64::try_from(since.as_micros()).unwrap_or(i64::MAX),
        Err(before) => -i64::try_from(before.duration().as_micros()).unwrap_or(i64::MAX),
    }
}

/// `(currentTimeMillis)`
pub fn current_time_millis(_call: &mut Call<'_>) -> Result<Value, Stop> {
    Ok(Value::Int(now().div_euclid(MILLI)))
}

/// `(Instant/now)`
pub fn instant_now(call: &mut Call<'_>) -> Result<Value, Stop> {
    new_instant(call, Some(now()))
}

/// `(LocalDate/now)`
pub fn day_now(call: &mut Call<'_>) -> Result<Value, Stop> {
    let days = now().div_euclid(24 * HOUR);
    i32::try_from(days).map(Value::day).map_err(|_| out_of_range(call))
}

/// Returns the beginning of a text argument, for messages.
pub(super) fn shown(call: &Call<'_>, n: usize) -> String {
    let text = call.heap.as_str(arg(call, n)).unwrap_or_default();
    format!("{:?}", text.chars().take(40).collect::<String>())
}

/// `(java.util.Date.)`, `(java.util.Date. x)`
pub fn new_date(call: &mut Call<'_>) -> Result<Value, Stop> {
    if call.args.is_empty() {
        return instant_now(call);
    }
    match arg(call, 1) {
        found @ Value::Instant(_) => Ok(found),
        Value::Day(days) => new_instant(call, Some(calendar::midnight(days as i32))),
        Value::Int(millis) => new_instant(call, millis.checked_mul(MILLI)),
        Value::Big(_) => Err(out_of_range(call)),
        Value::Str(r) => {
            let text = call.heap.str(r);
            let read = calendar::read_moment(text).or_else(|| calendar::read_mail_date(text));
            match read {
                Some(micros) => new_instant(call, Some(micros)),
                None => {
                    let message = format!("{} is not a valid date", shown(call, 1));
                    Err(refuse(call, message, "write e.g. \"2024-05-01T08:00:00Z\" or \"2024-05-01\""))
                }
            }
        }
        _ => Err(call.wrong_type(1, "milliseconds, text or a datetime")),
    }
}

/// `(parse s)`, `(parse s pattern)`
pub fn parse(call: &mut Call<'_>) -> Result<Value, Stop> {
    if call.args.len() == 2 && !super::date_text::is_iso(call, 2) {
        return super::date_text::parse_by(call);
    }
    let found = match arg(call, 1) {
        found @ (Value::Day(_) | Value::Instant(_)) => return Ok(found),
        _ => text(call, 1)?,
    };
    let text = call.heap.str(found);
    if let Some(days) = calendar::read_day(text) {
        return Ok(Value::day(days));
    }
    match calendar::read_instant(text) {
        Some(micros) => Ok(Value::Instant(micros)),
        None => {
            let message = format!("{} is not a valid date", shown(call, 1));
            Err(refuse(
                call,
                message,
                "write e.g. `(parse \"2024-05-01\")` or `(parse \"2024-05-01T08:00:00Z\")`",
            ))
        }
    }
}

/// `(LocalDate/of year month day)`
pub fn day_of(call: &mut Call<'_>) -> Result<Value, Stop> {
    let (year, month, day) = (integer(call, 1)?, integer(call, 2)?, integer(call, 3)?);
    let made = match (i16::try_from(year), i8::try_from(month), i8::try_from(day)) {
        (Ok(year), Ok(month), Ok(day)) => Date::new(year, month, day).ok(),
        _ => None,
    };
    match made {
        Some(date) => Ok(new_day(date)),
        None => Err(refuse(
            call,
            format!("there is no day {day} of month {month} in {year}"),
            "`(LocalDate/of 2024 5 1)` is the first of May",
        )),
    }
}

/// `(LocalDate/ofEpochDay n)`
pub fn of_epoch_day(call: &mut Call<'_>) -> Result<Value, Stop> {
    let days = integer(call, 1)?;
    let made = i32::try_from(days).ok().filter(|days| date_of(*days).is_some());
    made.map(Value::day).ok_or_else(|| out_of_range(call))
}

/// `(Instant/ofEpochMilli n)`
pub fn of_epoch_milli(call: &mut Call<'_>) -> Result<Value, Stop> {
    let micros = integer(call, 1)?.checked_mul(MILLI);
    new_instant(call, micros)
}

/// `(Instant/ofEpochSecond n)`
pub fn of_epoch_second(call: &mut Call<'_>) -> Result<Value, Stop> {
    let micros = integer(call, 1)?.checked_mul(SECOND);
    new_instant(call, micros)
}

/// `(.getTime t)`, `(.toEpochMilli t)`
pub fn epoch_millis(call: &mut Call<'_>) -> Result<Value, Stop> {
    Ok(Value::Int(instant(call, 1)?.div_euclid(MILLI)))
}

/// `(.getEpochSecond t)`
pub fn epoch_seconds(call: &mut Call<'_>) -> Result<Value, Stop> {
    Ok(Value::Int(instant(call, 1)?.div_euclid(SECOND)))
}

/// `(.toEpochDay d)`
pub fn epoch_day(call: &mut Call<'_>) -> Result<Value, Stop> {
    Ok(Value::Int(i64::from(calendar::day_number(day(call, 1)?))))
}

/// `(.toLocalDate t)`
pub fn to_day(call: &mut Call<'_>) -> Result<Value, Stop> {
    if let found @ Value::Day(_) = arg(call, 1) {
        return Ok(found);
    }
    let days = instant(call, 1)?.div_euclid(24 * HOUR);
    i32::try_from(days).map(Value::day).map_err(|_| out_of_range(call))
}

/// `(.atStartOfDay d)`
pub fn at_start_of_day(call: &mut Call<'_>) -> Result<Value, Stop> {
    let midnight = calendar::midnight(calendar::day_number(day(call, 1)?));
    new_instant(call, Some(midnight))
}

/// `(.toInstant t)`
pub fn to_instant(call: &mut Call<'_>) -> Result<Value, Stop> {
    instant(call, 1).map(Value::Instant)
}

/// Shifts a day by the span that `span` makes of argument 2, forward or back.
fn shift_day(
    call: &Call<'_>,
    sign: i64,
    span: fn(Span, i64) -> Result<Span, jiff::Error>,
) -> Result<Value, Stop> {
    let (date, by) = (day(call, 1)?, integer(call, 2)?);
    let shifted = by.checked_mul(sign).and_then(|by| span(Span::new(), by).ok());
    match shifted.and_then(|span| date.checked_add(span).ok()) {
        Some(date) => Ok(new_day(date)),
        None => Err(out_of_range(call)),
    }
}

/// Shifts an instant by argument 2 times `unit` microseconds.
fn shift_instant(call: &Call<'_>, unit: i64) -> Result<Value, Stop> {
    let (at, by) = (instant(call, 1)?, integer(call, 2)?);
    new_instant(call, by.checked_mul(unit).and_then(|by| at.checked_add(by)))
}

macro_rules! shifts {
    ($($day:ident $sign:literal $span:path;)* ; $($instant:ident $unit:expr;)*) => {
        $(
            /// Shifts a day by a number of units.
            pub fn $day(call: &mut Call<'_>) -> Result<Value, Stop> {
                shift_day(call, $sign, $span)
            }
        )*
        $(
            /// Shifts an instant by a number of units.
            pub fn $instant(call: &mut Call<'_>) -> Result<Value, Stop> {
                shift_instant(call, $unit)
            }
        )*
    };
}

shifts! {
    plus_days 1 Span::try_days;
    minus_days -1 Span::try_days;
    plus_weeks 1 Span::try_weeks;
    minus_weeks -1 Span::try_weeks;
    plus_months 1 Span::try_months;
    minus_months -1 Span::try_months;
    plus_years 1 Span::try_years;
    minus_years -1 Span::try_years;
    ;
    plus_hours HOUR;
    minus_hours -HOUR;
    plus_minutes 60 * SECOND;
    minus_minutes -60 * SECOND;
    plus_seconds SECOND;
    minus_seconds -SECOND;
    plus_millis MILLI;
    minus_millis -MILLI;
}

/// Compares two days, or two instants.
fn order(call: &Call<'_>) -> Result<std::cmp::Ordering, Stop> {
    match (arg(call, 1), arg(call, 2)) {
        (Value::Day(a), Value::Day(b)) => Ok(a.cmp(&b)),
        (Value::Instant(a), Value::Instant(b)) => Ok(a.cmp(&b)),
        (a @ (Value::Day(_) | Value::Instant(_)), b @ (Value::Day(_) | Value::Instant(_))) => {
            let message = format!("cannot compare {} with {}", a.type_phrase(), b.type_phrase());
            Err(refuse(call, message, "`(.toLocalDate t)` and `(.atStartOfDay d)` turn one into the other"))
        }
        (Value::Day(_) | Value::Instant(_), _) => Err(no_date(call, 2)),
        _ => Err(no_date(call, 1)),
    }
}

#[cold]
pub(super) fn no_date(call: &Call<'_>, n: usize) -> Stop {
    match arg(call, n) {
        Value::Str(_) => not_parsed(call, n, "a date"),
        _ => call.wrong_type(n, "a date or a datetime"),
    }
}

/// `(.isBefore a b)`
pub fn is_before(call: &mut Call<'_>) -> Result<Value, Stop> {
    order(call).map(|order| Value::bool(order.is_lt()))
}

/// `(.isAfter a b)`
pub fn is_after(call: &mut Call<'_>) -> Result<Value, Stop> {
    order(call).map(|order| Value::bool(order.is_gt()))
}

/// `(.isEqual a b)`
pub fn is_equal(call: &mut Call<'_>) -> Result<Value, Stop> {
    order(call).map(|order| Value::bool(order.is_eq()))
}

/// Returns the day, hour, minute and second of a day or an instant in UTC.
pub(super) fn civil(call: &Call<'_>, n: usize) -> Result<jiff::civil::DateTime, Stop> {
    match arg(call, n) {
        Value::Day(days) => {
            date_of(days as i32).map(|date| date.at(0, 0, 0, 0)).ok_or_else(|| out_of_range(call))
        }
        Value::Instant(micros) => {
            timestamp(micros).map(|at| Offset::UTC.to_datetime(at)).ok_or_else(|| out_of_range(call))
        }
        _ => Err(no_date(call, n)),
    }
}

/// Returns a part of the clock time of an instant; days have none.
fn clock(call: &Call<'_>, part: fn(jiff::civil::DateTime) -> i8) -> Result<Value, Stop> {
    instant(call, 1)?;
    Ok(Value::Int(part(civil(call, 1)?).into()))
}

/// `(.getYear d)`
pub fn year(call: &mut Call<'_>) -> Result<Value, Stop> {
    Ok(Value::Int(civil(call, 1)?.year().into()))
}

/// `(.getMonthValue d)`
pub fn month_value(call: &mut Call<'_>) -> Result<Value, Stop> {
    Ok(Value::Int(civil(call, 1)?.month().into()))
}

/// `(.getDayOfMonth d)`
pub fn day_of_month(call: &mut Call<'_>) -> Result<Value, Stop> {
    Ok(Value::Int(civil(call, 1)?.day().into()))
}

/// `(.getDayOfYear d)`
pub fn day_of_year(call: &mut Call<'_>) -> Result<Value, Stop> {
    Ok(Value::Int(civil(call, 1)?.day_of_year().into()))
}

/// `(.getHour t)`
pub fn hour(call: &mut Call<'_>) -> Result<Value, Stop> {
    clock(call, |at| at.hour())
}

/// `(.getMinute t)`
pub fn minute(call: &mut Call<'_>) -> Result<Value, Stop> {
    clock(call, |at| at.minute())
}

/// `(.getSecond t)`
pub fn second(call: &mut Call<'_>) -> Result<Value, Stop> {
    clock(call, |at| at.second())
}

const WEEKDAYS: [&str; 7] = ["MONDAY", "TUESDAY", "WEDNESDAY", "THURSDAY", "FRIDAY", "SATURDAY", "SUNDAY"];
const MONTHS: [&str; 12] = [
    "JANUARY",
    "FEBRUARY",
    "MARCH",
    "APRIL",
    "MAY",
    "JUNE",
    "JULY",
    "AUGUST",
    "SEPTEMBER",
    "OCTOBER",
    "NOVEMBER",
    "DECEMBER",
];

/// `(.getDayOfWeek d)`
pub fn day_of_week(call: &mut Call<'_>) -> Result<Value, Stop> {
    let weekday: Weekday = civil(call, 1)?.weekday();
    let name = WEEKDAYS[usize::from(weekday.to_monday_zero_offset().unsigned_abs()) % 7];
    finish(call, name)
}

/// `(.getMonth d)`
pub fn month(call: &mut Call<'_>) -> Result<Value, Stop> {
    let month = civil(call, 1)?.month();
    let name = MONTHS[usize::from(month.unsigned_abs() - 1) % 12];
    finish(call, name)
}

/// `(.getValue name)`: returns the number of a weekday or a month.
pub fn value_of(call: &mut Call<'_>) -> Result<Value, Stop> {
    let r = text(call, 1)?;
    let name = call.heap.str(r);
    let find = |names: &[&str]| names.iter().position(|known| *known == name);
    match find(&WEEKDAYS).or_else(|| find(&MONTHS)) {
        Some(at) => Ok(Value::Int(at as i64 + 1)),
        None => {
            let message = format!("{} is neither a weekday nor a month", shown(call, 1));
            Err(refuse(call, message, "`(.getValue (.getDayOfWeek d))` is 1 on Mondays"))
        }
    }
}

/// `(.lengthOfMonth d)`
pub fn length_of_month(call: &mut Call<'_>) -> Result<Value, Stop> {
    Ok(Value::Int(day(call, 1)?.days_in_month().into()))
}

/// `(.isLeapYear d)`
pub fn is_leap_year(call: &mut Call<'_>) -> Result<Value, Stop> {
    Ok(Value::bool(day(call, 1)?.in_leap_year()))
}

/// `(.withDayOfMonth d n)`
pub fn with_day_of_month(call: &mut Call<'_>) -> Result<Value, Stop> {
    let (date, wanted) = (day(call, 1)?, integer(call, 2)?);
    let made = i8::try_from(wanted).ok().and_then(|n| Date::new(date.year(), date.month(), n).ok());
    match made {
        Some(date) => Ok(new_day(date)),
        None => Err(refuse(
            call,
            format!("that month has no day {wanted}"),
            "`(.lengthOfMonth d)` is its last day",
        )),
    }
}

/// `(Duration/between start end)`
pub fn between(call: &mut Call<'_>) -> Result<Value, Stop> {
    for n in 1..=2 {
        if let Value::Day(_) = arg(call, n) {
            let message = format!("argument {n} must be a datetime, but it is a date");
            return Err(refuse(call, message, "days apart: `(- (.toEpochDay b) (.toEpochDay a))`"));
        }
    }
    let (start, end) = (instant(call, 1)?, instant(call, 2)?);
    Ok(Value::Duration(end.saturating_sub(start) / MILLI))
}

/// Returns argument 1 as milliseconds.
fn duration(call: &Call<'_>) -> Result<i64, Stop> {
    match arg(call, 1) {
        Value::Duration(millis) => Ok(millis),
        _ => Err(call.wrong_type(1, "a duration")),
    }
}

/// Defines functions that convert a duration to whole units of so many milliseconds.
macro_rules! durations {
    ($($name:ident $millis:expr;)*) => {
        $(
            /// Converts a duration to these units, cut toward zero.
            pub fn $name(call: &mut Call<'_>) -> Result<Value, Stop> {
                Ok(Value::Int(duration(call)? / $millis))
            }
        )*
    };
}

durations! {
    to_millis 1;
    to_seconds 1_000;
    to_minutes 60_000;
    to_hours 3_600_000;
    to_days 86_400_000;
}

/// Defines functions that make a duration of argument 1 units of so many milliseconds.
macro_rules! of_units {
    ($($name:ident $millis:expr;)*) => {
        $(
            /// Makes a duration of that many units.
            pub fn $name(call: &mut Call<'_>) -> Result<Value, Stop> {
                let millis = integer(call, 1)?.checked_mul($millis);
                millis.map(Value::Duration).ok_or_else(|| out_of_range(call))
            }
        )*
    };
}

of_units! {
    of_millis 1;
    of_seconds 1_000;
    of_minutes 60_000;
    of_hours 3_600_000;
    of_days 86_400_000;
}

/// `(inst-ms t)`
pub fn inst_ms(call: &mut Call<'_>) -> Result<Value, Stop> {
    epoch_millis(call)
}
