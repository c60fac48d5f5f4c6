//! Sessions: programs of one owner that see each other's definitions, for a while.
//!
//! Everything here may be called from any thread. Nothing waits, except [`Reservation::eval`], which runs a program, and
//! what writes to [`Settings::session_dir`].
//!
//! **Whose sessions.** A session is named by a random id and belongs to an [`Owner`]. Whoever asks for the session of
//! somebody else gets the very answer for a session that never was, `session_not_found`, after the same work. So
//! `session_owner_mismatch` is told to nobody: it would tell a stranger that an id is right.
//!
//! **Sizes.** Definitions and results are measured in the plain binary form of [`ptc_agent::memory`]: the same values have
//! the same size however they came about, and what is shared counts wherever it is used.
//!
//! ```
//! use ptc_mcp::{Host, Profile, Sessions, Settings};
//! use serde_json::json;
//! let runtime = ptc_runtime::Runtime::with_core(ptc_preludes::core())?;
//! let settings = Settings::default();
//! let sessions = Sessions::builder(&Host::new(&runtime, &settings, None), &settings).open()?;
//! let me = sessions.local_owner();
//! let started = sessions.start(&me, &Default::default()).answer.unwrap();
//! let eval = |program: &str| {
//!     let args = json!({"session_id": started["session_id"], "program": program});
//!     sessions.reserve(&me, args.as_object().unwrap()).unwrap().eval(&Default::default())
//! };
//! assert_eq!(eval("(def n 20)").reply(Profile::Slim).text, "user=> #'n\n[stored: n]");
//! assert_eq!(eval("(* n 2)").reply(Profile::Slim).text, "user=> 40");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod answers;
mod asked;
mod calls;
mod disk;
mod kept;
mod open;
mod run;
mod table;
mod turns;

pub use open::SessionsBuilder;
pub use run::Reservation;

use crate::args::EvalArgs;
use crate::host::Host;
use crate::moment;
use crate::reason::Reason;
use crate::reply::Payload;
use crate::settings::Settings;
use asked::Asked;
use disk::Disk;
use kept::Kept;
use ptc_runtime::{Prelude, PreludeStore};
use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::SystemTime;
use table::{Doomed, Entry, Refusal, Running, Table, Why};
use turns::TurnLog;

/// Whom sessions belong to: a hash, so that nothing of whom it stands for is kept.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Owner([u8; 32]);

impl Owner {
    /// Of anything that names somebody: a token, an id of a connection.
    ///
    /// ```
    /// use ptc_mcp::sessions::Owner;
    /// assert_eq!(Owner::new("a"), Owner::new(b"a"));
    /// assert!(!format!("{:?}", Owner::new("token")).contains("token"));
    /// ```
    pub fn new(identity: impl AsRef<[u8]>) -> Owner {
        Owner(Sha256::digest(identity.as_ref()).into())
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        &self.0
    }

    fn to_hex(&self) -> String {
        ptc_bytecode::hex(&self.0)
    }

    fn from_hex(text: &str) -> Option<Owner> {
        let mut bytes = [0; 32];
        if text.len() != 64 || !text.is_ascii() {
            return None;
        }
        for (i, byte) in bytes.iter_mut().enumerate() {
            *byte = u8::from_str_radix(&text[2 * i..2 * i + 2], 16).ok()?;
        }
        Some(Owner(bytes))
    }
}

impl fmt::Debug for Owner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [a, b, c, d, ..] = self.0;
        write!(f, "Owner({a:02x}{b:02x}{c:02x}{d:02x})")
    }
}

/// What logs call a session by: an id is as good as a key, so it is never written there.
///
/// ```
/// let shown = ptc_mcp::sessions::logged_id("ptcs_AAAAAAAAAAAAAAAAAAAAAAAA");
/// assert!(shown.len() == 16 && !shown.contains("ptcs_"));
/// ```
pub fn logged_id(id: &str) -> String {
    let mut hash = ptc_bytecode::hex(&table::key(id));
    hash.truncate(16);
    hash
}

/// What time it is.
pub type Clock = Arc<dyn Fn() -> SystemTime + Send + Sync>;

/// All sessions of a server. Clones are the same sessions.
#[derive(Clone)]
pub struct Sessions(Arc<Inner>);

struct Inner {
    host: Host,
    settings: Settings,
    store: Option<PreludeStore>,
    authoring: Option<Prelude>,
    clock: Clock,
    disk: Option<Disk>,
    local: Owner,
    warnings: Vec<String>,
    table: Mutex<Table>,
    turns: Option<TurnLog>,
}

impl Inner {
    fn now(&self) -> SystemTime {
        (self.clock)()
    }

    fn table(&self) -> MutexGuard<'_, Table> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Does something with a session of this owner, which counts as used. If its time is up it ends instead.
    fn with<T>(&self, owner: &Owner, id: &str, act: impl FnOnce(&mut Entry) -> T) -> Result<T, Refusal> {
        let now = self.now();
        let mut table = self.table();
        let doomed = match table.find(owner, id)?.due(now, &self.settings) {
            Some(why) => table.end(&table::key(id), why),
            None => None,
        };
        let done = table.find(owner, id).map(|entry| {
            entry.used = now;
            act(entry)
        });
        drop(table);
        self.bury(doomed);
        done
    }

    /// The same for who is at its file already: it neither ends nor counts as used.
    fn still<T>(&self, owner: &Owner, id: &str, act: impl FnOnce(&mut Entry) -> T) -> Result<T, Refusal> {
        self.table().find(owner, id).map(act)
    }

    /// Deletes the files of sessions that are over.
    fn bury(&self, doomed: impl IntoIterator<Item = Doomed>) {
        for Doomed { id, gate } in doomed {
            let mut is_closed = gate.enter();
            *is_closed = true;
            if let Some(disk) = &self.disk {
                // Nobody is waiting for it; one that cannot be deleted now is over by time at the next start.
                let _ = disk.remove(&id);
            }
        }
    }

    /// Writes a session down, if sessions are kept. `kept` is what is about to be its state.
    fn persist(&self, entry: &Described, kept: &Kept) -> Result<(), String> {
        let Some(disk) = &self.disk else { return Ok(()) };
        let mut record = entry.record();
        record.set_state(kept)?;
        disk.write(&record)
    }
}

/// What is written of a session besides its state.
#[derive(Clone)]
struct Described {
    id: String,
    owner: Owner,
    title: Option<String>,
    is_write_capable: bool,
    created: SystemTime,
    expires: SystemTime,
    attempts: u64,
    preludes: Option<Vec<(String, u64, String)>>,
}

impl Described {
    fn of(entry: &Entry) -> Described {
        let frozen = entry.blank.frozen().iter();
        let frozen = frozen.map(|r| (r.id.clone(), r.version, r.checksum.clone())).collect();
        Described {
            id: entry.id.clone(),
            owner: entry.owner.clone(),
            title: entry.title.clone(),
            is_write_capable: entry.is_write_capable,
            created: entry.created,
            expires: entry.expires,
            attempts: entry.attempts,
            preludes: entry.has_preludes.then_some(frozen),
        }
    }

    fn record(&self) -> disk::Record {
        disk::Record {
            title: self.title.clone(),
            is_write_capable: self.is_write_capable,
            created_ms: moment::to_ms(self.created),
            expires_ms: moment::to_ms(self.expires),
            attempts: self.attempts,
            preludes: self.preludes.clone(),
            ..disk::Record::new(&self.id, &self.owner)
        }
    }
}

impl Sessions {
    /// Sessions whose programs run with what the host gives them, within the limits of the settings.
    pub fn builder(host: &Host, settings: &Settings) -> SessionsBuilder {
        SessionsBuilder::new(host, settings)
    }

    /// What is odd, such as files that could not be read.
    pub fn warnings(&self) -> &[String] {
        &self.0.warnings
    }

    /// The owner of everything where there is only one client: another one in each process, unless sessions are kept in a
    /// folder.
    pub fn local_owner(&self) -> Owner {
        self.0.local.clone()
    }

    /// `lisp_session_start`.
    pub fn start(&self, owner: &Owner, args: &Map<String, Value>) -> Payload {
        answered(self.started(owner, args))
    }

    /// `lisp_session_list`: the newest first. Being listed is not being used.
    pub fn list(&self, owner: &Owner, args: &Map<String, Value>) -> Payload {
        if let Err(message) = Asked::new(args, &[]) {
            return Payload::refused(Reason::SessionArgsError, message);
        }
        let inner = &self.0;
        let mut table = inner.table();
        let doomed = table.sweep(inner.now(), &inner.settings);
        let mut own: Vec<&Entry> = table.live.values().filter(|entry| entry.owner == *owner).collect();
        own.sort_by_key(|entry| std::cmp::Reverse(entry.number));
        let rows: Vec<Value> = own.into_iter().map(|entry| Value::Object(entry.about())).collect();
        drop(table);
        inner.bury(doomed);
        answered(Ok(json!({"status": "ok", "count": rows.len(), "sessions": rows})))
    }

    /// `lisp_session_list_preludes`: those of a session, or all in the store.
    pub fn list_preludes(&self, owner: &Owner, args: &Map<String, Value>) -> Payload {
        answered(self.preludes_listed(owner, args))
    }

    /// `lisp_session_inspect`: what was committed last, also while a program runs.
    pub fn inspect(&self, owner: &Owner, args: &Map<String, Value>) -> Payload {
        answered(self.inspected(owner, args))
    }

    /// `lisp_session_forget`.
    pub fn forget(&self, owner: &Owner, args: &Map<String, Value>) -> Payload {
        answered(self.forgotten(owner, args))
    }

    /// `lisp_session_close`: what runs in it is stopped, and nothing of that is kept.
    pub fn close(&self, owner: &Owner, args: &Map<String, Value>) -> Payload {
        answered(self.closed(owner, args))
    }

    /// `lisp_session_eval`, up to the point where the program would run: the arguments are right, and nobody else runs
    /// anything in the session until the reservation is used or dropped.
    pub fn reserve(&self, owner: &Owner, args: &Map<String, Value>) -> Result<Reservation, Box<Payload>> {
        let refused = |(reason, message): Refusal| Box::new(Payload::error(reason, message));
        let (id, args) = self.eval_args(args).map_err(refused)?;
        let number = self.0.table().number();
        let reserved = self.0.with(owner, &id, |entry| {
            if entry.running.is_some() {
                let message = "another program runs in the session; wait until it is done".to_string();
                return Err((Reason::SessionBusy, message));
            }
            entry.running = Some(Running { number, cancel: None });
            Ok(Reservation::new(self.clone(), entry, number, args))
        });
        reserved.and_then(|reserved| reserved).map_err(refused)
    }

    fn eval_args(&self, args: &Map<String, Value>) -> Result<(String, EvalArgs), Refusal> {
        let mut args = args.clone();
        args.remove("owner");
        if !args.contains_key("signature") {
            crate::args::known(&args, &["session_id", "program", "context", "output_schema"])
                .map_err(|message| (Reason::ArgsError, message))?;
        }
        let id = Asked::new(&args, &["session_id", "program", "context", "output_schema", "signature"])
            .and_then(|asked| asked.session_id().map(ToString::to_string))
            .map_err(|message| (Reason::SessionArgsError, message))?;
        args.remove("session_id");
        let args = EvalArgs::read(args, &self.0.settings).map_err(|message| (Reason::ArgsError, message))?;
        Ok((id, args))
    }

    /// Ends what is over, and stops what runs in it. To be called now and then.
    pub fn sweep(&self) {
        let doomed = self.0.table().sweep(self.0.now(), &self.0.settings);
        self.0.bury(doomed);
    }

    /// Ends all sessions of an owner.
    pub fn close_owner(&self, owner: &Owner) {
        let mut table = self.0.table();
        let own = table.live.iter().filter(|(_, entry)| entry.owner == *owner);
        let keys: Vec<table::Key> = own.map(|(key, _)| *key).collect();
        let doomed: Vec<Doomed> = keys.iter().filter_map(|key| table.end(key, Why::Closed)).collect();
        drop(table);
        self.0.bury(doomed);
    }

    /// Ends all sessions of this process: programs are stopped, and the log of turns is complete. What is kept in a
    /// folder stays there.
    pub fn close_all(&self) {
        let mut table = self.0.table();
        let keys: Vec<table::Key> = table.live.keys().copied().collect();
        for key in keys {
            table.end(&key, Why::Closed);
        }
        drop(table);
        if let Some(log) = &self.0.turns {
            log.finish();
        }
    }
}

/// The answer of a tool that runs no program.
fn answered(answer: Result<Value, Answer>) -> Payload {
    match answer {
        Ok(Value::Object(answer)) => Payload::answered(answer),
        Ok(_) => Payload::refused(Reason::RuntimeError, "the answer has no form"),
        Err(Answer { reason, message, detail }) => {
            let mut payload = Payload::refused(reason, message);
            if let (Some(detail), Some(answer)) = (&detail, &mut payload.answer) {
                answer.insert("detail".to_string(), detail.clone());
            }
            Payload { detail, ..payload }
        }
    }
}

/// Why a tool has no answer.
struct Answer {
    reason: Reason,
    message: String,
    detail: Option<Value>,
}

impl Answer {
    fn args(message: impl Into<String>) -> Answer {
        Answer { reason: Reason::SessionArgsError, message: message.into(), detail: None }
    }
}

impl From<Refusal> for Answer {
    fn from((reason, message): Refusal) -> Answer {
        Answer { reason, message, detail: None }
    }
}
