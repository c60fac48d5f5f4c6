//! Parquet files as JSON lines, one for each row.
//!
//! Files come from anywhere, and the decoder panics on some that are damaged. Every step into it is guarded: what is
//! wrong with a file is an error that names the file and the row group, and the process continues.

use arrow_json::WriterBuilder;
use arrow_json::writer::LineDelimited;
use parquet::arrow::arrow_reader::{
    ArrowReaderMetadata, ArrowReaderOptions, ParquetRecordBatchReader, ParquetRecordBatchReaderBuilder,
};
use parquet::errors::ParquetError;
use parquet::file::metadata::RowGroupMetaData;
use std::cell::Cell;
use std::fmt;
use std::fs::File;
use std::io::{self, Read};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::Once;

/// Rows that are decoded at one time.
const ROWS: usize = 1024;

/// Bytes of one row group once it is unpacked, as the file claims. The decoder believes such claims.
const MAX_GROUP_BYTES: i64 = 4 << 30;

/// Reads a Parquet file a few rows at a time; what is read from it are their lines. Columns without a value are null.
pub struct Rows {
    file: File,
    name: String,
    metadata: ArrowReaderMetadata,
    /// The row group that is read, from 0, and its reader once it is open.
    group: usize,
    batches: Option<ParquetRecordBatchReader>,
    /// Lines made and not read yet, from `at`.
    lines: Vec<u8>,
    at: usize,
}

/// Why a step into the decoder gave nothing.
enum Damage {
    Told(String),
    Panicked,
}

impl fmt::Display for Damage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Damage::Told(why) => f.write_str(why),
            Damage::Panicked => f.write_str("the data does not match its header"),
        }
    }
}

impl Rows {
    /// The rows of a file that is called `path`.
    pub fn open(path: &Path, file: File) -> Result<Rows, String> {
        let metadata = guarded(|| ArrowReaderMetadata::load(&file, ArrowReaderOptions::default()));
        let metadata = metadata.map_err(|damage| format!("it is not a valid Parquet file: {damage}"))?;
        let name = path.display().to_string();
        Ok(Rows { file, name, metadata, group: 0, batches: None, lines: Vec::new(), at: 0 })
    }

    /// Makes the next lines; false at the end of the file.
    fn advance(&mut self) -> io::Result<bool> {
        let count = self.metadata.metadata().num_row_groups();
        while self.group < count {
            let batches = match self.batches.take() {
                Some(batches) => Ok(batches),
                None => self.open_group(),
            };
            let made = batches.and_then(|mut batches| Ok((self.write_batch(&mut batches)?, batches)));
            match made {
                Ok((true, batches)) => {
                    self.batches = Some(batches);
                    return Ok(true);
                }
                Ok((false, _)) => self.group += 1,
                Err(damage) => {
                    let group = self.group + 1;
                    // Nothing after it is read: rows would be missing in the middle.
                    self.group = count;
                    let message =
                        format!("{}: row group {group} of {count} cannot be read: {damage}", self.name);
                    return Err(io::Error::new(io::ErrorKind::InvalidData, message));
                }
            }
        }
        Ok(false)
    }

    fn open_group(&self) -> Result<ParquetRecordBatchReader, Damage> {
        let told = |error: &dyn fmt::Display| Damage::Told(error.to_string());
        let size = self.file.metadata().map_err(|error| told(&error))?.len();
        check_sizes(self.metadata.metadata().row_group(self.group), size)?;
        let file = self.file.try_clone().map_err(|error| told(&error))?;
        guarded(|| {
            ParquetRecordBatchReaderBuilder::new_with_metadata(file, self.metadata.clone())
                .with_row_groups(vec![self.group])
                .with_batch_size(ROWS)
                .build()
        })
    }

    /// Replaces the lines by those of the next rows; false if the row group has no more.
    fn write_batch(&mut self, batches: &mut ParquetRecordBatchReader) -> Result<bool, Damage> {
        self.lines.clear();
        self.at = 0;
        let lines = &mut self.lines;
        guarded(|| {
            let Some(batch) = batches.next() else { return Ok(false) };
            // A column without a value is a member all the same, so programs can tell it from one that is misspelt.
            let mut writer =
                WriterBuilder::new().with_explicit_nulls(true).build::<_, LineDelimited>(&mut *lines);
            writer.write(&batch?)?;
            Ok(true)
        })
    }
}

/// Refuses sizes that cannot be true, before memory is asked for them.
fn check_sizes(group: &RowGroupMetaData, file_bytes: u64) -> Result<(), Damage> {
    let mut unpacked: i64 = 0;
    for column in group.columns() {
        let packed = column.compressed_size();
        if u64::try_from(packed).is_ok_and(|packed| packed <= file_bytes) && column.uncompressed_size() >= 0 {
            unpacked = unpacked.saturating_add(column.uncompressed_size());
            continue;
        }
        let name = column.column_path().string();
        return Err(Damage::Told(format!(
            "the column `{name}` claims {packed} bytes of a file of {file_bytes}"
        )));
    }
    if unpacked > MAX_GROUP_BYTES {
        let message =
            format!("it claims {unpacked} bytes, but at most {MAX_GROUP_BYTES} can be read at once");
        return Err(Damage::Told(message));
    }
    Ok(())
}

thread_local! {
    /// True if this thread is inside the decoder, whose panics become errors.
    static DECODING: Cell<bool> = const { Cell::new(false) };
}

/// A step into the decoder. It must not be entered again with the same reader once this has failed.
fn guarded<T>(step: impl FnOnce() -> Result<T, ParquetError>) -> Result<T, Damage> {
    static QUIET: Once = Once::new();
    QUIET.call_once(|| {
        let hook = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |panic| {
            if !DECODING.get() {
                hook(panic);
            }
        }));
    });
    DECODING.set(true);
    let done = catch_unwind(AssertUnwindSafe(step));
    DECODING.set(false);
    match done {
        Ok(done) => done.map_err(|error| Damage::Told(error.to_string())),
        Err(_) => Err(Damage::Panicked),
    }
}

impl Read for Rows {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        while self.at == self.lines.len() {
            if !self.advance()? {
                return Ok(0);
            }
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
    use std::io::{Read, Write};
    use std::path::Path;
    use std::sync::Arc;

    /// Row groups of `rows` rows each, with a number, a name for every second one, and a note for none.
    fn written(groups: i64, rows: i64, compression: Compression) -> Vec<u8> {
        let schema = "message row { required int64 id; optional binary name (UTF8); optional int64 note; }";
        let schema = Arc::new(parse_message_type(schema).expect("a schema"));
        let properties = Arc::new(WriterProperties::builder().set_compression(compression).build());
        let mut writer = SerializedFileWriter::new(Vec::new(), schema, properties).expect("a writer");
        for group in 0..groups {
            let ids: Vec<i64> = (group * rows + 1..=(group + 1) * rows).collect();
            let names: Vec<ByteArray> =
                ids.iter().filter(|id| *id % 2 == 0).map(|id| format!("n{id}").as_str().into()).collect();
            let present: Vec<i16> = ids.iter().map(|id| i16::from(id % 2 == 0)).collect();
            let absent = vec![0; ids.len()];
            let mut group = writer.next_row_group().expect("a group");
            let mut column = group.next_column().expect("a column").expect("the first");
            column.typed::<Int64Type>().write_batch(&ids, None, None).expect("numbers");
            column.close().expect("the end");
            let mut column = group.next_column().expect("a column").expect("the second");
            column.typed::<ByteArrayType>().write_batch(&names, Some(&present), None).expect("names");
            column.close().expect("the end");
            let mut column = group.next_column().expect("a column").expect("the third");
            column.typed::<Int64Type>().write_batch(&[], Some(&absent), None).expect("nothing");
            column.close().expect("the end");
            group.close().expect("the end");
        }
        writer.into_inner().expect("the end")
    }

    fn line(id: i64) -> String {
        let name = if id % 2 == 0 { format!("\"n{id}\"") } else { "null".to_string() };
        format!("{{\"id\":{id},\"name\":{name},\"note\":null}}\n")
    }

    /// The lines of a file with these bytes, or what is wrong with it.
    fn read(bytes: &[u8]) -> Result<String, String> {
        let mut file = tempfile::tempfile().expect("a file");
        file.write_all(bytes).expect("written");
        let mut text = Vec::new();
        let mut rows =
            Rows::open(Path::new("trades.parquet"), file).map_err(|why| format!("opening: {why}"))?;
        rows.read_to_end(&mut text).map_err(|error| error.to_string())?;
        String::from_utf8(text).map_err(|error| error.to_string())
    }

    #[test]
    fn every_row_is_a_line_with_all_columns() {
        for compression in [Compression::UNCOMPRESSED, Compression::SNAPPY] {
            let expected: String = (1..=6_000).map(line).collect();
            assert!(read(&written(3, 2_000, compression)).expect("rows") == expected);
        }
    }

    #[test]
    fn flipped_bits_are_errors_that_name_the_file_and_the_row_group() {
        let mut damaged = 0;
        for compression in [Compression::UNCOMPRESSED, Compression::SNAPPY] {
            let whole = written(3, 100, compression);
            let bits = whole.len() * 8;
            // Spread over the whole file, and every bit of what describes the last pages.
            let spread = (0..400).map(|n| n * bits / 400 + n % 8);
            for bit in spread.chain(bits - 800..bits) {
                let mut bytes = whole.clone();
                bytes[bit / 8] ^= 1 << (bit % 8);
                if let Err(told) = read(&bytes) {
                    damaged += 1;
                    let is_named = told.starts_with("opening: it is not a valid Parquet file: ")
                        || told.starts_with("trades.parquet: row group ");
                    assert!(is_named, "bit {bit}: {told}");
                }
            }
        }
        assert!(damaged > 300, "{damaged}");
    }

    #[test]
    fn rows_before_the_damage_are_given() {
        let mut bytes = written(3, 2_000, Compression::SNAPPY);
        // The first page of the second group begins after a third of the file.
        let start = bytes.len() / 3;
        bytes[start..start + 2_000].fill(0xff);
        let mut file = tempfile::tempfile().expect("a file");
        file.write_all(&bytes).expect("written");
        let mut rows = Rows::open(Path::new("trades.parquet"), file).expect("what is at the end is sound");
        let mut text = Vec::new();
        let error = rows.read_to_end(&mut text).expect_err("damage").to_string();
        assert!(error.starts_with("trades.parquet: row group 2 of 3 cannot be read: "), "{error}");
        assert!(text.starts_with(line(1).as_bytes()) && text.len() > 2_000);
        assert_eq!(rows.read(&mut [0; 8]).expect("the end"), 0);
    }

    #[test]
    fn what_is_no_parquet_file_says_so() {
        assert!(
            read(b"PAR1").expect_err("too short").starts_with("opening: it is not a valid Parquet file: ")
        );
        assert!(read(b"PAR1\0\0\0\0\xff\xff\xff\x7fPAR1").is_err());
    }
}
