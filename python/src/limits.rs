//! Limits by name.

use ptc::Limits;
use ptc_bytecode::LIMITS;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString};

/// Reads limits from a dict; those it does not name have their defaults.
pub fn limits(given: Option<&Bound<'_, PyDict>>) -> PyResult<Limits> {
    let mut limits = Limits::default();
    for (name, value) in given.into_iter().flat_map(|given| given.iter()) {
        let name: String = name.cast::<PyString>()?.to_str()?.to_string();
        let value: u64 = value.extract().map_err(|_| {
            PyTypeError::new_err(format!("limits[{name:?}] must be an integer from 0 on, not {value}"))
        })?;
        if !limits.set(&name, value) {
            let names: Vec<&str> = LIMITS.iter().map(|row| row.name).collect();
            return Err(PyValueError::new_err(format!(
                "there is no limit `{name}`; the limits are {}",
                names.join(", ")
            )));
        }
    }
    limits.check().map_err(PyValueError::new_err)?;
    Ok(limits)
}

/// Returns every limit with its default.
#[pyfunction]
pub fn default_limits(py: Python<'_>) -> PyResult<Bound<'_, PyDict>> {
    let all = PyDict::new(py);
    for row in LIMITS {
        all.set_item(row.name, row.default)?;
    }
    Ok(all)
}
