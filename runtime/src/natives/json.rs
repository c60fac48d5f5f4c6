//! Natives for JSON text. Text that is not JSON is nil, and so is the text of a value that JSON does not have: both are
//! data, not mistakes of the program.

use super::args::arg;
use super::text::finish;
use crate::json::{JsonReader, ReadOptions, WriteOptions, json_form, parse_json};
use ptc_bytecode::{Code, lookup};
use ptc_vm::{Call, Fault, Stop, Value};

/// Bytes of JSON read per unit: each may open a list.
const READ_BYTES: usize = 2;

/// Returns the text in argument 1, paid for; None for anything else. It is copied, since the parsed values go into
/// the same heap.
fn source(call: &mut Call<'_>) -> Result<Option<String>, Stop> {
    let Value::Str(r) = arg(call, 1) else { return Ok(None) };
    let len = call.heap.str(r).len();
    call.heap.room(1, len)?;
    call.pay_items(len / READ_BYTES)?;
    Ok(Some(call.heap.str(r).to_string()))
}

fn options(call: &Call<'_>, keyword_keys: bool) -> ReadOptions {
    let limit_bytes = usize::try_from(call.heap.limit()).unwrap_or(usize::MAX);
    ReadOptions { keyword_keys, limit_bytes, ..ReadOptions::default() }
}

/// True if argument `n` requests keywords as keys: true, or the function `keyword`.
fn wants_keywords(call: &Call<'_>, n: usize) -> Result<bool, Stop> {
    match arg(call, n) {
        Value::Nil | Value::False => Ok(false),
        Value::True => Ok(true),
        Value::Builtin(id) if lookup("keyword").is_some_and(|keyword| u64::from(keyword.0) == id) => Ok(true),
        found => Err(Fault::type_error(format!(
            "`{}`: argument {n} must be `keyword` or true, for keywords as keys, but it is {}",
            call.name(),
            found.type_phrase()
        ))
        .hint("`(update-keys (json/parse-string s) f)` changes keys by a function")
        .into()),
    }
}

fn read(call: &mut Call<'_>, keyword_keys: bool) -> Result<Value, Stop> {
    let Some(text) = source(call)? else { return Ok(Value::Nil) };
    let options = options(call, keyword_keys);
    match parse_json(call.heap, &text, &options) {
        Ok(value) => Ok(value),
        Err(error) if error.is_syntax() => Ok(Value::Nil),
        Err(error) => Err(error.into()),
    }
}

/// `(json/parse-string s)`, `(json/parse-string s true)`
pub fn parse_string(call: &mut Call<'_>) -> Result<Value, Stop> {
    let keyword_keys = wants_keywords(call, 2)?;
    read(call, keyword_keys)
}

/// `(json/read-str s)`, `(json/read-str s :key-fn keyword)`
pub fn read_str(call: &mut Call<'_>) -> Result<Value, Stop> {
    let mut keyword_keys = false;
    for n in (2..=call.args.len()).step_by(2) {
        match arg(call, n) {
            Value::Keyword(r) if call.heap.str(r) == "key-fn" => keyword_keys = wants_keywords(call, n + 1)?,
            // Other options select how numbers and the end of the text are read, which is fixed here.
            Value::Keyword(_) => {}
            _ => return Err(call.wrong_type(n, "an option such as `:key-fn keyword`")),
        }
    }
    read(call, keyword_keys)
}

/// `(json/parse-lines s)`, `(json/parse-lines s true)`
pub fn parse_lines(call: &mut Call<'_>) -> Result<Value, Stop> {
    let keyword_keys = wants_keywords(call, 2)?;
    let Some(text) = source(call)? else { return Ok(Value::Nil) };
    let options = options(call, keyword_keys);
    Ok(JsonReader::default().session(call.heap, options).parse_lines(&text)?)
}

fn write(call: &mut Call<'_>, pretty: bool) -> Result<Value, Stop> {
    let limit = usize::try_from(call.heap.limit()).unwrap_or(usize::MAX);
    let options = WriteOptions { pretty, limit, ..WriteOptions::generate_string() };
    match json_form(call.heap, arg(call, 1), &options) {
        Ok(Some(text)) => finish(call, &text),
        Ok(None) => Ok(Value::Nil),
        // Text that the heap cannot hold is a matter of memory, not of output.
        Err(fault) if fault.code() == Code::OutputExceeded => Err(Stop::room(1, limit)),
        Err(fault) => Err(fault.into()),
    }
}

/// `(json/generate-string x)`, `(json/generate-string x {:pretty true})`
pub fn generate_string(call: &mut Call<'_>) -> Result<Value, Stop> {
    let pretty = match arg(call, 2) {
        Value::Nil => false,
        Value::Map(options) => {
            let key = call.heap.new_keyword("pretty")?;
            call.heap.map_get_flex(options, key).is_some_and(Value::truthy)
        }
        _ => return Err(call.wrong_type(2, "a map such as {:pretty true}")),
    };
    write(call, pretty)
}

/// `(json/write-str x)`, `(json/write-str x :indent true)`
pub fn write_str(call: &mut Call<'_>) -> Result<Value, Stop> {
    let mut pretty = false;
    for n in (2..=call.args.len()).step_by(2) {
        match arg(call, n) {
            Value::Keyword(r) if call.heap.str(r) == "indent" => pretty = arg(call, n + 1).truthy(),
            Value::Keyword(_) => {}
            _ => return Err(call.wrong_type(n, "an option such as `:indent true`")),
        }
    }
    write(call, pretty)
}
