//! A handle that ends runs from outside.

use ptc::Cancel;
use pyo3::prelude::*;

/// Ends runs from outside: every run that was given it ends with `ptc.Cancelled`. Works from any thread.
#[pyclass(frozen, module = "ptc", name = "Cancel")]
#[derive(Default)]
pub struct PyCancel {
    pub cancel: Cancel,
}

#[pymethods]
impl PyCancel {
    #[new]
    fn new() -> PyCancel {
        PyCancel::default()
    }

    /// Cancels, for good.
    fn cancel(&self) {
        self.cancel.cancel();
    }

    /// True once it was cancelled.
    #[getter]
    fn cancelled(&self) -> bool {
        self.cancel.is_cancelled()
    }
}
