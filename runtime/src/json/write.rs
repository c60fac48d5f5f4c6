//! Writer of values as JSON text.
//!
//! Keywords are written as their names, sets and ranges as arrays, dates as ISO text, floats with the fewest digits
//! that read back as the same float. Other values without a JSON form are printed or refused, as [`WriteOptions`] says.

use ptc_bytecode::{Code, Limits};
use ptc_vm::{Fault, Heap, Value};

use super::writer::Writer;

/// Options for writing values as JSON text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WriteOptions {
    /// True to write one entry per line, indented by two blanks.
    pub pretty: bool,
    /// Maximum bytes to write.
    pub limit: usize,
    /// Rule for map keys.
    pub keys: KeyRule,
    /// Treatment of values that JSON does not have.
    pub beyond: Beyond,
    /// True to refuse NaN and the infinities; otherwise they are written as `null`.
    pub finite_only: bool,
    /// True to refuse a map with two keys of the same name, such as `:a` and `"a"`; otherwise the last one wins.
    pub distinct_names: bool,
}

/// The keys a map may have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeyRule {
    /// Strings and keywords, as in results of programs.
    Names,
    /// Strings, keywords and integers, as in `json/generate-string`.
    Integers,
    /// All keys, as they are printed.
    Any,
}

/// The treatment of values that JSON does not have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Beyond {
    /// Sets are arrays, dates their ISO text, and functions, vars and regexes their printed form.
    Print,
    /// Sets are arrays, dates their ISO text; functions, vars and regexes are refused.
    Data,
    /// All but keywords are refused.
    Refuse,
}

impl Default for WriteOptions {
    /// Returns the options for results at the host boundary: any keys, up to `limits.result_bytes`.
    fn default() -> WriteOptions {
        WriteOptions {
            pretty: false,
            limit: usize::try_from(Limits::default().result_bytes).unwrap_or(usize::MAX),
            keys: KeyRule::Any,
            beyond: Beyond::Print,
            finite_only: false,
            distinct_names: false,
        }
    }
}

impl WriteOptions {
    /// Returns the options of `json/generate-string`.
    pub fn generate_string() -> WriteOptions {
        WriteOptions {
            keys: KeyRule::Integers,
            beyond: Beyond::Refuse,
            finite_only: true,
            ..WriteOptions::default()
        }
    }

    /// Returns the options for results: data only, and nothing that JSON would silently lose.
    pub fn data() -> WriteOptions {
        let beyond = Beyond::Data;
        WriteOptions { beyond, finite_only: true, distinct_names: true, ..WriteOptions::default() }
    }
}

/// Appends `value` as JSON text.
///
/// Faults `output_exceeded` past the limit and `type_error` for values that the options refuse; `out` then ends
/// with the text written before.
///
/// ```
/// use ptc_runtime::json::{KeyRule, WriteOptions, write_json};
/// use ptc_vm::{Heap, Value};
/// let mut heap = Heap::unbounded();
/// let name = heap.new_keyword("in-stock")?;
/// let map = heap.new_map(&[name, Value::float(1e21), Value::Int(7), Value::Nil])?;
/// let mut out = String::new();
/// write_json(&heap, map, &mut out, &WriteOptions::default()).unwrap();
/// assert_eq!(out, r#"{"in-stock":1e+21,"7":null}"#);
///
/// let strict = WriteOptions { keys: KeyRule::Names, ..WriteOptions::default() };
/// let fault = write_json(&heap, map, &mut out, &strict).unwrap_err();
/// assert_eq!(fault.parts().message, "map keys must be strings or keywords here, but 7 is a number");
/// # Ok::<(), ptc_vm::Stop>(())
/// ```
pub fn write_json(heap: &Heap, value: Value, out: &mut String, options: &WriteOptions) -> Result<(), Fault> {
    Writer::new(heap, out, options).run(value)
}

/// Writes `value` as JSON text, or returns None if the options refuse something in it. Faults only for a limit.
///
/// ```
/// use ptc_runtime::json::{WriteOptions, json_form};
/// use ptc_vm::{Heap, Value};
/// let mut heap = Heap::unbounded();
/// let pattern = heap.new_regex("a+")?;
/// assert_eq!(json_form(&heap, Value::Int(1), &WriteOptions::data()).unwrap().as_deref(), Some("1"));
/// assert_eq!(json_form(&heap, pattern, &WriteOptions::data()).unwrap(), None);
/// # Ok::<(), ptc_vm::Stop>(())
/// ```
pub fn json_form(heap: &Heap, value: Value, options: &WriteOptions) -> Result<Option<String>, Fault> {
    let mut out = String::new();
    match write_json(heap, value, &mut out, options) {
        Ok(()) => Ok(Some(out)),
        Err(fault) if fault.code() == Code::TypeError => Ok(None),
        Err(fault) => Err(fault),
    }
}

/// Writes a result as JSON text of at most `limit` bytes; a fault if it has no JSON form.
pub fn to_json_text(heap: &Heap, value: Value, limit: usize) -> Result<String, Fault> {
    let mut out = String::new();
    write_json(heap, value, &mut out, &WriteOptions { limit, ..WriteOptions::data() })?;
    Ok(out)
}
