//! Conversion between owned data and Rust types, JSON trees and JSON text.

use ptc_bytecode::Datum;
use ptc_vm::{Fault, Heap};
use serde::{Serialize, de::DeserializeOwned};

use super::error::BridgeError;
use super::sink::DatumSink;
use super::{from_value, ser};
use crate::json::{WriteOptions, write_json};

/// Makes owned data from anything that serialises.
///
/// ```
/// use ptc_bytecode::Node;
/// let datum = ptc_runtime::bridge::to_datum(&("a", 1))?;
/// assert_eq!(datum.nodes(), [Node::Str("a".into()), Node::Int(1), Node::Vector(2)]);
/// # Ok::<(), ptc_runtime::bridge::BridgeError>(())
/// ```
pub fn to_datum<T: Serialize + ?Sized>(data: &T) -> Result<Datum, BridgeError> {
    let mut sink = DatumSink::default();
    ser::serialize(&mut sink, data)?;
    sink.finish()
}

/// Makes a Rust type from owned data.
///
/// ```
/// use ptc_bytecode::{Datum, Node};
/// let datum = Datum::new(vec![Node::Keyword("max-rows".into()), Node::Int(9), Node::Map(1)]).unwrap();
/// #[derive(serde::Deserialize)]
/// struct Args { max_rows: u32 }
/// assert_eq!(ptc_runtime::bridge::from_datum::<Args>(&datum)?.max_rows, 9);
/// # Ok::<(), ptc_runtime::bridge::BridgeError>(())
/// ```
pub fn from_datum<T: DeserializeOwned>(datum: &Datum) -> Result<T, BridgeError> {
    let mut heap = Heap::unbounded();
    let value = heap.from_datum(datum)?;
    from_value(&heap, value)
}

/// Makes owned data from a JSON tree. Numbers beyond 64 bits are already floats in the tree.
pub fn json_to_datum(json: &serde_json::Value) -> Result<Datum, BridgeError> {
    to_datum(json)
}

/// Makes a JSON tree from owned data, at most [`MAX_DEPTH`](super::MAX_DEPTH) deep, since dropping a tree recurses;
/// for text of any depth see [`datum_to_json_text`].
///
/// ```
/// use ptc_runtime::bridge::{datum_to_json, json_to_datum};
/// let tree = serde_json::json!({"rows": [1, 2.5, null, true, "x"]});
/// assert_eq!(datum_to_json(&json_to_datum(&tree)?)?, tree);
/// # Ok::<(), ptc_runtime::bridge::BridgeError>(())
/// ```
pub fn datum_to_json(datum: &Datum) -> Result<serde_json::Value, BridgeError> {
    from_datum(datum)
}

/// Writes owned data of any depth as JSON text of at most `limit` bytes.
///
/// ```
/// use ptc_bytecode::{Datum, Node};
/// let datum = Datum::new(vec![Node::Keyword("a".into()), Node::Int(1), Node::Map(1)]).unwrap();
/// assert_eq!(ptc_runtime::bridge::datum_to_json_text(&datum, 100)?, r#"{"a":1}"#);
/// # Ok::<(), ptc_vm::Fault>(())
/// ```
pub fn datum_to_json_text(datum: &Datum, limit: usize) -> Result<String, Fault> {
    let mut heap = Heap::unbounded();
    let value = heap.from_datum(datum).map_err(|stop| BridgeError::from(stop).to_fault())?;
    let mut text = String::new();
    write_json(&heap, value, &mut text, &WriteOptions { limit, ..WriteOptions::default() })?;
    Ok(text)
}
