//! Batches: a program over the rows of an Arrow table, on all cores.

use crate::diagnostic::{self, PyDiagnostic};
use crate::engine::{PyCode, PyEngine};
use crate::frozen::PyGrants;
use crate::{data, value};
use arrow_array::{ArrayRef, RecordBatch, StructArray};
use arrow_json::reader::{ReaderBuilder, infer_json_schema};
use arrow_json::writer::{LineDelimited, WriterBuilder};
use arrow_schema::{ArrowError, DataType, Field, Schema, SchemaRef};
use ptc::binding::When;
use ptc::runtime::Node;
use ptc::runtime::bridge::datum_to_json_text;
use ptc::runtime::json::freeze_json;
use ptc::{Batch, Cancel, Ending, Failure};
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyList};
use pyo3_arrow::PySchema;
use pyo3_arrow::ffi::{ArrayIterator, to_stream_pycapsule};
use pyo3_arrow::input::AnyRecordBatch;
use std::io::{self, Read, Write};
use std::sync::Arc;

/// Rows as JSON lines, made while they are read.
struct Rows {
    batches: std::vec::IntoIter<RecordBatch>,
    /// The batch being written, and its next row.
    current: Option<(RecordBatch, usize)>,
    text: Vec<u8>,
    at: usize,
}

/// Rows that are turned into text at once, which bounds the memory of the text.
const ROWS_AT_ONCE: usize = 1024;

impl Rows {
    fn fill(&mut self) -> Result<bool, ArrowError> {
        let Some((batch, from)) = self.current.take().or_else(|| self.batches.next().map(|batch| (batch, 0)))
        else {
            return Ok(false);
        };
        let count = ROWS_AT_ONCE.min(batch.num_rows() - from);
        self.text.clear();
        self.at = 0;
        // A null is a member, too: a program that reads it should not be told that there is none.
        let mut writer =
            WriterBuilder::new().with_explicit_nulls(true).build::<_, LineDelimited>(&mut self.text);
        writer.write(&batch.slice(from, count))?;
        writer.finish()?;
        drop(writer);
        if from + count < batch.num_rows() {
            self.current = Some((batch, from + count));
        }
        Ok(true)
    }
}

impl Read for Rows {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while self.at == self.text.len() {
            if !self.fill().map_err(io::Error::other)? {
                return Ok(0);
            }
        }
        let count = buffer.len().min(self.text.len() - self.at);
        buffer[..count].copy_from_slice(&self.text[self.at..self.at + count]);
        self.at += count;
        Ok(count)
    }
}

/// Results as JSON lines. Each write lets Python look for signals, such as Ctrl-C.
struct Results {
    text: Vec<u8>,
    interrupt: Option<PyErr>,
}

impl Write for Results {
    fn write(&mut self, text: &[u8]) -> io::Result<usize> {
        if let Err(error) = Python::attach(|py| py.check_signals()) {
            self.interrupt = Some(error);
            return Err(io::Error::other("interrupted"));
        }
        self.text.extend_from_slice(text);
        Ok(text.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

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

/// Result of a batch.
#[pyclass(frozen, module = "ptc", name = "BatchResult")]
pub struct PyBatchResult {
    /// One JSON text per row; `null` for a row that failed.
    lines: Arc<Vec<u8>>,
    schema: Option<SchemaRef>,
    /// Number of rows.
    #[pyo3(get)]
    records: u64,
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
    /// Values of the rows as plain Python; `None` for a row that failed.
    #[getter]
    fn values<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let read = |line: &[u8]| {
            let frozen =
                freeze_json(line, u64::MAX).map_err(|error| PyValueError::new_err(error.to_string()))?;
            let datum = frozen
                .to_datum(usize::MAX)
                .map_err(|fault| diagnostic::problem(py, fault.to_diagnostic()))?;
            value::python(py, &datum)
        };
        let values: Vec<Bound<'_, PyAny>> = self.each().map(read).collect::<PyResult<_>>()?;
        PyList::new(py, values)
    }

    fn __len__(&self) -> usize {
        self.records as usize
    }

    /// Gives the values as an Arrow stream: the members of maps are columns, other values are the column `value`.
    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyCapsule>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        let lines = self.lines.clone();
        let schema = self.schema.clone();
        let made = py.detach(|| columns(&lines, schema));
        let (schema, batches) = made
            .map_err(|error| PyValueError::new_err(format!("the values have no common schema: {error}")))?;
        let field = Field::new_struct("", schema.fields().clone(), false);
        let arrays = batches.into_iter().map(|batch| Ok(Arc::new(StructArray::from(batch)) as ArrayRef));
        let reader = Box::new(ArrayIterator::new(arrays, Arc::new(field)));
        Ok(to_stream_pycapsule(py, reader, requested_schema)?)
    }

    fn __repr__(&self) -> String {
        format!("<BatchResult {} rows>", self.records)
    }
}

impl PyBatchResult {
    fn each(&self) -> impl Iterator<Item = &[u8]> {
        self.lines.split(|byte| *byte == b'\n').filter(|line| !line.is_empty())
    }
}

/// Reads JSON lines as columns.
fn columns(lines: &[u8], schema: Option<SchemaRef>) -> Result<(SchemaRef, Vec<RecordBatch>), ArrowError> {
    let first = lines.split(|byte| *byte == b'\n').find(|line| !line.is_empty() && *line != b"null");
    let is_record = first.is_none_or(|line| line.starts_with(b"{"));
    let text = rows_of(lines, is_record);
    let schema = match schema {
        Some(schema) => schema,
        None => {
            let (schema, _) = infer_json_schema(&*text, None)?;
            Arc::new(Schema::new(schema.fields().iter().map(known).collect::<Vec<_>>()))
        }
    };
    let batches: Result<Vec<RecordBatch>, ArrowError> =
        ReaderBuilder::new(schema.clone()).with_batch_size(1 << 16).build(&*text)?.collect();
    Ok((schema, batches?))
}

/// A column of nothing but nulls has a type that many readers do not know; as text it holds the same.
fn known(field: &Arc<Field>) -> Arc<Field> {
    match field.data_type() {
        DataType::Null => Arc::new(field.as_ref().clone().with_data_type(DataType::Utf8)),
        _ => field.clone(),
    }
}

/// Makes every line an object: a row without a value is one without members.
fn rows_of(lines: &[u8], is_record: bool) -> Vec<u8> {
    let mut text = Vec::with_capacity(lines.len());
    for line in lines.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()) {
        match (line, is_record) {
            (b"null", true) => text.extend_from_slice(b"{}"),
            (line, true) => text.extend_from_slice(line),
            (line, false) => {
                text.extend_from_slice(b"{\"value\":");
                text.extend_from_slice(line);
                text.push(b'}');
            }
        }
        text.push(b'\n');
    }
    text
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
    let input: Box<dyn Read + Send + '_> = match &rows.source {
        Source::Table(batches) => {
            Box::new(Rows { batches: batches.clone().into_iter(), current: None, text: Vec::new(), at: 0 })
        }
        Source::Lines { text, .. } => Box::new(&**text),
    };
    let mut results = Results { text: Vec::new(), interrupt: None };
    let mut failed: Vec<(u64, Failure)> = Vec::new();
    let (summary, warnings) = py.detach(|| {
        let summary = batch.lines(input, &mut results, |line, failure| {
            failed.push((line - 1, failure));
            Ok(())
        });
        (summary, batch.warnings())
    });
    if let Some(interrupt) = results.interrupt {
        return Err(interrupt);
    }
    if fail_fast && let Some((index, failure)) = failed.first() {
        let error = diagnostic::error(py, failure, When::Running);
        error.value(py).setattr("row", index)?;
        return Err(error);
    }
    match &summary.ending {
        Ending::Complete => {}
        Ending::Unreadable(error) | Ending::Unwritable(error) => {
            return Err(PyRuntimeError::new_err(format!("the rows cannot be read: {error}")));
        }
        ending => return Err(PyRuntimeError::new_err(format!("the batch ended early: {ending:?}"))),
    }
    failed.sort_by_key(|(index, _)| *index);
    let indices: Vec<u64> = failed.iter().map(|(index, _)| *index).collect();
    let failures = failed.iter().map(|(index, failure)| {
        let error = diagnostic::error(py, failure, When::Running);
        (*index, error.into_value(py))
    });
    Ok(PyBatchResult {
        lines: Arc::new(with_nulls(&results.text, &indices, summary.records)),
        schema: schema.map(PySchema::into_inner),
        records: summary.records,
        failures: PyList::new(py, failures.collect::<Vec<_>>())?.unbind(),
        warnings: PyDiagnostic::list(py, &warnings, code.program.source())?.unbind(),
        seconds: summary.elapsed.as_secs_f64(),
    })
}

/// Puts a `null` where a row failed.
fn with_nulls(results: &[u8], failed: &[u64], records: u64) -> Vec<u8> {
    if failed.is_empty() {
        return results.to_vec();
    }
    let mut text = Vec::with_capacity(results.len() + failed.len() * 5);
    let mut lines = results.split(|byte| *byte == b'\n');
    let mut failed = failed.iter().peekable();
    for index in 0..records {
        if failed.next_if_eq(&&index).is_some() {
            text.extend_from_slice(b"null");
        } else {
            text.extend_from_slice(lines.next().unwrap_or(b"null"));
        }
        text.push(b'\n');
    }
    text
}
