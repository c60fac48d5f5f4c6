//! Results of batches: plain values, or Arrow columns.

use crate::diagnostic::{self, PyDiagnostic};
use crate::value;
use arrow_array::{ArrayRef, RecordBatch, StructArray};
use arrow_schema::{Field, SchemaRef};
use ptc::Failure;
use ptc::binding::When;
use ptc::runtime::{Code, Datum, Diagnostic, Fault};
use ptc_arrow::{Columns, Inference, OnError, Value};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyList};
use pyo3_arrow::ffi::{ArrayIterator, to_stream_pycapsule};
use std::io;
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

/// Rows that become columns at once, which bounds the memory of their values in between.
const ROWS: usize = 1 << 15;

/// Time after which Python may look for signals, such as Ctrl-C.
const PATIENCE: Duration = Duration::from_millis(50);

/// Columns of results.
struct Stream {
    schema: SchemaRef,
    batches: Vec<RecordBatch>,
}

/// Results of a batch that is running, in the order of its rows.
pub struct Results {
    values: Vec<Option<Datum>>,
    /// Failures with the indices of their rows.
    pub failures: Vec<(usize, Failure)>,
    /// Columns of a declared schema.
    columns: Option<(Columns, Vec<RecordBatch>)>,
    fail_fast: bool,
    looked: Instant,
    /// The exception of a signal.
    pub interrupt: Option<PyErr>,
}

impl Results {
    pub fn new(schema: Option<SchemaRef>, fail_fast: bool) -> PyResult<Results> {
        let columns = schema.map(|schema| Columns::new(schema, OnError::Null)).transpose();
        let columns = columns.map_err(|misfit| PyTypeError::new_err(format!("schema: {misfit}")))?;
        Ok(Results {
            values: Vec::new(),
            failures: Vec::new(),
            columns: columns.map(|columns| (columns, Vec::new())),
            fail_fast,
            looked: Instant::now(),
            interrupt: None,
        })
    }

    /// Adds the result of the next row. An error ends the batch.
    pub fn add(&mut self, result: Result<Datum, Failure>) -> io::Result<()> {
        if self.looked.elapsed() >= PATIENCE {
            self.looked = Instant::now();
            if let Err(error) = Python::attach(|py| py.check_signals()) {
                self.interrupt = Some(error);
                return Err(io::Error::other("interrupted"));
            }
        }
        let result = result.and_then(|datum| self.put(&datum).map(|()| datum));
        if let Err(failure) = &result
            && let Some((columns, _)) = &mut self.columns
        {
            columns.push_failure(&failure.diagnostic().message);
        }
        match result {
            Ok(datum) => self.values.push(Some(datum)),
            Err(failure) => {
                self.failures.push((self.values.len(), failure));
                self.values.push(None);
                if self.fail_fast {
                    return Err(io::Error::other("a row failed"));
                }
            }
        }
        match &mut self.columns {
            Some((columns, batches)) if columns.len() >= ROWS => {
                batches.push(columns.finish().map_err(io::Error::other)?);
                Ok(())
            }
            _ => Ok(()),
        }
    }

    /// Puts a result into the columns of a declared schema.
    fn put(&mut self, datum: &Datum) -> Result<(), Failure> {
        let Some((columns, _)) = &mut self.columns else { return Ok(()) };
        columns.push(Value::of(datum)?).map_err(|misfit| {
            let hint = "return a value of that type, or pass another schema";
            Failure::from(Fault::new(Code::InvalidData, misfit.to_string()).hint(hint))
        })
    }

    pub fn finish(
        self,
        py: Python<'_>,
        warnings: &[Diagnostic],
        source: &str,
        elapsed: Duration,
    ) -> PyResult<PyBatchResult> {
        let columns = OnceLock::new();
        if let Some((mut rest, mut batches)) = self.columns {
            batches.push(rest.finish().map_err(no_columns)?);
            let _ = columns.set(Stream { schema: rest.schema().clone(), batches });
        }
        let failures = self.failures.iter().map(|(row, failure)| {
            let error = diagnostic::error(py, failure, When::Running);
            (*row, error.into_value(py))
        });
        Ok(PyBatchResult {
            failures: PyList::new(py, failures.collect::<Vec<_>>())?.unbind(),
            warnings: PyDiagnostic::list(py, warnings, source)?.unbind(),
            seconds: elapsed.as_secs_f64(),
            values: self.values,
            columns,
        })
    }
}

/// Result of a batch.
#[pyclass(frozen, module = "ptc", name = "BatchResult")]
pub struct PyBatchResult {
    /// Values of the rows; None for a row that failed.
    values: Vec<Option<Datum>>,
    /// The values as columns, once somebody has asked for them or if their types were declared.
    columns: OnceLock<Stream>,
    /// Errors of rows that have no result: the index of the row, from 0, and the exception.
    #[pyo3(get)]
    failures: Py<PyList>,
    /// Warnings about fields that the program reads but no row has.
    #[pyo3(get)]
    warnings: Py<PyList>,
    /// Time of the whole batch, in seconds.
    #[pyo3(get)]
    seconds: f64,
}

#[pymethods]
impl PyBatchResult {
    /// Number of rows.
    #[getter]
    fn records(&self) -> usize {
        self.values.len()
    }

    /// Values of the rows as plain Python; `None` for a row that failed.
    #[getter]
    fn values<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let python = |value: &Option<Datum>| match value {
            Some(datum) => value::python(py, datum),
            None => Ok(py.None().into_bound(py)),
        };
        let values: Vec<Bound<'_, PyAny>> = self.values.iter().map(python).collect::<PyResult<_>>()?;
        PyList::new(py, values)
    }

    fn __len__(&self) -> usize {
        self.values.len()
    }

    /// Gives the values as an Arrow stream: the members of maps are columns, other values are the column `value`.
    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyCapsule>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        if self.columns.get().is_none() {
            let made = py.detach(|| columns(&self.values)).map_err(no_columns)?;
            let _ = self.columns.set(made);
        }
        let Stream { schema, batches } = self.columns.wait();
        let field = Field::new_struct("", schema.fields().clone(), false);
        let arrays = batches.clone().into_iter();
        let arrays = arrays.map(|batch| Ok(Arc::new(StructArray::from(batch)) as ArrayRef));
        let reader = Box::new(ArrayIterator::new(arrays, Arc::new(field)));
        Ok(to_stream_pycapsule(py, reader, requested_schema)?)
    }

    fn __repr__(&self) -> String {
        format!("<BatchResult {} rows>", self.values.len())
    }
}

/// Makes columns of values, with the types that all of them fit.
fn columns(values: &[Option<Datum>]) -> Result<Stream, String> {
    let value = |(row, datum): (usize, &Option<Datum>)| match datum {
        Some(datum) => Value::of(datum).map_err(|fault| format!("row {row}: {}", fault.parts().message)),
        None => Ok(Value::Nil),
    };
    let rows = || values.iter().enumerate().map(value);
    // Values take several times the memory of columns, so they are made twice rather than kept.
    let mut inference = Inference::default();
    for row in rows() {
        inference.add(&row?).map_err(|conflict| conflict.to_string())?;
    }
    let schema = Arc::new(inference.schema().map_err(|conflict| conflict.to_string())?);
    let mut columns = Columns::new(schema.clone(), OnError::Null).map_err(|misfit| misfit.to_string())?;
    let mut batches = Vec::new();
    for row in rows() {
        columns.push(row?).map_err(|misfit| misfit.to_string())?;
        if columns.len() == ROWS {
            batches.push(columns.finish().map_err(|error| error.to_string())?);
        }
    }
    batches.push(columns.finish().map_err(|error| error.to_string())?);
    Ok(Stream { schema, batches })
}

fn no_columns(why: impl std::fmt::Display) -> PyErr {
    PyValueError::new_err(format!(
        "the values have no common schema: {why}; return values of one type, or read `.values`"
    ))
}
