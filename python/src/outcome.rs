//! Results of programs.

use crate::diagnostic::{self, PyDiagnostic};
use crate::value;
use ptc::binding::When;
use ptc::runtime::{Failure, Fault, Outcome};
use pyo3::prelude::*;
use pyo3::types::PyList;
use std::sync::Arc;

/// A program that ended well: its value, and the facts of its run.
#[pyclass(frozen, module = "ptc", name = "Outcome")]
pub struct PyOutcome {
    pub outcome: Arc<Outcome>,
}

#[pymethods]
impl PyOutcome {
    /// Value of the program as plain Python; made anew by every access.
    #[getter]
    fn value<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let outcome = &self.outcome;
        let datum = py.detach(|| outcome.datum()).map_err(|fault| failed(py, fault))?;
        value::python(py, &datum)
    }

    /// Value of the program as PTC-Lisp prints it.
    #[getter]
    fn text(&self, py: Python<'_>) -> PyResult<String> {
        let outcome = &self.outcome;
        py.detach(|| outcome.print()).map_err(|fault| failed(py, fault))
    }

    /// Returns the value as JSON text.
    fn json(&self, py: Python<'_>) -> PyResult<String> {
        let outcome = &self.outcome;
        py.detach(|| outcome.json()).map_err(|fault| failed(py, fault))
    }

    /// Printed lines.
    #[getter]
    fn prints(&self) -> Vec<String> {
        self.outcome.clear_prints()
    }

    /// Work of the run in units of fuel, the same on every machine.
    #[getter]
    fn fuel(&self) -> u64 {
        self.outcome.fuel
    }

    /// Work of compiling the program, in units of its own.
    #[getter]
    fn compile_fuel(&self) -> u64 {
        self.outcome.compile_fuel
    }

    /// Number of tool calls that were made.
    #[getter]
    fn tool_calls(&self) -> u64 {
        self.outcome.tool_calls
    }

    /// Warnings that did not keep the program from giving its value.
    #[getter]
    fn warnings<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        PyDiagnostic::list(py, self.outcome.warnings(), self.outcome.source())
    }

    fn __repr__(&self) -> String {
        let shown = self.outcome.print_start(200).map_or_else(
            |_| "…".to_string(),
            |(text, is_all)| if is_all { text } else { format!("{text}…") },
        );
        format!("<Outcome {shown} fuel={}>", self.outcome.fuel)
    }
}

/// Makes the exception of a value that cannot be written out.
fn failed(py: Python<'_>, fault: Fault) -> PyErr {
    diagnostic::error(py, &Failure::from(fault), When::Running)
}
