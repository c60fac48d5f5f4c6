//! Batches: a program over the rows of an Arrow table, on all cores.

use crate::batch_result::{PyBatchResult, Results};
use crate::data;
use crate::diagnostic;
use crate::engine::{PyCode, PyEngine};
use crate::frozen::PyGrants;
use arrow_array::RecordBatch;
use ptc::binding::When;
use ptc::runtime::bridge::datum_to_json_text;
use ptc::runtime::{Datum, Node, Rows};
use ptc::{Batch, Cancel, Ending, Failure, Input, Outcome};
use ptc_arrow::Table;
use pyo3::exceptions::{PyRuntimeError, PyTypeError};
use pyo3::prelude::*;
use pyo3_arrow::PySchema;
use pyo3_arrow::input::AnyRecordBatch;
use std::io;

/// Rows to run a program over: an Arrow table, or JSON lines made of Python objects.
#[pyclass(frozen, module = "ptc._ptc", name = "Rows")]
pub struct PyRows {
    source: Source,
}

enum Source {
    Table(Vec<RecordBatch>),
    Lines { text: Vec<u8>, are_records: bool },
}

#[pymethods]
impl PyRows {
    /// Takes the rows of an object with the Arrow PyCapsule interface, without copying columns.
    #[staticmethod]
    fn of_table(table: AnyRecordBatch) -> PyResult<PyRows> {
        let (batches, _) = table.into_table()?.into_inner();
        Ok(PyRows { source: Source::Table(batches) })
    }

    /// Takes rows of Python objects.
    #[staticmethod]
    fn of_objects(py: Python<'_>, rows: &Bound<'_, PyAny>) -> PyResult<PyRows> {
        let mut lines = Vec::new();
        let mut are_records = true;
        for (index, row) in rows.try_iter()?.enumerate() {
            let row = data::datum(&row?, &format!("row {index}"))?;
            let text = datum_to_json_text(&row, usize::MAX)
                .map_err(|fault| diagnostic::problem(py, fault.to_diagnostic()))?;
            lines.extend_from_slice(text.as_bytes());
            lines.push(b'\n');
            are_records &= matches!(row.nodes().last(), Some(Node::Map(_)));
        }
        Ok(PyRows { source: Source::Lines { text: lines, are_records } })
    }

    fn __len__(&self) -> usize {
        match &self.source {
            Source::Table(batches) => batches.iter().map(RecordBatch::num_rows).sum(),
            Source::Lines { text, .. } => text.iter().filter(|byte| **byte == b'\n').count(),
        }
    }
}

/// Runs a program over rows. `data/row` is the row, and its members are `data/<member>`. With `fail_fast`, the first row
/// that fails ends the batch with its exception.
#[pyfunction]
#[pyo3(signature = (engine, code, rows, grants, threads, fail_fast, schema=None))]
#[allow(clippy::too_many_arguments)] // Called from one place, in Python.
pub fn run_batch(
    py: Python<'_>,
    engine: &PyEngine,
    code: &PyCode,
    rows: &PyRows,
    grants: &PyGrants,
    threads: Option<usize>,
    fail_fast: bool,
    schema: Option<PySchema>,
) -> PyResult<PyBatchResult> {
    let cancel = Cancel::new();
    let mut batch = Batch::new(&engine.runtime, &code.program)
        .grants(grants.grants.clone().cancel(&cancel))
        .fields(!matches!(rows.source, Source::Lines { are_records: false, .. }))
        .fail_fast(fail_fast);
    if let Some(threads) = threads {
        batch = batch.threads(threads);
    }
    let mut results = Results::new(schema.map(PySchema::into_inner), fail_fast)?;
    let (summary, warnings) = py.detach(|| {
        let datum = |outcome: &Outcome| -> Result<Datum, Failure> { Ok(outcome.datum()?) };
        let summary = batch.values(input(rows, &batch), datum, |_, result| results.add(result));
        (summary, batch.warnings())
    });
    if let Some(interrupt) = results.interrupt.take() {
        return Err(interrupt);
    }
    if fail_fast && let Some((row, failure)) = results.failures.first() {
        let error = diagnostic::error(py, failure, When::Running);
        error.value(py).setattr("row", row)?;
        return Err(error);
    }
    match summary.ending {
        Ending::Complete => {}
        // Rows are in memory, so what cannot be read is a type of column.
        Ending::Unreadable(error) => return Err(PyTypeError::new_err(error.to_string())),
        ending => return Err(PyRuntimeError::new_err(format!("the batch ended early: {ending:?}"))),
    }
    results.finish(py, &warnings, code.program.source(), summary.elapsed)
}

/// Returns the rows as records. Only the columns that the program can observe are looked at.
fn input<'r>(rows: &'r PyRows, batch: &Batch) -> Input<'r> {
    match &rows.source {
        Source::Table(batches) => {
            let projection = batch.projection();
            Input::rows(batches.iter().map(move |batch| match Table::new(batch, &projection) {
                Ok(table) => Ok(Box::new(table) as Box<dyn Rows>),
                Err(unsupported) => Err(io::Error::other(unsupported)),
            }))
        }
        Source::Lines { text, .. } => Input::from(&**text),
    }
}
