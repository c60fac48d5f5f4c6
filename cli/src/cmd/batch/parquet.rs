//! Parquet files as JSON lines, one for each row.

use arrow_json::LineDelimitedWriter;
use parquet::arrow::arrow_reader::{ParquetRecordBatchReader, ParquetRecordBatchReaderBuilder};
use std::fs::File;
use std::io::{self, Read};

/// Reads a Parquet file a few rows at a time; what is read from it are their lines.
pub struct Rows {
    batches: ParquetRecordBatchReader,
    /// Lines made and not read yet, from `at`.
    lines: Vec<u8>,
    at: usize,
}

impl Rows {
    pub fn open(file: File) -> Result<Rows, parquet::errors::ParquetError> {
        let batches = ParquetRecordBatchReaderBuilder::try_new(file)?.with_batch_size(1024).build()?;
        Ok(Rows { batches, lines: Vec::new(), at: 0 })
    }
}

impl Read for Rows {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        while self.at == self.lines.len() {
            let Some(batch) = self.batches.next() else { return Ok(0) };
            self.lines.clear();
            self.at = 0;
            let mut writer = LineDelimitedWriter::new(&mut self.lines);
            batch.and_then(|batch| writer.write(&batch)).map_err(io::Error::other)?;
        }
        let count = (&self.lines[self.at..]).read(into)?;
        self.at += count;
        Ok(count)
    }
}
