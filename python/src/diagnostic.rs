//! Errors and warnings of programs as Python objects.

use crate::value;
use ptc::binding::{When, class_of};
use ptc::runtime::{Code, Diagnostic, Failure};
use ptc_bytecode::{CallFrame, place_of};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyDict, PyList, PyString, PyTuple, PyType};

/// One error or warning about a program.
#[pyclass(frozen, module = "ptc", name = "Diagnostic")]
pub struct PyDiagnostic {
    /// Stable name of the kind of error, such as `unknown_field`.
    #[pyo3(get)]
    kind: String,
    /// Code of the kind, such as `E0211`: `ptc explain E0211` tells more.
    #[pyo3(get)]
    code: String,
    /// What is wrong.
    #[pyo3(get)]
    message: String,
    /// What to write instead, if that is known.
    #[pyo3(get)]
    hint: Option<String>,
    /// Line in the program, from 1; `None` if the error belongs to no place.
    #[pyo3(get)]
    line: Option<u32>,
    /// Column in the line, from 1.
    #[pyo3(get)]
    column: Option<u32>,
    /// Calls that led there, the innermost first.
    #[pyo3(get)]
    frames: Vec<Py<PyFrame>>,
    /// True for a warning.
    #[pyo3(get)]
    is_warning: bool,
    text: String,
}

/// A call of a program that had not returned when an error happened.
#[pyclass(frozen, module = "ptc", name = "Frame")]
pub struct PyFrame {
    /// Name of the function; `None` if it has none.
    #[pyo3(get)]
    function: Option<String>,
    /// Library function that made the call for the program, such as `map`.
    #[pyo3(get)]
    by: Option<String>,
    /// Index of the element that was processed, from 0.
    #[pyo3(get)]
    index: Option<u64>,
    /// Line of the call in the program, from 1.
    #[pyo3(get)]
    line: Option<u32>,
}

#[pymethods]
impl PyFrame {
    #[new]
    fn new(function: Option<String>, by: Option<String>, index: Option<u64>, line: Option<u32>) -> PyFrame {
        PyFrame { function, by, index, line }
    }

    /// For `pickle`: errors go from one process to another.
    #[allow(clippy::type_complexity)]
    fn __reduce__<'py>(
        this: &Bound<'py, Self>,
    ) -> (Bound<'py, PyType>, (Option<String>, Option<String>, Option<u64>, Option<u32>)) {
        let frame = this.get();
        (this.get_type(), (frame.function.clone(), frame.by.clone(), frame.index, frame.line))
    }

    fn __repr__(&self) -> String {
        let name = self.function.as_deref().unwrap_or("a function");
        let line = self.line.map(|line| format!(", line {line}")).unwrap_or_default();
        let by = self.by.as_deref().map(|by| format!(", called by {by}")).unwrap_or_default();
        let index = self.index.map(|index| format!(" for element {index}")).unwrap_or_default();
        format!("<Frame {name}{line}{by}{index}>")
    }
}

#[pymethods]
impl PyDiagnostic {
    #[new]
    #[allow(clippy::too_many_arguments)] // Called by `pickle` alone.
    fn py_new(
        kind: String,
        code: String,
        message: String,
        hint: Option<String>,
        line: Option<u32>,
        column: Option<u32>,
        frames: Vec<Py<PyFrame>>,
        is_warning: bool,
        text: String,
    ) -> PyDiagnostic {
        PyDiagnostic { kind, code, message, hint, line, column, frames, is_warning, text }
    }

    /// For `pickle`: errors go from one process to another.
    fn __reduce__<'py>(this: &Bound<'py, Self>) -> PyResult<(Bound<'py, PyType>, Bound<'py, PyTuple>)> {
        let (py, told) = (this.py(), this.get());
        let frames = PyList::new(py, told.frames.iter().map(|frame| frame.clone_ref(py)))?;
        let PyDiagnostic { kind, code, message, hint, line, column, is_warning, text, .. } = told;
        let args = (kind, code, message, hint.as_deref(), *line, *column, frames, *is_warning, text);
        Ok((this.get_type(), args.into_pyobject(py)?))
    }

    fn __str__(&self) -> &str {
        &self.text
    }

    fn __repr__(&self) -> String {
        let line = self.line.map(|line| format!(", line {line}")).unwrap_or_default();
        format!("<Diagnostic {} {}{line}: {}>", self.code, self.kind, self.message)
    }
}

impl PyDiagnostic {
    /// Makes the object of a diagnostic about this source.
    pub fn new(py: Python<'_>, diagnostic: &Diagnostic, source: &str) -> PyResult<PyDiagnostic> {
        let place = diagnostic.place(source);
        let trace = diagnostic.trace.as_deref();
        let calls = trace.into_iter().flat_map(|trace| trace.inner.iter().chain(&trace.outer));
        let frame = |call: &CallFrame| {
            Py::new(
                py,
                PyFrame {
                    function: call.function.clone(),
                    by: call.by.clone(),
                    index: call.index,
                    line: call.span.map(|span| place_of(source, span.start).line),
                },
            )
        };
        Ok(PyDiagnostic {
            kind: diagnostic.code.reason().to_string(),
            code: diagnostic.code.label(),
            message: diagnostic.message.clone(),
            hint: diagnostic.hint.clone(),
            line: place.map(|place| place.line),
            column: place.map(|place| place.column),
            frames: calls.map(frame).collect::<PyResult<_>>()?,
            is_warning: diagnostic.code.is_warning(),
            text: diagnostic.to_text(source).trim_end().to_string(),
        })
    }

    /// Makes a list of diagnostics about this source.
    pub fn list<'py>(
        py: Python<'py>,
        diagnostics: &[Diagnostic],
        source: &str,
    ) -> PyResult<Bound<'py, PyList>> {
        let all: Vec<PyDiagnostic> =
            diagnostics.iter().map(|told| PyDiagnostic::new(py, told, source)).collect::<PyResult<_>>()?;
        PyList::new(py, all.into_iter().map(|one| Py::new(py, one)).collect::<PyResult<Vec<_>>>()?)
    }
}

/// Makes the exception of a failure.
pub fn error(py: Python<'_>, failure: &Failure, when: When) -> PyErr {
    make(py, failure, when).unwrap_or_else(|error| error)
}

/// Makes the exception of a single problem that has no program.
pub fn problem(py: Python<'_>, diagnostic: Diagnostic) -> PyErr {
    error(py, &Failure::from(diagnostic), When::Before)
}

/// Makes the exception of several problems of one text that is no program, such as the source of a prelude.
pub fn problems(py: Python<'_>, diagnostics: &[Diagnostic], source: &str) -> PyErr {
    let fields = PyDict::new(py);
    raise(py, diagnostics, source, When::Before, fields).unwrap_or_else(|error| error)
}

fn make(py: Python<'_>, failure: &Failure, when: When) -> PyResult<PyErr> {
    let fields = PyDict::new(py);
    fields.set_item("warnings", PyDiagnostic::list(py, failure.warnings(), failure.source())?)?;
    fields.set_item("prints", failure.clear_prints())?;
    fields.set_item("fuel", failure.fuel)?;
    fields.set_item("compile_fuel", failure.compile_fuel)?;
    let value = failure.value.as_ref().map(|value| value::python(py, value)).transpose();
    // Whatever the value is, the failure itself is what must be told.
    fields.set_item("value", value.ok().flatten())?;
    raise(py, &failure.diagnostics, failure.source(), when, fields)
}

fn raise(
    py: Python<'_>,
    diagnostics: &[Diagnostic],
    source: &str,
    when: When,
    fields: Bound<'_, PyDict>,
) -> PyResult<PyErr> {
    fields.set_item("diagnostics", PyDiagnostic::list(py, diagnostics, source)?)?;
    fields.set_item("source", source)?;
    let text: String = diagnostics.iter().map(|told| told.to_text(source)).collect();
    let code = diagnostics.first().map_or(Code::Internal, |first| first.code);
    let exception = class(py, code, when)?.call((PyString::new(py, text.trim_end()),), Some(&fields))?;
    Ok(PyErr::from_value(exception))
}

/// Returns the class of the exception for a code.
fn class(py: Python<'_>, code: Code, when: When) -> PyResult<&Bound<'_, PyType>> {
    macro_rules! class {
        ($name:literal) => {{
            static CLASS: PyOnceLock<Py<PyType>> = PyOnceLock::new();
            CLASS.import(py, "ptc._errors", $name)
        }};
    }
    match class_of(code, when) {
        "Cancelled" => class!("Cancelled"),
        "ToolFailed" => class!("ToolFailed"),
        "ProgramFailed" => class!("ProgramFailed"),
        "SnapshotError" => class!("SnapshotError"),
        "LimitError" => class!("LimitError"),
        "CompileError" => class!("CompileError"),
        _ => class!("RunError"),
    }
}
