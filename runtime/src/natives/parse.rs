//! Natives that parse numbers and booleans. Text that cannot be parsed is nil: it is data.

use super::args::arg;
use ptc_vm::{Call, Stop, Value};

/// Maximum length of a number in bytes.
const LONGEST: usize = 400;

fn short_text<'a>(call: &'a Call<'_>) -> Option<&'a str> {
    match arg(call, 1) {
        Value::Str(r) => Some(call.heap.str(r)).filter(|text| text.len() <= LONGEST),
        _ => None,
    }
}

/// `(parse-long s)`
pub fn parse_long(call: &mut Call<'_>) -> Result<Value, Stop> {
    let parsed = short_text(call).and_then(|text| text.parse::<i64>().ok());
    Ok(parsed.map_or(Value::Nil, Value::Int))
}

/// `(parse-double s)`
pub fn parse_double(call: &mut Call<'_>) -> Result<Value, Stop> {
    Ok(short_text(call).and_then(read_double).map_or(Value::Nil, Value::float))
}

/// Parses a float as Java does: surrounding blanks, `.5`, `1.`, `Infinity` and a final `d` or `f` are fine.
pub fn read_double(text: &str) -> Option<f64> {
    let text = text.trim_matches(|c: char| c <= ' ');
    let digits = text.strip_prefix(['+', '-']).unwrap_or(text);
    let sign = if text.starts_with('-') { -1.0 } else { 1.0 };
    match digits {
        "Infinity" => return Some(sign * f64::INFINITY),
        "NaN" => return Some(f64::NAN),
        _ => {}
    }
    let digits = digits.strip_suffix(['d', 'D', 'f', 'F']).unwrap_or(digits);
    // Rust would also accept "inf" and "nan".
    let plain = digits.bytes().all(|b| b.is_ascii_digit() || matches!(b, b'.' | b'e' | b'E' | b'+' | b'-'));
    if !plain || !digits.starts_with(|c: char| c.is_ascii_digit() || c == '.') {
        return None;
    }
    digits.parse::<f64>().ok().map(|x| sign * x)
}

/// `(parse-boolean s)`
pub fn parse_boolean(call: &mut Call<'_>) -> Result<Value, Stop> {
    Ok(match short_text(call) {
        Some("true") => Value::True,
        Some("false") => Value::False,
        _ => Value::Nil,
    })
}

/// `(parse-uuid s)`
pub fn parse_uuid(call: &mut Call<'_>) -> Result<Value, Stop> {
    match short_text(call).filter(|text| is_uuid(text)).map(str::to_ascii_lowercase) {
        Some(uuid) => call.heap.new_str(&uuid),
        None => Ok(Value::Nil),
    }
}

/// True for 32 hexadecimal digits in groups of 8, 4, 4, 4 and 12.
fn is_uuid(text: &str) -> bool {
    text.len() == 36
        && text.bytes().enumerate().all(|(i, byte)| match i {
            8 | 13 | 18 | 23 => byte == b'-',
            _ => byte.is_ascii_hexdigit(),
        })
}

#[cfg(test)]
mod tests {
    use super::{is_uuid, read_double};

    #[test]
    fn uuids_have_five_groups() {
        assert!(is_uuid("b6883C0A-0342-4007-9966-bc2dfa6b109e"));
        for text in ["", "x", "b6883c0a0342400799", "b6883c0a-0342-4007-9966-bc2dfa6b109g", "é"] {
            assert!(!is_uuid(text), "{text}");
        }
    }

    #[test]
    fn floats_are_read_as_java_does() {
        for (text, wanted) in
            [("1.5", 1.5), (".5", 0.5), ("1.", 1.0), (" -2e3\n", -2000.0), ("+7f", 7.0), ("0", 0.0)]
        {
            assert_eq!(read_double(text), Some(wanted), "{text}");
        }
        for text in ["", "x", "inf", "nan", "1 2", "1e", "--1", ".", "+", "infinity", "1_0"] {
            assert_eq!(read_double(text), None, "{text}");
        }
        assert_eq!(read_double("-Infinity"), Some(f64::NEG_INFINITY));
        assert!(read_double("NaN").unwrap().is_nan());
    }
}
