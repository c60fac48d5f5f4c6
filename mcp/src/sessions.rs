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
    fn bury(&self, doomed: impl IntoIterator<Item = EndedSession>) {
        for EndedSession { id, gate } in doomed {
            let mut is_closed = gate.enter();
            *is_closed = true;
            if let Some(disk) = &self.disk {
                // Nobody is waiting for it; one that cannot be deleted now is over by time at the next start.
                let _ = disk.remove(&id);
            }
        }
    }

    /// Writes a session down, if sessions are kept. `kept` is what is about to be its state.
    fn persist(&self, entry: &SessionHeader, kept: &SessionState) -> Result<(), String> {
        let Some(disk) = &self.disk else { return Ok(()) };
        let mut record = entry.record();
        record.set_state(kept)?;
        disk.write(&record)
    }
}

/// What is written of a session besides its state.
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

    pub(crate) fn settings(&self) -> &Settings {
        &self.0.settings
    }

    /// Keeps a session for one program: nobody else runs anything in it until the reservation is used or dropped.
    pub(crate) fn reserve(
        &self,
        owner: &Owner,
        id: &str,
        args: EvalArgs,
    ) -> Result<Reservation, Box<Payload>> {
        let number = self.0.table().number();
        let reserved = self.0.with(owner, id, |entry| {
            if entry.running.is_some() {
                let message = "another program runs in the session; wait until it is done";
                return Err(Refusal::new(Reason::SessionBusy, message));
            }
            entry.running = Some(Running { number, cancel: None });
            Ok(Reservation::new(self.clone(), entry, number, args))
        });
        let reserved = reserved.and_then(|reserved| reserved);
        reserved.map_err(|refusal| Box::new(Payload::error(refusal.reason, refusal.message)))
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
        let doomed: Vec<EndedSession> = keys.iter().filter_map(|key| table.end(key, Why::Closed)).collect();
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
