//! Trace files: one per call, in a folder.
//!
//! A file is created when its call begins, with a name ending in `-pending`, and renamed when the call ends, so
//! files left by a crash are recognizable. A thread writes the files; its failures never affect a call.

use crate::debug::{Record, StoredCall};
use crate::moment::iso;
use crate::settings::{Settings, TracePayloads};
use ptc_bytecode::hex;
use ptc_runtime::files;
use ptc_upstream::redact::Redactor;
use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};
use std::collections::HashMap;
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::time::SystemTime;

/// Maximum number of messages waiting to be written; when full, new calls are not traced.
const MAX_QUEUED: usize = 1_000;

enum TraceMessage {
    Began(u64, Box<Record>),
    Ended(u64, Box<Record>),
    /// The call was abandoned.
    Dropped(u64),
    /// Replied to when everything sent before is written.
    Flush(SyncSender<()>),
}

/// Writer of trace files. Clones share it.
#[derive(Clone)]
pub struct Traces {
    told: SyncSender<TraceMessage>,
    next: Arc<AtomicU64>,
}

impl Traces {
    /// Opens the folder named in the settings; None if they name none. Every trace begins with the identities
    /// of the preludes that programs have. The error is for the process that starts the server.
    pub fn new(
        settings: &Settings,
        redactor: Option<Arc<Redactor>>,
        preludes: Vec<Value>,
    ) -> Result<Option<Traces>, String> {
        let Some(dir) = settings.trace_dir.as_ref().map(PathBuf::from) else { return Ok(None) };
        files::make_private_folder(&dir)
            .map_err(|error| format!("--trace-dir: {}: {error}", dir.display()))?;
        let (told, waiting) = sync_channel(MAX_QUEUED);
        let most = usize::try_from(settings.trace_max_files).unwrap_or(usize::MAX);
        let mut writer =
            Writer { dir, most, policy: settings.trace_payloads, redactor, preludes, open: HashMap::new() };
        std::thread::Builder::new()
            .name("ptc-trace".to_string())
            .spawn(move || writer.run(&waiting))
            .map_err(|error| format!("--trace-dir: cannot start a thread to write traces: {error}"))?;
        Ok(Some(Traces { told, next: Arc::default() }))
    }

    /// Begins the trace of a call, whose payload is still empty.
    pub fn begin(&self, call: Record) -> Open {
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        let is_told = self.told.try_send(TraceMessage::Began(number, Box::new(call))).is_ok();
        Open { traces: is_told.then(|| self.clone()), number }
    }

    /// Waits until everything sent before is written.
    pub fn flush(&self) {
        let (done, wait) = sync_channel(1);
        if self.told.send(TraceMessage::Flush(done)).is_ok() {
            let _ = wait.recv();
        }
    }
}

/// A call being traced.
pub struct Open {
    traces: Option<Traces>,
    number: u64,
}

impl Open {
    /// Ends the trace of the call.
    pub fn end(mut self, call: Record) {
        if let Some(traces) = self.traces.take() {
            let _ = traces.told.try_send(TraceMessage::Ended(self.number, Box::new(call)));
        }
    }
}

impl Drop for Open {
    fn drop(&mut self) {
        if let Some(traces) = self.traces.take() {
            let _ = traces.told.try_send(TraceMessage::Dropped(self.number));
        }
    }
}

struct Writer {
    dir: PathBuf,
    most: usize,
    policy: TracePayloads,
    redactor: Option<Arc<Redactor>>,
    preludes: Vec<Value>,
    open: HashMap<u64, Pending>,
}

struct Pending {
    file: File,
    /// Name without its ending.
    stem: String,
    began: SystemTime,
}

impl Writer {
    fn run(&mut self, waiting: &Receiver<TraceMessage>) {
        for told in waiting {
            let done = match told {
                TraceMessage::Began(number, call) => self.begin(number, &call),
                TraceMessage::Ended(number, call) => self.end(number, Some(&call)),
                TraceMessage::Dropped(number) => self.end(number, None),
                TraceMessage::Flush(done) => {
                    let _ = done.send(());
                    Ok(())
                }
            };
            if let Err(error) = done {
                tracing::warn!(%error, "trace.failed");
            }
        }
    }

    fn begin(&mut self, number: u64, call: &Record) -> io::Result<()> {
        self.prune()?;
        let hash = hex(&Sha256::digest(call.request_id.as_bytes()).into());
        let time = iso(call.at).replace(':', "-");
        let (stem, mut file) = create(&self.dir, &time, &hash[..8])?;
        let about = StoredCall::of_any_size(call, self.policy, self.redactor.as_deref()).row;
        let of = |key: &str| about.get(key).cloned().unwrap_or_default();
        let mut start = json!({
            "event": "trace.start", "kind": "mcp_call", "ts": of("ts"), "request_id": of("request_id"), "tool": of("tool"),
            "owner": call.owner.label(), "protocol_version": of("protocol_version"), "query": of("program"), "context": of("context"),
        });
        if !self.preludes.is_empty() {
            start["preludes"] = json!(self.preludes);
        }
        write(&mut file, &start)?;
        write(&mut file, &json!({"event": "call.start", "ts": of("ts"), "tool": of("tool")}))?;
        self.open.insert(number, Pending { file, stem, began: call.at });
        Ok(())
    }

    fn end(&mut self, number: u64, call: Option<&Record>) -> io::Result<()> {
        let Some(Pending { mut file, stem, began }) = self.open.remove(&number) else { return Ok(()) };
        let known =
            call.map(|call| StoredCall::of_any_size(call, self.policy, self.redactor.as_deref()).whole());
        let mut known = known.unwrap_or_else(given_up);
        for key in ["program", "context", "tool", "request_id", "protocol_version"] {
            known.remove(key);
        }
        for (list, event) in [("planner_call_list", "planner.call"), ("upstream_call_list", "upstream.call")]
        {
            let calls = known.remove(list).unwrap_or_default();
            for call in calls.as_array().into_iter().flatten() {
                let mut line = call.clone();
                line["event"] = json!(event);
                write(&mut file, &line)?;
            }
        }
        let now = iso(SystemTime::now());
        let of = |key: &str| known.get(key).cloned().unwrap_or_default();
        let (status, reason, duration) = (of("status"), of("reason"), of("duration_ms"));
        for event in ["execute.stop", "call.stop"] {
            write(
                &mut file,
                &json!({"event": event, "ts": now, "status": status, "reason": reason, "duration_ms": duration}),
            )?;
        }
        known.insert("event".to_string(), json!("trace.stop"));
        known.insert("ts".to_string(), json!(now));
        known.insert("began".to_string(), json!(iso(began)));
        write(&mut file, &Value::Object(known))?;
        drop(file);
        let end = if status == "ok" { "ok" } else { "error" };
        fs::rename(
            self.dir.join(format!("{stem}-pending.jsonl")),
            self.dir.join(format!("{stem}-{end}.jsonl")),
        )
    }

    /// Deletes the oldest files, to make room for one more.
    fn prune(&self) -> io::Result<()> {
        let mut files = Vec::new();
        for entry in fs::read_dir(&self.dir)? {
            let entry = entry?;
            let name = entry.file_name();
            let is_ours = name.to_str().is_some_and(|name| name.ends_with(".jsonl"));
            let is_open =
                self.open.values().any(|open| name.to_str() == Some(&format!("{}-pending.jsonl", open.stem)));
            if is_ours && !is_open {
                files.push((entry.metadata()?.modified()?, entry.path()));
            }
        }
        let room = self.most.saturating_sub(self.open.len() + 1);
        files.sort();
        for (_, file) in files.iter().take(files.len().saturating_sub(room)) {
            fs::remove_file(file)?;
        }
        Ok(())
    }
}

/// Creates a file with an unused name: concurrent calls may have equal ids.
fn create(dir: &Path, time: &str, hash: &str) -> io::Result<(String, File)> {
    for attempt in 0..1_000 {
        let stem = match attempt {
            0 => format!("{time}-{hash}"),
            _ => format!("{time}_{attempt}-{hash}"),
        };
        let is_taken = ["ok", "error"].iter().any(|end| dir.join(format!("{stem}-{end}.jsonl")).exists());
        if is_taken {
            continue;
        }
        match files::private().write(true).create_new(true).open(dir.join(format!("{stem}-pending.jsonl"))) {
            Ok(file) => return Ok((stem, file)),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error),
        }
    }
    Err(io::Error::other("there are too many traces with the same time"))
}

fn given_up() -> Map<String, Value> {
    let message = "the client disconnected before the call ended";
    let known = json!({"status": "error", "reason": "cancelled", "message": message});
    known.as_object().cloned().unwrap_or_default()
}

fn write(file: &mut File, line: &Value) -> io::Result<()> {
    file.write_all(format!("{line}\n").as_bytes())
}
