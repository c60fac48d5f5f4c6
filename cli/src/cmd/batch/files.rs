//! Files of a batch: the source of records, and the targets of results and failures.

use super::source::{Opening, cannot};
use super::sources::Sources;
use crate::args::BatchArgs;
use crate::problem::Problem;
use ptc_bytecode::Code;
use ptc_runtime::files::{Access, Replacement, is_same_file};
use std::fs::File;
use std::io::{self, BufWriter, IsTerminal, Write};
use std::path::{Path, PathBuf};

/// Everything that is read and written.
pub struct Files {
    pub input: Sources,
    /// True if somebody types it at a terminal.
    pub is_typed: bool,
    pub output: Destination,
    pub errors: Destination,
}

impl Files {
    pub fn open(args: &BatchArgs, input: &[PathBuf], opening: Opening) -> Result<Files, Problem> {
        let input = Sources::open(input, opening)?;
        check_places(args, input.names())?;
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
        let is_typed = input.has_standard_input() && io::stdin().is_terminal();
        Ok(Files { input, is_typed, output, errors })
    }
}

/// Refuses to write over what is read, and two kinds of lines into one file.
fn check_places(args: &BatchArgs, input: &[PathBuf]) -> Result<(), Problem> {
    for (flag, path) in [("-o", &args.output), ("--errors", &args.errors)] {
        let Some(path) = path else { continue };
        if input.iter().any(|input| input != Path::new("-") && is_same_file(input, path)) {
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
