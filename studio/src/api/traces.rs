//! Traces of a folder: a list, the page of each, and whether one has grown since.

use super::Wrong;
use crate::studio::Studio;
use crate::trace::page;
use ptc_agent::trace::Analyzer;
use serde::Deserialize;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

/// Files of a folder that are listed, the newest first.
const MAX_LISTED: usize = 500;
/// Files of a folder that are looked at.
const MAX_FILES: usize = 20_000;
/// Size of a trace that is shown. Larger ones are for `ptc trace show`.
const MAX_BYTES: u64 = 64 << 20;

/// Which trace.
#[derive(Deserialize)]
pub struct Which {
    name: String,
}

/// Returns the traces, the newest first.
pub fn list(studio: &Studio) -> Result<Value, Wrong> {
    let Some(folder) = &studio.traces else { return Ok(json!({"traces": [], "left_out": 0})) };
    let entries = std::fs::read_dir(folder)
        .map_err(|error| Wrong::Request(format!("cannot read {}: {error}", folder.display())))?;
    let mut found: Vec<(u128, u64, String)> = entries
        .flatten()
        .take(MAX_FILES)
        .filter_map(|entry| {
            let name = entry.file_name().to_str()?.to_string();
            let about = entry.metadata().ok()?;
            let modified = about.modified().ok()?.duration_since(UNIX_EPOCH).ok()?.as_millis();
            (about.is_file() && is_trace(&name)).then_some((modified, about.len(), name))
        })
        .collect();
    found.sort_unstable_by(|a, b| b.cmp(a));
    let left_out = found.len().saturating_sub(MAX_LISTED);
    found.truncate(MAX_LISTED);
    let traces: Vec<Value> = found
        .into_iter()
        .map(|(modified, bytes, name)| json!({"name": name, "bytes": bytes, "modified": modified as u64}))
        .collect();
    Ok(json!({"traces": traces, "left_out": left_out}))
}

/// Returns the state of a trace, which differs after each line that was written.
pub fn version(studio: &Studio, which: &Which) -> Result<Value, Wrong> {
    let (_, version) = found(studio, &which.name)?;
    Ok(json!({"version": version}))
}

/// Returns the page of a trace and its policy. The page looks for further lines by itself.
pub fn page(studio: &Studio, name: &str) -> Result<(String, String), Wrong> {
    let name = percent_decoded(name).ok_or(Wrong::NoSuch)?;
    let (path, version) = found(studio, &name)?;
    let trace = load(&path)?;
    let live = page::Live { request: "../api/version", name: &name, version: &version };
    Ok(page::html_live(&trace, &live))
}

/// Returns a trace that was read.
pub fn load(path: &Path) -> Result<Analyzer, Wrong> {
    Analyzer::load(path).map_err(|error| Wrong::Request(error.to_string()))
}

/// Returns the file of a trace in the folder, and its state.
pub fn found(studio: &Studio, name: &str) -> Result<(PathBuf, String), Wrong> {
    let folder = studio.traces.as_ref().ok_or(Wrong::NoSuch)?;
    // A name, and no way out of the folder.
    let is_name = is_trace(name) && !name.contains(['/', '\\']) && !name.starts_with('.');
    if !is_name {
        return Err(Wrong::NoSuch);
    }
    let path = folder.join(name);
    let about = std::fs::symlink_metadata(&path).map_err(|_| Wrong::NoSuch)?;
    if !about.is_file() {
        return Err(Wrong::NoSuch);
    }
    if about.len() > MAX_BYTES {
        return Err(Wrong::Request(format!(
            "this trace has {} bytes, more than {MAX_BYTES}; `ptc trace show` shows it",
            about.len()
        )));
    }
    let modified = about.modified().ok().and_then(|time| time.duration_since(UNIX_EPOCH).ok());
    Ok((path, format!("{}-{}", about.len(), modified.unwrap_or_default().as_nanos())))
}

fn is_trace(name: &str) -> bool {
    name.ends_with(".jsonl") && name.len() <= 255
}

/// Decodes the part of an address.
fn percent_decoded(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        bytes.push(match byte {
            b'%' => {
                let mut digit = || char::from(rest.next()?).to_digit(16);
                (digit()? * 16 + digit()?) as u8
            }
            byte => byte,
        });
    }
    String::from_utf8(bytes).ok()
}

#[cfg(test)]
mod tests {
    use super::percent_decoded;

    #[test]
    fn addresses_are_decoded() {
        assert_eq!(percent_decoded("a%20b%C3%A9.jsonl").as_deref(), Some("a bé.jsonl"));
        assert_eq!(
            (percent_decoded("%"), percent_decoded("%zz"), percent_decoded("%ff")),
            (None, None, None)
        );
    }
}
