//! The list of a store on disk: one entry per line, each line with a hash over itself and all before it.
//!
//! A line counts once it ends in a newline, and a newline is only written when everything before it is on disk. So a
//! line without one was never acknowledged and is ignored, and a line with one that does not match its hash was damaged
//! later, which is reported.

use super::StoreError;
use super::index::{Entry, Index};
use ptc_bytecode::{Code, hex};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::io::{BufRead, Read};

/// Maximum length of a line in bytes: one entry, whose metadata and exports are bounded.
pub(super) const MAX_LINE: u64 = 8 << 20;
/// Maximum length of a list in bytes.
pub(super) const MAX_LOG: u64 = 64 << 20;

const PREFIX: &str = "{\"sum\":\"";
const MIDDLE: &str = "\",\"entry\":";

/// First line of a list.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Header {
    format: String,
    version: u32,
    /// Incremented when the list is rewritten.
    generation: u64,
}

const FORMAT: &str = "ptc-prelude-store";
const FORMAT_VERSION: u32 = 1;

/// Position up to which a list was read.
#[derive(Clone, PartialEq, Debug, Default)]
pub(super) struct Place {
    /// Length of the complete lines in bytes.
    pub offset: u64,
    pub generation: u64,
    /// Length of the part that was rewritten last, in bytes.
    pub base: u64,
    sum: String,
    lines: u64,
}

impl Place {
    /// Returns the position at the start of a list, and its first line.
    pub fn start(generation: u64) -> (Place, String) {
        let mut place = Place { generation, ..Place::default() };
        let header = Header { format: FORMAT.to_string(), version: FORMAT_VERSION, generation };
        let line = place.line(&header);
        place.base = place.offset;
        (place, line)
    }

    /// Formats the line of an entry, without its newline, and moves the position past it.
    pub fn line(&mut self, entry: &impl Serialize) -> String {
        let body = serde_json::to_string(entry).unwrap_or_default();
        self.sum = sum(&self.sum, body.as_bytes());
        let line = format!("{PREFIX}{}{MIDDLE}{body}}}", self.sum);
        self.offset += line.len() as u64 + 1;
        self.lines += 1;
        line
    }

    /// Reads the first line.
    pub fn read_header(reader: &mut impl BufRead) -> Result<Place, StoreError> {
        let mut place = Place::default();
        let body = place.next(reader)?.ok_or_else(|| corrupt(1, "it is cut off"))?;
        let header: Header = parse(&body, 1)?;
        if header.format != FORMAT || header.version != FORMAT_VERSION {
            let message = format!("the store has the format {} {}", header.format, header.version);
            return Err(StoreError::new(Code::UnsupportedFormat, message));
        }
        place.generation = header.generation;
        place.base = place.offset;
        Ok(place)
    }

    /// Reads all further entries into an index.
    pub fn read_entries(&mut self, reader: &mut impl BufRead, index: &mut Index) -> Result<(), StoreError> {
        let mut is_new = self.lines == 1;
        while let Some(body) = self.next(reader)? {
            is_new = true;
            let entry: Entry = parse(&body, self.lines)?;
            let is_base = matches!(entry, Entry::Known { .. } | Entry::Kept { .. });
            index.apply(entry).map_err(|why| corrupt(self.lines, why))?;
            if is_base {
                self.base = self.offset;
            }
        }
        // Checked once per list, not on every refresh.
        match is_new {
            true => index.check().map_err(|why| corrupt(self.lines, why)),
            false => Ok(()),
        }
    }

    /// Returns the entry of the next complete line.
    fn next(&mut self, reader: &mut impl BufRead) -> Result<Option<Vec<u8>>, StoreError> {
        let mut line = Vec::new();
        let read =
            reader.take(MAX_LINE).read_until(b'\n', &mut line).map_err(|e| unavailable("refs.jsonl", &e))?;
        if line.pop_if(|last| *last == b'\n').is_none() {
            return match read as u64 == MAX_LINE {
                true => Err(corrupt(self.lines + 1, "it is too long")),
                false => Ok(None),
            };
        }
        self.lines += 1;
        let parts = line.strip_prefix(PREFIX.as_bytes()).and_then(|rest| {
            let (sum, rest) = rest.split_at_checked(64)?;
            Some((sum, rest.strip_prefix(MIDDLE.as_bytes())?.strip_suffix(b"}")?))
        });
        let Some((said, body)) = parts else { return Err(corrupt(self.lines, "it is not an entry")) };
        let found = sum(&self.sum, body);
        if said != found.as_bytes() {
            return Err(corrupt(self.lines, "it does not match its checksum"));
        }
        self.sum = found;
        self.offset += read as u64;
        Ok(Some(body.to_vec()))
    }
}

fn sum(before: &str, body: &[u8]) -> String {
    let mut hasher = Sha256::new();
    hasher.update(before.as_bytes());
    hasher.update(body);
    hex(&hasher.finalize().into())
}

fn parse<T: for<'a> Deserialize<'a>>(body: &[u8], line: u64) -> Result<T, StoreError> {
    serde_json::from_slice(body).map_err(|error| corrupt(line, &error.to_string()))
}

/// Makes the error for an impossible line.
fn corrupt(line: u64, why: &str) -> StoreError {
    StoreError::new(Code::StoreCorrupt, format!("line {line} of refs.jsonl is damaged: {why}"))
        .with("file", "refs.jsonl")
        .with("line", line)
}

/// Makes the error for a file that cannot be read or written.
pub(super) fn unavailable(what: &str, error: &std::io::Error) -> StoreError {
    StoreError::new(Code::StoreUnavailable, format!("cannot use {what} of the store: {error}"))
        .with("file", what)
}
