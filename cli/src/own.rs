//! The command's own file, by which others start it again.

use ptc_upstream::config::Surroundings;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

/// File that starts the command, if another program carries it inside.
static CARRIED: OnceLock<PathBuf> = OnceLock::new();

/// Sets the file that starts the command, from the first of its words. The program that carries it is then a different
/// one: a Python interpreter has no `ptc mcp`, and a server written in Python is not the command itself.
pub fn carry(name: &OsStr) {
    let path = Path::new(name);
    let whole = if path.components().count() > 1 { std::path::absolute(path).ok() } else { None };
    let _ = CARRIED.set(whole.unwrap_or_else(|| path.to_path_buf()));
}

/// Returns the file that starts the command.
pub fn path() -> PathBuf {
    let carried = CARRIED.get().cloned();
    carried.or_else(|| std::env::current_exe().ok()).unwrap_or_else(|| "ptc".into())
}

/// Returns the facts of the process that a configuration of servers depends on.
pub fn surroundings() -> Surroundings {
    let mut around = Surroundings::current();
    if let Some(path) = CARRIED.get() {
        around.executable = Some(path.clone());
    }
    around
}
