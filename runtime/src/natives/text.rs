//! Natives for values as text, and for printing.

use super::args::{arg, growing_room, refuse, text};
use ptc_bytecode::Code;
use ptc_vm::{Call, Fault, Heap, Stop, TextKind, Value};

/// Appends `str` of a value; the text may not outgrow the heap.
pub fn display(call: &Call<'_>, value: Value, out: &mut String) -> Result<(), Stop> {
    display_in(call.heap, value, out)
}

/// Appends `str` of a value from a heap that is being walked.
pub fn display_in(heap: &Heap, value: Value, out: &mut String) -> Result<(), Stop> {
    heap.display(value, out, limit(heap)).map_err(|fault| too_long(heap, fault))
}

/// Appends `pr-str` of a value.
fn print(call: &Call<'_>, value: Value, out: &mut String) -> Result<(), Stop> {
    call.heap.print(value, out, limit(call.heap)).map_err(|fault| too_long(call.heap, fault))
}

/// Appends the text that printing a value shows.
fn print_told(call: &Call<'_>, value: Value, out: &mut String, is_clear: bool) -> Result<(), Stop> {
    let printed = call.heap.print_told(value, out, limit(call.heap), is_clear);
    printed.map_err(|fault| too_long(call.heap, fault))
}

/// Returns the maximum length of a text worth building.
fn limit(heap: &Heap) -> usize {
    usize::try_from(heap.limit()).unwrap_or(usize::MAX)
}

/// Makes the stop for text that the heap cannot hold: a matter of memory, not of output.
#[cold]
fn too_long(heap: &Heap, fault: Fault) -> Stop {
    match fault.code() {
        Code::OutputExceeded => Stop::room(1, limit(heap)),
        _ => fault.into(),
    }
}

/// Makes a string of text that was built outside the heap, paid for.
pub fn finish(call: &mut Call<'_>, out: &str) -> Result<Value, Stop> {
    call.pay_items(out.len() / 8)?;
    call.heap.new_str(out)
}

/// `(str x …)`
pub fn str(call: &mut Call<'_>) -> Result<Value, Stop> {
    if let [only @ Value::Str(_)] = call.args {
        return Ok(*only);
    }
    if call.args.iter().all(|x| matches!(x, Value::Str(_) | Value::Nil)) {
        let text_len = |x: &Value| if let Value::Str(r) = x { call.heap.text_bytes_len(*r) } else { 0 };
        let len: usize = call.args.iter().map(text_len).sum();
        call.heap.room(1, len)?;
        call.pay_items(len / 8 + call.args.len())?;
        let mut writer = call.heap.text_writer();
        for x in call.args {
            if let Value::Str(r) = x {
                writer.push_text(*r)?;
            }
        }
        return writer.finish(TextKind::Str);
    }
    call.pay_items(call.args.len())?;
    let mut out = String::new();
    for x in call.args {
        display(call, *x, &mut out)?;
        growing_room(call.heap, 1, out.len())?;
    }
    finish(call, &out)
}

/// Joins the forms that `print` gives of all arguments with spaces.
fn spaced(
    call: &mut Call<'_>,
    print: impl Fn(&Call<'_>, Value, &mut String) -> Result<(), Stop>,
) -> Result<String, Stop> {
    let mut out = String::new();
    for (i, x) in call.args.iter().enumerate() {
        if i > 0 {
            out.push(' ');
        }
        print(call, *x, &mut out)?;
        growing_room(call.heap, 1, out.len())?;
    }
    call.pay_items(call.args.len() + out.len() / 8)?;
    Ok(out)
}

/// `(pr-str x …)`
pub fn pr_str(call: &mut Call<'_>) -> Result<Value, Stop> {
    let out = spaced(call, print)?;
    call.heap.new_str(&out)
}

/// `(prn-str x …)`
pub fn prn_str(call: &mut Call<'_>) -> Result<Value, Stop> {
    let mut out = spaced(call, print)?;
    out.push('\n');
    call.heap.new_str(&out)
}

/// `(println x …)`
pub fn println(call: &mut Call<'_>) -> Result<Value, Stop> {
    let out = spaced(call, |call, x, out| match x {
        Value::Str(_) => display(call, x, out),
        _ => print_told(call, x, out, false),
    })?;
    tell(call, out, false)
}

/// `(prn x …)`
pub fn prn(call: &mut Call<'_>) -> Result<Value, Stop> {
    let out = spaced(call, |call, x, out| print_told(call, x, out, false))?;
    tell(call, out, true)
}

/// Adds to the printed output. If part of it is firewalled, the host may get the clear text as well.
fn tell(call: &mut Call<'_>, out: String, is_quoted: bool) -> Result<Value, Stop> {
    if !call.heap.has_veils() {
        call.output.print(out)?;
        return Ok(Value::Nil);
    }
    let mut clear = String::new();
    for (i, x) in call.args.iter().enumerate() {
        if i > 0 {
            clear.push(' ');
        }
        match call.heap.unveil(*x) {
            text @ Value::Str(_) if !is_quoted => display(call, text, &mut clear)?,
            _ => print_told(call, *x, &mut clear, true)?,
        }
    }
    call.output.print_veiled(out, clear)?;
    Ok(Value::Nil)
}

/// `(name x)`
pub fn name(call: &mut Call<'_>) -> Result<Value, Stop> {
    match arg(call, 1) {
        text @ Value::Str(_) => Ok(text),
        Value::Keyword(r) | Value::Symbol(r) => {
            let text = call.heap.str(r);
            let from = slash(text).map_or(0, |at| at + 1);
            let to = text.len();
            call.heap.new_substr(r, from, to)
        }
        found => Err(Fault::new(
            Code::RuntimeError,
            format!("`name` needs a keyword or a string, but it is {}", found.type_phrase()),
        )
        .hint("`(str x)` makes text of anything")
        .into()),
    }
}

/// Returns the place of the slash in a qualified name.
fn slash(text: &str) -> Option<usize> {
    text.find('/').filter(|at| *at > 0 && at + 1 < text.len())
}

/// `(namespace x)`
pub fn namespace(call: &mut Call<'_>) -> Result<Value, Stop> {
    match arg(call, 1) {
        Value::Keyword(r) | Value::Symbol(r) => match slash(call.heap.str(r)) {
            Some(at) => call.heap.new_substr(r, 0, at),
            None => Ok(Value::Nil),
        },
        _ => Err(call.wrong_type(1, "a keyword")),
    }
}

/// `(keyword x)`, `(keyword namespace name)`
pub fn keyword(call: &mut Call<'_>) -> Result<Value, Stop> {
    if call.args.len() == 2 {
        let (space, name) = (text(call, 1)?, text(call, 2)?);
        let full = format!("{}/{}", call.heap.str(space), call.heap.str(name));
        return call.heap.new_keyword(&full);
    }
    match arg(call, 1) {
        keyword @ Value::Keyword(_) => Ok(keyword),
        Value::Str(r) | Value::Symbol(r) if is_keyword_name(call.heap.str(r)) => {
            call.heap.retext(r, TextKind::Keyword)
        }
        Value::Str(r) | Value::Symbol(r) => {
            let shown: String = call.heap.str(r).chars().take(60).collect();
            Err(Fault::new(
                Code::RuntimeError,
                format!("`keyword`: {shown:?} cannot be the name of a keyword"),
            )
            .hint("maps may have strings as keys: `(get m \"first name\")`")
            .into())
        }
        _ => Ok(Value::Nil),
    }
}

/// True if a keyword of this name could be written in a program.
pub fn is_keyword_name(text: &str) -> bool {
    !text.is_empty() && text.chars().all(|c| c.is_alphanumeric() || "+-*<>=?!_./&%#$'".contains(c))
}

/// `(%as-keyword x)`: makes a keyword; keys that cannot be keywords stay strings.
pub fn as_keyword(call: &mut Call<'_>) -> Result<Value, Stop> {
    let key = arg(call, 1);
    match key {
        Value::Str(name) if super::is_keyword_name(call.heap.str(name)) => {
            let name = call.heap.str(name).to_string();
            call.heap.new_keyword(&name)
        }
        _ => Ok(key),
    }
}

/// `(char n)`
pub fn char(call: &mut Call<'_>) -> Result<Value, Stop> {
    let number = match arg(call, 1) {
        Value::Float(f) if f.get().is_finite() => Value::Int(f.get() as i64),
        other => other,
    };
    match number {
        Value::Int(n) => match u32::try_from(n).ok().and_then(char::from_u32) {
            Some(c) => call.heap.new_str(c.encode_utf8(&mut [0; 4])),
            None => Err(refuse(format!("`char`: there is no character {n}"))),
        },
        text @ Value::Str(r) if call.heap.text_len(r) == 1 => Ok(text),
        _ => Err(call.wrong_type(1, "a code point")),
    }
}
