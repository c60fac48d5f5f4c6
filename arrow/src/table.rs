//! Tables: record batches as records of programs.

use crate::cell::Cell;
use crate::column::{Column, Unsupported};
use arrow_array::RecordBatch;
use arrow_schema::Schema;
use ptc_runtime::{Evaluator, Failure, Outcome, Projection, Rows};
use serde::ser::{Serialize, SerializeMap, SerializeSeq, Serializer};
use std::ops::Range;

/// A record batch whose rows are records: maps from the names of columns to values.
///
/// | Type | Value |
/// |---|---|
/// | integers of all widths | integer, exactly |
/// | floats | float; nil for NaN and infinities, as in JSON |
/// | decimals | integer if the scale is 0 or less, otherwise float; a record whose decimal is no float exactly fails |
/// | booleans, strings | as they are |
/// | dates, times, timestamps, durations, intervals | ISO text |
/// | binary | hexadecimal text |
/// | lists, structs, maps with text keys | vectors and maps |
/// | dictionaries, runs | their values |
/// | null | nil |
///
/// Unions and maps with other keys are refused.
#[derive(Debug)]
pub struct Table {
    columns: Vec<(Box<str>, Column)>,
    rows: usize,
    bytes: usize,
    skipped: usize,
}

impl Table {
    /// Makes records of a batch. Columns that the projection leaves out are nil in every record, and are not looked at.
    pub fn new(batch: &RecordBatch, projection: &Projection) -> Result<Table, Unsupported> {
        Table::of_part(batch.schema_ref(), batch, projection)
    }

    /// Makes records of a batch that may lack columns of its table: a reader has left out those that no program observes.
    ///
    /// ```
    /// use arrow_array::{Int64Array, RecordBatch};
    /// use ptc_arrow::{Table, parse_schema};
    /// use ptc_runtime::{Evaluator, Projection, Rows, Runtime};
    ///
    /// let numbers = std::sync::Arc::new(Int64Array::from(vec![7]));
    /// let part = RecordBatch::try_from_iter([("n", numbers as _)])?;
    /// let table = Table::of_part(&parse_schema("name: text, n: int")?, &part, &Projection::whole())?;
    /// let runtime = Runtime::with_core(ptc_preludes::core())?;
    /// let mut evaluator = Evaluator::new(&runtime, &runtime.compile("data/row")?);
    /// assert_eq!(table.run(0, &mut evaluator, "row")?.json()?, r#"{"name":null,"n":7}"#);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn of_part(
        schema: &Schema,
        batch: &RecordBatch,
        projection: &Projection,
    ) -> Result<Table, Unsupported> {
        let present = (batch.schema_ref().fields(), batch.columns());
        let columns = crate::column::members(schema.fields(), present, projection, "")?;
        Ok(Table { columns, rows: batch.num_rows(), bytes: batch.get_array_memory_size(), skipped: 0 })
    }

    /// Sets the number of rows that were skipped just before these.
    #[cfg(feature = "files")]
    pub(crate) fn after(self, skipped: usize) -> Table {
        Table { skipped, ..self }
    }

    /// Returns one row, which serialises as a map.
    pub fn row(&self, at: usize) -> impl Serialize + '_ {
        Row { table: self, at }
    }
}

impl Rows for Table {
    fn len(&self) -> usize {
        self.rows
    }

    fn bytes(&self) -> usize {
        self.bytes
    }

    fn skipped(&self) -> usize {
        self.skipped
    }

    fn run<'e>(&self, row: usize, evaluator: &'e mut Evaluator, name: &str) -> Result<&'e Outcome, Failure> {
        evaluator.serde(name, &Row { table: self, at: row })
    }

    fn run_all<'e>(
        &self,
        rows: Range<usize>,
        evaluator: &'e mut Evaluator,
        name: &str,
    ) -> Result<&'e Outcome, Failure> {
        evaluator.serde(name, &Slice { table: self, rows })
    }
}

struct Row<'t> {
    table: &'t Table,
    at: usize,
}

impl Serialize for Row<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.table.columns.len()))?;
        for (name, column) in &self.table.columns {
            map.serialize_entry(&**name, &Cell { column, at: self.at })?;
        }
        map.end()
    }
}

struct Slice<'t> {
    table: &'t Table,
    rows: Range<usize>,
}

impl Serialize for Slice<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut list = serializer.serialize_seq(Some(self.rows.len()))?;
        for at in self.rows.clone() {
            list.serialize_element(&Row { table: self.table, at })?;
        }
        list.end()
    }
}
