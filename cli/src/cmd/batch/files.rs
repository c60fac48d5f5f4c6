//! Files of a batch: the source of records, and the targets of results and failures.

use crate::args::{BatchArgs, RecordFormat};
use crate::input::waiting_for;
use crate::problem::Problem;
use ptc_bytecode::Code;
use ptc_runtime::Projection;
use ptc_runtime::files::{Access, Replacement, is_same_file};
use std::fs::File;
use std::io::{self, BufWriter, IsTerminal, Read, Seek, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

/// Everything that is read and written.
pub struct Files {
    pub input: Source,
    /// True if somebody types it at a terminal.
    pub is_typed: bool,
    pub output: Destination,
    pub errors: Destination,
}

impl Files {
    pub fn open(args: &BatchArgs, input: Option<&Path>, projection: &Projection) -> Result<Files, Problem> {
        let from = input.filter(|file| *file != Path::new("-"));
        let input = match (from, args.format) {
            (None, None | Some(RecordFormat::Jsonl)) => {
                waiting_for("records, one per line,");
                Source::Text { text: Box::new(io::stdin()), bytes: None }
            }
            (None, Some(format)) => standard_input(format, projection)?,
            (Some(path), format) => records(path, format, projection)?,
        };
        check_places(args, from)?;
        let create =
            |path: &PathBuf| Destination::create(path).map_err(|error| cannot("write", path, &error));
        let output = match &args.output {
            Some(path) => create(path)?,
            None => Destination::Direct(Box::new(BufWriter::with_capacity(BUFFER, io::stdout()))),
        };
        let errors = match &args.errors {
            Some(path) => create(path)?,
            None => Destination::Direct(Box::new(io::stderr())),
        };
        let is_typed = from.is_none() && io::stdin().is_terminal();
        Ok(Files { input, is_typed, output, errors })
    }
}

/// Where records come from.
pub enum Source {
    /// JSON lines, and their length if it is known.
    Text { text: Box<dyn Read + Send>, bytes: Option<u64> },
    /// Rows of a table.
    #[cfg(feature = "parquet")]
    Table(ptc_arrow::files::Reader),
}

impl Source {
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
fn table(
    path: &Path,
    file: File,
    format: RecordFormat,
    projection: &Projection,
) -> Result<Source, Problem> {
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

fn standard_input(format: RecordFormat, projection: &Projection) -> Result<Source, Problem> {
    stream(Path::new("standard input"), io::stdin(), format, projection)
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

fn cannot(what: &str, path: &Path, why: &dyn std::fmt::Display) -> Problem {
    Problem::new(Code::InvalidConfig, format!("cannot {what} {}: {why}", path.display()))
}

/// Refuses to write over what is read, and two kinds of lines into one file.
fn check_places(args: &BatchArgs, input: Option<&Path>) -> Result<(), Problem> {
    for (flag, path) in [("-o", &args.output), ("--errors", &args.errors)] {
        let Some(path) = path else { continue };
        if input.is_some_and(|input| is_same_file(input, path)) {
            let hint = format!("name another file: `{flag} {}.new`", path.display());
            return Err(cannot("write", path, &"it is the input").hint(hint));
        }
    }
    let (Some(output), Some(errors)) = (&args.output, &args.errors) else { return Ok(()) };
    // What becomes of lines is clear on a terminal and in /dev/null.
    if is_same_file(output, errors) && !is_device(output) {
        let message =
            format!("-o and --errors both name {}, and results would mix with failures", errors.display());
        let hint = format!("name two files: `--errors {}.errors`", errors.display());
        return Err(Problem::new(Code::InvalidConfig, message).hint(hint));
    }
    Ok(())
}

#[cfg(unix)]
fn is_device(path: &Path) -> bool {
    use std::os::unix::fs::FileTypeExt;
    std::fs::metadata(path).is_ok_and(|about| about.file_type().is_char_device())
}

#[cfg(not(unix))]
fn is_device(_: &Path) -> bool {
    false
}

/// Bytes that are written at one time.
const BUFFER: usize = 1 << 16;

/// Target of lines.
pub enum Destination {
    /// There at once: standard output, pipes, devices.
    Direct(Box<dyn Write + Send>),
    /// Beside a file, which stays as it is until all is written.
    Replacement(BufWriter<Replacement>),
}

impl Destination {
    fn create(path: &Path) -> io::Result<Destination> {
        // A name for a stream that is open already may lead to a file that somebody else writes to as well.
        let is_stream = path.starts_with("/dev") || path.starts_with("/proc");
        let is_file = std::fs::metadata(path).map_or(true, |about| about.is_file());
        let direct = || -> io::Result<Destination> {
            Ok(Destination::Direct(Box::new(BufWriter::with_capacity(BUFFER, File::create(path)?))))
        };
        if is_stream || !is_file {
            return direct();
        }
        match Replacement::create(path, Access::Usual) {
            Ok(beside) => Ok(Destination::Replacement(BufWriter::with_capacity(BUFFER, beside))),
            // A file may be writable in a folder that is not.
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied && path.exists() => direct(),
            Err(error) => Err(error),
        }
    }

    /// Lets everything that was written be seen. Not called, a file that was there before is still there.
    pub fn finish(self) -> io::Result<()> {
        match self {
            Destination::Direct(mut out) => out.flush(),
            // Results can be made again, so nobody waits for the disk.
            Destination::Replacement(out) => {
                out.into_inner().map_err(io::IntoInnerError::into_error)?.place()
            }
        }
    }
}

impl Write for Destination {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Destination::Direct(out) => out.write(bytes),
            Destination::Replacement(out) => out.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Destination::Direct(out) => out.flush(),
            Destination::Replacement(out) => out.flush(),
        }
    }
}
