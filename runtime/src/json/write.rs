//! Values as JSON text.
//!
//! Keywords are written as their names, sets and ranges as arrays, dates as ISO text, floats with
//! the fewest digits that read back as the same float. What else JSON does not have is written in
//! the nearest form or refused, as [`WriteOptions`] says.

use ptc_bytecode::{Code, Limits};
use ptc_vm::{Fault, Heap, Value};

use super::writer::Writer;

/// How values become JSON text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WriteOptions {
    /// Whether to write one entry per line, indented by two blanks.
    pub pretty: bool,
    /// Most bytes to write.
    pub limit: usize,
    /// Which map keys are allowed.
    pub keys: KeyRule,
    /// What becomes of values that JSON does not have.
    pub beyond: Beyond,
    /// Whether NaN and the infinities are an error; otherwise they are written as `null`.
    pub finite_only: bool,
    /// Whether two keys of a map with the same name, as `:a` and `"a"`, are an error; otherwise the last gives the value.
    pub distinct_names: bool,
}

/// Which keys a map may have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeyRule {
    /// Strings and keywords, as results of programs have them.
    Names,
    /// Strings, keywords and integers, as `json/generate-string` has it.
    Integers,
    /// All, as they are printed.
    Any,
}

/// What becomes of values that JSON does not have.
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
    /// As results leave the host boundary, with any keys, up to `limits.result_bytes`.
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
    /// What `json/generate-string` may write.
    pub fn generate_string() -> WriteOptions {
        WriteOptions {
            keys: KeyRule::Integers,
            beyond: Beyond::Refuse,
            finite_only: true,
            ..WriteOptions::default()
        }
    }

    /// For results: data only, and nothing that JSON would silently lose.
    pub fn data() -> WriteOptions {
        let beyond = Beyond::Data;
        WriteOptions { beyond, finite_only: true, distinct_names: true, ..WriteOptions::default() }
    }
}

/// Appends `value` as JSON text.
///
/// Faults `output_exceeded` past the limit and `type_error` for what the options refuse; `out` then
/// ends with what was written before.
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

/// The JSON text of `value`, or None if it has none: the options refuse something in it. Faults
/// only for a limit.
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

/// The JSON text of a result, in at most `limit` bytes; a fault if it has no JSON form.
pub fn to_json_text(heap: &Heap, value: Value, limit: usize) -> Result<String, Fault> {
    let mut out = String::new();
    write_json(heap, value, &mut out, &WriteOptions { limit, ..WriteOptions::data() })?;
    Ok(out)
}
