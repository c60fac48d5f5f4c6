//! The sources that are to be built: files, and folders of them.

use crate::problem::Problem;
use ptc_bytecode::Code;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// A file of tests stands beside the prelude it is about, and is no prelude.
pub const TESTS: &str = "_test.clj";

/// The sources of files and folders, and whether a folder was among them. Those of a folder come by name.
pub fn expand(given: &[PathBuf]) -> Result<(Vec<PathBuf>, bool), Problem> {
    let mut sources = Vec::new();
    let mut has_folder = false;
    for path in given {
        if !path.is_dir() {
            sources.push(path.clone());
            continue;
        }
        has_folder = true;
        let found = files_in(path, ".clj")?;
        let is_test = |file: &PathBuf| name(file).ends_with(TESTS);
        let mut preludes: Vec<PathBuf> = found.into_iter().filter(|file| !is_test(file)).collect();
        if preludes.is_empty() {
            let message = format!("{} has no preludes (files that end in .clj)", path.display());
            return Err(Problem::new(Code::InvalidConfig, message));
        }
        sources.append(&mut preludes);
    }
    Ok((sources, has_folder))
}

/// Artifacts in a folder that none of these sources makes: their sources were deleted or renamed.
pub fn orphans(output: &Path, targets: &BTreeSet<PathBuf>) -> Vec<PathBuf> {
    let there = files_in(output, ".ptcp").unwrap_or_default();
    there.into_iter().filter(|file| !targets.contains(file)).collect()
}

/// The files of a folder whose names end so, by name.
pub fn files_in(folder: &Path, end: &str) -> Result<Vec<PathBuf>, Problem> {
    let cannot = |error: std::io::Error| {
        Problem::new(Code::InvalidConfig, format!("cannot read {}: {error}", folder.display()))
    };
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(cannot)? {
        let path = entry.map_err(cannot)?.path();
        // Editors keep files that begin with a dot beside those that are open.
        if path.is_file() && name(&path).ends_with(end) && !name(&path).starts_with('.') {
            files.push(path);
        }
    }
    files.sort_unstable();
    Ok(files)
}

/// The name of a file without its folder.
pub fn name(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}
