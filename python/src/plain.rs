//! Plain data, read straight into shared data: what JSON could hold, which is what most data is.

use ptc::runtime::{Frozen, bridge};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyFloat, PyInt, PyList, PyString, PyTuple};
use serde::ser::{Error, Serialize, SerializeMap, SerializeSeq, Serializer};

/// Reads plain data in one pass, with the keys of records made once; twice as fast as by way of owned data. None if some
/// of it is not plain, or cannot be read: the careful reader then decides, and knows what to say.
pub fn freeze(value: &Bound<'_, PyAny>) -> Option<Frozen> {
    bridge::freeze(&Plain(value)).ok()
}

/// A Python object of a plain type.
struct Plain<'v, 'py>(&'v Bound<'py, PyAny>);

impl Serialize for Plain<'_, '_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let value = self.0;
        if let Ok(text) = value.cast_exact::<PyString>() {
            to.serialize_str(text.to_str().map_err(|_| not_plain())?)
        } else if let Ok(number) = value.cast_exact::<PyInt>() {
            to.serialize_i64(number.extract().map_err(|_| not_plain())?)
        } else if let Ok(number) = value.cast_exact::<PyFloat>() {
            to.serialize_f64(number.value())
        } else if let Ok(map) = value.cast_exact::<PyDict>() {
            let mut entries = to.serialize_map(Some(map.len()))?;
            for (key, value) in map.iter() {
                let key = key.cast_exact::<PyString>().map_err(|_| not_plain())?;
                entries.serialize_entry(key.to_str().map_err(|_| not_plain())?, &Plain(&value))?;
            }
            entries.end()
        } else if let Ok(list) = value.cast_exact::<PyList>() {
            all(to, list.len(), list.iter())
        } else if value.is_none() {
            to.serialize_unit()
        } else if let Ok(truth) = value.cast_exact::<PyBool>() {
            to.serialize_bool(truth.is_true())
        } else if let Ok(tuple) = value.cast_exact::<PyTuple>() {
            all(to, tuple.len(), tuple.iter())
        } else {
            Err(not_plain())
        }
    }
}

fn all<'py, S: Serializer>(
    to: S,
    count: usize,
    items: impl Iterator<Item = Bound<'py, PyAny>>,
) -> Result<S::Ok, S::Error> {
    let mut sequence = to.serialize_seq(Some(count))?;
    for item in items {
        sequence.serialize_element(&Plain(&item))?;
    }
    sequence.end()
}

/// The reason is never shown.
fn not_plain<E: Error>() -> E {
    E::custom("not plain")
}
