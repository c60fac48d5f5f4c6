//! Conversion between Rust types and values, through serde.
//!
//! Data enters a program as `Serialize` describes it: structs and maps become maps with string keys, and enums are
//! tagged externally as in serde_json. Any value deserialises: keywords as strings, sets and ranges as sequences, dates
//! as ISO text, and a field `unit_price` is found under `:unit-price`.
//!
//! ```
//! use ptc_runtime::bridge::{from_value, to_value};
//! use serde::{Deserialize, Serialize};
//!
//! #[derive(Serialize, Deserialize, PartialEq, Debug)]
//! struct Item { unit_price: f64, tags: Vec<String> }
//!
//! let mut heap = ptc_vm::Heap::unbounded();
//! let tea = Item { unit_price: 2.5, tags: vec!["hot".into()] };
//! let value = to_value(&mut heap, &tea)?;
//! assert_eq!(from_value::<Item>(&heap, value)?, tea);
//! # Ok::<(), ptc_runtime::bridge::BridgeError>(())
//! ```

mod datum;
mod de;
mod error;
mod key;
mod name;
mod ser;
mod sink;

use crate::json::names::Names;
use ptc_vm::{Frozen, Heap, Value};
use serde::{Deserialize, Serialize, de::DeserializeOwned};

pub use datum::{datum_to_json, datum_to_json_text, from_datum, json_to_datum, to_datum};
pub use error::BridgeError;

/// Maximum nesting of data that goes through Rust types, since those recurse on the Rust stack.
pub const MAX_DEPTH: usize = 128;

/// Options for turning keys of maps into keys of Rust types.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FromOptions {
    /// True to find a struct's field under its name with `-` for `_`, and the other way round.
    pub match_fields: bool,
    /// True to give string keys of Rust maps `_` for `-`.
    pub snake_keys: bool,
}

impl Default for FromOptions {
    fn default() -> FromOptions {
        FromOptions { match_fields: true, snake_keys: false }
    }
}

/// Makes a value of `heap` from anything that serialises.
pub fn to_value<T: Serialize + ?Sized>(heap: &mut Heap, data: &T) -> Result<Value, BridgeError> {
    Feed::default().value(heap, data)
}

/// Converter of many Rust values into one heap; it reuses the keys it has seen.
#[derive(Default)]
pub(crate) struct Feed {
    pub(crate) names: Names,
    parts: Vec<Value>,
    spare: Vec<Value>,
}

impl Feed {
    /// Makes a value of `heap`. Keys of another heap must be forgotten first.
    pub(crate) fn value<T: Serialize + ?Sized>(
        &mut self,
        heap: &mut Heap,
        data: &T,
    ) -> Result<Value, BridgeError> {
        let Feed { names, parts, spare } = self;
        ser::serialize(&mut sink::HeapSink { heap, names, parts, spare }, data)
    }
}

/// Makes shared data from anything that serialises.
///
/// ```
/// let frozen = ptc_runtime::bridge::freeze(&vec![1, 2, 3])?;
/// assert_eq!(ptc_runtime::bridge::from_frozen::<Vec<i64>>(&frozen)?, [1, 2, 3]);
/// # Ok::<(), ptc_runtime::bridge::BridgeError>(())
/// ```
pub fn freeze<T: Serialize + ?Sized>(data: &T) -> Result<Frozen, BridgeError> {
    Frozen::build(|heap| to_value(heap, data))
}

/// Makes a Rust type from a value. Strings may be borrowed from the heap.
///
/// ```
/// use ptc_runtime::bridge::from_value;
/// use ptc_vm::{Heap, Value};
/// let mut heap = Heap::unbounded();
/// let list = heap.new_vec(&[Value::Int(1), Value::Nil])?;
/// assert_eq!(from_value::<Vec<Option<u8>>>(&heap, list).unwrap(), [Some(1), None]);
/// let error = from_value::<Vec<u8>>(&heap, list).unwrap_err();
/// assert_eq!(error.to_string(), "at [1]: invalid type: unit value, expected u8");
/// # Ok::<(), ptc_vm::Stop>(())
/// ```
pub fn from_value<'h, T: Deserialize<'h>>(heap: &'h Heap, value: Value) -> Result<T, BridgeError> {
    from_value_with(heap, value, FromOptions::default())
}

/// Makes a Rust type from a value, like [`from_value`], with options for matching keys.
pub fn from_value_with<'h, T: Deserialize<'h>>(
    heap: &'h Heap,
    value: Value,
    options: FromOptions,
) -> Result<T, BridgeError> {
    T::deserialize(de::De::new(heap, value, options))
}

/// Makes a Rust type from shared data.
pub fn from_frozen<T: DeserializeOwned>(frozen: &Frozen) -> Result<T, BridgeError> {
    frozen.read(|heap, value| from_value(heap, value))
}
