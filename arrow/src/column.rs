//! Columns, downcast once for a whole batch.

use crate::decimal::Decimals;
use arrow_array::cast::AsArray;
use arrow_array::types::{
    ArrowDictionaryKeyType, Float16Type, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type,
    RunEndIndexType, UInt8Type, UInt16Type, UInt32Type, UInt64Type,
};
use arrow_array::{
    Array, ArrayRef, BooleanArray, Float32Array, Float64Array, Int8Array, Int16Array, Int32Array, Int64Array,
    LargeStringArray, StringArray, StringViewArray, UInt8Array, UInt16Array, UInt32Array, UInt64Array,
    downcast_dictionary_array, downcast_run_array,
};
use arrow_buffer::{NullBuffer, OffsetBuffer};
use arrow_cast::display::{ArrayFormatter, FormatOptions};
use arrow_schema::{DataType, Fields};
use ptc_runtime::Projection;
use std::collections::BTreeSet;
use std::fmt;

/// Maximum nesting of types: reading recurses.
const MAX_DEPTH: usize = 64;

/// A column that cannot be read exactly.
#[derive(Clone, PartialEq, Debug)]
pub struct Unsupported {
    /// Name of the column, with those of the structs around it: `order.lines`.
    pub column: String,
    why: String,
}

impl Unsupported {
    fn new(column: &str, why: impl Into<String>) -> Unsupported {
        Unsupported { column: column.to_string(), why: why.into() }
    }

    fn of_type(column: &str, kind: &DataType) -> Unsupported {
        Unsupported::new(column, format!("has the type {kind}, which no value holds exactly"))
    }
}

impl fmt::Display for Unsupported {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the column `{}` {}", self.column, self.why)
    }
}

impl std::error::Error for Unsupported {}

/// A column by its type.
#[derive(Debug)]
pub(crate) enum Column {
    /// Nothing but nulls, or left out.
    Nil,
    Bool(BooleanArray),
    Int8(Int8Array),
    Int16(Int16Array),
    Int32(Int32Array),
    Int64(Int64Array),
    UInt8(UInt8Array),
    UInt16(UInt16Array),
    UInt32(UInt32Array),
    UInt64(UInt64Array),
    Float32(Float32Array),
    Float64(Float64Array),
    Decimal(Decimals),
    Text(StringArray),
    LargeText(LargeStringArray),
    TextView(StringViewArray),
    /// Values as text, and the rows whose value has none; names the column and its type for those.
    Shown {
        texts: StringArray,
        bad: BTreeSet<usize>,
        about: String,
    },
    List {
        nulls: Option<NullBuffer>,
        items: Items,
        values: Box<Column>,
    },
    Struct {
        nulls: Option<NullBuffer>,
        members: Vec<(Box<str>, Column)>,
    },
    Map {
        nulls: Option<NullBuffer>,
        offsets: OffsetBuffer<i32>,
        keys: Box<Column>,
        values: Box<Column>,
    },
    /// Values by their index.
    Indexed {
        nulls: Option<NullBuffer>,
        indices: Vec<usize>,
        values: Box<Column>,
    },
}

/// The items of lists among the values of all.
#[derive(Debug)]
pub(crate) enum Items {
    Offsets(OffsetBuffer<i32>),
    LargeOffsets(OffsetBuffer<i64>),
    /// Lists of one length.
    Fixed(usize),
    /// Start and length of each.
    Views(Vec<(usize, usize)>),
}

impl Items {
    /// Returns the first item of a list, and the number of its items.
    pub fn of(&self, at: usize) -> (usize, usize) {
        fn between<T: Copy + TryInto<usize>>(offsets: &[T], at: usize) -> (usize, usize) {
            let offset = |at: usize| offsets.get(at).and_then(|n| (*n).try_into().ok()).unwrap_or(0);
            (offset(at), offset(at + 1).saturating_sub(offset(at)))
        }
        match self {
            Items::Offsets(offsets) => between(offsets, at),
            Items::LargeOffsets(offsets) => between(offsets, at),
            Items::Fixed(len) => (at * len, *len),
            Items::Views(views) => views.get(at).copied().unwrap_or_default(),
        }
    }
}

/// Makes the columns of a table or struct, which may lack some of its fields: those are nil. `path` names the columns around
/// them, with a dot at its end.
pub(crate) fn members(
    fields: &Fields,
    (present, arrays): (&Fields, &[ArrayRef]),
    projection: &Projection,
    path: &str,
) -> Result<Vec<(Box<str>, Column)>, Unsupported> {
    let (mut names, mut next) = (BTreeSet::new(), 0);
    let mut members = Vec::with_capacity(fields.len());
    for field in fields {
        let name = format!("{path}{}", field.name());
        if !names.insert(field.name()) {
            return Err(Unsupported::new(&name, "is there twice, and a record has one value of each name"));
        }
        // Both are in the same order.
        let array = present.get(next).filter(|known| known.name() == field.name()).and(arrays.get(next));
        next += usize::from(array.is_some());
        let column = match (projection.member(field.name()), array) {
            (Some(part), Some(array)) => Column::new(array, field.data_type(), &part, &name)?,
            _ => Column::Nil,
        };
        members.push((field.name().as_str().into(), column));
    }
    Ok(members)
}

impl Column {
    /// Downcasts an array of a column of type `kind`, whose structs may lack fields. `name` is its full name, for errors.
    pub fn new(
        array: &ArrayRef,
        kind: &DataType,
        projection: &Projection,
        name: &str,
    ) -> Result<Column, Unsupported> {
        if name.bytes().filter(|byte| *byte == b'.').count() > MAX_DEPTH {
            return Err(Unsupported::new(name, "is nested too deeply"));
        }
        let inner = |array: &ArrayRef| {
            Column::new(array, array.data_type(), &Projection::whole(), &format!("{name}.*"))
        };
        let nulls = array.logical_nulls();
        Ok(match array.data_type() {
            DataType::Null => Column::Nil,
            DataType::Boolean => Column::Bool(array.as_boolean().clone()),
            DataType::Int8 => Column::Int8(array.as_primitive::<Int8Type>().clone()),
            DataType::Int16 => Column::Int16(array.as_primitive::<Int16Type>().clone()),
            DataType::Int32 => Column::Int32(array.as_primitive::<Int32Type>().clone()),
            DataType::Int64 => Column::Int64(array.as_primitive::<Int64Type>().clone()),
            DataType::UInt8 => Column::UInt8(array.as_primitive::<UInt8Type>().clone()),
            DataType::UInt16 => Column::UInt16(array.as_primitive::<UInt16Type>().clone()),
            DataType::UInt32 => Column::UInt32(array.as_primitive::<UInt32Type>().clone()),
            DataType::UInt64 => Column::UInt64(array.as_primitive::<UInt64Type>().clone()),
            DataType::Float16 => {
                let floats = array.as_primitive::<Float16Type>().iter().map(|x| x.map(f32::from));
                Column::Float32(floats.collect())
            }
            DataType::Float32 => Column::Float32(array.as_primitive::<Float32Type>().clone()),
            DataType::Float64 => Column::Float64(array.as_primitive::<Float64Type>().clone()),
            DataType::Decimal32(..)
            | DataType::Decimal64(..)
            | DataType::Decimal128(..)
            | DataType::Decimal256(..) => match Decimals::new(array, about(array.data_type(), name)) {
                Some(decimals) => Column::Decimal(decimals),
                None => return Err(Unsupported::of_type(name, array.data_type())),
            },
            DataType::Utf8 => Column::Text(array.as_string().clone()),
            DataType::LargeUtf8 => Column::LargeText(array.as_string().clone()),
            DataType::Utf8View => Column::TextView(array.as_string_view().clone()),
            DataType::Date32
            | DataType::Date64
            | DataType::Time32(_)
            | DataType::Time64(_)
            | DataType::Timestamp(..)
            | DataType::Duration(_)
            | DataType::Interval(_)
            | DataType::Binary
            | DataType::LargeBinary
            | DataType::BinaryView
            | DataType::FixedSizeBinary(_) => shown(array, name)?,
            DataType::List(_) => {
                let list = array.as_list::<i32>();
                let items = Items::Offsets(list.offsets().clone());
                Column::List { nulls, items, values: Box::new(inner(list.values())?) }
            }
            DataType::LargeList(_) => {
                let list = array.as_list::<i64>();
                let items = Items::LargeOffsets(list.offsets().clone());
                Column::List { nulls, items, values: Box::new(inner(list.values())?) }
            }
            DataType::FixedSizeList(_, len) => {
                let list = array.as_fixed_size_list();
                let items = Items::Fixed(usize::try_from(*len).unwrap_or(0));
                Column::List { nulls, items, values: Box::new(inner(list.values())?) }
            }
            DataType::ListView(_) => {
                let list = array.as_list_view::<i32>();
                let views = list.offsets().iter().zip(list.sizes().iter());
                let items = Items::Views(views.map(|(at, len)| (*at as usize, *len as usize)).collect());
                Column::List { nulls, items, values: Box::new(inner(list.values())?) }
            }
            DataType::LargeListView(_) => {
                let list = array.as_list_view::<i64>();
                let views = list.offsets().iter().zip(list.sizes().iter());
                let items = Items::Views(views.map(|(at, len)| (*at as usize, *len as usize)).collect());
                Column::List { nulls, items, values: Box::new(inner(list.values())?) }
            }
            DataType::Struct(present) => {
                let fields = if let DataType::Struct(fields) = kind { fields } else { present };
                let arrays = array.as_struct().columns();
                let members = members(fields, (present, arrays), projection, &format!("{name}."))?;
                Column::Struct { nulls, members }
            }
            DataType::Map(..) => {
                let map = array.as_map();
                let keys = inner(map.keys())?;
                if !keys.is_text() || map.keys().null_count() > 0 {
                    return Err(Unsupported::of_type(name, array.data_type()));
                }
                let values = Box::new(inner(map.values())?);
                Column::Map { nulls, offsets: map.offsets().clone(), keys: Box::new(keys), values }
            }
            DataType::Dictionary(..) => indexed_by_dictionary(array, nulls, projection, name)?,
            DataType::RunEndEncoded(..) => indexed_by_runs(array, nulls, projection, name)?,
            other => return Err(Unsupported::of_type(name, other)),
        })
    }

    fn is_text(&self) -> bool {
        matches!(self, Column::Text(_) | Column::LargeText(_) | Column::TextView(_))
    }

    /// Returns the text at a place of a column of text.
    pub fn text(&self, at: usize) -> Option<&str> {
        match self {
            Column::Text(texts) => Some(texts.value(at)),
            Column::LargeText(texts) => Some(texts.value(at)),
            Column::TextView(texts) => Some(texts.value(at)),
            _ => None,
        }
    }
}

fn indexed_by_dictionary(
    array: &ArrayRef,
    nulls: Option<NullBuffer>,
    projection: &Projection,
    name: &str,
) -> Result<Column, Unsupported> {
    fn keys<K: ArrowDictionaryKeyType>(array: &arrow_array::DictionaryArray<K>) -> Vec<usize> {
        array.keys_iter().map(Option::unwrap_or_default).collect()
    }
    let array = &**array;
    downcast_dictionary_array!(
        array => {
            let values = array.values();
            let values = Box::new(Column::new(values, values.data_type(), projection, name)?);
            Ok(Column::Indexed { nulls, indices: keys(array), values })
        }
        kind => Err(Unsupported::of_type(name, kind))
    )
}

fn indexed_by_runs(
    array: &ArrayRef,
    nulls: Option<NullBuffer>,
    projection: &Projection,
    name: &str,
) -> Result<Column, Unsupported> {
    fn indices<R: RunEndIndexType>(array: &arrow_array::RunArray<R>) -> Vec<usize> {
        (0..array.len()).map(|at| array.get_physical_index(at)).collect()
    }
    let array = &**array;
    downcast_run_array!(
        array => {
            let values = array.values();
            let values = Box::new(Column::new(values, values.data_type(), projection, name)?);
            Ok(Column::Indexed { nulls, indices: indices(array), values })
        }
        kind => Err(Unsupported::of_type(name, kind))
    )
}

/// Names a value, for errors about it.
fn about(kind: &DataType, name: &str) -> String {
    format!("the column `{name}` has a value of type {kind} that")
}

/// Makes text of every value, in the way of Arrow's writer of JSON.
fn shown(array: &ArrayRef, name: &str) -> Result<Column, Unsupported> {
    let options = FormatOptions::new().with_display_error(false);
    let formatter = ArrayFormatter::try_new(array.as_ref(), &options)
        .map_err(|error| Unsupported::new(name, format!("cannot be read: {error}")))?;
    let mut bad = BTreeSet::new();
    let text = |at: usize| {
        if array.is_null(at) {
            return None;
        }
        let text = formatter.value(at).try_to_string();
        if text.is_err() {
            bad.insert(at);
        }
        Some(text.unwrap_or_default())
    };
    let texts = (0..array.len()).map(text).collect();
    Ok(Column::Shown { texts, bad, about: about(array.data_type(), name) })
}
