//! Data that is read once and granted to many programs.

use crate::{data, plain, value};
use ptc::Grants;
use ptc::runtime::Frozen;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString};

/// Data that was read once, and that any number of programs on any threads read without a copy.
#[pyclass(frozen, module = "ptc", name = "Frozen")]
pub struct PyFrozen {
    pub frozen: Frozen,
}

#[pymethods]
impl PyFrozen {
    /// Size in memory, in bytes.
    #[getter]
    fn nbytes(&self) -> usize {
        self.frozen.bytes()
    }

    /// Returns the data as plain Python.
    fn thaw<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let datum = self
            .frozen
            .to_datum(usize::MAX)
            .map_err(|fault| crate::diagnostic::problem(py, fault.to_diagnostic()))?;
        value::python(py, &datum)
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyAny>, (Bound<'py, PyAny>,))> {
        Ok((py.import("ptc")?.getattr("freeze")?, (self.thaw(py)?,)))
    }

    fn __repr__(&self) -> String {
        format!("<Frozen {} bytes>", self.frozen.bytes())
    }
}

/// Reads data once, to be granted to many programs: `ptc.run(program, data={"orders": ptc.freeze(orders)})`.
#[pyfunction]
pub fn freeze(value: &Bound<'_, PyAny>) -> PyResult<PyFrozen> {
    Ok(PyFrozen { frozen: frozen(value, "data")? })
}

/// Makes shared data from an object; data that is frozen already is not copied.
pub fn frozen(value: &Bound<'_, PyAny>, name: &str) -> PyResult<Frozen> {
    if let Ok(frozen) = value.cast::<PyFrozen>() {
        return Ok(frozen.get().frozen.clone());
    }
    if let Some(plain) = plain::freeze(value) {
        return Ok(plain);
    }
    let datum = data::datum(value, name)?;
    Frozen::from_datum(&datum).map_err(|fault| crate::diagnostic::problem(value.py(), fault.to_diagnostic()))
}

/// Data that programs read as `data/<name>`.
#[pyclass(frozen, module = "ptc._ptc", name = "Grants")]
pub struct PyGrants {
    pub grants: Grants,
}

#[pymethods]
impl PyGrants {
    #[new]
    #[pyo3(signature = (data=None))]
    fn new(data: Option<&Bound<'_, PyDict>>) -> PyResult<PyGrants> {
        let mut grants = Grants::new();
        for (name, value) in data.into_iter().flat_map(|data| data.iter()) {
            let Ok(text) = name.cast::<PyString>() else {
                return Err(PyTypeError::new_err(format!(
                    "the names of data are strings, not {}",
                    name.repr()?
                )));
            };
            let text = text.to_str()?;
            grants = grants.frozen(text, frozen(&value, &format!("data[{text:?}]"))?);
        }
        Ok(PyGrants { grants })
    }
}
