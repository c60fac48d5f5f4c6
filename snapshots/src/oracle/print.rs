//! Printing: the readable form, and the text of `str`.

use super::value::{Value, work};

/// Appends the readable form.
pub fn print(v: &Value<'_>, out: &mut String) {
    work(1);
    match v {
        Value::Nil => out.push_str("nil"),
        Value::Bool(b) => out.push_str(&b.to_string()),
        Value::Int(n) => out.push_str(&n.to_string()),
        Value::Float(x) => float(*x, out),
        Value::Str(text) => quoted(text, out),
        Value::Keyword(name) => out.push_str(&format!(":{name}")),
        Value::Symbol(name) => out.push_str(&format!("'{name}")),
        Value::Var(name) => out.push_str(&format!("#'{name}")),
        Value::Vector(items) => list("[", items.iter(), "]", out),
        Value::Set(items) => list("#{", items.iter(), "}", out),
        Value::Map(pairs) => list("{", pairs.iter().flat_map(|(k, v)| [k, v]), "}", out),
        Value::Builtin(_) => out.push_str("#<builtin>"),
        Value::Closure(_) | Value::Made(_) => out.push_str("#fn[...]"),
        Value::Builder(_) | Value::Reduced(_) => out.push_str("#<unknown>"),
    }
}

fn list<'v, 'a: 'v>(open: &str, items: impl Iterator<Item = &'v Value<'a>>, close: &str, out: &mut String) {
    out.push_str(open);
    for (i, item) in items.enumerate() {
        if i > 0 {
            out.push(' ');
        }
        print(item, out);
    }
    out.push_str(close);
}

fn quoted(text: &str, out: &mut String) {
    work(text.len());
    out.push('"');
    for c in text.chars() {
        match c {
            '"' | '\\' => out.extend(['\\', c]),
            '\n' => out.push_str("\\n"),
            '\t' => out.push_str("\\t"),
            '\r' => out.push_str("\\r"),
            c if c.is_control() => out.push_str(&format!("\\u{:04x}", c as u32)),
            c => out.push(c),
        }
    }
    out.push('"');
}

/// Appends the shortest digits that read back; plain for 1e-3 ≤ |x| < 1e7, else as 1.0E10.
fn float(x: f64, out: &mut String) {
    if !x.is_finite() {
        let name = if x.is_nan() {
            "##NaN"
        } else if x > 0.0 {
            "##Inf"
        } else {
            "##-Inf"
        };
        return out.push_str(name);
    }
    // The standard library's exponent form has the shortest digits: d.ddd and an exponent.
    let text = format!("{:e}", x.abs());
    let (digits, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    let digits = digits.replace('.', "");
    if x.is_sign_negative() {
        out.push('-');
    }
    let (point, tail) = match exponent {
        -3..=6 => (exponent, String::new()),
        _ if x == 0.0 => (0, String::new()),
        _ => (0, format!("E{exponent}")),
    };
    if point < 0 {
        out.push_str("0.");
        out.push_str(&"0".repeat((-point - 1) as usize));
        out.push_str(&digits);
    } else {
        let whole = point as usize + 1;
        out.extend((0..whole).map(|i| digits.chars().nth(i).unwrap_or('0')));
        out.push('.');
        out.push_str(if digits.len() > whole { &digits[whole..] } else { "0" });
    }
    out.push_str(&tail);
}

/// Appends the text of one argument of `str`.
pub fn display(v: &Value<'_>, out: &mut String) {
    match v {
        Value::Nil => {}
        Value::Str(text) => {
            work(text.len());
            out.push_str(text);
        }
        Value::Float(x) if x.is_nan() => out.push_str("NaN"),
        Value::Float(x) if x.is_infinite() => out.push_str(if *x > 0.0 { "Infinity" } else { "-Infinity" }),
        _ => print(v, out),
    }
}
