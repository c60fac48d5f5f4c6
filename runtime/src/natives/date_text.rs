//! Natives for dates as text in any layout, by the patterns that Java programs use: `dd/MM/yyyy`. A pattern is
//! translated to that of the calendar crate, which then writes or reads.

use super::args::arg;
use super::date::{LONGEST, civil, new_day, new_instant, no_date, refuse, shown};
use super::text::finish;
use jiff::civil::DateTime;
use jiff::fmt::strtime::BrokenDownTime;
use jiff::tz::Offset;
use ptc_vm::{Call, Stop, Value};
use std::fmt::Write;

const LETTERS: &str = "y M d E H h m s S a D Q and Z mean something; put other letters in 'quotes'";

/// True if argument `n` is one of the formats that need no pattern, such as `DateTimeFormatter/ISO_DATE`.
pub fn is_iso(call: &Call<'_>, n: usize) -> bool {
    matches!(arg(call, n), Value::Keyword(r) if call.heap.str(r).starts_with("iso-"))
}

/// A pattern translated for the calendar crate.
struct Pattern {
    words: String,
    /// True if it contains an hour, a minute, a second or an offset.
    has_time: bool,
    has_short_year: bool,
    /// Length without an offset at its end that may be read as `Z`.
    before_zulu: Option<usize>,
}

/// Reads the pattern in argument `n`.
fn pattern(call: &Call<'_>, n: usize, at: Option<DateTime>) -> Result<Pattern, Stop> {
    let text = match arg(call, n) {
        Value::Str(r) => call.heap.str(r),
        Value::Keyword(r) => match call.heap.str(r) {
            "iso-date" => "yyyy-MM-dd",
            "basic-iso-date" => "yyyyMMdd",
            "iso-date-time" => "yyyy-MM-dd'T'HH:mm:ss",
            "iso-instant" => "yyyy-MM-dd'T'HH:mm:ssX",
            _ => return Err(no_pattern(call, n)),
        },
        _ => return Err(no_pattern(call, n)),
    };
    if text.len() > LONGEST {
        return Err(refuse(call, format!("a pattern has at most {LONGEST} characters"), LETTERS));
    }
    translate(text, at)
        .map_err(|what| refuse(call, format!("{what} in the pattern {}", shown(call, n)), LETTERS))
}

#[cold]
fn no_pattern(call: &Call<'_>, n: usize) -> Stop {
    call.wrong_type(n, "a pattern such as \"dd/MM/yyyy\"")
}

/// Translates a pattern; the error says what is wrong with it. Parts that the crate would not write as Java does
/// are written here, if `at` is the date to write.
fn translate(text: &str, at: Option<DateTime>) -> Result<Pattern, String> {
    let mut out = Pattern { words: String::new(), has_time: false, has_short_year: false, before_zulu: None };
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        if c == '\'' {
            quoted(&mut chars, &mut out.words)?;
            continue;
        }
        if !c.is_ascii_alphabetic() {
            if matches!(c, '[' | ']' | '{' | '}' | '#') {
                return Err(format!("`{c}` has no meaning"));
            }
            literal(&mut out.words, c);
            continue;
        }
        let mut count = 1;
        while chars.next_if_eq(&c).is_some() {
            count += 1;
        }
        let word = match (c, count) {
            ('y' | 'u', 2) => {
                out.has_short_year = true;
                if let Some(at) = at {
                    let _ = write!(out.words, "{:02}", at.year().rem_euclid(100));
                    continue;
                }
                "%y"
            }
            ('y' | 'u', _) => {
                if count == 1 {
                    "%-Y"
                } else {
                    "%Y"
                }
            }
            ('M' | 'L', 1) => "%-m",
            ('M' | 'L', 2) => "%m",
            ('M' | 'L', 3) => "%b",
            ('M' | 'L', 4) => "%B",
            ('d', 1) => "%-d",
            ('d', 2) => "%d",
            ('D', 1) => "%-j",
            ('D', 3) => "%j",
            ('E', 1..=3) => "%a",
            ('E', 4) => "%A",
            ('Q', 1) => "%q",
            ('Q', 3) => "Q%q",
            ('H', 1) => "%-H",
            ('H', 2) => "%H",
            ('h', 1) => "%-I",
            ('h', 2) => "%I",
            ('m', 1) => "%-M",
            ('m', 2) => "%M",
            ('s', 1) => "%-S",
            ('s', 2) => "%S",
            ('S', 1) => "%1f",
            ('S', 2) => "%2f",
            ('S', 3) => "%3f",
            ('S', 6) => "%6f",
            ('a', 1) => "%p",
            ('Z', 1..=3) => "%z",
            ('X', 1..=3) if at.is_some() => "Z",
            ('X' | 'x', 1) => "%:::z",
            ('X' | 'x', 2) => "%z",
            ('X' | 'x', 3) => "%:z",
            _ => return Err(format!("`{}` has no meaning", c.to_string().repeat(count))),
        };
        out.has_time |= matches!(c, 'H' | 'h' | 'm' | 's' | 'S' | 'a' | 'Z' | 'X' | 'x');
        out.before_zulu = (c == 'X' && chars.peek().is_none()).then_some(out.words.len());
        out.words.push_str(word);
    }
    Ok(out)
}

/// Reads text in quotes, after the first; two quotes in a row are one.
fn quoted(chars: &mut std::iter::Peekable<std::str::Chars<'_>>, words: &mut String) -> Result<(), String> {
    if chars.next_if_eq(&'\'').is_some() {
        words.push('\'');
        return Ok(());
    }
    while let Some(c) = chars.next() {
        if c == '\'' && chars.next_if_eq(&'\'').is_none() {
            return Ok(());
        }
        literal(words, c);
    }
    Err("a quote is not closed".into())
}

fn literal(words: &mut String, c: char) {
    words.push(c);
    if c == '%' {
        words.push('%');
    }
}

/// `(DateTimeFormatter/ofPattern text)`: returns the text, if it is a pattern.
pub fn of_pattern(call: &mut Call<'_>) -> Result<Value, Stop> {
    pattern(call, 1, None)?;
    Ok(arg(call, 1))
}

/// `(.format date pattern)`, or in the order of a formatter `(.format pattern date)`.
pub fn format(call: &mut Call<'_>) -> Result<Value, Stop> {
    let is_date = |n: usize| matches!(arg(call, n), Value::Day(_) | Value::Instant(_));
    let (date, by) = if is_date(2) { (2, 1) } else { (1, 2) };
    if !is_date(date) {
        return Err(no_date(call, 1));
    }
    let at = civil(call, date)?;
    let pattern = pattern(call, by, Some(at))?;
    if pattern.has_time && matches!(arg(call, date), Value::Day(_)) {
        let message = format!("a date has no time, which the pattern {} asks for", shown(call, by));
        return Err(refuse(call, message, "`(.atStartOfDay d)` gives its midnight in UTC"));
    }
    let mut time = BrokenDownTime::from(at);
    time.set_offset(Some(Offset::UTC));
    match time.to_string(&pattern.words) {
        Ok(text) => finish(call, &text),
        Err(_) => Err(refuse(call, format!("the pattern {} cannot be written", shown(call, by)), LETTERS)),
    }
}

/// `(parse text pattern)`: returns a date, or an instant if the pattern has a time.
pub fn parse_by(call: &mut Call<'_>) -> Result<Value, Stop> {
    let pattern = pattern(call, 2, None)?;
    let text = super::args::text(call, 1)?;
    let text = call.heap.str(text);
    let (words, read) = match (pattern.before_zulu, text.strip_suffix('Z')) {
        (Some(end), Some(rest)) => (&pattern.words[..end], rest),
        _ => (pattern.words.as_str(), text),
    };
    let time = (read.len() <= LONGEST).then(|| BrokenDownTime::parse(words, read).ok()).flatten();
    let unread = || {
        let message = format!("{} does not look like {}", shown(call, 1), shown(call, 2));
        let hint = "text and pattern must agree, as in `(parse \"05/31/2024\" \"MM/dd/yyyy\")`; test text with re-matches first";
        refuse(call, message, hint)
    };
    let mut time = time.ok_or_else(unread)?;
    if pattern.has_short_year {
        // Two digits are a year of this century, as in Java; the crate may choose the last one too.
        let year = time.year().map(|year| if year < 2000 { year + 100 } else { year });
        time.set_year(year).map_err(|_| unread())?;
    }
    if !pattern.has_time {
        return time.to_date().map(new_day).map_err(|_| unread());
    }
    let offset = time.offset().unwrap_or(Offset::UTC);
    let at = time.to_datetime().ok().and_then(|at| offset.to_timestamp(at).ok()).ok_or_else(unread)?;
    new_instant(call, Some(at.as_microsecond()))
}
