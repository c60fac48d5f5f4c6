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

#[cfg(test)]
mod tests {
    use super::Rows;
    use parquet::basic::Compression;
    use parquet::data_type::{ByteArray, ByteArrayType, Int64Type};
    use parquet::file::properties::WriterProperties;
    use parquet::file::writer::SerializedFileWriter;
    use parquet::schema::parser::parse_message_type;
    use std::fs::File;
    use std::io::Read;
    use std::sync::Arc;

    /// `rows` rows with a number, and a name for every second one.
    fn written(name: &str, rows: i64, compression: Compression) -> File {
        let path = std::env::temp_dir().join(format!("ptc-{}-{name}", std::process::id()));
        let schema = "message row { required int64 id; optional binary name (UTF8); }";
        let schema = Arc::new(parse_message_type(schema).expect("a schema"));
        let properties = Arc::new(WriterProperties::builder().set_compression(compression).build());
        let file = File::create(&path).expect("a file");
        let mut writer = SerializedFileWriter::new(file, schema, properties).expect("a writer");
        let mut group = writer.next_row_group().expect("a group");
        let ids: Vec<i64> = (1..=rows).collect();
        let names: Vec<ByteArray> =
            ids.iter().filter(|id| *id % 2 == 0).map(|id| format!("n{id}").as_str().into()).collect();
        let present: Vec<i16> = ids.iter().map(|id| i16::from(id % 2 == 0)).collect();
        let mut column = group.next_column().expect("a column").expect("the first");
        column.typed::<Int64Type>().write_batch(&ids, None, None).expect("numbers");
        column.close().expect("the end");
        let mut column = group.next_column().expect("a column").expect("the second");
        column.typed::<ByteArrayType>().write_batch(&names, Some(&present), None).expect("names");
        column.close().expect("the end");
        group.close().expect("the end");
        writer.close().expect("the end");
        let file = File::open(&path).expect("the file");
        std::fs::remove_file(path).expect("the file is gone once it is closed");
        file
    }

    #[test]
    fn every_row_is_a_line() {
        for (name, compression) in [("plain", Compression::UNCOMPRESSED), ("snappy", Compression::SNAPPY)] {
            let mut text = String::new();
            Rows::open(written(name, 5_000, compression))
                .expect("rows")
                .read_to_string(&mut text)
                .expect("text");
            let expected: String = (1..=5_000)
                .map(|id| match id % 2 {
                    0 => format!("{{\"id\":{id},\"name\":\"n{id}\"}}\n"),
                    _ => format!("{{\"id\":{id}}}\n"),
                })
                .collect();
            assert!(text == expected);
        }
    }
}
