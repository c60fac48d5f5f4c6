//! The history file, which keeps inputs from one session to the next.

use crate::args::ReplArgs;
use reedline::FileBackedHistory;
use std::ffi::OsStr;
use std::io;
use std::path::{Path, PathBuf};

/// Inputs kept.
const MOST: usize = 10_000;

/// The file of the history; None when none is to be kept.
pub fn place(args: &ReplArgs) -> Option<PathBuf> {
    match std::env::var_os("PTC_HISTORY") {
        _ if args.no_history => None,
        _ if args.history.is_some() => args.history.clone(),
        Some(text) => said(&text),
        // Not every system has a folder for the state of programs.
        None => Some(dirs::state_dir().or_else(dirs::data_local_dir)?.join("ptc").join("history")),
    }
}

/// Value of the variable.
fn said(text: &OsStr) -> Option<PathBuf> {
    (!text.is_empty() && text != "off").then(|| PathBuf::from(text))
}

/// The history in a file, which is made if it is not there. Only its owner may read it: people type
/// secrets.
pub fn open(file: &Path) -> io::Result<FileBackedHistory> {
    if let Some(folder) = file.parent().filter(|folder| !folder.as_os_str().is_empty()) {
        std::fs::create_dir_all(folder)?;
    }
    let mut options = std::fs::OpenOptions::new();
    options.create(true).append(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(file)?;
    FileBackedHistory::with_file(MOST, file.to_path_buf()).map_err(io::Error::other)
}

#[cfg(test)]
mod tests {
    use super::said;
    use std::ffi::OsStr;

    #[test]
    fn off_and_nothing_mean_none() {
        assert_eq!(said(OsStr::new("off")), None);
        assert_eq!(said(OsStr::new("")), None);
        assert_eq!(said(OsStr::new("a/b")), Some("a/b".into()));
    }
}
