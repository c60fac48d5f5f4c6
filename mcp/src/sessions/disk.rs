//! Sessions in a folder: one file each, replaced atomically, so that a process dying at any moment leaves
//! either the old or the new state.
//!
//! Definitions are kept as a snapshot of a machine that holds them all: functions and their closures are
//! restored without running anything again.

use super::Owner;
use super::state::SessionState;
use crate::moment::{from_ms, to_ms};
use base64::{Engine as _, prelude::BASE64_STANDARD};
use ptc_bytecode::hex;
use ptc_runtime::files::{self, Access};
use ptc_runtime::{Frozen, Grants, Session, Step};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::fs::{self, File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

/// First bytes of a session file, with the version of the format.
const MAGIC: &[u8] = b"PTC session 1\n";
const HASH: usize = 64;
/// Extension of session files, and (`BROKEN`) of files that could not be read.
const ENDING: &str = "session";
const BROKEN: &str = "broken";
/// Prefix of unfinished files that earlier versions of the server wrote.
const OLD_LEFTOVER: &str = ".new-";
/// Maximum size of a file that is read, in bytes.
const MAX_BYTES: u64 = 256 << 20;
/// Time limit for waiting for a folder that another process has locked.
const PATIENCE: Duration = Duration::from_secs(1);
/// Prefix of the names under which the machine holds results; extended if a program uses such names.
const HISTORY: &str = "ptc-session-history-";

/// A session as stored in its file.
#[derive(Serialize, Deserialize)]
pub(super) struct Record {
    pub id: String,
    pub owner: String,
    pub title: Option<String>,
    pub is_write_capable: bool,
    pub created_ms: u64,
    pub expires_ms: u64,
    pub updated_ms: u64,
    pub turn: u64,
    pub attempts: u64,
    pub prints: Vec<String>,
    pub tool_calls: Vec<Value>,
    pub upstream_calls: Vec<Value>,
    /// Stored preludes the session is bound to: id, version, checksum. None if it was started without any.
    pub preludes: Option<Vec<(String, u64, String)>>,
    /// Prefix of the names of results in `machine`.
    pub history: String,
    /// Snapshot with definitions and results.
    pub machine: String,
}

impl Record {
    /// Takes over the state of a session.
    pub fn set_state(&mut self, kept: &SessionState) -> Result<(), String> {
        self.updated_ms = to_ms(kept.updated);
        self.turn = kept.turn;
        self.prints.clone_from(&kept.prints);
        self.tool_calls.clone_from(&kept.tool_calls);
        self.upstream_calls.clone_from(&kept.upstream_calls);
        (self.history, self.machine) = snapshot(&kept.session)?;
        Ok(())
    }

    /// Restores the state in a freshly started session.
    pub fn state(&self, blank: &Session) -> Result<SessionState, String> {
        let mut session = blank.clone();
        restore(&mut session, &self.history, &self.machine)?;
        let mut kept = SessionState::new(session, from_ms(self.updated_ms));
        kept.turn = self.turn;
        kept.prints.clone_from(&self.prints);
        kept.tool_calls.clone_from(&self.tool_calls);
        kept.upstream_calls.clone_from(&self.upstream_calls);
        Ok(kept)
    }

    /// Creates a record without a state.
    pub fn new(id: &str, owner: &Owner) -> Record {
        Record {
            id: id.to_string(),
            owner: owner.to_hex(),
            title: None,
            is_write_capable: false,
            created_ms: 0,
            expires_ms: 0,
            updated_ms: 0,
            turn: 0,
            attempts: 0,
            prints: Vec::new(),
            tool_calls: Vec::new(),
            upstream_calls: Vec::new(),
            preludes: None,
            history: String::new(),
            machine: String::new(),
        }
    }
}

/// Formats a file system error for clients: the problem but not the path, which is the operator's business. The
/// log has both.
fn told(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => "the server's disk is full".to_string(),
        kind => kind.to_string(),
    }
}

/// A folder of sessions, locked by this process.
pub(super) struct Disk {
    root: PathBuf,
    /// Held while this value exists; the system releases it when the process dies.
    _lock: File,
}

impl Disk {
    /// Opens or creates a folder.
    pub fn open(root: &Path) -> Result<Disk, String> {
        let wrong = |error: io::Error| format!("--session-dir {}: {error}", root.display());
        files::make_private_folder(root).map_err(wrong)?;
        let lock = File::options().create(true).truncate(false).write(true).open(root.join("lock"));
        let lock = lock.map_err(wrong)?;
        let since = Instant::now();
        loop {
            match lock.try_lock() {
                Ok(()) => break,
                // The previous server may be about to exit.
                Err(TryLockError::WouldBlock) if since.elapsed() < PATIENCE => thread::sleep(PATIENCE / 50),
                Err(TryLockError::WouldBlock) => {
                    let root = root.display();
                    return Err(format!("--session-dir {root}: another server uses this folder"));
                }
                Err(TryLockError::Error(error)) => return Err(wrong(error)),
            }
        }
        Ok(Disk { root: root.to_path_buf(), _lock: lock })
    }

    /// Returns the owner for a server with a single client, stable across restarts.
    pub fn local_owner(&self, random: impl FnOnce() -> Result<Vec<u8>, String>) -> Result<Owner, String> {
        let file = self.root.join("owner");
        let wrong = |error: io::Error| format!("{}: {error}", file.display());
        match fs::read(&file) {
            Ok(bytes) if bytes.len() >= 16 => Ok(Owner::new(bytes)),
            Ok(_) => Err(format!("{} is damaged; delete it to start over", file.display())),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                let bytes = random()?;
                files::replace(&file, &[&bytes], Access::Private).map_err(wrong)?;
                Ok(Owner::new(bytes))
            }
            Err(error) => Err(wrong(error)),
        }
    }

    /// Loads all readable sessions; the others are set aside, with warnings.
    pub fn load(&self) -> Result<(Vec<Record>, Vec<String>), String> {
        let wrong = |error: io::Error| format!("--session-dir {}: {error}", self.root.display());
        let (mut records, mut warnings) = (Vec::new(), Vec::new());
        for entry in fs::read_dir(&self.root).map_err(wrong)? {
            let path = entry.map_err(wrong)?.path();
            let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
            if files::is_leftover(&path) || name.starts_with(OLD_LEFTOVER) {
                // A process died while writing; nobody was told that this state was kept.
                let _ = fs::remove_file(&path);
            } else if path.extension().is_some_and(|ending| ending == ENDING) {
                match read(&path).and_then(|record| self.is_at_home(&path, record)) {
                    Ok(record) => records.push(record),
                    Err(problem) => warnings.push(self.set_aside(&path, &problem)),
                }
            }
        }
        records.sort_by(|a, b| (a.created_ms, &a.id).cmp(&(b.created_ms, &b.id)));
        Ok((records, warnings))
    }

    /// Refuses copies of a file under another name, which must not become a second session.
    fn is_at_home(&self, path: &Path, record: Record) -> Result<Record, String> {
        match self.file(&record.id) == path {
            true => Ok(record),
            false => Err("its name belongs to another session".to_string()),
        }
    }

    /// Renames an unusable file and returns the warning.
    pub fn set_aside(&self, path: &Path, problem: &str) -> String {
        let aside = path.with_extension(BROKEN);
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        match fs::rename(path, &aside) {
            Ok(()) => {
                format!("a saved session cannot be used and was set aside as {BROKEN}: {name}: {problem}")
            }
            Err(error) => format!(
                "a saved session cannot be used: {name}: {problem}; it could not be set aside: {error}"
            ),
        }
    }

    /// Returns the path of a session's file. The name is a hash, because knowing an id gives access.
    pub fn file(&self, id: &str) -> PathBuf {
        let name = hex(&Sha256::digest(id.as_bytes()).into());
        self.root.join(name).with_extension(ENDING)
    }

    /// Writes a session. On return, it survives a crash of the process or the machine.
    pub fn write(&self, record: &Record) -> Result<(), String> {
        let body = serde_json::to_vec(record).map_err(|error| error.to_string())?;
        let hash = hex(&Sha256::digest(&body).into());
        let parts: [&[u8]; 4] = [MAGIC, hash.as_bytes(), b"\n", &body];
        let written = files::replace(&self.file(&record.id), &parts, Access::Private);
        written.map_err(|error| {
            tracing::error!(%error, "session.not_written");
            told(&error)
        })
    }

    pub fn remove(&self, id: &str) -> io::Result<()> {
        match fs::remove_file(self.file(id)) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            _ => files::sync_folder(&self.root),
        }
    }
}

fn read(path: &Path) -> Result<Record, String> {
    let size = fs::metadata(path).map_err(|error| error.to_string())?.len();
    if size > MAX_BYTES {
        return Err(format!("it has {size} bytes; at most {MAX_BYTES} are allowed"));
    }
    let bytes = fs::read(path).map_err(|error| error.to_string())?;
    let rest = bytes.strip_prefix(MAGIC).ok_or("it is not in the format of this version")?;
    let (hash, body) = rest.split_at_checked(HASH).ok_or("it is cut short")?;
    let body = body.strip_prefix(b"\n").ok_or("it is cut short")?;
    if hex(&Sha256::digest(body).into()).as_bytes() != hash {
        return Err("its contents are damaged".to_string());
    }
    serde_json::from_slice(body).map_err(|error| format!("it is damaged: {error}"))
}

/// Returns a snapshot of a machine that would define everything again, stopped before it does; and the prefix
/// of results.
fn snapshot(session: &Session) -> Result<(String, String), String> {
    let mut session = session.clone();
    let mut prefix = HISTORY.to_string();
    while session.defined().any(|name| name.starts_with(&prefix)) {
        prefix.push('-');
    }
    session.set_grants(Grants::new().firewall(true));
    session.set_limits(wide(&session));
    for (i, result) in session.history().to_vec().iter().enumerate() {
        if let Some(value) = result.value() {
            session.define(format!("{prefix}{i}"), value.clone());
        }
    }
    let source: Vec<String> = session.defined().map(|name| format!("(def {name} {name})")).collect();
    let source = if source.is_empty() { "nil".to_string() } else { source.join("\n") };
    let run = session.start(&source).map_err(|failure| failure.to_string())?;
    let bytes = run.snapshot().map_err(|failure| failure.to_string())?;
    Ok((prefix, BASE64_STANDARD.encode(bytes)))
}

fn restore(session: &mut Session, prefix: &str, machine: &str) -> Result<(), String> {
    let bytes = BASE64_STANDARD.decode(machine).map_err(|error| format!("it is damaged: {error}"))?;
    let runtime = session.runtime().clone().limits(wide(session));
    let mut run =
        runtime.load(&bytes, &Grants::new().firewall(true)).map_err(|failure| failure.to_string())?;
    let outcome = match run.step() {
        Step::Done(Ok(outcome)) => outcome,
        Step::Done(Err(failure)) => return Err(failure.to_string()),
        Step::NeedsTools(_) => return Err("it is damaged: it calls tools".to_string()),
    };
    let mut history: BTreeMap<usize, Frozen> = BTreeMap::new();
    for (name, value) in outcome.definitions() {
        match name.strip_prefix(prefix).and_then(|i| i.parse().ok()) {
            Some(i) => {
                history.insert(i, value);
            }
            None => session.define(name, value),
        }
    }
    // Oldest first: each becomes `*1` in turn.
    history.into_values().rev().for_each(|value| session.remember(value));
    Ok(())
}

/// Returns wider limits: what was committed was within the usual ones, but writing it needs extra room.
fn wide(session: &Session) -> ptc_runtime::Limits {
    let usual = session.runtime().current_limits();
    ptc_runtime::Limits {
        source_bytes: usual.source_bytes.max(16 << 20),
        memory_bytes: usual.memory_bytes.max(256 << 20),
        timeout_ms: usual.timeout_ms.max(10_000),
        ..*usual
    }
}
