//! Conversations in files: recorded once from a real model, then played without one.
//!
//! A cassette is a text of JSON lines. The first line identifies it; every other line holds a request and its outcome:
//!
//! ```json
//! {"cassette":1}
//! {"request":{"system":"…","messages":[…],…},"response":{"content":"(+ 1 2)"}}
//! {"request":{…},"error":{"kind":"rate_limit","message":"…"}}
//! ```

use crate::diff::diff;
use crate::{Caps, ErrorKind, LlmError, LlmRequest, LlmResponse, Model, ModelFuture, Pricing};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::fmt;
use std::fs::File;
use std::io::{Read, Write};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

/// Version of the format.
const VERSION: u32 = 1;
/// Bytes at the beginning of a file that show whether it is a cassette.
const HEAD_BYTES: u64 = 256;
/// Maximum size of a cassette, in bytes.
const MAX_FILE: u64 = 64 << 20;

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Head {
    cassette: u32,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Line {
    request: Value,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    response: Option<LlmResponse>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    error: Option<LlmError>,
}

/// A cassette that cannot be written or read.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CassetteError(String);

impl fmt::Display for CassetteError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for CassetteError {}

/// A model that asks another model and records its requests and replies.
///
/// ```
/// use ptc_model::{LlmRequest, Model, Recorder, Replay, Scripted};
/// # tokio::runtime::Builder::new_current_thread().build()?.block_on(async {
/// let mut cassette: Vec<u8> = Vec::new();
/// let recorder = Recorder::to_writer(Scripted::new(["(+ 1 2)"]), &mut cassette)?;
/// recorder.call(&LlmRequest::new("system", "Add")).await?;
/// drop(recorder);
///
/// let replay = Replay::parse(std::str::from_utf8(&cassette)?)?;
/// assert_eq!(replay.call(&LlmRequest::new("system", "Add")).await?.text(), "(+ 1 2)");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Recorder<M, W = File> {
    model: M,
    to: Arc<Mutex<W>>,
}

impl<M: Model> Recorder<M> {
    /// Records to this file, replacing its content. An existing file must be a cassette or empty: test files name the
    /// paths of cassettes, and the person who runs a test file may not be its author.
    pub fn create(model: M, path: impl AsRef<Path>) -> Result<Recorder<M>, CassetteError> {
        let path = path.as_ref();
        let failed =
            |why: &dyn fmt::Display| CassetteError(format!("cannot write {}: {why}", path.display()));
        if !may_be_replaced(path).map_err(|error| failed(&error))? {
            return Err(failed(
                &"the file exists already and is not a cassette; name another, or move it away",
            ));
        }
        let file = File::create(path).map_err(|error| failed(&error))?;
        Recorder::to_writer(model, file)
    }
}

/// Returns whether replacing the file at this path loses nothing but a cassette.
fn may_be_replaced(path: &Path) -> std::io::Result<bool> {
    match std::fs::metadata(path) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(true),
        // Pipes and terminals hold no content to lose.
        Ok(about) if !about.is_file() => return Ok(true),
        about => about?,
    };
    let mut start = Vec::new();
    File::open(path)?.take(HEAD_BYTES).read_to_end(&mut start)?;
    let line = start.split(|byte| *byte == b'\n').next().unwrap_or_default();
    Ok(start.trim_ascii().is_empty() || serde_json::from_slice::<Head>(line).is_ok())
}

impl<M: Model, W: Write + Send> Recorder<M, W> {
    /// Records to this writer.
    pub fn to_writer(model: M, to: W) -> Result<Recorder<M, W>, CassetteError> {
        let recorder = Recorder { model, to: Arc::new(Mutex::new(to)) };
        recorder.write(&Head { cassette: VERSION }).map_err(|error| CassetteError(error.message))?;
        Ok(recorder)
    }

    /// Wraps another model that is recorded to the same place.
    pub fn also<N: Model>(&self, model: N) -> Recorder<N, W> {
        Recorder { model, to: self.to.clone() }
    }

    /// Writes one whole line at once: calls may end at the same time.
    fn write(&self, line: &impl Serialize) -> Result<(), LlmError> {
        let failed = |error: &dyn fmt::Display| LlmError::from(format!("the recording failed: {error}"));
        let mut text = serde_json::to_string(line).map_err(|error| failed(&error))?;
        text.push('\n');
        let mut to = self.to.lock().unwrap_or_else(PoisonError::into_inner);
        to.write_all(text.as_bytes()).and_then(|()| to.flush()).map_err(|error| failed(&error))
    }
}

impl<M: Model, W: Write + Send> Model for Recorder<M, W> {
    fn call<'a>(&'a self, request: &'a LlmRequest) -> ModelFuture<'a> {
        Box::pin(async move {
            let answer = self.model.call(request).await;
            let line = Line {
                request: as_json(request)?,
                response: answer.as_ref().ok().cloned(),
                error: answer.as_ref().err().cloned(),
            };
            self.write(&line)?;
            answer
        })
    }

    fn wrapped(&self) -> Option<&dyn Model> {
        Some(&self.model)
    }
}

fn as_json(request: &LlmRequest) -> Result<Value, LlmError> {
    serde_json::to_value(request)
        .map_err(|error| LlmError::from(format!("the request cannot be written: {error}")))
}

/// Drops the parts of a request that no reply depends on: changed cache settings do not require a new recording.
fn compared(mut request: Value) -> Value {
    if let Some(cache) = request.get_mut("cache") {
        *cache = false.into();
    }
    request
}

/// A model that replies from a cassette. A request gets the first unused reply that was recorded for exactly that
/// request, so parallel agents may ask in any order; any other request is an error that shows its difference from the
/// next recorded one. Clones share the record of used replies.
#[derive(Clone)]
pub struct Replay(Arc<Tape>);

struct Tape {
    lines: Vec<Line>,
    used: Mutex<Vec<bool>>,
}

impl Replay {
    /// Reads a cassette from a file.
    pub fn open(path: impl AsRef<Path>) -> Result<Replay, CassetteError> {
        let path = path.as_ref();
        let failed = |error: &dyn fmt::Display| CassetteError(format!("{}: {error}", path.display()));
        let mut text = String::new();
        let file = File::open(path).map_err(|error| failed(&error))?;
        file.take(MAX_FILE + 1).read_to_string(&mut text).map_err(|error| failed(&error))?;
        Replay::parse(&text).map_err(|error| failed(&error))
    }

    /// Reads a cassette from text.
    pub fn parse(text: &str) -> Result<Replay, CassetteError> {
        if text.len() as u64 > MAX_FILE {
            return Err(CassetteError(format!("a cassette may have at most {MAX_FILE} bytes")));
        }
        let mut rows = text.lines().enumerate().filter(|(_, row)| !row.trim().is_empty());
        // serde would also read a JSON list as the struct.
        let head = rows.next().filter(|(_, row)| row.trim_start().starts_with('{'));
        let head = head.and_then(|(_, row)| serde_json::from_str::<Head>(row).ok());
        match head {
            Some(Head { cassette: VERSION }) => {}
            Some(Head { cassette }) => {
                let message = format!("the cassette has version {cassette}, but only {VERSION} can be read");
                return Err(CassetteError(message));
            }
            None => {
                let message =
                    format!("this is not a cassette: the first line must be {{\"cassette\":{VERSION}}}");
                return Err(CassetteError(message));
            }
        }
        let read = |(i, row): (usize, &str)| {
            let line: Line = serde_json::from_str(row)
                .map_err(|error| CassetteError(format!("line {} cannot be read: {error}", i + 1)))?;
            match line.response.is_some() ^ line.error.is_some() {
                true => Ok(Line { request: compared(line.request), ..line }),
                false => Err(CassetteError(format!("line {} must have either `response` or `error`", i + 1))),
            }
        };
        let lines = rows.map(read).collect::<Result<Vec<Line>, CassetteError>>()?;
        let used = Mutex::new(vec![false; lines.len()]);
        Ok(Replay(Arc::new(Tape { lines, used })))
    }

    /// Returns the number of unused replies.
    pub fn left(&self) -> usize {
        let used = self.0.used.lock().unwrap_or_else(PoisonError::into_inner);
        used.iter().filter(|used| !**used).count()
    }

    fn answer(&self, request: &LlmRequest) -> Result<LlmResponse, LlmError> {
        let asked = compared(as_json(request)?);
        let mut used = self.0.used.lock().unwrap_or_else(PoisonError::into_inner);
        let free = || (0..self.0.lines.len()).filter(|i| !used[*i]);
        let Some(i) = free().find(|i| self.0.lines[*i].request == asked) else {
            let message = match free().next() {
                None => format!("the cassette has {} replies, and all are used", self.0.lines.len()),
                Some(i) => format!(
                    "this request is not in the cassette; it differs from the next one (reply {} of {}):\n{}",
                    i + 1,
                    self.0.lines.len(),
                    diff(&self.0.lines[i].request, &asked)
                ),
            };
            // The cassette never changes, so a retry cannot help.
            return Err(LlmError::new(ErrorKind::Unsupported, message).cause("cassette_mismatch"));
        };
        used[i] = true;
        let line = &self.0.lines[i];
        match (&line.response, &line.error) {
            (Some(response), _) => Ok(response.clone()),
            (None, error) => Err(error.clone().unwrap_or_else(|| LlmError::from("an empty line"))),
        }
    }
}

impl Model for Replay {
    fn call<'a>(&'a self, request: &'a LlmRequest) -> ModelFuture<'a> {
        Box::pin(async move { self.answer(request) })
    }

    fn supports(&self) -> Caps {
        Caps::ALL
    }

    fn name(&self) -> String {
        "replay".to_string()
    }

    fn pricing(&self) -> Pricing {
        Pricing::Free
    }
}

impl fmt::Debug for Replay {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Replay").field("lines", &self.0.lines.len()).field("left", &self.left()).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::Recorder;
    use crate::Scripted;

    #[test]
    fn only_cassettes_are_recorded_over() {
        let path = std::env::temp_dir().join(format!("ptc-cassette-{}", std::process::id()));
        let record = || Recorder::create(Scripted::new(["1"]), &path).map(drop);
        std::fs::write(&path, "ssh-ed25519 AAAA\n").unwrap();
        let error = record().unwrap_err().to_string();
        assert!(error.contains("the file exists already and is not a cassette"), "{error}");
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "ssh-ed25519 AAAA\n");
        for written in ["", "{\"cassette\":1}\n{}\n"] {
            std::fs::write(&path, written).unwrap();
            record().unwrap();
            assert_eq!(std::fs::read_to_string(&path).unwrap(), "{\"cassette\":1}\n");
        }
        std::fs::remove_file(&path).unwrap();
        record().unwrap();
        std::fs::remove_file(&path).unwrap();
    }
}
