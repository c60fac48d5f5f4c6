//! CSV files: the first line has the names of the columns, and every value is text.

use super::batches::{Batches, ROWS};
use super::guard::Damage;
use arrow_array::builder::StringBuilder;
use arrow_array::{ArrayRef, RecordBatch, RecordBatchOptions};
use arrow_schema::{DataType, Field, Fields, Schema, SchemaRef};
use ptc_runtime::Projection;
use std::io::{self, Read};
use std::sync::Arc;

/// Maximum length of one record: a quote that is never closed would otherwise take in the whole file.
const MAX_RECORD: u64 = 64 << 20;

/// The records of a file.
pub(super) struct Lines {
    reader: csv::Reader<Limited>,
    schema: SchemaRef,
    /// Columns that are kept, and their schema.
    kept: Vec<usize>,
    present: SchemaRef,
    record: csv::StringRecord,
    rows: u64,
}

/// Reader that fails where a record is too long.
struct Limited {
    input: Box<dyn Read + Send>,
    /// Bytes read since the last record.
    bytes: u64,
}

impl Read for Limited {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        if self.bytes > MAX_RECORD {
            let message = format!("a record is longer than {MAX_RECORD} bytes; is a quote missing?");
            return Err(io::Error::new(io::ErrorKind::InvalidData, message));
        }
        let count = self.input.read(into)?;
        self.bytes += count as u64;
        Ok(count)
    }
}

impl Lines {
    pub fn open(input: impl Read + Send + 'static, projection: &Projection) -> Result<Lines, Damage> {
        let limited = Limited { input: Box::new(input), bytes: 0 };
        let mut reader = csv::ReaderBuilder::new().from_reader(limited);
        let names = reader.headers().map_err(Damage::told)?;
        let field = |name: &str| Field::new(name.trim_start_matches('\u{feff}'), DataType::Utf8, true);
        let fields: Fields = names.iter().map(field).collect();
        let is_kept = |at: &usize| projection.member(fields[*at].name()).is_some();
        let kept: Vec<usize> = (0..fields.len()).filter(is_kept).collect();
        let present: Fields = kept.iter().map(|at| fields[*at].clone()).collect();
        Ok(Lines {
            reader,
            schema: Arc::new(Schema::new(fields)),
            kept,
            present: Arc::new(Schema::new(present)),
            record: csv::StringRecord::new(),
            rows: 0,
        })
    }

    /// Returns the names of all columns.
    pub fn schema(&self) -> SchemaRef {
        self.schema.clone()
    }
}

impl Batches for Lines {
    fn next(&mut self) -> Result<Option<RecordBatch>, Damage> {
        let mut columns: Vec<StringBuilder> = self.kept.iter().map(|_| StringBuilder::new()).collect();
        let mut rows = 0;
        while rows < ROWS {
            self.reader.get_mut().bytes = 0;
            if !self.reader.read_record(&mut self.record).map_err(Damage::told)? {
                break;
            }
            for (column, at) in columns.iter_mut().zip(&self.kept) {
                // CSV writes a missing value like an empty one.
                column.append_option(self.record.get(*at).filter(|text| !text.is_empty()));
            }
            rows += 1;
        }
        if rows == 0 {
            return Ok(None);
        }
        self.rows += rows as u64;
        let arrays: Vec<ArrayRef> =
            columns.iter_mut().map(|column| Arc::new(column.finish()) as ArrayRef).collect();
        let options = RecordBatchOptions::new().with_row_count(Some(rows));
        Ok(Some(RecordBatch::try_new_with_options(self.present.clone(), arrays, &options)?))
    }

    fn place(&self) -> String {
        format!("what comes after row {}", self.rows)
    }
}
