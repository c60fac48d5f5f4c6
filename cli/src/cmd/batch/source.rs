//! Sources of records: JSON lines, and tables in builds that have them.

use crate::args::RecordFormat;
use crate::input::waiting_for;
use crate::problem::Problem;
use ptc_bytecode::Code;
use ptc_runtime::Projection;
use std::fs::File;
use std::io::{self, Read, Seek};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

/// Where records come from.
pub enum Source {
    /// JSON lines, and their length if it is known.
    Text { text: Box<dyn Read + Send>, bytes: Option<u64> },
    /// Rows of a table.
    #[cfg(feature = "parquet")]
    Table(ptc_arrow::files::Reader),
}

impl Source {
    /// Opens a file, or standard input. The format is the given one, or that of the file.
    pub fn open(
        from: Option<&Path>,
        format: Option<RecordFormat>,
        projection: &Projection,
    ) -> Result<Source, Problem> {
        match (from, format) {
            (None, None | Some(RecordFormat::Jsonl)) => {
                waiting_for("records, one per line,");
                Ok(Source::Text { text: Box::new(io::stdin()), bytes: None })
            }
            (None, Some(format)) => stream(Path::new("standard input"), io::stdin(), format, projection),
            (Some(path), format) => records(path, format, projection),
        }
    }

    /// Returns the number of records that are skipped because no result of theirs is wanted, to be read at the end.
    pub fn skipped(&self) -> Arc<AtomicU64> {
        match self {
            Source::Text { .. } => Arc::default(),
            #[cfg(feature = "parquet")]
            Source::Table(table) => table.skipped(),
        }
    }

    /// Returns the length of the input, if it is known.
    pub fn bytes(&self) -> Option<u64> {
        match self {
            Source::Text { bytes, .. } => *bytes,
            #[cfg(feature = "parquet")]
            Source::Table(_) => None,
        }
    }
}

/// The records of a file.
fn records(path: &Path, format: Option<RecordFormat>, projection: &Projection) -> Result<Source, Problem> {
    let open = || -> io::Result<(File, std::fs::Metadata)> {
        let file = File::open(path)?;
        let about = file.metadata()?;
        Ok((file, about))
    };
    let (mut file, about) = open().map_err(|error| cannot("read", path, &error))?;
    if about.is_dir() {
        return Err(cannot("read", path, &"it is a folder"));
    }
    if !about.is_file() {
        return match format {
            None | Some(RecordFormat::Jsonl) => Ok(Source::Text { text: Box::new(file), bytes: None }),
            Some(format) => stream(path, file, format, projection),
        };
    }
    let mut start = [0; 6];
    let known = file.read(&mut start).map_err(|error| cannot("read", path, &error))?;
    file.rewind().map_err(|error| cannot("read", path, &error))?;
    match format.or_else(|| format_of(path, &start[..known])).unwrap_or(RecordFormat::Jsonl) {
        RecordFormat::Jsonl => Ok(Source::Text { text: Box::new(file), bytes: Some(about.len()) }),
        format => table(path, file, format, projection),
    }
}

/// Recognises a format by the first bytes of a file, and otherwise by its extension.
fn format_of(path: &Path, start: &[u8]) -> Option<RecordFormat> {
    match start {
        _ if start.starts_with(b"PAR1") => return Some(RecordFormat::Parquet),
        _ if start.starts_with(b"ARROW1") => return Some(RecordFormat::Arrow),
        _ => {}
    }
    match path.extension()?.to_str()?.to_ascii_lowercase().as_str() {
        "parquet" => Some(RecordFormat::Parquet),
        "arrow" | "feather" => Some(RecordFormat::Arrow),
        "csv" => Some(RecordFormat::Csv),
        _ => None,
    }
}

#[cfg(feature = "parquet")]
fn table(path: &Path, file: File, format: RecordFormat, projection: &Projection) -> Result<Source, Problem> {
    let Some(format) = table_format(format) else {
        return Ok(Source::Text { text: Box::new(file), bytes: None });
    };
    let reader = ptc_arrow::files::Reader::open(path, file, format, projection);
    Ok(Source::Table(reader.map_err(|error| cannot("read", path, &error))?))
}

/// The format of a table; None for JSON lines.
#[cfg(feature = "parquet")]
pub fn table_format(format: RecordFormat) -> Option<ptc_arrow::files::Format> {
    use ptc_arrow::files::Format;
    match format {
        RecordFormat::Jsonl => None,
        RecordFormat::Csv => Some(Format::Csv),
        RecordFormat::Arrow => Some(Format::Arrow),
        RecordFormat::Parquet => Some(Format::Parquet),
    }
}

#[cfg(not(feature = "parquet"))]
fn table(path: &Path, _: File, format: RecordFormat, _: &Projection) -> Result<Source, Problem> {
    let name = name_of(format);
    Err(cannot("read", path, &format!("it is {name}, and this build has no `parquet` feature")))
}

/// A table from a pipe, which has no end to begin at: only CSV can be read so.
fn stream(
    path: &Path,
    input: impl Read + Send + 'static,
    format: RecordFormat,
    projection: &Projection,
) -> Result<Source, Problem> {
    #[cfg(feature = "parquet")]
    if format == RecordFormat::Csv {
        let reader = ptc_arrow::files::Reader::text(path, input, projection);
        return Ok(Source::Table(reader.map_err(|error| cannot("read", path, &error))?));
    }
    let _ = (input, projection);
    let why = match cfg!(feature = "parquet") {
        true => "is read from a file only",
        false => "needs a build with the `parquet` feature",
    };
    let message = format!("cannot read {}: {} {why}", path.display(), name_of(format));
    Err(Problem::new(Code::InvalidConfig, message))
}

/// The name of a format in messages.
fn name_of(format: RecordFormat) -> &'static str {
    match format {
        RecordFormat::Jsonl => "JSON lines",
        RecordFormat::Csv => "a CSV file",
        RecordFormat::Arrow => "an Arrow file",
        RecordFormat::Parquet => "a Parquet file",
    }
}

/// The problem of a file that cannot be read or written.
pub fn cannot(what: &str, path: &Path, why: &dyn std::fmt::Display) -> Problem {
    Problem::new(Code::InvalidConfig, format!("cannot {what} {}: {why}", path.display()))
}
