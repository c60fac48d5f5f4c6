//! Decoding and refusal of literals: numbers, strings, characters, and malformed words.
//!
//! Clean symbols, keywords and small integers need no allocation; every malformed literal becomes a diagnostic that
//! names it and shows a correct one.

use crate::form::FormKind;
use crate::token::Raw;
use bumpalo::Bump;
use bumpalo::collections::String as BumpString;
use ptc_bytecode::{Code, Diagnostic, Span};

/// Decodes the literal `text`, which was lexed as `raw`.
pub(crate) fn decode<'a>(
    raw: Raw,
    text: &'a str,
    span: Span,
    arena: &'a Bump,
    max_digits: u64,
) -> Result<FormKind<'a>, Diagnostic> {
    match raw {
        Raw::Int => integer(text, span, arena, max_digits),
        Raw::Float => float(text, span, max_digits),
        Raw::NumberLike => number_like(text, span, arena, max_digits),
        Raw::SpecialFloat => special_float(text, span),
        Raw::Str => string(text, span, arena),
        Raw::Char => character(text, span, arena),
        _ => Err(refuse(raw, text, span)),
    }
}

fn error(span: Span, message: impl Into<String>) -> Diagnostic {
    Diagnostic::error(Code::ParseError, span, message)
}

/// Cuts a text to fit a message.
fn brief(text: &str) -> String {
    const MAX: usize = 40;
    let shown: String = text.chars().take(MAX).collect();
    let rest = text.chars().count() - shown.chars().count();
    if rest == 0 { shown } else { format!("{shown}…(+{rest} chars)") }
}

// --- Numbers -----------------------------------------------------------------------------------

fn integer<'a>(
    text: &'a str,
    span: Span,
    arena: &'a Bump,
    max_digits: u64,
) -> Result<FormKind<'a>, Diagnostic> {
    // 18 digits and a sign always fit; most literals are this short.
    if text.len() > 18 {
        check_digits(text.trim_start_matches(['+', '-']).len(), text, span, max_digits)?;
    }
    if let Ok(n) = text.parse::<i64>() {
        return Ok(FormKind::Int(n));
    }
    let negative = text.starts_with('-');
    let digits = text.trim_start_matches(['+', '-']).trim_start_matches('0');
    Ok(big(negative, digits, arena))
}

fn big<'a>(negative: bool, digits: &str, arena: &'a Bump) -> FormKind<'a> {
    let mut out = BumpString::with_capacity_in(digits.len() + 1, arena);
    if negative {
        out.push('-');
    }
    out.push_str(digits);
    FormKind::BigInt(out.into_bump_str())
}

fn check_digits(digits: usize, text: &str, span: Span, max: u64) -> Result<(), Diagnostic> {
    if digits as u64 <= max {
        return Ok(());
    }
    Err(error(
        span,
        format!("the number {} has {digits} digits, more than {max} (limits.digits)", brief(text)),
    )
    .hint("pass such a number in as text, or compute it"))
}

fn float<'a>(text: &str, span: Span, max_digits: u64) -> Result<FormKind<'a>, Diagnostic> {
    let whole = text.trim_start_matches(['+', '-']).bytes().take_while(u8::is_ascii_digit).count();
    check_digits(whole, text, span, max_digits)?;
    // A number out of range is infinite, not an error, as everywhere else in the language.
    text.parse().map(FormKind::Float).map_err(|_| not_a_number(text, span))
}

fn special_float<'a>(text: &str, span: Span) -> Result<FormKind<'a>, Diagnostic> {
    match text {
        "##Inf" => Ok(FormKind::Float(f64::INFINITY)),
        "##-Inf" => Ok(FormKind::Float(f64::NEG_INFINITY)),
        "##NaN" => Ok(FormKind::Float(f64::NAN)),
        _ => Err(error(span, format!("`{}` is not a number", brief(text)))
            .hint("the special numbers are ##Inf, ##-Inf and ##NaN")),
    }
}

/// Decodes `10N`, `0xFF`, `2r101`; anything else that starts like a number is refused.
fn number_like<'a>(
    text: &'a str,
    span: Span,
    arena: &'a Bump,
    max_digits: u64,
) -> Result<FormKind<'a>, Diagnostic> {
    let unsigned = text.trim_start_matches(['+', '-']);
    let negative = text.starts_with('-');
    let plain = unsigned.strip_suffix('N').unwrap_or(unsigned);
    if plain.bytes().all(|b| b.is_ascii_digit()) {
        return integer(text.strip_suffix('N').unwrap_or(text), span, arena, max_digits);
    }
    let (radix, digits) = if let Some(hex) = plain.strip_prefix("0x").or(plain.strip_prefix("0X")) {
        (16, hex)
    } else if let Some((radix, digits)) = unsigned.split_once(['r', 'R']) {
        // In a radix above 23, a final N is a digit, so it is no suffix here.
        match radix.parse() {
            Ok(radix @ 2..=36) => (radix, digits),
            _ => return Err(not_a_number(text, span)),
        }
    } else {
        return Err(not_a_number(text, span));
    };
    if digits.is_empty() || !digits.chars().all(|c| c.is_digit(radix)) {
        return Err(not_a_number(text, span));
    }
    check_digits(digits.len(), text, span, max_digits)?;
    Ok(in_radix(negative, digits, radix, arena))
}

fn in_radix<'a>(negative: bool, digits: &str, radix: u32, arena: &'a Bump) -> FormKind<'a> {
    const BASE: u64 = 1_000_000_000_000_000_000;
    // Decimal limbs, least significant first; quadratic, but `limits.digits` keeps it small.
    let mut limbs: Vec<u64> = vec![0];
    for digit in digits.chars().filter_map(|c| c.to_digit(radix)) {
        let mut carry = u128::from(digit);
        for limb in &mut limbs {
            let next = u128::from(*limb) * u128::from(radix) + carry;
            *limb = (next % u128::from(BASE)) as u64;
            carry = next / u128::from(BASE);
        }
        if carry > 0 {
            limbs.push(carry as u64);
        }
    }
    let mut decimal = String::new();
    for (i, limb) in limbs.iter().rev().enumerate() {
        decimal += &if i == 0 { limb.to_string() } else { format!("{limb:018}") };
    }
    let signed = if negative { format!("-{decimal}") } else { decimal.clone() };
    match signed.parse::<i64>() {
        Ok(n) => FormKind::Int(n),
        Err(_) => big(negative, &decimal, arena),
    }
}

fn not_a_number(text: &str, span: Span) -> Diagnostic {
    let shown = brief(text);
    let is_number =
        |s: &str| !s.is_empty() && s.parse::<f64>().is_ok() && s.bytes().any(|b| b.is_ascii_digit());
    if let Some((over, under)) = text.split_once('/')
        && is_number(over)
        && is_number(under)
    {
        return error(span, format!("`{shown}` is a ratio, and there are no ratios"))
            .hint(format!("write (/ {over} {under}), which gives a float"));
    }
    if let Some(number) = text.strip_suffix(['M', 'm', 'L', 'l', 'f', 'd'])
        && is_number(number)
    {
        let problem = error(span, format!("`{shown}` is not a number here"));
        return match text.as_bytes().last() {
            Some(b'M') => problem
                .label("there are no decimals, only integers and floats")
                .hint(format!("write {number}")),
            _ => problem.hint(format!("write {number}")),
        };
    }
    let without = text.replace('_', "");
    if without != text && is_number(&without) {
        return error(span, format!("`{shown}` is not a number")).hint(format!("write {}", brief(&without)));
    }
    let unsigned = text.trim_start_matches(['+', '-']);
    if unsigned.starts_with('.') && is_number(text) {
        let sign = if text.starts_with('-') { "-" } else { "" };
        return error(span, format!("`{shown}` needs a digit before the point"))
            .hint(format!("write {sign}0{}", brief(unsigned)));
    }
    error(span, format!("`{shown}` is not a number"))
        .hint("a name cannot start with a digit; put spaces between a number and what follows")
}

// --- Text --------------------------------------------------------------------------------------

/// Decodes a string literal with its quotes.
fn string<'a>(text: &'a str, span: Span, arena: &'a Bump) -> Result<FormKind<'a>, Diagnostic> {
    let body = &text[1..text.len() - 1];
    let Some(first) = body.find('\\') else { return Ok(FormKind::Str(body)) };
    let mut out = BumpString::with_capacity_in(body.len(), arena);
    out.push_str(&body[..first]);
    let mut rest = &body[first..];
    while let Some(at) = rest.find('\\') {
        out.push_str(&rest[..at]);
        let tail = &rest[at + 1..];
        let Some(c) = tail.chars().next() else { break };
        let taken = match c {
            'n' => simple(&mut out, '\n'),
            't' => simple(&mut out, '\t'),
            'r' => simple(&mut out, '\r'),
            'b' => simple(&mut out, '\u{8}'),
            'f' => simple(&mut out, '\u{c}'),
            '"' | '\\' => simple(&mut out, c),
            '\n' | '\r' => {
                let start = span.start as usize + 1 + (body.len() - tail.len()) - 1;
                return Err(error(
                    Span::new(start, start + 1),
                    "a backslash cannot end a line inside a string",
                )
                .hint("a string may span lines as it is: remove the backslash, or write `\\\\`"));
            }
            '0'..='7' => octal(&mut out, tail),
            'u' => match unicode(tail) {
                Escape::Char(c, taken) => {
                    out.push(c);
                    taken
                }
                Escape::Lone(code) => {
                    return Err(error(
                        span,
                        format!("`\\u{code:04X}` is half of a surrogate pair, not a character"),
                    )
                    .hint("write the character itself, or both halves"));
                }
                Escape::NotHex => keep(&mut out, c),
            },
            // Unknown letters keep their backslash: models write patterns in strings.
            _ => keep(&mut out, c),
        };
        rest = &tail[taken..];
    }
    out.push_str(rest);
    Ok(FormKind::Str(out.into_bump_str()))
}

fn simple(out: &mut BumpString<'_>, c: char) -> usize {
    out.push(c);
    1
}

fn keep(out: &mut BumpString<'_>, c: char) -> usize {
    out.push('\\');
    out.push(c);
    c.len_utf8()
}

/// Decodes up to three octal digits, as many as stay below 256.
fn octal(out: &mut BumpString<'_>, tail: &str) -> usize {
    let (mut value, mut taken) = (0u8, 0);
    for digit in tail.chars().take(3).map_while(|c| c.to_digit(8)) {
        match value.checked_mul(8).and_then(|v| v.checked_add(digit as u8)) {
            Some(next) => value = next,
            None => break,
        }
        taken += 1;
    }
    out.push(char::from(value));
    taken
}

enum Escape {
    /// A character, and the number of bytes from the `u` on that spelled it.
    Char(char, usize),
    /// A surrogate without its partner.
    Lone(u32),
    NotHex,
}

/// Decodes `uXXXX`, or `uXXXX\uXXXX` for a surrogate pair; `tail` starts at the `u`.
fn unicode(tail: &str) -> Escape {
    let Some(code) = hex4(&tail[1..]) else { return Escape::NotHex };
    if let Some(c) = char::from_u32(code) {
        return Escape::Char(c, 5);
    }
    let low = tail.get(5..7).filter(|s| *s == "\\u").and_then(|_| hex4(&tail[7..]));
    match low {
        Some(low @ 0xDC00..=0xDFFF) if code < 0xDC00 => {
            let joined = 0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00);
            char::from_u32(joined).map_or(Escape::Lone(code), |c| Escape::Char(c, 11))
        }
        _ => Escape::Lone(code),
    }
}

fn hex4(text: &str) -> Option<u32> {
    let digits = text.get(..4).filter(|s| s.bytes().all(|b| b.is_ascii_hexdigit()))?;
    u32::from_str_radix(digits, 16).ok()
}

/// Decodes `\a`, `\newline`, `\u0041`, `\o101`; the value is a string of one character.
fn character<'a>(text: &'a str, span: Span, arena: &'a Bump) -> Result<FormKind<'a>, Diagnostic> {
    let name = &text[1..];
    let mut chars = name.chars();
    if chars.next().is_some() && chars.next().is_none() {
        return Ok(FormKind::Str(name));
    }
    let named = match name {
        "newline" => Some("\n"),
        "space" => Some(" "),
        "tab" => Some("\t"),
        "return" => Some("\r"),
        "backspace" => Some("\u{8}"),
        "formfeed" => Some("\u{c}"),
        _ => None,
    };
    if let Some(named) = named {
        return Ok(FormKind::Str(named));
    }
    let code = match name.as_bytes()[0] {
        b'u' if name.len() == 5 => hex4(&name[1..]),
        b'o' if (2..=4).contains(&name.len()) && name[1..].bytes().all(|b| (b'0'..=b'7').contains(&b)) => {
            u32::from_str_radix(&name[1..], 8).ok().filter(|code| *code <= 0o377)
        }
        _ => None,
    };
    if let Some(c) = code.and_then(char::from_u32) {
        return Ok(FormKind::Str(arena.alloc_str(c.encode_utf8(&mut [0; 4]))));
    }
    Err(error(span, format!("`{}` is not a character", brief(text))).hint(format!(
        "write a string, {:?}, or one of \\newline \\space \\tab \\return \\backspace \\formfeed \\u0041",
        brief(name)
    )))
}

// --- Refusals ------------------------------------------------------------------------------------

/// Makes the error for a keyword that starts or ends with a slash.
pub(crate) fn bad_keyword(span: Span, text: &str) -> Diagnostic {
    let name = text.trim_start_matches(':').trim_matches('/');
    let name = if name.is_empty() { "name" } else { name };
    error(span, format!("`{}` is not a keyword", brief(text))).hint(format!("write :{}", brief(name)))
}

fn refuse(raw: Raw, text: &str, span: Span) -> Diagnostic {
    match raw {
        Raw::StrUnclosed => {
            error(Span::new(span.start as usize, span.start as usize + 1), "a string is never closed")
                .label("opened here")
                .hint("add `\"` where it should end; a quote inside a string is written `\\\"`")
        }
        Raw::RegexUnclosed => {
            error(Span::new(span.start as usize, span.start as usize + 2), "a regex is never closed")
                .label("opened here")
                .hint("add `\"` where it should end; a quote inside a regex is written `\\\"`")
        }
        Raw::SyntaxQuote | Raw::Unquote => {
            let shown = if raw == Raw::SyntaxQuote { "the syntax quote" } else { "`~`" };
            error(span, format!("{shown} belongs to macros, and there are no macros"))
                .hint("write a function with `defn`; text is built with `str`, data with [] and {}")
        }
        Raw::Dispatch => dispatch(text, span),
        Raw::BadWord => bad_word(text, span),
        _ => other(text, span),
    }
}

fn dispatch(text: &str, span: Span) -> Diagnostic {
    let shown = brief(text);
    if text.starts_with("#?") {
        return error(span, "`#?` chooses between hosts, and there is only one")
            .hint("write the form itself");
    }
    if text.starts_with("#:") {
        return error(span, format!("`{shown}` would put a namespace before the keys of a map"))
            .hint("write the keys in full: {:a/b 1}");
    }
    if text.starts_with("#=") {
        return error(span, "`#=` runs code while it is read").hint("write the form itself");
    }
    if text.starts_with("#!") {
        return error(span, "`#!` does not start a comment here").hint("start comments with ;");
    }
    if text == "#uuid" {
        return error(span, "`#uuid` is not available").hint("write the id as a string");
    }
    if text.as_bytes().get(1).is_some_and(u8::is_ascii_alphabetic) {
        return error(span, format!("`{shown}` is not a tag this reader knows"))
            .hint("remove the tag; only #inst \"2024-05-01\" is known");
    }
    error(span, format!("`{shown}` is not a form"))
        .hint("after `#` come { for a set, ( for a function, \" for a regex, _ to leave a form out")
}

fn bad_word(text: &str, span: Span) -> Diagnostic {
    let shown = brief(text);
    if text == ":" {
        return error(span, "`:` needs a name after it").hint("write a keyword such as :name");
    }
    if let Some(name) = text.strip_prefix("::") {
        let name = if name.is_empty() { "name" } else { name };
        return error(span, format!("`{shown}`: there are no namespaces to complete it with"))
            .hint(format!("write :{}", brief(name.trim_start_matches(':'))));
    }
    if let Some(c) = text.chars().find(|c| !c.is_ascii()) {
        return not_ascii(c, text, span);
    }
    let bad = text.chars().find(|c| !c.is_ascii_alphanumeric() && !"+-*/<>=?!_%.&$'".contains(*c));
    match bad {
        Some(c) if !text.starts_with(':') || text[1..].contains(':') => {
            error(span, format!("`{shown}` is not a name: `{c}` cannot be part of one"))
                .hint("names are made of letters, digits and + - * / < > = ? ! _ % . & $ '")
        }
        _ => error(span, format!("`{shown}` is not a keyword"))
            .hint("keywords are made of letters, digits and + - * < > = ? ! _ / ."),
    }
}

fn not_ascii(c: char, text: &str, span: Span) -> Diagnostic {
    let shown = brief(text);
    match c {
        '“' | '”' | '„' | '«' | '»' | '‘' | '’' => {
            error(span, format!("`{c}` is not a quote here"))
                .hint("write strings with plain double quotes: \"text\"")
        }
        '\u{a0}'
        | '\u{2000}'..='\u{200f}'
        | '\u{202f}'
        | '\u{2028}'
        | '\u{2029}'
        | '\u{3000}'
        | '\u{feff}' => error(span, format!("U+{:04X} is not a space here", u32::from(c)))
            .hint("there is an invisible character here: replace it with a plain space"),
        '→' => error(span, "`→` is not a name").hint("write ->"),
        '≤' | '≥' | '≠' | '−' | '×' | '÷' => {
            error(span, format!("`{c}` is not a name")).hint("the operators are written <= >= not= - * /")
        }
        _ => error(span, format!("`{shown}`: names are ASCII, but this has `{c}`"))
            .hint("put text in other letters into strings or comments"),
    }
}

fn other(text: &str, span: Span) -> Diagnostic {
    match text.chars().next() {
        Some('#') => error(span, "`#` alone is not a form")
            .hint("after `#` come { for a set, ( for a function, \" for a regex, _ to leave a form out"),
        Some('\\') => error(span, "`\\` needs a character after it").hint("write \\a, \\newline or a string"),
        Some(c) if c.is_control() => {
            error(span, format!("the control character U+{:04X} is not allowed here", u32::from(c)))
                .hint("remove it; inside a string write it as \\uXXXX")
        }
        Some(c) => error(span, format!("`{c}` is not allowed here")).hint("remove it"),
        None => error(span, "nothing can be read here"),
    }
}
