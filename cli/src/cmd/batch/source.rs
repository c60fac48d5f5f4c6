//! One source of records: JSON lines, or a table in builds that have them.

use super::packed::{Packing, Unpacked};
use crate::args::RecordFormat;
use crate::input::waiting_for;
use crate::problem::Problem;
use indicatif::ProgressBar;
use ptc_bytecode::Code;
use ptc_runtime::{Condition, Input, Projection};
use std::fs::File;
use std::io::{self, Read, Seek};
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicU64;
use std::sync::{Arc, OnceLock};

/// Settings that all sources of a batch share.
#[derive(Clone)]
pub struct Opening {
    /// The format of all, if it is given.
    pub format: Option<RecordFormat>,
    /// The parts of a record that the programs can observe.
    pub projection: Projection,
    /// Conditions without which a record gives no result.
    #[cfg_attr(not(feature = "parquet"), expect(dead_code))]
    pub conditions: Vec<Condition>,
    /// Number of records that are skipped because no result of theirs is wanted, to be read at the end.
    pub skipped: Arc<AtomicU64>,
    /// Bar that shows how much of the files has been read.
    pub bar: Arc<OnceLock<ProgressBar>>,
}

/// Where records come from.
pub enum Source {
    /// JSON lines.
    Text { text: Box<dyn Read + Send>, packing: Option<Packing> },
    /// Rows of a table.
    #[cfg(feature = "parquet")]
    Table(ptc_arrow::files::Reader),
}

impl Source {
    /// Opens a file, or standard input for `-`. The format is the given one, or that of the file.
    pub fn open(path: &Path, opening: &Opening) -> Result<Source, Problem> {
        if path != Path::new("-") {
            return file(path, opening);
        }
        if opening.format.is_none_or(|format| format == RecordFormat::Jsonl) {
            waiting_for("records, one per line,");
        }
        stream(Path::new("standard input"), io::stdin(), opening)
    }

    /// Returns it as input of a batch.
    pub fn into_input(self) -> Input<'static> {
        match self {
            Source::Text { text, .. } => Input::detached(text),
            #[cfg(feature = "parquet")]
            Source::Table(table) => Input::rows(table),
        }
    }
}

/// The records of a file.
fn file(path: &Path, opening: &Opening) -> Result<Source, Problem> {
    let open = || -> io::Result<(File, bool)> {
        let file = File::open(path)?;
        let about = file.metadata()?;
        match about.is_dir() {
            true => Err(io::Error::other("it is a folder; name its files, as in `folder/*.jsonl`")),
            false => Ok((file, about.is_file())),
        }
    };
    let (mut file, is_file) = open().map_err(|error| cannot("read", path, &error))?;
    if !is_file {
        return stream(path, file, opening);
    }
    let mut start = [0; 6];
    let known = file.read(&mut start).map_err(|error| cannot("read", path, &error))?;
    file.rewind().map_err(|error| cannot("read", path, &error))?;
    let start = &start[..known];
    let packing = Packing::of_start(start);
    let format = opening.format.or_else(|| format_of(path, start)).unwrap_or(RecordFormat::Jsonl);
    match packing {
        _ if format != RecordFormat::Jsonl => table(path, file, packing, format, opening),
        Some(packing) => Ok(text(packing.unpack(metered(file, opening)), Some(path), Some(packing))),
        None => Ok(text(metered(file, opening), None, None)),
    }
}

/// Records from a pipe, which has no end to begin at.
fn stream(path: &Path, input: impl Read + Send + 'static, opening: &Opening) -> Result<Source, Problem> {
    let input = Unpacked::new(metered(input, opening));
    match opening.format.unwrap_or(RecordFormat::Jsonl) {
        RecordFormat::Jsonl => Ok(text(input, None, None)),
        #[cfg(feature = "parquet")]
        RecordFormat::Csv => csv(path, input, opening),
        #[cfg(feature = "parquet")]
        format => {
            table(path, stored(input).map_err(|error| cannot("read", path, &error))?, None, format, opening)
        }
        #[cfg(not(feature = "parquet"))]
        format => Err(cannot("read", path, &lacking(format))),
    }
}

/// Recognises a format by the first bytes of a file, and otherwise by its extension, before that of a compressed file.
fn format_of(path: &Path, start: &[u8]) -> Option<RecordFormat> {
    match start {
        _ if start.starts_with(b"PAR1") => return Some(RecordFormat::Parquet),
        _ if start.starts_with(b"ARROW1") => return Some(RecordFormat::Arrow),
        _ => {}
    }
    let extension = |path: &Path| Some(path.extension()?.to_str()?.to_ascii_lowercase());
    let named = match extension(path)?.as_str() {
        "gz" | "zst" => extension(Path::new(path.file_stem()?))?,
        other => other.to_string(),
    };
    match named.as_str() {
        "parquet" => Some(RecordFormat::Parquet),
        "arrow" | "feather" => Some(RecordFormat::Arrow),
        "csv" => Some(RecordFormat::Csv),
        _ => None,
    }
}

/// JSON lines from a reader; `path` is named where it cannot be read.
fn text(reader: impl Read + Send + 'static, path: Option<&Path>, packing: Option<Packing>) -> Source {
    let text: Box<dyn Read + Send> = match path {
        Some(path) => Box::new(Named { reader, path: path.to_path_buf() }),
        None => Box::new(reader),
    };
    Source::Text { text, packing }
}

#[cfg(feature = "parquet")]
fn table(
    path: &Path,
    file: File,
    packing: Option<Packing>,
    format: RecordFormat,
    opening: &Opening,
) -> Result<Source, Problem> {
    let Some(kind) = table_format(format) else { return Ok(text(metered(file, opening), None, None)) };
    if let Some(packing) = packing {
        if format == RecordFormat::Csv {
            return csv(path, packing.unpack(metered(file, opening)), opening);
        }
        let why = format!(
            "{} in {}, which is not unpacked, since it is compressed inside",
            name_of(format),
            packing.name()
        );
        return Err(cannot("read", path, &why).hint("unpack it before: gunzip, zstd -d"));
    }
    let reader = ptc_arrow::files::Reader::open(path, file, kind, &opening.projection)
        .map_err(|error| cannot("read", path, &error))?;
    let reader = reader.counting(&opening.skipped);
    Ok(Source::Table(match opening.conditions.is_empty() {
        true => reader,
        false => reader.skipping(opening.conditions.clone()),
    }))
}

#[cfg(feature = "parquet")]
fn csv(path: &Path, input: impl Read + Send + 'static, opening: &Opening) -> Result<Source, Problem> {
    let reader = ptc_arrow::files::Reader::text(path, input, &opening.projection);
    Ok(Source::Table(reader.map_err(|error| cannot("read", path, &error))?))
}

/// Stores what a pipe gives in a file without a name, for formats that begin at the end.
#[cfg(feature = "parquet")]
fn stored(mut input: impl Read) -> io::Result<File> {
    let mut file = tempfile::tempfile()?;
    io::copy(&mut input, &mut file)?;
    file.rewind()?;
    Ok(file)
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
fn table(
    path: &Path,
    _: File,
    _: Option<Packing>,
    format: RecordFormat,
    _: &Opening,
) -> Result<Source, Problem> {
    Err(cannot("read", path, &lacking(format)))
}

#[cfg(not(feature = "parquet"))]
fn lacking(format: RecordFormat) -> String {
    format!("it is {}, and this build has no `parquet` feature", name_of(format))
}

/// The name of a format in messages.
pub fn name_of(format: RecordFormat) -> &'static str {
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

/// Reader that tells the bar what it has read.
struct Metered<R> {
    reader: R,
    bar: Arc<OnceLock<ProgressBar>>,
}

fn metered<R: Read>(reader: R, opening: &Opening) -> Metered<R> {
    Metered { reader, bar: opening.bar.clone() }
}

impl<R: Read> Read for Metered<R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let count = self.reader.read(into)?;
        if let Some(bar) = self.bar.get() {
            bar.inc(count as u64);
        }
        Ok(count)
    }
}

/// Reader whose errors name the file.
pub struct Named<R> {
    pub reader: R,
    pub path: PathBuf,
}

impl<R: Read> Read for Named<R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        self.reader.read(into).map_err(|error| match error.kind() {
            io::ErrorKind::Interrupted => error,
            kind => io::Error::new(kind, format!("{}: {error}", self.path.display())),
        })
    }
}
