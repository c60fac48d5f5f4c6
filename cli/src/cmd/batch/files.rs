//! Where records come from, and where results and failures go.

use crate::args::BatchArgs;
use crate::input::Problem;
use ptc_bytecode::Code;
use std::fs::File;
use std::io::{self, BufWriter, Read, Seek, Write};
use std::path::{Path, PathBuf};

/// Everything that is read and written.
pub struct Files {
    pub input: Box<dyn Read + Send>,
    /// Of the input, if that is known.
    pub bytes: Option<u64>,
    pub output: Box<dyn Write>,
    pub errors: Box<dyn Write>,
}

impl Files {
    pub fn open(args: &BatchArgs, input: Option<&Path>) -> Result<Files, Problem> {
        let from = input.filter(|file| *file != Path::new("-"));
        let (input, bytes) = match from {
            None => (Box::new(io::stdin()) as Box<dyn Read + Send>, None),
            Some(path) => records(path)?,
        };
        let create = |path: &PathBuf| -> Result<Box<dyn Write>, Problem> {
            if from.is_some_and(|from| same_file(from, path)) {
                return Err(cannot("write", path, &"it is the input"));
            }
            let file = File::create(path).map_err(|error| cannot("write", path, &error))?;
            Ok(Box::new(BufWriter::with_capacity(1 << 16, file)))
        };
        let output = match &args.output {
            Some(path) => create(path)?,
            None => Box::new(BufWriter::with_capacity(1 << 16, io::stdout())),
        };
        let errors = match &args.errors {
            Some(path) => create(path)?,
            None => Box::new(io::stderr()),
        };
        Ok(Files { input, bytes, output, errors })
    }
}

type Records = (Box<dyn Read + Send>, Option<u64>);

/// The records of a file as JSON lines, and their length if it is known.
fn records(path: &Path) -> Result<Records, Problem> {
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
        return Ok((Box::new(file), None));
    }
    let mut start = [0; 4];
    let magic = file.read_exact(&mut start).is_ok_and(|()| &start == b"PAR1");
    file.rewind().map_err(|error| cannot("read", path, &error))?;
    if magic { parquet(path, file) } else { Ok((Box::new(file), Some(about.len()))) }
}

#[cfg(feature = "parquet")]
fn parquet(path: &Path, file: File) -> Result<Records, Problem> {
    let rows = super::parquet::Rows::open(file).map_err(|error| cannot("read", path, &error))?;
    Ok((Box::new(rows), None))
}

#[cfg(not(feature = "parquet"))]
fn parquet(path: &Path, _: File) -> Result<Records, Problem> {
    Err(cannot("read", path, &"it is a Parquet file, and this build has no `parquet` feature"))
}

fn cannot(what: &str, path: &Path, why: &dyn std::fmt::Display) -> Problem {
    Problem::new(Code::InvalidConfig, format!("cannot {what} {}: {why}", path.display()))
}

fn same_file(a: &Path, b: &Path) -> bool {
    matches!((a.canonicalize(), b.canonicalize()), (Ok(a), Ok(b)) if a == b)
}
