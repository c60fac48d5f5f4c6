//! Columns of results, by a schema.

use crate::value::Value;
use arrow_array::builder::{BooleanBuilder, StringBuilder};
use arrow_array::types::{
    ArrowPrimitiveType, Date32Type, Decimal128Type, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type,
    Int64Type, TimestampMicrosecondType, UInt8Type, UInt16Type, UInt32Type, UInt64Type,
};
use arrow_array::{
    ArrayRef, LargeStringArray, ListArray, NullArray, PrimitiveArray, RecordBatch, RecordBatchOptions,
    StructArray,
};
use arrow_buffer::{NullBuffer, OffsetBuffer};
use arrow_schema::{ArrowError, DataType, Field, Fields, Schema, SchemaRef, TimeUnit};
use ptc_bytecode::calendar::{read_day, read_moment};
use std::fmt;
use std::sync::Arc;

/// A value that does not fit its column.
#[derive(Clone, PartialEq, Debug)]
pub struct Misfit {
    /// Name of the column, with those of the structs around it.
    pub column: String,
    why: String,
}

impl fmt::Display for Misfit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the column `{}` {}", self.column, self.why)
    }
}

impl std::error::Error for Misfit {}

/// The row of a record that has no result, or one that does not fit.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum OnError<'n> {
    /// There is none.
    #[default]
    LeaveOut,
    /// All its columns are null.
    Null,
    /// All its columns are null but one of this name, which has the error as text; it is null in all other rows.
    Column(&'n str),
}

/// Results that become columns.
///
/// ```
/// use ptc_arrow::{Columns, OnError, Value, parse_schema};
/// let schema = parse_schema("n: int").unwrap();
/// let mut columns = Columns::new(schema.into(), OnError::Null).unwrap();
/// columns.push(Value::Map(vec![("n".into(), Value::Int(7))])).unwrap();
/// let misfit = columns.push(Value::Map(vec![("n".into(), Value::Text("7".into()))])).unwrap_err();
/// assert_eq!(misfit.to_string(), "the column `n` is of type Int64, but the value is a string");
/// columns.push_failure(&misfit.to_string());
/// assert_eq!(columns.finish().unwrap().num_rows(), 2);
/// ```
pub struct Columns {
    /// Types of the results.
    results: SchemaRef,
    /// Types of the columns: those of the results, and perhaps one for errors.
    schema: SchemaRef,
    /// True if results are maps, false if they are the column `value`.
    are_maps: bool,
    has_rows_for_errors: bool,
    has_column_for_errors: bool,
    rows: Vec<Value>,
    /// Errors with their rows, in order.
    errors: Vec<(usize, Box<str>)>,
}

impl Columns {
    /// Makes columns of these types. Results are maps, unless `value` is the only column.
    pub fn new(results: SchemaRef, on_error: OnError<'_>) -> Result<Columns, Misfit> {
        for field in results.fields() {
            check_type(field.data_type(), field.name())?;
        }
        let are_maps = results.fields().len() != 1 || results.field(0).name() != "value";
        let mut schema = results.clone();
        if let OnError::Column(name) = on_error {
            if results.fields().iter().any(|field| field.name() == name) {
                let why = "is one of the results, so it cannot be that of the errors".to_string();
                return Err(Misfit { column: name.to_string(), why });
            }
            let error = Arc::new(Field::new(name, DataType::Utf8, true));
            let fields: Fields = results.fields().iter().cloned().chain([error]).collect();
            schema = Arc::new(Schema::new(fields));
        }
        Ok(Columns {
            results,
            schema,
            are_maps,
            has_rows_for_errors: on_error != OnError::LeaveOut,
            has_column_for_errors: matches!(on_error, OnError::Column(_)),
            rows: Vec::new(),
            errors: Vec::new(),
        })
    }

    /// Returns the schema of the batches.
    pub fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    /// Returns the number of rows so far.
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// True if there are no rows.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Adds a result. One that does not fit is not added.
    pub fn push(&mut self, result: Value) -> Result<(), Misfit> {
        match &result {
            Value::Map(entries) if self.are_maps => fit_entries(entries, self.results.fields(), "")?,
            Value::Nil => {}
            other if self.are_maps => {
                let column = self.results.fields().first().map_or("", |field| field.name()).to_string();
                let why = format!("needs a map with that key, but the result is {}", other.word());
                return Err(Misfit { column, why });
            }
            value => fit(value, self.results.field(0).data_type(), "value")?,
        }
        self.rows.push(result);
        Ok(())
    }

    /// Adds the row of a record without a result, if there is one.
    pub fn push_failure(&mut self, error: &str) {
        if self.has_rows_for_errors {
            self.errors.push((self.rows.len(), error.into()));
            self.rows.push(Value::Nil);
        }
    }

    /// Makes a batch of the rows so far, which are then gone.
    pub fn finish(&mut self) -> Result<RecordBatch, ArrowError> {
        let rows = std::mem::take(&mut self.rows);
        let rows: Vec<&Value> = rows.iter().collect();
        let mut arrays: Vec<ArrayRef> = match self.are_maps {
            true => self.results.fields().iter().map(|field| member(field, &rows)).collect(),
            false => vec![array(self.results.field(0).data_type(), &rows)],
        };
        let errors = std::mem::take(&mut self.errors);
        if self.has_column_for_errors {
            let mut texts = StringBuilder::new();
            let mut errors = errors.into_iter().peekable();
            for row in 0..rows.len() {
                texts.append_option(errors.next_if(|(at, _)| *at == row).map(|(_, error)| error));
            }
            arrays.push(Arc::new(texts.finish()));
        }
        let options = RecordBatchOptions::new().with_row_count(Some(rows.len()));
        RecordBatch::try_new_with_options(self.schema.clone(), arrays, &options)
    }
}

/// Refuses types that results have no exact values for.
fn check_type(kind: &DataType, name: &str) -> Result<(), Misfit> {
    match kind {
        DataType::Null
        | DataType::Boolean
        | DataType::Int8
        | DataType::Int16
        | DataType::Int32
        | DataType::Int64
        | DataType::UInt8
        | DataType::UInt16
        | DataType::UInt32
        | DataType::UInt64
        | DataType::Float32
        | DataType::Float64
        | DataType::Utf8
        | DataType::LargeUtf8
        | DataType::Date32
        | DataType::Decimal128(_, 0..)
        | DataType::Timestamp(TimeUnit::Microsecond, _) => Ok(()),
        DataType::List(item) => check_type(item.data_type(), &format!("{name}.*")),
        DataType::Struct(fields) => fields
            .iter()
            .try_for_each(|field| check_type(field.data_type(), &format!("{name}.{}", field.name()))),
        other => {
            let why = format!("has the type {other}, which results cannot be written as");
            Err(Misfit { column: name.to_string(), why })
        }
    }
}

/// Checks that a value can be written as this type exactly.
fn fit(value: &Value, kind: &DataType, name: &str) -> Result<(), Misfit> {
    let fits = match (kind, value) {
        (_, Value::Nil) => true,
        (DataType::Boolean, Value::Bool(_)) => true,
        (DataType::Utf8 | DataType::LargeUtf8, Value::Text(_)) => true,
        (DataType::Float64, value) => float(value).is_some(),
        (DataType::Float32, value) => float32(value).is_some(),
        (DataType::Date32, value) => day(value).is_some(),
        (DataType::Timestamp(..), value) => micros(value).is_some(),
        (DataType::Decimal128(precision, scale), value) => decimal(value, *precision, *scale).is_some(),
        (DataType::List(item), Value::List(items)) => {
            let name = format!("{name}.*");
            return items.iter().try_for_each(|value| fit(value, item.data_type(), &name));
        }
        (DataType::Struct(fields), Value::Map(entries)) => {
            return fit_entries(entries, fields, &format!("{name}."));
        }
        (kind, value) => match integer(value) {
            Some(n) => integer_fits(n, kind),
            None => false,
        },
    };
    if fits {
        return Ok(());
    }
    let value = match value {
        Value::Int(n) => n.to_string(),
        Value::Float(x) => x.to_string(),
        other => other.word().to_string(),
    };
    Err(Misfit { column: name.to_string(), why: format!("is of type {kind}, but the value is {value}") })
}

/// Checks a map. Its keys must be columns: what has no column would be lost.
fn fit_entries(entries: &[(Box<str>, Value)], fields: &Fields, path: &str) -> Result<(), Misfit> {
    for (key, value) in entries {
        let name = format!("{path}{key}");
        match fields.iter().find(|field| **field.name() == **key) {
            Some(field) => fit(value, field.data_type(), &name)?,
            None => return Err(Misfit { column: name, why: "is not in the schema".to_string() }),
        }
    }
    Ok(())
}

/// Reads an integer; whole floats count, since division gives them.
fn integer(value: &Value) -> Option<i128> {
    const MAX_EXACT: f64 = 9_007_199_254_740_992.0;
    match value {
        Value::Int(n) => Some(*n),
        Value::Float(x) if x.trunc() == *x && x.abs() <= MAX_EXACT => Some(*x as i128),
        _ => None,
    }
}

fn integer_fits(n: i128, kind: &DataType) -> bool {
    match kind {
        DataType::Int8 => i8::try_from(n).is_ok(),
        DataType::Int16 => i16::try_from(n).is_ok(),
        DataType::Int32 => i32::try_from(n).is_ok(),
        DataType::Int64 => i64::try_from(n).is_ok(),
        DataType::UInt8 => u8::try_from(n).is_ok(),
        DataType::UInt16 => u16::try_from(n).is_ok(),
        DataType::UInt32 => u32::try_from(n).is_ok(),
        DataType::UInt64 => u64::try_from(n).is_ok(),
        _ => false,
    }
}

fn float(value: &Value) -> Option<f64> {
    match value {
        Value::Float(x) => Some(*x),
        Value::Int(n) => Some(*n as f64).filter(|x| *x as i128 == *n),
        _ => None,
    }
}

/// The float of 32 bits that has the same shortest text, as the way in.
fn float32(value: &Value) -> Option<f32> {
    let x = float(value)?;
    let short = x as f32;
    let is_same = f64::from(short) == x || short.to_string().parse() == Ok(x);
    (is_same || !x.is_finite()).then_some(short)
}

fn day(value: &Value) -> Option<i32> {
    match value {
        Value::Day(day) => Some(*day),
        Value::Text(text) => read_day(text),
        _ => None,
    }
}

fn micros(value: &Value) -> Option<i64> {
    match value {
        Value::Instant(micros) => Some(*micros),
        Value::Text(text) => read_moment(text),
        _ => None,
    }
}

/// Returns the digits of a decimal; None if it needs more of them.
fn decimal(value: &Value, precision: u8, scale: i8) -> Option<i128> {
    let scale = u32::try_from(scale).ok()?;
    let digits = match value {
        Value::Int(n) => n.checked_mul(10_i128.checked_pow(scale)?)?,
        Value::Float(x) if x.is_finite() => {
            // The shortest text is the decimal that was meant.
            let text = format!("{x:e}");
            let (mantissa, exponent) = text.split_once('e')?;
            let behind = mantissa.split_once('.').map_or(0, |(_, behind)| behind.len() as i32);
            let shift = exponent.parse::<i32>().ok()? - behind + scale as i32;
            let digits: i128 = mantissa.replace('.', "").parse().ok()?;
            digits.checked_mul(10_i128.checked_pow(u32::try_from(shift).ok()?)?)?
        }
        _ => return None,
    };
    (digits.unsigned_abs() < 10_u128.checked_pow(u32::from(precision))?).then_some(digits)
}

/// Makes the column of a member of maps; other values have none.
fn member(field: &Field, rows: &[&Value]) -> ArrayRef {
    let values: Vec<&Value> =
        rows.iter().map(|row| entry(row, field.name()).unwrap_or(&Value::Nil)).collect();
    array(field.data_type(), &values)
}

fn entry<'v>(row: &'v Value, name: &str) -> Option<&'v Value> {
    let Value::Map(entries) = row else { return None };
    entries.iter().find(|(key, _)| **key == *name).map(|(_, value)| value)
}

/// Makes an array of values that fit.
fn array(kind: &DataType, values: &[&Value]) -> ArrayRef {
    fn primitive<T: ArrowPrimitiveType>(
        values: &[&Value],
        of: impl Fn(&Value) -> Option<T::Native>,
    ) -> PrimitiveArray<T> {
        values.iter().map(|value| of(value)).collect()
    }
    fn whole<T: ArrowPrimitiveType<Native: TryFrom<i128>>>(values: &[&Value]) -> ArrayRef {
        Arc::new(primitive::<T>(values, |value| T::Native::try_from(integer(value)?).ok()))
    }
    let text = |value: &&Value| match value {
        Value::Text(text) => Some(text.to_string()),
        _ => None,
    };
    match kind {
        DataType::Boolean => {
            let mut bools = BooleanBuilder::with_capacity(values.len());
            for value in values {
                bools.append_option(if let Value::Bool(truth) = value { Some(*truth) } else { None });
            }
            Arc::new(bools.finish())
        }
        DataType::Int8 => whole::<Int8Type>(values),
        DataType::Int16 => whole::<Int16Type>(values),
        DataType::Int32 => whole::<Int32Type>(values),
        DataType::Int64 => whole::<Int64Type>(values),
        DataType::UInt8 => whole::<UInt8Type>(values),
        DataType::UInt16 => whole::<UInt16Type>(values),
        DataType::UInt32 => whole::<UInt32Type>(values),
        DataType::UInt64 => whole::<UInt64Type>(values),
        DataType::Float32 => Arc::new(primitive::<Float32Type>(values, float32)),
        DataType::Float64 => Arc::new(primitive::<Float64Type>(values, float)),
        DataType::Utf8 => {
            let mut texts = StringBuilder::new();
            for value in values {
                texts.append_option(if let Value::Text(text) = value { Some(text) } else { None });
            }
            Arc::new(texts.finish())
        }
        DataType::LargeUtf8 => Arc::new(values.iter().map(text).collect::<LargeStringArray>()),
        DataType::Date32 => Arc::new(primitive::<Date32Type>(values, day)),
        DataType::Timestamp(_, zone) => {
            let times = primitive::<TimestampMicrosecondType>(values, micros);
            Arc::new(times.with_timezone_opt(zone.clone()))
        }
        DataType::Decimal128(precision, scale) => {
            let digits = primitive::<Decimal128Type>(values, |value| decimal(value, *precision, *scale));
            Arc::new(digits.with_data_type(kind.clone()))
        }
        DataType::List(item) => {
            let lists: Vec<&[Value]> = values.iter().map(|value| items(value)).collect();
            let offsets = OffsetBuffer::from_lengths(lists.iter().map(|list| list.len()));
            let all: Vec<&Value> = lists.into_iter().flatten().collect();
            Arc::new(ListArray::new(item.clone(), offsets, array(item.data_type(), &all), present(values)))
        }
        DataType::Struct(fields) => {
            let members: Vec<ArrayRef> = fields.iter().map(|field| member(field, values)).collect();
            let nulls = present(values);
            match members.is_empty() {
                true => Arc::new(StructArray::new_empty_fields(values.len(), nulls)),
                false => Arc::new(StructArray::new(fields.clone(), members, nulls)),
            }
        }
        // `check_type` lets no others through.
        _ => Arc::new(NullArray::new(values.len())),
    }
}

fn items(value: &Value) -> &[Value] {
    match value {
        Value::List(items) => items,
        _ => &[],
    }
}

fn present(values: &[&Value]) -> Option<NullBuffer> {
    Some(values.iter().map(|value| **value != Value::Nil).collect())
}
