//! Table of current and ended sessions.

use super::Owner;
use super::state::SessionState;
use crate::moment::iso;
use crate::reason::Reason;
use crate::settings::Settings;
use ptc_runtime::{Cancel, Session};
use ptc_upstream::ProgramHost;
use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};
use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime};

/// Maximum number of ended sessions that are remembered.
const MAX_ENDED: usize = 1024;

/// Hash of a session's id. Looking up by hash takes a time that reveals nothing about existing ids.
pub(super) type Key = [u8; 32];

pub(super) fn key(id: &str) -> Key {
    Sha256::digest(id.as_bytes()).into()
}

/// Returns a session's name in logs: knowing an id gives access, so ids are never logged.
///
/// ```
/// let shown = ptc_mcp::sessions::logged_id("ptcs_AAAAAAAAAAAAAAAAAAAAAAAA");
/// assert!(shown.len() == 16 && !shown.contains("ptcs_"));
/// ```
pub fn logged_id(id: &str) -> String {
    let mut hash = ptc_bytecode::hex(&key(id));
    hash.truncate(16);
    hash
}

/// A current session.
pub(super) struct Entry {
    pub id: String,
    pub owner: Owner,
    pub title: Option<String>,
    pub is_write_capable: bool,
    /// True if the session was started with stored preludes.
    pub has_preludes: bool,
    pub created: SystemTime,
    pub expires: SystemTime,
    /// Time of the last request for the session.
    pub used: SystemTime,
    pub attempts: u64,
    /// Position in the order of starting.
    pub number: u64,
    /// The freshly started session, without definitions and results.
    pub blank: Session,
    pub programs: Arc<ProgramHost>,
    pub kept: Arc<SessionState>,
    pub running: Option<Running>,
    pub gate: Gate,
}

/// A program that runs or is about to.
pub(super) struct Running {
    pub number: u64,
    pub cancel: Option<Cancel>,
}

/// Lock for writing or deleting a session's file. Once it holds true, the file is never written again.
#[derive(Clone, Default)]
pub(super) struct Gate(Arc<Mutex<bool>>);

impl Gate {
    /// Waits for other writers of the file.
    pub fn enter(&self) -> MutexGuard<'_, bool> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Reason why a session ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Why {
    Closed,
    Expired,
    Idle,
}

impl Why {
    fn told(self) -> &'static str {
        match self {
            Why::Closed => "it was closed",
            Why::Expired => "its time was up",
            Why::Idle => "it was idle for too long",
        }
    }
}

/// A session that has just ended, with its file still to be deleted.
pub(super) struct EndedSession {
    pub id: String,
    pub gate: Gate,
}

/// Reason why a tool has no result.
pub(crate) struct Refusal {
    pub reason: Reason,
    pub message: String,
    /// Exceeded limit, and the actual amount.
    pub detail: Option<Value>,
}

impl Refusal {
    pub fn new(reason: Reason, message: impl Into<String>) -> Refusal {
        Refusal { reason, message: message.into(), detail: None }
    }

    /// Creates a refusal of invalid arguments.
    pub fn args(message: impl Into<String>) -> Refusal {
        Refusal::new(Reason::SessionArgsError, message)
    }

    /// Creates a refusal because of a failure of the server.
    pub fn broken(message: impl Into<String>) -> Refusal {
        Refusal::new(Reason::RuntimeError, message)
    }
}

/// All sessions of a server.
#[derive(Default)]
pub(super) struct Table {
    pub live: HashMap<Key, Entry>,
    ended: HashMap<Key, (Owner, Why)>,
    /// Ended sessions, oldest first.
    order: VecDeque<Key>,
    count: u64,
}

impl Table {
    /// Returns a new unique number.
    pub fn number(&mut self) -> u64 {
        self.count += 1;
        self.count
    }

    /// Finds the session of this owner. For current and ended sessions of other owners, the error is that of a
    /// session that never existed.
    pub fn find(&mut self, owner: &Owner, id: &str) -> Result<&mut Entry, Refusal> {
        let key = key(id);
        let ended = self.ended.get(&key).filter(|(whose, _)| whose == owner).map(|(_, why)| *why);
        let live = self.live.get_mut(&key).filter(|entry| entry.owner == *owner);
        match (live, ended) {
            (Some(entry), _) => Ok(entry),
            (None, Some(why)) => {
                let message = format!("the session is over: {}; start another one", why.told());
                Err(Refusal::new(Reason::SessionClosed, message))
            }
            (None, None) => {
                let message = "there is no such session; lisp_session_list names yours";
                Err(Refusal::new(Reason::SessionNotFound, message))
            }
        }
    }

    /// Ends a session: stops its program, and lets nothing more be committed.
    pub fn end(&mut self, key: &Key, why: Why) -> Option<EndedSession> {
        let entry = self.live.remove(key)?;
        if let Some(cancel) = entry.running.and_then(|running| running.cancel) {
            cancel.cancel();
        }
        self.ended.insert(*key, (entry.owner, why));
        self.order.push_back(*key);
        if self.order.len() > MAX_ENDED
            && let Some(oldest) = self.order.pop_front()
        {
            self.ended.remove(&oldest);
        }
        Some(EndedSession { id: entry.id, gate: entry.gate })
    }

    /// Ends expired sessions.
    pub fn sweep(&mut self, now: SystemTime, settings: &Settings) -> Vec<EndedSession> {
        let due: Vec<(Key, Why)> =
            self.live.iter().filter_map(|(key, entry)| Some((*key, entry.due(now, settings)?))).collect();
        due.into_iter().filter_map(|(key, why)| self.end(&key, why)).collect()
    }

    /// Checks whether there is room for one more session, first for all owners together.
    pub fn room(&self, owner: &Owner, settings: &Settings) -> Result<(), Refusal> {
        let own = || self.live.values().filter(|entry| entry.owner == *owner).count() as u64;
        let (all, most) = (self.live.len() as u64, settings.max_sessions);
        if all >= most {
            let message = format!("the server has {most} sessions already (max_sessions); try again later");
            return Err(full(message, "max_sessions", all, most));
        }
        let (own, most) = (own(), settings.max_sessions_per_owner);
        if own >= most {
            let message =
                format!("you have {most} sessions already (max_sessions_per_owner); close one of them");
            return Err(full(message, "max_sessions_per_owner", own, most));
        }
        Ok(())
    }
}

fn full(message: String, limit: &str, actual: u64, max: u64) -> Refusal {
    let detail = json!({"field": "sessions", "limit": limit, "actual": actual, "max": max});
    Refusal { detail: Some(detail), ..Refusal::new(Reason::SessionLimitExceeded, message) }
}

impl Entry {
    /// Returns the reason to end the session now, if there is one.
    pub fn due(&self, now: SystemTime, settings: &Settings) -> Option<Why> {
        if now >= self.expires {
            return Some(Why::Expired);
        }
        let idle = Duration::from_millis(settings.session_idle_timeout_ms);
        let rested = now.duration_since(self.used).unwrap_or_default();
        (self.running.is_none() && rested >= idle).then_some(Why::Idle)
    }

    /// Returns the session's row in lists.
    pub fn about(&self) -> Map<String, Value> {
        let kept = &self.kept;
        let about = json!({
            "session_id": self.id,
            "title": self.title,
            "turn": kept.turn,
            "created_at": iso(self.created),
            "updated_at": iso(kept.updated),
            "expires_at": iso(self.expires),
            "eval_status": if self.running.is_some() { "running" } else { "idle" },
            "memory_bytes": kept.memory_bytes,
            "binding_count": kept.binding_count(),
        });
        match about {
            Value::Object(about) => about,
            _ => Map::new(),
        }
    }
}
