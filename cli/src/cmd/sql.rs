//! `ptc sql`: hands over to `ptc-sql`, which is installed by itself. Its query engine is several times as large as all of `ptc`.

use crate::args::SqlArgs;
use crate::problem::Problem;
use crate::report;
use ptc_bytecode::Code;
use std::ffi::{OsStr, OsString};
use std::io;
use std::process::{Command, ExitCode};

/// The command on the PATH.
const PROGRAM: &str = "ptc-sql";

/// Hands over a command line that begins with `ptc sql`, so that `--help` is that of `ptc-sql`; None for others, and if it is
/// not installed.
pub fn handed_over(words: &[OsString]) -> Option<ExitCode> {
    let (command, rest) = words.get(1..)?.split_first()?;
    (command == OsStr::new("sql")).then(|| start(rest).ok()).flatten()
}

pub fn run(args: &SqlArgs) -> ExitCode {
    start(&args.words).unwrap_or_else(|error| {
        let problem = match error.kind() {
            io::ErrorKind::NotFound => Problem::new(
                Code::InvalidConfig,
                format!("`ptc sql` needs the command `{PROGRAM}`, which is not on the PATH"),
            )
            .hint("install it from a checkout of PTC: cargo install --locked --path engines/sql"),
            _ => Problem::new(Code::InvalidConfig, format!("`{PROGRAM}` cannot be started: {error}")),
        };
        report::problem(&problem, false)
    })
}

#[cfg(unix)]
fn start(words: &[OsString]) -> io::Result<ExitCode> {
    use std::os::unix::process::CommandExt;
    // Takes the place of this process, with its signals and its terminal.
    Err(Command::new(PROGRAM).args(words).exec())
}

#[cfg(not(unix))]
fn start(words: &[OsString]) -> io::Result<ExitCode> {
    let status = Command::new(PROGRAM).args(words).status()?;
    Ok(ExitCode::from(status.code().and_then(|code| u8::try_from(code).ok()).unwrap_or(1)))
}
