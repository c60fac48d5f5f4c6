//! Traces of calls, read from the trace directory.

use ptc_bytecode::hex;
use serde_json::Value;
use sha2::{Digest, Sha256};
use std::fs::{self, File};
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};

/// Returns the lines of a request's newest trace if they fit into `most` bytes. Several owners may have used
/// this id; with `owner`, traces of others are skipped.
pub(super) fn find(dir: &Path, id: &str, owner: Option<&str>, most: usize) -> Option<Value> {
    let mut files = files(dir, id);
    files.sort();
    files.iter().rev().find_map(|file| {
        let first = first_line(file)?;
        if owner.is_some_and(|owner| first["owner"] != owner) {
            return None;
        }
        Some(lines(file, most))
    })?
}

/// Reads the first line, which names the call's owner.
fn first_line(file: &Path) -> Option<Value> {
    let mut line = String::new();
    BufReader::new(File::open(file).ok()?).read_line(&mut line).ok()?;
    serde_json::from_str(&line).ok()
}

fn lines(file: &Path, most: usize) -> Option<Value> {
    // The reply contains it twice.
    if fs::metadata(file).ok()?.len() > most as u64 / 2 {
        return None;
    }
    let text = fs::read_to_string(file).ok()?;
    let lines: Option<Vec<Value>> = text.lines().map(|line| serde_json::from_str(line).ok()).collect();
    lines.map(Value::Array)
}

/// Returns the trace files of a request id. Names begin with the time and contain the beginning of the id's hash.
fn files(dir: &Path, id: &str) -> Vec<PathBuf> {
    let hash = hex(&Sha256::digest(id.as_bytes()).into());
    let endings = ["ok", "error"].map(|status| format!("-{}-{status}.jsonl", &hash[..8]));
    let files = fs::read_dir(dir).into_iter().flatten().filter_map(|entry| Some(entry.ok()?.path()));
    let is_its = |path: &PathBuf| {
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        endings.iter().any(|ending| name.ends_with(ending))
    };
    files.filter(is_its).collect()
}
