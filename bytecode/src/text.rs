//! Scalars as text, as programs print them. The machine prints values with it, and hosts print owned data.

use std::borrow::Cow;
use std::fmt::Write;

/// Makes untrusted text safe for a terminal or a log: characters that would steer a terminal or change the writing
/// direction become visible ones. Line ends and tabs stay. Each character stays one character, so columns hold.
///
/// ```
/// assert_eq!(ptc_bytecode::text::visible("a\tb\u{1b}[2J"), "a\tb␛[2J");
/// ```
pub fn visible(text: &str) -> Cow<'_, str> {
    let is_fine = |c: char| c == '\n' || c == '\t' || !(c.is_control() || is_direction(c));
    if text.chars().all(is_fine) {
        return Cow::Borrowed(text);
    }
    let mut rest = text.chars().peekable();
    let mut shown = String::with_capacity(text.len() + 8);
    while let Some(c) = rest.next() {
        shown.push(match c {
            c if is_fine(c) => c,
            '\r' if rest.peek() == Some(&'\n') => c,
            '\u{7f}' => '␡',
            // Pictures of the other control characters are a Unicode block of their own, in the same order.
            c if c < ' ' => char::from_u32(0x2400 + u32::from(c)).unwrap_or(char::REPLACEMENT_CHARACTER),
            _ => char::REPLACEMENT_CHARACTER,
        });
    }
    Cow::Owned(shown)
}

/// True for characters that change the direction of the text after them: with them, text can look like another.
fn is_direction(c: char) -> bool {
    matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// True for a character that acts on text instead of showing: control characters, line and paragraph separators,
/// direction marks, and invisible characters.
///
/// ```
/// use ptc_bytecode::text::is_hidden;
/// assert!("\n\u{1b}\u{202e}\u{200b}\u{e0041}".chars().all(is_hidden));
/// assert!(!"a é 字 😀".chars().any(is_hidden));
/// ```
pub fn is_hidden(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}')
        || matches!(c, '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}')
        || matches!(c, '\u{2060}'..='\u{206f}' | '\u{3164}' | '\u{fe00}'..='\u{fe0d}' | '\u{feff}')
        || matches!(c, '\u{ffa0}' | '\u{fff0}'..='\u{fffb}' | '\u{1bca0}'..='\u{1bca3}' | '\u{1d173}'..='\u{1d17a}')
        || matches!(c, '\u{e0000}'..='\u{e0fff}')
}

/// Formats into a `String`, which cannot fail.
fn write_to(out: &mut String, args: std::fmt::Arguments<'_>) {
    let _ = out.write_fmt(args);
}

/// Writes a float in the shortest form that reads back as the same number: plain for 1e-3 ≤ |x| < 1e7, else with an
/// exponent.
///
/// ```
/// let mut out = String::new();
/// ptc_bytecode::text::write_float(1e9, &mut out);
/// assert_eq!(out, "1.0E9");
/// ```
pub fn write_float(x: f64, out: &mut String) {
    let size = x.abs();
    if x.is_nan() {
        out.push_str("##NaN");
    } else if x.is_infinite() {
        out.push_str(if x > 0.0 { "##Inf" } else { "##-Inf" });
    } else if x == 0.0 || (1e-3..1e7).contains(&size) {
        write_to(out, format_args!("{x:?}"));
    } else {
        let start = out.len();
        write_to(out, format_args!("{x:E}"));
        if !out[start..].contains('.')
            && let Some(e) = out[start..].find('E')
        {
            out.insert_str(start + e, ".0");
        }
    }
}

/// Writes text in quotes, as the reader accepts it.
pub fn write_quoted(text: &str, out: &mut String) {
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\t' => out.push_str("\\t"),
            '\r' => out.push_str("\\r"),
            c if c.is_control() => write_to(out, format_args!("\\u{:04x}", u32::from(c))),
            c => out.push(c),
        }
    }
    out.push('"');
}

/// Writes a day as `2024-05-01`, from days since 1970-01-01 in the proleptic Gregorian calendar.
pub fn write_day(days: i64, out: &mut String) {
    // Eras of 400 years, in years that begin in March so that the leap day is the last.
    let days = days + 719_468;
    let era = days.div_euclid(146_097);
    let day_of_era = days.rem_euclid(146_097);
    let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = if month_from_march < 10 { month_from_march + 3 } else { month_from_march - 9 };
    let year = year_of_era + era * 400 + i64::from(month <= 2);
    match year {
        0..=9999 => write_to(out, format_args!("{year:04}")),
        _ => write_to(out, format_args!("{year:+05}")),
    }
    write_to(out, format_args!("-{month:02}-{day:02}"));
}

/// Writes an instant as `2024-05-01T08:00:00Z`, with three or six decimals if it has a fraction.
pub fn write_instant(micros: i64, out: &mut String) {
    let seconds = micros.div_euclid(1_000_000);
    let micros = micros.rem_euclid(1_000_000);
    write_day(seconds.div_euclid(86_400), out);
    let second = seconds.rem_euclid(86_400);
    write_to(out, format_args!("T{:02}:{:02}:{:02}", second / 3600, second / 60 % 60, second % 60));
    match micros {
        0 => {}
        _ if micros % 1000 == 0 => write_to(out, format_args!(".{:03}", micros / 1000)),
        _ => write_to(out, format_args!(".{micros:06}")),
    }
    out.push('Z');
}
