//! Sessions: programs of one owner that share definitions for a limited time.
//!
//! All functions may be called from any thread. Nothing blocks, except [`Reservation::eval`], which runs a
//! program, and operations that write to [`Settings::session_dir`].
//!
//! **Ownership.** A session has a random id and belongs to an [`Owner`]. Requests for another owner's session
//! get the same reply as for a session that never existed, `session_not_found`, after the same work.
//! `session_owner_mismatch` is never sent, because it would tell a stranger that an id is right.
//!
//! **Sizes.** Definitions and results are measured in the plain binary form of [`ptc_agent::memory`]: equal
//! values have equal sizes however they were made, and shared parts count wherever they are used.
//!
//! ```
//! use ptc_mcp::tools::{session_eval, session_start};
//! use ptc_mcp::{Host, Profile, Sessions, Settings};
//! use serde_json::json;
//! let runtime = ptc_runtime::Runtime::with_core(ptc_preludes::core())?;
//! let settings = Settings::default();
//! let sessions = Sessions::builder(&Host::new(&runtime, &settings, None), &settings).open()?;
//! let me = sessions.local_owner();
//! let started = session_start::answer(&sessions, &me, Default::default()).answer.unwrap();
//! let eval = |program: &str| {
//!     let args = json!({"session_id": started["session_id"], "program": program});
//!     session_eval::reserve(&sessions, &me, args.as_object().unwrap().clone()).unwrap().eval(&Default::default())
//! };
//! assert_eq!(eval("(def n 20)").reply(Profile::Slim).text, "user=> #'n\n[stored: n]");
//! assert_eq!(eval("(* n 2)").reply(Profile::Slim).text, "user=> 40");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod calls;
mod disk;
mod open;
mod operations;
mod owner;
mod run;
mod state;
mod table;
mod turns;

pub use open::SessionsBuilder;
pub(crate) use operations::{NewSession, SessionView};
pub use owner::Owner;
pub use run::Reservation;
pub(crate) use state::Clearable;
pub(crate) use table::Refusal;
pub use table::logged_id;

use crate::args::EvalArgs;
use crate::host::Host;
use crate::moment;
use crate::reason::Reason;
use crate::reply::Payload;
use crate::settings::Settings;
use disk::Disk;
use ptc_runtime::{Prelude, PreludeStore};
use state::SessionState;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::SystemTime;
use table::{EndedSession, Entry, Running, Table, Why};
use turns::TurnLog;

/// Source of the current time.
pub type Clock = Arc<dyn Fn() -> SystemTime + Send + Sync>;

/// All sessions of a server. Clones share the sessions.
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

    /// Accesses a session of this owner, which counts as use. A session that has expired is ended instead.
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

    /// Accesses a session without ending it or counting as use, for callers that hold its gate.
    fn still<T>(&self, owner: &Owner, id: &str, act: impl FnOnce(&mut Entry) -> T) -> Result<T, Refusal> {
        self.table().find(owner, id).map(act)
    }

    /// Deletes the files of ended sessions.
    fn bury(&self, doomed: impl IntoIterator<Item = EndedSession>) {
        for EndedSession { id, gate } in doomed {
            let mut is_closed = gate.enter();
            *is_closed = true;
            if let Some(disk) = &self.disk {
                // Nobody waits for this; a file that cannot be deleted now has expired by the next start.
                let _ = disk.remove(&id);
            }
        }
    }

    /// Writes a session to disk, if sessions are kept. `kept` is its next state.
    fn persist(&self, entry: &SessionHeader, kept: &SessionState) -> Result<(), String> {
        let Some(disk) = &self.disk else { return Ok(()) };
        let mut record = entry.record();
        record.set_state(kept)?;
        disk.write(&record)
    }
}

/// Facts stored about a session in addition to its state.
#[derive(Clone)]
struct SessionHeader {
    id: String,
    owner: Owner,
    title: Option<String>,
    is_write_capable: bool,
    created: SystemTime,
    expires: SystemTime,
    attempts: u64,
    preludes: Option<Vec<(String, u64, String)>>,
}

impl SessionHeader {
    fn of(entry: &Entry) -> SessionHeader {
        let frozen = entry.blank.frozen().iter();
        let frozen = frozen.map(|r| (r.id.clone(), r.version, r.checksum.clone())).collect();
        SessionHeader {
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
    /// Configures sessions with the host's environment for programs and the limits of the settings.
    pub fn builder(host: &Host, settings: &Settings) -> SessionsBuilder {
        SessionsBuilder::new(host, settings)
    }

    /// Returns warnings, such as about unreadable files.
    pub fn warnings(&self) -> &[String] {
        &self.0.warnings
    }

    /// Returns the owner for a server with a single client: a new one in each process, unless sessions are kept
    /// in a folder.
    pub fn local_owner(&self) -> Owner {
        self.0.local.clone()
    }

    pub(crate) fn settings(&self) -> &Settings {
        &self.0.settings
    }

    /// Reserves a session for one program: no other program runs in it until the reservation is used or dropped.
    pub(crate) fn reserve(
        &self,
        owner: &Owner,
        id: &str,
        args: EvalArgs,
    ) -> Result<Reservation, Box<Payload>> {
        let number = self.0.table().number();
        let reserved = self.0.with(owner, id, |entry| {
            if entry.running.is_some() {
                let message = "another program is running in the session; wait until it is done";
                return Err(Refusal::new(Reason::SessionBusy, message));
            }
            entry.running = Some(Running { number, cancel: None });
            Ok(Reservation::new(self.clone(), entry, number, args))
        });
        let reserved = reserved.and_then(|reserved| reserved);
        reserved.map_err(|refusal| Box::new(Payload::error(refusal.reason, refusal.message)))
    }

    /// Ends expired sessions and stops their programs. Call this regularly.
    pub fn sweep(&self) {
        let doomed = self.0.table().sweep(self.0.now(), &self.0.settings);
        self.0.bury(doomed);
    }

    /// Ends all sessions of an owner.
    pub fn close_owner(&self, owner: &Owner) {
        let mut table = self.0.table();
        let own = table.live.iter().filter(|(_, entry)| entry.owner == *owner);
        let keys: Vec<table::Key> = own.map(|(key, _)| *key).collect();
        let doomed: Vec<EndedSession> = keys.iter().filter_map(|key| table.end(key, Why::Closed)).collect();
        drop(table);
        self.0.bury(doomed);
    }

    /// Ends all sessions of this process: stops programs and completes the log of turns. Files in a session
    /// folder are kept.
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
