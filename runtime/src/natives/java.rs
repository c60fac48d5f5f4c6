//! Natives for static methods of Java's classes that programs expect: parsing numbers, classifying characters. Text
//! that spells no number is nil, as for `parse-long`.

use super::args::{arg, refuse, whole};
use super::parse::parse_long;
use super::text::{display, finish};
use num_bigint::BigInt;
use ptc_vm::{Call, Stop, Value};

/// `(Boolean/parseBoolean s)`
pub fn parse_boolean(call: &mut Call<'_>) -> Result<Value, Stop> {
    match arg(call, 1) {
        Value::Nil => Ok(Value::False),
        found @ (Value::True | Value::False) => Ok(found),
        Value::Str(r) => Ok(Value::bool(call.heap.str(r).eq_ignore_ascii_case("true"))),
        _ => Err(call.wrong_type(1, "a string")),
    }
}

/// `(Integer/parseInt s)`, `(Integer/parseInt s radix)`
pub fn parse_int(call: &mut Call<'_>) -> Result<Value, Stop> {
    if call.args.len() == 2 {
        let radix = radix(call)?;
        let parsed = match arg(call, 1) {
            Value::Str(r) => i64::from_str_radix(call.heap.str(r), radix).ok(),
            _ => None,
        };
        return Ok(parsed.map_or(Value::Nil, Value::Int));
    }
    match arg(call, 1) {
        // `(Long/valueOf 5)`
        found @ (Value::Int(_) | Value::Big(_)) => Ok(found),
        _ => parse_long(call),
    }
}

fn radix(call: &Call<'_>) -> Result<u32, Stop> {
    let radix = whole(call, 2)?;
    u32::try_from(radix).ok().filter(|radix| (2..=36).contains(radix)).ok_or_else(|| {
        refuse(format!("`{}`: the radix must be from 2 to 36, but it is {radix}", call.name()))
    })
}

/// Returns argument 1 as an integer.
fn integer(call: &Call<'_>) -> Result<BigInt, Stop> {
    call.heap.to_bigint(arg(call, 1)).ok_or_else(|| call.wrong_type(1, "an integer"))
}

/// Formats an integer in a base. Its price grows with the square of its length, as its time does.
fn digits(call: &mut Call<'_>, radix: u32) -> Result<Value, Stop> {
    let n = integer(call)?;
    call.heap.charge_digits(usize::try_from(n.bits() / 64).unwrap_or(usize::MAX));
    call.heap.look()?;
    finish(call, &n.to_str_radix(radix))
}

/// `(Integer/toString n)`, `(Integer/toString n radix)`
pub fn to_string(call: &mut Call<'_>) -> Result<Value, Stop> {
    let radix = if call.args.len() > 1 { radix(call)? } else { 10 };
    digits(call, radix)
}

/// `(Integer/toBinaryString n)`
pub fn to_binary_string(call: &mut Call<'_>) -> Result<Value, Stop> {
    digits(call, 2)
}

/// `(Integer/toHexString n)`
pub fn to_hex_string(call: &mut Call<'_>) -> Result<Value, Stop> {
    digits(call, 16)
}

/// `(String/valueOf x)`
pub fn value_of(call: &mut Call<'_>) -> Result<Value, Stop> {
    let found = arg(call, 1);
    if let Value::Str(_) = found {
        return Ok(found);
    }
    let mut out = String::new();
    match found {
        Value::Nil => out.push_str("null"),
        _ => display(call, found, &mut out)?,
    }
    finish(call, &out)
}

/// Returns the character in argument 1, by its first code point.
fn character(call: &Call<'_>) -> Result<char, Stop> {
    let found = match arg(call, 1) {
        Value::Str(r) if call.heap.text_len(r) == 1 => call.heap.str(r).chars().next(),
        Value::Int(n) => u32::try_from(n).ok().and_then(char::from_u32),
        _ => None,
    };
    found.ok_or_else(|| call.wrong_type(1, "one character"))
}

/// Defines predicates on a character.
macro_rules! questions {
    ($($name:ident $java:literal $test:expr;)*) => {
        $(
            #[doc = concat!("`(Character/", $java, " c)`")]
            pub fn $name(call: &mut Call<'_>) -> Result<Value, Stop> {
                let test: fn(char) -> bool = $test;
                Ok(Value::bool(test(character(call)?)))
            }
        )*
    };
}

questions! {
    is_digit "isDigit" |c| c.is_ascii_digit();
    is_letter "isLetter" char::is_alphabetic;
    is_letter_or_digit "isLetterOrDigit" char::is_alphanumeric;
    is_upper_case "isUpperCase" char::is_uppercase;
    is_lower_case "isLowerCase" char::is_lowercase;
    is_whitespace "isWhitespace" super::string::is_blank;
}

/// `(Character/getNumericValue c)`
pub fn numeric_value(call: &mut Call<'_>) -> Result<Value, Stop> {
    Ok(Value::Int(character(call)?.to_digit(36).map_or(-1, i64::from)))
}
