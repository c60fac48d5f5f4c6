//! Runs of a function over the rows of columns.

use crate::code::{Code, ROW};
use crate::reference::{OnError, Reference};
use datafusion::arrow::array::{ArrayRef, RecordBatch, RecordBatchOptions};
use datafusion::arrow::datatypes::{DataType, Field, Schema};
use datafusion::arrow::util::display::array_value_to_string;
use datafusion::error::{DataFusionError, Result};
use ptc_arrow::{Columns, Table, Value};
use ptc_runtime::{Evaluator, Failure, Fault, Outcome, Projection, Rows};
use std::sync::Arc;

/// Maximum characters of an argument in a message.
const MAX_SHOWN: usize = 60;

/// Arguments of a function: a record of each row.
pub(crate) struct Arguments {
    names: Vec<String>,
    batch: RecordBatch,
    table: Table,
}

impl Arguments {
    /// Makes records of columns of the same length. Columns of types that records cannot hold are refused.
    pub fn new(
        reference: &Reference,
        names: Vec<String>,
        columns: &[ArrayRef],
        rows: usize,
    ) -> Result<Arguments> {
        let field = |(name, column): (&String, &ArrayRef)| Field::new(name, column.data_type().clone(), true);
        let schema = Schema::new(names.iter().zip(columns).map(field).collect::<Vec<_>>());
        let options = RecordBatchOptions::new().with_row_count(Some(rows));
        let batch = RecordBatch::try_new_with_options(Arc::new(schema), columns.to_vec(), &options)?;
        let table = Table::new(&batch, &Projection::whole())
            .map_err(|refused| DataFusionError::Plan(format!("`{}`: {refused}", reference.name)))?;
        Ok(Arguments { names, batch, table })
    }

    /// Returns the number of rows.
    pub fn rows(&self) -> usize {
        self.batch.num_rows()
    }

    /// Returns the records.
    pub fn table(&self) -> &Table {
        &self.table
    }

    /// Makes the error of a row: the function, the row, its arguments, and what went wrong.
    pub fn failed(&self, reference: &Reference, row: usize, why: &str) -> DataFusionError {
        let mut shown = Vec::new();
        for (name, column) in self.names.iter().zip(self.batch.columns()) {
            let value = match column.is_null(row) {
                true => "null".to_string(),
                false => array_value_to_string(column, row).unwrap_or_else(|_| "?".to_string()),
            };
            let short: String = value.chars().take(MAX_SHOWN).collect();
            shown.push(format!("{name} = {short}{}", if short.len() < value.len() { "…" } else { "" }));
        }
        let arguments = match shown.is_empty() {
            true => String::new(),
            false => format!(" ({})", shown.join(", ")),
        };
        let (row, of) = (row + 1, self.rows());
        DataFusionError::Execution(format!(
            "`{}`: row {row} of a batch of {of}{arguments}: {why}",
            reference.name
        ))
    }
}

/// Checks that records can hold columns of these types.
pub(crate) fn check_arguments(reference: &Reference, kinds: &[DataType]) -> Result<()> {
    let names = reference.arguments(kinds.len())?;
    let columns: Vec<ArrayRef> = kinds.iter().map(datafusion::arrow::array::new_empty_array).collect();
    Arguments::new(reference, names, &columns, 0).map(|_| ())
}

/// Runs a function once for each row. A row that fails ends it, unless `failed` returns no error.
pub(crate) fn each(
    code: &Code,
    reference: &Reference,
    arguments: &Arguments,
    mut done: impl FnMut(usize, Result<Value, String>) -> Result<()>,
) -> Result<()> {
    let program = code.call(&reference.target, &arguments.names)?;
    let mut evaluator = Evaluator::new(code.runtime(), &program);
    for row in 0..arguments.rows() {
        let outcome = arguments.table.run(row, &mut evaluator, ROW);
        done(row, outcome.map_err(|failure| failure_text(&failure)).and_then(value))?;
    }
    Ok(())
}

/// Runs a function once for each row: a column of this type.
pub(crate) fn column(
    code: &Code,
    reference: &Reference,
    arguments: &Arguments,
    kind: &DataType,
) -> Result<ArrayRef> {
    let mut columns = values_of(reference, kind)?;
    each(code, reference, arguments, |row, result| {
        let fits = result.and_then(|value| columns.push(value).map_err(|misfit| misfit.to_string()));
        match (fits, reference.on_error) {
            (Ok(()), _) => Ok(()),
            (Err(why), OnError::Null) => {
                columns.push_failure(&why);
                Ok(())
            }
            (Err(why), OnError::Fail) => Err(arguments.failed(reference, row, &why)),
        }
    })?;
    Ok(columns.finish()?.column(0).clone())
}

/// Makes an empty column of this type.
pub(crate) fn values_of(reference: &Reference, kind: &DataType) -> Result<Columns> {
    let schema = Schema::new(vec![Field::new("value", kind.clone(), true)]);
    Columns::new(Arc::new(schema), ptc_arrow::OnError::Null)
        .map_err(|misfit| DataFusionError::Plan(format!("`{}`: {misfit}", reference.name)))
}

/// Returns the value of a run as columns hold it.
pub(crate) fn value(outcome: &Outcome) -> Result<Value, String> {
    let fault_text = |fault: Fault| {
        let diagnostic = fault.to_diagnostic();
        format!("{}: {}", diagnostic.code.reason(), diagnostic.message)
    };
    outcome.datum().and_then(|datum| Value::of(&datum)).map_err(fault_text)
}

/// Returns the reason and the message of a failure, with its fix if there is one.
pub(crate) fn failure_text(failure: &Failure) -> String {
    let diagnostic = failure.diagnostic();
    let text = format!("{}: {}", diagnostic.code.reason(), diagnostic.message);
    match &diagnostic.hint {
        Some(hint) => format!("{text} ({hint})"),
        None => text,
    }
}
