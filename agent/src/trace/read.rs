//! Reading of trace files, whose content is untrusted.

use super::file::beside;
use super::line::{NoEvent, from_line};
use super::{Event, TraceId};
use serde_json::Value;
use std::collections::{BTreeSet, VecDeque};
use std::fmt;
use std::path::{Path, PathBuf};

/// Maximum bytes and files that are read.
const MAX_BYTES: u64 = 128 << 20;
const MAX_FILES: usize = 10_000;
const MAX_LINE: usize = 8 << 20;
/// Maximum number of broken lines reported.
const MAX_PROBLEMS: usize = 20;

/// Error: a trace cannot be read at all.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ReadError(pub(super) String);

impl fmt::Display for ReadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for ReadError {}

/// Content of trace files.
#[derive(Default)]
pub(super) struct Loaded {
    pub(super) events: Vec<Event>,
    pub(super) files: Vec<PathBuf>,
    pub(super) problems: Problems,
    bytes: u64,
}

/// Lines that could not be read, while the others were.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Problems {
    /// Descriptions of the first ones, with file and line.
    pub told: Vec<String>,
    /// Number of broken lines.
    pub broken_lines: u64,
    /// Number of lines with events unknown to this version.
    pub unknown_events: u64,
}

impl Problems {
    fn tell(&mut self, text: String) {
        if self.told.len() < MAX_PROBLEMS {
            self.told.push(text);
        }
    }
}

impl Loaded {
    /// Reads a file with the files of its child agents, or all files of a folder.
    pub(super) fn open(path: &Path) -> Result<Loaded, ReadError> {
        let mut loaded = Loaded::default();
        let about = std::fs::metadata(path).map_err(|error| unreadable(path, &error))?;
        if about.is_dir() {
            for file in files_of(path, |_| true)? {
                loaded.file(&file)?;
            }
            if loaded.files.is_empty() {
                return Err(ReadError(format!("{} has no traces: no file ends with .jsonl", path.display())));
            }
        } else {
            loaded.file(path)?;
            loaded.below(path)?;
        }
        loaded.checked(path)
    }

    /// Reads text that is not a file.
    pub(super) fn text(text: &[u8], name: &str) -> Result<Loaded, ReadError> {
        let mut loaded = Loaded::default();
        loaded.lines(text, name);
        loaded.checked(Path::new(name))
    }

    /// Fails if no event was readable; sorts the events.
    fn checked(mut self, path: &Path) -> Result<Loaded, ReadError> {
        if self.events.is_empty() {
            let why = match self.problems.told.first() {
                Some(first) => format!("no line can be read: {first}"),
                None if self.problems.unknown_events > 0 => {
                    "it has no event that this version knows".to_string()
                }
                None => "it is empty".to_string(),
            };
            return Err(ReadError(format!("{} is not a trace: {why}", path.display())));
        }
        // Threads may have written in another order.
        self.events.sort_by_key(|event| (event.at, event.trace_id, event.seq));
        Ok(self)
    }

    /// Reads the traces that this one began: found by file name, and by the ids that its events name.
    fn below(&mut self, path: &Path) -> Result<(), ReadError> {
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        // One spelling for each file: `t.jsonl` and `./t.jsonl` would be read as two.
        let path = &folder.join(path.file_name().unwrap_or_default());
        let stem = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let named = |name: &str| {
            let id = name.strip_suffix(".jsonl").and_then(|name| name.strip_prefix(&stem)?.strip_prefix('-'));
            id.is_some_and(|id| id.parse::<TraceId>().is_ok())
        };
        let mut waiting: VecDeque<PathBuf> = files_of(folder, named)?.into();
        let mut seen: BTreeSet<PathBuf> = waiting.iter().cloned().chain([path.to_path_buf()]).collect();
        let mut looked = 0;
        loop {
            while looked < self.events.len() {
                for id in children(&self.events[looked]) {
                    for file in [beside(path, id), folder.join(format!("{id}.jsonl"))] {
                        if seen.len() < MAX_FILES && !seen.contains(&file) && file.is_file() {
                            seen.insert(file.clone());
                            waiting.push_back(file);
                        }
                    }
                }
                looked += 1;
            }
            let Some(next) = waiting.pop_front() else { return Ok(()) };
            // An unreadable file below is a gap, not the end.
            if let Err(error) = self.file(&next) {
                self.problems.tell(error.0);
            }
        }
    }

    fn file(&mut self, path: &Path) -> Result<(), ReadError> {
        let about = std::fs::metadata(path).map_err(|error| unreadable(path, &error))?;
        // Opening a pipe would block, and a device never ends.
        if !about.is_file() {
            return Err(ReadError(format!("{} is not a file", path.display())));
        }
        self.bytes += about.len();
        if self.bytes > MAX_BYTES {
            let message =
                format!("{}: more than {MAX_BYTES} bytes of traces cannot be read at once", path.display());
            return Err(ReadError(message));
        }
        let bytes = std::fs::read(path).map_err(|error| unreadable(path, &error))?;
        self.lines(&bytes, &path.display().to_string());
        self.files.push(path.to_path_buf());
        Ok(())
    }

    fn lines(&mut self, bytes: &[u8], name: &str) {
        for (i, line) in bytes.split(|byte| *byte == b'\n').enumerate() {
            if line.iter().all(u8::is_ascii_whitespace) {
                continue;
            }
            let read = match std::str::from_utf8(line) {
                _ if line.len() > MAX_LINE => {
                    Err(NoEvent::Broken(format!("it has more than {MAX_LINE} bytes")))
                }
                Err(_) => Err(NoEvent::Broken("it is not UTF-8 text".to_string())),
                Ok(text) => from_line(text),
            };
            match read {
                Ok(event) => self.events.push(event),
                Err(NoEvent::Unknown(_)) => self.problems.unknown_events += 1,
                Err(NoEvent::Broken(why)) => {
                    self.problems.broken_lines += 1;
                    self.problems.tell(format!("{name}:{}: {why}", i + 1));
                }
            }
        }
    }
}

fn unreadable(path: &Path, error: &std::io::Error) -> ReadError {
    ReadError(format!("cannot read {}: {error}", path.display()))
}

/// Returns the traces that an event names as begun by it.
fn children(event: &Event) -> impl Iterator<Item = TraceId> + '_ {
    let one = event.data.get("child_trace_id").into_iter();
    let many = event.data.get("child_trace_ids").and_then(Value::as_array).into_iter().flatten();
    one.chain(many).filter_map(|id| id.as_str()?.parse().ok())
}

/// Returns the `.jsonl` files of a folder, sorted by name.
fn files_of(folder: &Path, wanted: impl Fn(&str) -> bool) -> Result<Vec<PathBuf>, ReadError> {
    let entries = std::fs::read_dir(folder).map_err(|error| unreadable(folder, &error))?;
    let mut files: Vec<PathBuf> = entries
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| path.extension().is_some_and(|extension| extension == "jsonl") && path.is_file())
        .filter(|path| path.file_name().is_some_and(|name| wanted(&name.to_string_lossy())))
        .collect();
    files.sort();
    if files.len() > MAX_FILES {
        return Err(ReadError(format!("{} has more than {MAX_FILES} traces", folder.display())));
    }
    Ok(files)
}
