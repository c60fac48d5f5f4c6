//! Summary of the values of one key: types, examples, range.

use super::build::Build;
use super::tally;
use crate::natives::parse::read_double;
use ptc_vm::{Call, FIREWALLED, Stop, Value};

/// Maximum characters of an example.
const EXAMPLE_CHARS: usize = 120;
/// Maximum bytes of a collection printed as an example.
const PRINTED_BYTES: usize = 4_096;
/// Maximum length in bytes of a string that is read as a number.
const NUMERIC_BYTES: usize = 64;
const MAX_DISTINCT: usize = 50;

/// The summary of the values of one key.
#[derive(Default)]
pub(super) struct Field {
    types: Vec<(&'static str, i64)>,
    examples: Vec<Example>,
    /// Number of values with elements, if any could have some.
    non_empty: Option<i64>,
    range: Option<(Value, Value)>,
    distinct: Vec<Value>,
    is_capped: bool,
    /// Number of items that have the key; `last_item` is the last of them.
    present: i64,
    last_item: Option<usize>,
    values: i64,
}

enum Example {
    Scalar(Value),
    Text(String),
}

/// Returns the name of a type in a description.
pub(super) fn type_name(value: Value) -> &'static str {
    match value {
        Value::Nil => "nil",
        Value::True | Value::False => "boolean",
        Value::Int(_) | Value::Big(_) => "integer",
        Value::Float(x) if x.get().is_nan() => "nan",
        Value::Float(x) if x.get().is_infinite() => "infinity",
        Value::Float(_) => "float",
        Value::Str(_) => "string",
        Value::Keyword(_) => "keyword",
        Value::Vector(_) | Value::Range(_) => "vector",
        Value::Map(_) => "map",
        Value::Set(_) => "set",
        Value::Closure(_) | Value::Builtin(_) | Value::Tool(_) => "function",
        Value::State(_) => "atom",
        _ => "unknown",
    }
}

/// Returns the name of a key: strings as they are, others as printed, both cut if long.
pub(super) fn name_of(call: &mut Call<'_>, key: Value) -> Result<String, Stop> {
    match key {
        Value::Str(r) => {
            call.pay_items(call.heap.text_bytes_len(r) / 8)?;
            Ok(cut(call.heap.str(r), true))
        }
        _ => printed(call, key).map(|(text, whole)| cut(&text, whole)),
    }
}

/// Returns the printed form, and true if it is complete.
fn printed(call: &mut Call<'_>, value: Value) -> Result<(String, bool), Stop> {
    let mut out = String::new();
    // An endless value cannot be printed whole; its beginning is enough.
    let whole = call.heap.print(value, &mut out, PRINTED_BYTES).is_ok();
    if out.is_empty() {
        out.push_str(value.type_word());
    }
    call.pay_items(out.len() / 8)?;
    Ok((out, whole))
}

/// Cuts text to fit an example.
fn cut(text: &str, whole: bool) -> String {
    match text.char_indices().nth(EXAMPLE_CHARS) {
        Some((end, _)) => {
            let more = if whole { "" } else { "+" };
            format!("{}...({}{more} chars)", &text[..end], text.chars().count())
        }
        None => text.to_string(),
    }
}

impl Example {
    fn value(&self, call: &mut Call<'_>) -> Result<Value, Stop> {
        match self {
            Example::Scalar(value) => Ok(*value),
            Example::Text(text) => call.heap.new_str(text),
        }
    }
}

impl Field {
    /// Adds a value of item number `item`.
    pub(super) fn add(
        &mut self,
        call: &mut Call<'_>,
        value: Value,
        item: usize,
        sample: usize,
    ) -> Result<(), Stop> {
        self.values += 1;
        if self.last_item != Some(item) {
            self.present += 1;
            self.last_item = Some(item);
        }
        let is_veiled = matches!(value, Value::Veiled(_));
        let value = call.heap.unveil(value);
        tally(&mut self.types, type_name(value));
        if is_veiled {
            // Only its type is shown.
            if self.examples.is_empty() {
                self.examples.push(Example::Text(FIREWALLED.to_string()));
            }
            return Ok(());
        }
        if self.examples.len() < sample {
            self.add_example(call, value)?;
        }
        match value {
            Value::Str(r) => {
                let has_text = !call.heap.str(r).is_empty();
                *self.non_empty.get_or_insert(0) += i64::from(has_text);
            }
            Value::Vector(_) | Value::Range(_) | Value::Map(_) | Value::Set(_) => {
                let has_items = call.heap.count(value)? > 0;
                *self.non_empty.get_or_insert(0) += i64::from(has_items);
                return Ok(());
            }
            _ => {}
        }
        self.widen(call, value);
        self.add_distinct(call, value);
        Ok(())
    }

    fn add_example(&mut self, call: &mut Call<'_>, value: Value) -> Result<(), Stop> {
        let example = match value {
            Value::Str(r) => {
                call.pay_items(call.heap.str(r).len() / 8)?;
                Example::Text(cut(call.heap.str(r), true))
            }
            Value::Nil
            | Value::True
            | Value::False
            | Value::Int(_)
            | Value::Float(_)
            | Value::Keyword(_)
            | Value::Day(_)
            | Value::Instant(_)
            | Value::Duration(_) => Example::Scalar(value),
            _ => {
                let (text, whole) = printed(call, value)?;
                Example::Text(cut(&text, whole))
            }
        };
        let known = self.examples.iter().any(|known| match (known, &example) {
            (Example::Scalar(a), Example::Scalar(b)) => same(call, *a, *b),
            (Example::Text(a), Example::Text(b)) => a == b,
            _ => false,
        });
        if !known {
            self.examples.push(example);
        }
        Ok(())
    }

    /// Extends the range by a number, or by a string that spells one.
    fn widen(&mut self, call: &Call<'_>, value: Value) {
        let number = match value {
            Value::Int(_) | Value::Big(_) => value,
            Value::Float(x) if x.get().is_finite() => value,
            Value::Str(r) => {
                let text = call.heap.str(r);
                if text.len() > NUMERIC_BYTES {
                    return;
                }
                match (text.parse::<i64>(), read_double(text)) {
                    (Ok(n), _) => Value::Int(n),
                    (_, Some(x)) if x.is_finite() => Value::float(x),
                    _ => return,
                }
            }
            _ => return,
        };
        self.range = Some(match self.range {
            None => (number, number),
            Some((min, _)) if call.heap.less(number, min) => (number, self.range.map_or(number, |r| r.1)),
            Some((min, max)) if call.heap.less(max, number) => (min, number),
            Some(range) => range,
        });
    }

    fn add_distinct(&mut self, call: &Call<'_>, value: Value) {
        if self.is_capped || self.distinct.iter().any(|known| same(call, *known, value)) {
            return;
        }
        if self.distinct.len() == MAX_DISTINCT {
            self.is_capped = true;
        } else {
            self.distinct.push(value);
        }
    }

    /// Returns the first example, or nil.
    pub(super) fn first_example(&self, call: &mut Call<'_>) -> Result<Value, Stop> {
        self.examples.first().map_or(Ok(Value::Nil), |example| example.value(call))
    }

    /// Writes the summary to a map.
    pub(super) fn write(&self, call: &mut Call<'_>, out: &mut Build) -> Result<(), Stop> {
        out.counts(call, "types", &self.types)?;
        let mut examples = Vec::with_capacity(self.examples.len());
        for example in &self.examples {
            examples.push(example.value(call)?);
        }
        let examples = call.heap.new_vec(&examples)?;
        out.put(call, "examples", examples)?;
        if let Some(n) = self.non_empty {
            out.number(call, "non_empty", n)?;
        }
        if let Some((min, max)) = self.range {
            let mut range = Build::default();
            range.put(call, "min", min)?;
            range.put(call, "max", max)?;
            let range = range.finish(call)?;
            out.put(call, "range", range)?;
        }
        if !self.distinct.is_empty() {
            out.number(call, "distinct_count", self.distinct.len() as i64)?;
        }
        if self.is_capped {
            out.put(call, "distinct_capped", Value::True)?;
        }
        Ok(())
    }

    /// Writes the number of items with the key, and the number of values if some items have several.
    pub(super) fn write_share(
        &self,
        call: &mut Call<'_>,
        out: &mut Build,
        items: usize,
        count_values: bool,
    ) -> Result<(), Stop> {
        out.number(call, "present", self.present)?;
        let share = self.present as f64 * 1000.0 / items.max(1) as f64;
        out.put(call, "pct", Value::float(share.round() / 10.0))?;
        if count_values && self.values > self.present {
            out.number(call, "value_count", self.values)?;
        }
        Ok(())
    }
}

/// True if two scalars are equal; NaN equals itself here.
fn same(call: &Call<'_>, a: Value, b: Value) -> bool {
    a.same(b) || call.heap.exact(a, b)
}
