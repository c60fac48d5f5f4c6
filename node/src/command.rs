//! The `ptc` command.

use napi_derive::napi;
use std::ffi::OsString;
use std::process::ExitCode;

/// Runs the `ptc` command with these words, the first of which is the name of the program; returns its exit code.
#[napi]
pub fn command(words: Vec<String>) -> u8 {
    let code = ptc_cli::main_with(words.into_iter().map(OsString::from).collect());
    // An exit code can only be compared.
    (0..=u8::MAX).find(|number| ExitCode::from(*number) == code).unwrap_or(1)
}
