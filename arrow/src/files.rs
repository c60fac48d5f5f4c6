//! Tables in files: Parquet, Arrow IPC and CSV, read as records and written from columns.
//!
//! Files come from anywhere, and decoders panic on some that are damaged. Every step into one is guarded: what is
//! wrong with a file is an error that names the file and the part of it, and the process continues.

mod batches;
mod csv;
mod guard;
mod ipc;
mod parquet;
mod write;

use crate::table::Table;
use arrow_array::RecordBatch;
use arrow_schema::{Schema, SchemaRef};
use batches::Batches;
use guard::Damage;
use ptc_runtime::{Condition, Projection, Rows};
use std::fs::File;
use std::io::{self, Read, Seek};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
pub use write::Writer;

/// The format of a table in a file.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Format {
    /// Parquet.
    Parquet,
    /// The file format of Arrow IPC, also known as Feather.
    Arrow,
    /// Comma-separated values with a header.
    Csv,
}

impl Format {
    /// Recognises a format by the first bytes of a file. CSV has none.
    pub fn of_start(start: &[u8]) -> Option<Format> {
        match start {
            _ if start.starts_with(b"PAR1") => Some(Format::Parquet),
            _ if start.starts_with(b"ARROW1") => Some(Format::Arrow),
            _ => None,
        }
    }

    /// Returns the format that the extension of a file names.
    ///
    /// ```
    /// use ptc_arrow::files::Format;
    /// assert_eq!(Format::of_name("orders.PARQUET".as_ref()), Some(Format::Parquet));
    /// assert_eq!(Format::of_name("orders.jsonl".as_ref()), None);
    /// ```
    pub fn of_name(path: &Path) -> Option<Format> {
        let extension = path.extension()?.to_str()?.to_ascii_lowercase();
        match extension.as_str() {
            "parquet" => Some(Format::Parquet),
            "arrow" | "feather" | "ipc" => Some(Format::Arrow),
            "csv" => Some(Format::Csv),
            _ => None,
        }
    }

    /// Returns its name, as users write it.
    pub fn name(self) -> &'static str {
        match self {
            Format::Parquet => "Parquet",
            Format::Arrow => "Arrow",
            Format::Csv => "CSV",
        }
    }
}

/// Reads the rows of a file, a few at a time; only the columns that programs observe are decoded.
pub struct Reader {
    name: String,
    format: Format,
    schema: SchemaRef,
    projection: Projection,
    batches: Box<dyn Batches>,
    /// Parts that are skipped, as text.
    skips: Option<String>,
    skipped: Arc<AtomicU64>,
    /// True after the end or an error.
    is_done: bool,
}

impl Reader {
    /// Opens a file that messages call `name`. The format is that of its content.
    pub fn open(
        name: &Path,
        mut file: File,
        format: Format,
        projection: &Projection,
    ) -> Result<Reader, String> {
        let invalid = |damage: Damage| format!("it is not a valid {} file: {damage}", format.name());
        file.rewind().map_err(|error| error.to_string())?;
        let (schema, batches): (SchemaRef, Box<dyn Batches>) = match format {
            Format::Parquet => {
                let groups = parquet::Groups::open(file, projection).map_err(invalid)?;
                (groups.schema(), Box::new(groups))
            }
            Format::Arrow => {
                let blocks = ipc::Blocks::open(file, projection).map_err(invalid)?;
                (blocks.schema(), Box::new(blocks))
            }
            Format::Csv => return Reader::text(name, file, projection),
        };
        Reader::of(name, format, schema, projection, batches)
    }

    /// Reads CSV from anywhere.
    pub fn text(
        name: &Path,
        input: impl Read + Send + 'static,
        projection: &Projection,
    ) -> Result<Reader, String> {
        let lines = csv::Lines::open(input, projection)
            .map_err(|damage| format!("it is not a valid CSV file: {damage}"))?;
        Reader::of(name, Format::Csv, lines.schema(), projection, Box::new(lines))
    }

    fn of(
        name: &Path,
        format: Format,
        schema: SchemaRef,
        projection: &Projection,
        batches: Box<dyn Batches>,
    ) -> Result<Reader, String> {
        let name = name.display().to_string();
        // Columns whose type no value can hold are refused before the first row is read.
        let empty = RecordBatch::new_empty(schema.clone());
        Table::new(&empty, projection).map_err(|error| error.to_string())?;
        let (projection, skipped) = (projection.clone(), Arc::default());
        Ok(Reader { name, format, schema, projection, batches, skips: None, skipped, is_done: false })
    }

    /// Skips the parts of the file whose rows cannot meet all [conditions](ptc_runtime::Batch::conditions), as its statistics
    /// say: programs give nil for them.
    #[must_use]
    pub fn skipping(mut self, conditions: Vec<Condition>) -> Reader {
        self.skips = self.batches.skip(conditions);
        self
    }

    /// Names the parts that are skipped, and why; None if there are no conditions, or the format has no statistics.
    pub fn skips(&self) -> Option<&str> {
        self.skips.as_deref()
    }

    /// Returns the number of rows skipped so far, to be read once the batch has ended.
    pub fn skipped(&self) -> Arc<AtomicU64> {
        self.skipped.clone()
    }

    /// Counts rows that are skipped in a counter of the host, which several readers may share.
    #[must_use]
    pub fn counting(mut self, skipped: &Arc<AtomicU64>) -> Reader {
        self.skipped = skipped.clone();
        self
    }

    /// Returns the format of the file.
    pub fn format(&self) -> Format {
        self.format
    }

    /// Returns the types of all columns.
    pub fn schema(&self) -> &Schema {
        &self.schema
    }

    /// Returns the names of the columns that are decoded.
    pub fn read_columns(&self) -> impl Iterator<Item = &str> {
        let names = self.schema.fields().iter().map(|field| field.name().as_str());
        names.filter(|name| self.projection.member(name).is_some())
    }

    fn next_table(&mut self) -> Result<Option<Table>, String> {
        let batch = self.batches.next().map_err(|damage| damage.to_string())?;
        let skipped = self.batches.take_skipped();
        self.skipped.fetch_add(skipped, Ordering::Relaxed);
        let Some(batch) = batch else { return Ok(None) };
        let table = guard::guarded(|| Ok(Table::of_part(&self.schema, &batch, &self.projection)));
        let table = table.map_err(|damage| damage.to_string())?.map_err(|error| error.to_string())?;
        Ok(Some(table.after(usize::try_from(skipped).unwrap_or(usize::MAX))))
    }
}

impl Iterator for Reader {
    type Item = io::Result<Box<dyn Rows>>;

    fn next(&mut self) -> Option<io::Result<Box<dyn Rows>>> {
        if self.is_done {
            return None;
        }
        match self.next_table() {
            Ok(Some(table)) => Some(Ok(Box::new(table))),
            Ok(None) => {
                self.is_done = true;
                None
            }
            Err(why) => {
                // Nothing after it is read: rows would be missing in the middle.
                self.is_done = true;
                let message = format!("{}: {} cannot be read: {why}", self.name, self.batches.place());
                Some(Err(io::Error::new(io::ErrorKind::InvalidData, message)))
            }
        }
    }
}
