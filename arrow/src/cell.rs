//! Cells: the value of a column in one row, written straight into the heap of a run.

use crate::column::Column;
use arrow_array::{Array, Float32Array};
use arrow_buffer::NullBuffer;
use serde::ser::{Error, Serialize, SerializeMap, SerializeSeq, Serializer};

/// The value of a column in one row.
pub(crate) struct Cell<'c> {
    pub column: &'c Column,
    pub at: usize,
}

impl Serialize for Cell<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let at = self.at;
        macro_rules! scalar {
            ($array:expr, $write:ident) => {
                if $array.is_null(at) {
                    serializer.serialize_unit()
                } else {
                    serializer.$write($array.value(at))
                }
            };
        }
        match self.column {
            Column::Nil => serializer.serialize_unit(),
            Column::Bool(array) => scalar!(array, serialize_bool),
            Column::Int8(array) => scalar!(array, serialize_i8),
            Column::Int16(array) => scalar!(array, serialize_i16),
            Column::Int32(array) => scalar!(array, serialize_i32),
            Column::Int64(array) => scalar!(array, serialize_i64),
            Column::UInt8(array) => scalar!(array, serialize_u8),
            Column::UInt16(array) => scalar!(array, serialize_u16),
            Column::UInt32(array) => scalar!(array, serialize_u32),
            Column::UInt64(array) => scalar!(array, serialize_u64),
            Column::Text(array) => scalar!(array, serialize_str),
            Column::LargeText(array) => scalar!(array, serialize_str),
            Column::TextView(array) => scalar!(array, serialize_str),
            Column::Float32(array) => match float32(array, at) {
                Some(x) => serializer.serialize_f64(x),
                None => serializer.serialize_unit(),
            },
            Column::Float64(array) if array.is_null(at) || !array.value(at).is_finite() => {
                serializer.serialize_unit()
            }
            Column::Float64(array) => serializer.serialize_f64(array.value(at)),
            Column::Decimal(decimals) => decimals.serialize(at, serializer),
            Column::Shown { texts, bad, about } => {
                if bad.contains(&at) {
                    return Err(S::Error::custom(format!("{about} is out of range")));
                }
                scalar!(texts, serialize_str)
            }
            Column::List { nulls, items, values } => {
                if is_null(nulls, at) {
                    return serializer.serialize_unit();
                }
                let (start, len) = items.of(at);
                let mut list = serializer.serialize_seq(Some(len))?;
                for at in start..start + len {
                    list.serialize_element(&Cell { column: values, at })?;
                }
                list.end()
            }
            Column::Struct { nulls, members } => {
                if is_null(nulls, at) {
                    return serializer.serialize_unit();
                }
                let mut map = serializer.serialize_map(Some(members.len()))?;
                for (name, column) in members {
                    map.serialize_entry(&**name, &Cell { column, at })?;
                }
                map.end()
            }
            Column::Map { nulls, offsets, keys, values } => {
                if is_null(nulls, at) {
                    return serializer.serialize_unit();
                }
                write_map(offsets, keys, values, at, serializer)
            }
            Column::Indexed { nulls, indices, values } => {
                if is_null(nulls, at) {
                    return serializer.serialize_unit();
                }
                Cell { column: values, at: indices[at] }.serialize(serializer)
            }
        }
    }
}

fn is_null(nulls: &Option<NullBuffer>, at: usize) -> bool {
    nulls.as_ref().is_some_and(|nulls| nulls.is_null(at))
}

/// The float with the shortest text that means the same: 0.1 stays 0.1, as in JSON.
fn float32(array: &Float32Array, at: usize) -> Option<f64> {
    if array.is_null(at) || !array.value(at).is_finite() {
        return None;
    }
    let x = array.value(at);
    // Up to here, whole numbers are the same in both.
    if x.trunc() == x && x.abs() < 16_777_216.0 { Some(f64::from(x)) } else { x.to_string().parse().ok() }
}

fn write_map<S: Serializer>(
    offsets: &[i32],
    keys: &Column,
    values: &Column,
    at: usize,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    let (start, end) = (offsets[at] as usize, offsets[at + 1] as usize);
    let mut seen = std::collections::BTreeSet::new();
    let mut map = serializer.serialize_map(Some(end - start))?;
    for at in start..end {
        let key = keys.text(at).unwrap_or_default();
        if !seen.insert(key) {
            return Err(S::Error::custom(format!("the map has the key \"{key}\" twice")));
        }
        map.serialize_entry(key, &Cell { column: values, at })?;
    }
    map.end()
}
