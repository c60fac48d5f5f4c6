//! Native `format`: the conversions of Java's formatter.

use super::args::{arg, growing_room, refuse, text};
use super::decimal::Decimal;
use super::text::{display, finish};
use num_bigint::{BigInt, Sign};
use num_traits::FromPrimitive;
use ptc_vm::{Call, Stop, Value};
use std::iter::Peekable;
use std::str::Chars;

/// Maximum width of a field and maximum digits after the point.
const MOST: usize = 1000;

/// Fuel for one conversion.
const CONVERSION: usize = 16;

/// One conversion `%…` of a format text.
#[derive(Default)]
struct Spec {
    left: bool,
    plus: bool,
    space: bool,
    zero: bool,
    group: bool,
    parens: bool,
    alternate: bool,
    width: usize,
    precision: Option<usize>,
    conversion: char,
    /// Argument to use: a number from 1, or 0 for the previous one.
    index: Option<usize>,
}

/// `(format text x …)`
pub fn format(call: &mut Call<'_>) -> Result<Value, Stop> {
    let template = text(call, 1)?;
    let template = call.heap.str(template).to_string();
    call.pay_items(template.len() / 8 + call.args.len())?;
    let mut out = String::new();
    let (mut next, mut last) = (1, 0);
    let mut chars = template.chars().peekable();
    while let Some(c) = chars.next() {
        if c != '%' {
            out.push(c);
            continue;
        }
        let spec = read_spec(&mut chars)?;
        call.pay_items(CONVERSION)?;
        match spec.conversion {
            '%' => pad(&spec, "%".into(), &mut out),
            'n' => out.push('\n'),
            _ => {
                let n = match spec.index {
                    Some(0) => last,
                    Some(n) => n,
                    None => {
                        next += 1;
                        next - 1
                    }
                };
                if n == 0 || n >= call.args.len() {
                    return Err(refuse(format!(
                        "`format` has no argument for %{}: it got {} after the text",
                        spec.conversion,
                        call.args.len() - 1
                    )));
                }
                last = n;
                convert(call, &spec, arg(call, n + 1), &mut out)?;
            }
        }
        growing_room(call.heap, 1, out.len())?;
    }
    finish(call, &out)
}

fn read_spec(chars: &mut Peekable<Chars<'_>>) -> Result<Spec, Stop> {
    let mut spec = Spec::default();
    if chars.peek() == Some(&'<') {
        chars.next();
        spec.index = Some(0);
    }
    // A number in front of `$` selects an argument; any other is the width.
    let mut ahead = chars.clone();
    if let Some(index) = read_number(&mut ahead)?.filter(|n| *n > 0)
        && ahead.next() == Some('$')
    {
        spec.index = Some(index);
        *chars = ahead;
    }
    while let Some(flag) = chars.peek() {
        match flag {
            '-' => spec.left = true,
            '+' => spec.plus = true,
            ' ' => spec.space = true,
            '0' => spec.zero = true,
            ',' => spec.group = true,
            '(' => spec.parens = true,
            '#' => spec.alternate = true,
            _ => break,
        }
        chars.next();
    }
    spec.width = read_number(chars)?.unwrap_or(0);
    if chars.peek() == Some(&'.') {
        chars.next();
        let Some(precision) = read_number(chars)? else {
            return Err(refuse("`format` needs digits after the point: `%.2f`"));
        };
        spec.precision = Some(precision);
    }
    match chars.next() {
        Some(conversion) => spec.conversion = conversion,
        None => return Err(refuse("`format`: the text ends after %; `%%` writes a percent sign")),
    }
    Ok(spec)
}

fn read_number(chars: &mut Peekable<Chars<'_>>) -> Result<Option<usize>, Stop> {
    let mut number = None;
    while let Some(digit) = chars.peek().and_then(|c| c.to_digit(10)) {
        let value = number.unwrap_or(0) * 10 + digit as usize;
        if value > MOST {
            return Err(refuse(format!("`format`: widths and precisions go up to {MOST}")));
        }
        number = Some(value);
        chars.next();
    }
    Ok(number)
}

fn convert(call: &mut Call<'_>, spec: &Spec, value: Value, out: &mut String) -> Result<(), Stop> {
    match spec.conversion {
        's' | 'S' => {
            let mut shown = String::new();
            display(call, value, &mut shown)?;
            pad_text(spec, shown, out);
        }
        'b' | 'B' => pad_text(spec, value.truthy().to_string(), out),
        'c' | 'C' => {
            let shown = match value {
                Value::Str(r) if call.heap.text_len(r) == 1 => Some(call.heap.str(r).to_string()),
                Value::Int(n) => u32::try_from(n).ok().and_then(char::from_u32).map(String::from),
                Value::Nil => Some("null".into()),
                _ => None,
            };
            pad_text(spec, shown.ok_or_else(|| wrong(spec, value, "a character"))?, out);
        }
        _ if matches!(value, Value::Nil) && "dxXofeEgG".contains(spec.conversion) => {
            pad_text(spec, "null".into(), out);
        }
        'd' => {
            let n = integer(call, value).ok_or_else(|| wrong(spec, value, "a whole number"))?;
            pay_digits(call, value)?;
            let digits = n.magnitude().to_string();
            number(spec, n.sign() == Sign::Minus, grouped(spec, digits), out);
        }
        'x' | 'X' | 'o' => {
            let n = integer(call, value).ok_or_else(|| wrong(spec, value, "a whole number"))?;
            pay_digits(call, value)?;
            pad(spec, radix(spec, value, &n), out);
        }
        'f' | 'e' | 'E' | 'g' | 'G' => float(call, spec, value, out)?,
        other => {
            return Err(refuse(format!(
                "`format` has no conversion %{other}; there are %s %d %f %e %g %x %o %b %c %n %%"
            )));
        }
    }
    Ok(())
}

#[cold]
fn wrong(spec: &Spec, found: Value, needed: &str) -> Stop {
    refuse(format!("`format`: %{} needs {needed}, but it is {}", spec.conversion, found.type_phrase()))
}

/// Pays for the digits of a large integer before they are written.
fn pay_digits(call: &Call<'_>, value: Value) -> Result<(), Stop> {
    if let Value::Big(r) = value {
        call.heap.charge_digits(call.heap.big_len(r));
    }
    Ok(call.heap.look()?)
}

/// Returns an integer, or a float without a fraction as one.
fn integer(call: &Call<'_>, value: Value) -> Option<BigInt> {
    match value {
        Value::Float(x) if x.get().is_finite() && x.get().fract() == 0.0 => BigInt::from_f64(x.get()),
        _ => call.heap.to_bigint(value),
    }
}

/// Formats a number as hexadecimal or octal; negative machine integers as 64 bits.
fn radix(spec: &Spec, value: Value, n: &BigInt) -> String {
    let base = if spec.conversion == 'o' { 8 } else { 16 };
    let digits = match value {
        Value::Int(n) if n < 0 && base == 8 => format!("{n:o}"),
        Value::Int(n) if n < 0 => format!("{n:x}"),
        _ => n.to_str_radix(base),
    };
    match (spec.alternate, base) {
        (true, 8) => format!("0{digits}"),
        (true, _) => format!("0x{digits}"),
        _ => digits,
    }
}

fn float(call: &Call<'_>, spec: &Spec, value: Value, out: &mut String) -> Result<(), Stop> {
    let decimal = match value {
        Value::Float(x) if x.get().is_nan() => {
            pad_text(spec, "NaN".into(), out);
            return Ok(());
        }
        Value::Float(x) if x.get().is_infinite() => {
            let plain = Spec { zero: false, ..copy(spec) };
            number(&plain, x.get() < 0.0, "Infinity".into(), out);
            return Ok(());
        }
        Value::Float(x) => Decimal::of_float(x.get()),
        _ => match call.heap.to_bigint(value) {
            Some(n) => {
                pay_digits(call, value)?;
                Decimal::of_integer(&n)
            }
            None => return Err(wrong(spec, value, "a number")),
        },
    };
    let precision = spec.precision.unwrap_or(6);
    let digits = match spec.conversion {
        'f' => decimal.fixed(precision),
        'e' | 'E' => decimal.scientific(precision),
        _ => decimal.general(precision.max(1)),
    };
    let digits = if matches!(spec.conversion, 'e' | 'E') { digits } else { grouped(spec, digits) };
    number(spec, decimal.negative, digits, out);
    Ok(())
}

fn copy(spec: &Spec) -> Spec {
    Spec { index: None, ..*spec }
}

/// Adds a comma before every three digits, if the format has the flag.
fn grouped(spec: &Spec, digits: String) -> String {
    if !spec.group {
        return digits;
    }
    let point = digits.find('.').unwrap_or(digits.len());
    let mut out = String::new();
    for (i, c) in digits[..point].chars().enumerate() {
        if i > 0 && (point - i).is_multiple_of(3) {
            out.push(',');
        }
        out.push(c);
    }
    out + &digits[point..]
}

/// Appends a number with its sign, padded with zeros after the sign if the format has the flag.
fn number(spec: &Spec, negative: bool, digits: String, out: &mut String) {
    let (before, after) = match (negative, spec.parens) {
        (true, true) => ("(", ")"),
        (true, false) => ("-", ""),
        (false, _) if spec.plus => ("+", ""),
        (false, _) if spec.space => (" ", ""),
        _ => ("", ""),
    };
    let len = before.len() + digits.len() + after.len();
    let zeros = if spec.zero && !spec.left { spec.width.saturating_sub(len) } else { 0 };
    pad(&Spec { zero: false, ..copy(spec) }, format!("{before}{}{digits}{after}", "0".repeat(zeros)), out);
}

/// Appends text cut to the precision.
fn pad_text(spec: &Spec, mut shown: String, out: &mut String) {
    if let Some(precision) = spec.precision.filter(|_| "sSbBfeEgG".contains(spec.conversion))
        && let Some((at, _)) = shown.char_indices().nth(precision)
    {
        shown.truncate(at);
    }
    pad(&Spec { zero: false, ..copy(spec) }, shown, out);
}

/// Appends text padded to the width; upper-case conversions make capitals.
fn pad(spec: &Spec, mut shown: String, out: &mut String) {
    if spec.conversion.is_ascii_uppercase() {
        shown = shown.to_uppercase();
    }
    let missing = spec.width.saturating_sub(shown.chars().count());
    let fill = if spec.zero && !spec.left { "0" } else { " " };
    if spec.left {
        out.push_str(&shown);
    }
    out.push_str(&fill.repeat(missing));
    if !spec.left {
        out.push_str(&shown);
    }
}
