//! Values of programs as plain Python objects.

use crate::data::ORDINAL_OF_1970;
use crate::names::{PyNames, python};
use num_bigint::BigInt;
use ptc::runtime::{Datum, Node};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyFloat, PyFrozenSet, PyList, PySet, PyString, PyTuple};
use std::collections::HashMap;

/// Makes Python objects from a value of a program: keywords and symbols become strings, vectors lists, dates
/// `datetime` objects. A key or an item of a set that is a collection becomes a tuple or a `frozenset`.
pub fn python<'py>(py: Python<'py>, datum: &Datum) -> PyResult<Bound<'py, PyAny>> {
    let mut stack: Vec<Bound<'py, PyAny>> = Vec::new();
    let mut keywords: HashMap<&str, Bound<'py, PyString>> = HashMap::new();
    for node in datum.nodes() {
        let object = match node {
            Node::Keyword(name) => {
                // Records repeat their keys.
                keywords.entry(name).or_insert_with(|| PyString::intern(py, name)).clone().into_any()
            }
            Node::Vector(count) => {
                let items = stack.drain(stack.len() - *count as usize..);
                PyList::new(py, items)?.into_any()
            }
            Node::Map(count) => map(py, stack.drain(stack.len() - 2 * *count as usize..))?,
            Node::Set(count) => set(py, stack.drain(stack.len() - *count as usize..))?,
            leaf => scalar(py, leaf)?,
        };
        stack.push(object);
    }
    stack.pop().ok_or_else(|| PyValueError::new_err("a value without parts"))
}

type Items<'v, 'py> = std::vec::Drain<'v, Bound<'py, PyAny>>;

fn map<'py>(py: Python<'py>, mut items: Items<'_, 'py>) -> PyResult<Bound<'py, PyAny>> {
    let dict = PyDict::new(py);
    let count = items.len() / 2;
    while let (Some(key), Some(value)) = (items.next(), items.next()) {
        dict.set_item(hashable(key)?, value)?;
    }
    if dict.len() != count {
        return Err(PyValueError::new_err(
            "the result has a map with keys that Python does not tell apart, such as `:a` and \"a\", or 1 and 1.0; \
             return a vector of pairs: `(vec the-map)`",
        ));
    }
    Ok(dict.into_any())
}

fn set<'py>(py: Python<'py>, items: Items<'_, 'py>) -> PyResult<Bound<'py, PyAny>> {
    let count = items.len();
    let set = PySet::empty(py)?;
    for item in items {
        set.add(hashable(item)?)?;
    }
    if set.len() != count {
        return Err(PyValueError::new_err(
            "the result has a set with items that Python does not tell apart, such as `:a` and \"a\", or 1 and 1.0; \
             return a vector: `(vec the-set)`",
        ));
    }
    Ok(set.into_any())
}

/// Makes an object that can be a key. Collections as keys are rarely deeper than one level.
fn hashable(object: Bound<'_, PyAny>) -> PyResult<Bound<'_, PyAny>> {
    let py = object.py();
    if let Ok(list) = object.cast_exact::<PyList>() {
        let items: Vec<Bound<'_, PyAny>> = list.iter().map(hashable).collect::<PyResult<_>>()?;
        return Ok(PyTuple::new(py, items)?.into_any());
    }
    if let Ok(set) = object.cast_exact::<PySet>() {
        let items: Vec<Bound<'_, PyAny>> = set.iter().collect();
        return Ok(PyFrozenSet::new(py, items)?.into_any());
    }
    if let Ok(dict) = object.cast_exact::<PyDict>() {
        let pair = |(key, value)| PyTuple::new(py, [key, hashable(value)?]);
        let pairs: Vec<Bound<'_, PyTuple>> = dict.iter().map(pair).collect::<PyResult<_>>()?;
        return Ok(PyFrozenSet::new(py, pairs)?.into_any());
    }
    Ok(object)
}

fn scalar<'py>(py: Python<'py>, node: &Node) -> PyResult<Bound<'py, PyAny>> {
    Ok(match node {
        Node::Bool(truth) => PyBool::new(py, *truth).to_owned().into_any(),
        Node::Int(number) => number.into_pyobject(py)?.into_any(),
        Node::Big(digits) => {
            let number: BigInt =
                digits.parse().map_err(|_| PyValueError::new_err("a number without digits"))?;
            number.into_pyobject(py)?.into_any()
        }
        Node::Float(number) => PyFloat::new(py, *number).into_any(),
        Node::Str(text)
        | Node::Symbol(text)
        | Node::Regex(text)
        | Node::Opaque(text)
        | Node::Keyword(text) => PyString::new(py, text).into_any(),
        Node::Day(day) => {
            let ordinal = i64::from(*day) + ORDINAL_OF_1970;
            let made = PyNames::get(py)?.date(py)?.call_method1(python!(py, "fromordinal"), (ordinal,));
            made.map_err(|error| no_time(py, error, "date"))?
        }
        Node::Instant(micros) => {
            let since = PyNames::get(py)?.timedelta(py)?.call1((0, 0, *micros));
            let made = since.and_then(|since| PyNames::get(py)?.epoch(py)?.add(since));
            made.map_err(|error| no_time(py, error, "datetime"))?
        }
        Node::Duration(millis) => {
            let made = PyNames::get(py)?.timedelta(py)?.call1((0, 0, 0, *millis));
            made.map_err(|error| no_time(py, error, "timedelta"))?
        }
        Node::Nil | Node::Vector(_) | Node::Map(_) | Node::Set(_) => py.None().into_bound(py),
    })
}

/// Makes the error of a time that Python has no object for.
fn no_time(py: Python<'_>, cause: PyErr, kind: &str) -> PyErr {
    let message =
        format!("the result has a time that is no `{kind}` of Python; return it as text: `(str the-time)`");
    let error = PyValueError::new_err(message);
    error.set_cause(py, Some(cause));
    error
}
