//! Rust types to values and back, through serde.
//!
//! Into a program go what `Serialize` says: structs and maps become maps with string keys, enums
//! are tagged from outside as serde_json has them. Out of a program any value deserialises:
//! keywords as strings, sets and ranges as sequences, dates as ISO text, and a field `unit_price`
//! is found under `:unit-price`.
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

/// How deep data that goes through Rust types may nest, since those recurse on the Rust stack.
pub const MAX_DEPTH: usize = 128;

/// How keys of maps become keys of Rust types.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FromOptions {
    /// Whether a struct's field is found under its name with `-` for `_`, and back.
    pub match_fields: bool,
    /// Whether the string keys of Rust maps get `_` for `-`.
    pub snake_keys: bool,
}

impl Default for FromOptions {
    fn default() -> FromOptions {
        FromOptions { match_fields: true, snake_keys: false }
    }
}

/// A value of `heap` from anything that serialises.
pub fn to_value<T: Serialize + ?Sized>(heap: &mut Heap, data: &T) -> Result<Value, BridgeError> {
    Feed::default().value(heap, data)
}

/// Turns many Rust values into values of one heap, keeping what it learnt of their keys.
#[derive(Default)]
pub(crate) struct Feed {
    pub(crate) names: Names,
    parts: Vec<Value>,
    spare: Vec<Value>,
}

impl Feed {
    /// A value of `heap`. What is known of another heap must be forgotten first.
    pub(crate) fn value<T: Serialize + ?Sized>(
        &mut self,
        heap: &mut Heap,
        data: &T,
    ) -> Result<Value, BridgeError> {
        let Feed { names, parts, spare } = self;
        ser::serialize(&mut sink::HeapSink { heap, names, parts, spare }, data)
    }
}

/// Shared data from anything that serialises.
///
/// ```
/// let frozen = ptc_runtime::bridge::freeze(&vec![1, 2, 3])?;
/// assert_eq!(ptc_runtime::bridge::from_frozen::<Vec<i64>>(&frozen)?, [1, 2, 3]);
/// # Ok::<(), ptc_runtime::bridge::BridgeError>(())
/// ```
pub fn freeze<T: Serialize + ?Sized>(data: &T) -> Result<Frozen, BridgeError> {
    Frozen::build(|heap| to_value(heap, data))
}

/// A Rust type from a value. Strings may be borrowed from the heap.
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

/// As [`from_value`], with a say in how keys are matched.
pub fn from_value_with<'h, T: Deserialize<'h>>(
    heap: &'h Heap,
    value: Value,
    options: FromOptions,
) -> Result<T, BridgeError> {
    T::deserialize(de::De::new(heap, value, options))
}

/// A Rust type from shared data.
pub fn from_frozen<T: DeserializeOwned>(frozen: &Frozen) -> Result<T, BridgeError> {
    frozen.read(|heap, value| from_value(heap, value))
}
