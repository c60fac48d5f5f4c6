//! Which sessions there are, and which there were.

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

/// Sessions that are over and still known to have been.
const MAX_ENDED: usize = 1024;

/// Sessions are found by the hash of their id: how long that takes tells nothing of the ids there are.
pub(super) type Key = [u8; 32];

pub(super) fn key(id: &str) -> Key {
    Sha256::digest(id.as_bytes()).into()
}

/// What logs call a session by: an id is as good as a key, so it is never written there.
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

/// A session.
pub(super) struct Entry {
    pub id: String,
    pub owner: Owner,
    pub title: Option<String>,
    pub is_write_capable: bool,
    /// The stored preludes it keeps to; None if it was started without any.
    pub has_preludes: bool,
    pub created: SystemTime,
    pub expires: SystemTime,
    /// When somebody last asked for it.
    pub used: SystemTime,
    pub attempts: u64,
    /// In which order sessions were started.
    pub number: u64,
    /// As it was started: no definitions, no results.
    pub blank: Session,
    pub programs: Arc<ProgramHost>,
    pub kept: Arc<SessionState>,
    pub running: Option<Running>,
    pub gate: Gate,
}

/// A program that runs, or is about to.
pub(super) struct Running {
    pub number: u64,
    pub cancel: Option<Cancel>,
}

/// Who writes or deletes the file of a session holds this. Once it says so, nobody writes it again.
#[derive(Clone, Default)]
pub(super) struct Gate(Arc<Mutex<bool>>);

impl Gate {
    /// Waits for whoever is at the file.
    pub fn enter(&self) -> MutexGuard<'_, bool> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Why a session is over.
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
            Why::Idle => "it was not used for too long",
        }
    }
}

/// A session that has just ended: its file is still to be deleted.
pub(super) struct EndedSession {
    pub id: String,
    pub gate: Gate,
}

/// Why a tool has no answer.
pub(crate) struct Refusal {
    pub reason: Reason,
    pub message: String,
    /// Which limit was passed, and by how much.
    pub detail: Option<Value>,
}

impl Refusal {
    pub fn new(reason: Reason, message: impl Into<String>) -> Refusal {
        Refusal { reason, message: message.into(), detail: None }
    }

    /// Arguments that are wrong.
    pub fn args(message: impl Into<String>) -> Refusal {
        Refusal::new(Reason::SessionArgsError, message)
    }

    /// Something of ours that went wrong.
    pub fn broken(message: impl Into<String>) -> Refusal {
        Refusal::new(Reason::RuntimeError, message)
    }
}

/// All of them.
#[derive(Default)]
pub(super) struct Table {
    pub live: HashMap<Key, Entry>,
    ended: HashMap<Key, (Owner, Why)>,
    /// Those that ended, oldest first.
    order: VecDeque<Key>,
    count: u64,
}

impl Table {
    /// Numbers that are never given twice.
    pub fn number(&mut self) -> u64 {
        self.count += 1;
        self.count
    }

    /// The session of this owner. For the session of another one, or the one that another one had, the answer is as if
    /// it never was.
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

    /// Ends a session: what runs in it is told to stop, and nothing more can be committed.
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

    /// Ends what is over.
    pub fn sweep(&mut self, now: SystemTime, settings: &Settings) -> Vec<EndedSession> {
        let due: Vec<(Key, Why)> =
            self.live.iter().filter_map(|(key, entry)| Some((*key, entry.due(now, settings)?))).collect();
        due.into_iter().filter_map(|(key, why)| self.end(&key, why)).collect()
    }

    /// Whether there is room for one more; all owners together are looked at first.
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
    /// Whether it is over.
    pub fn due(&self, now: SystemTime, settings: &Settings) -> Option<Why> {
        if now >= self.expires {
            return Some(Why::Expired);
        }
        let idle = Duration::from_millis(settings.session_idle_timeout_ms);
        let rested = now.duration_since(self.used).unwrap_or_default();
        (self.running.is_none() && rested >= idle).then_some(Why::Idle)
    }

    /// As lists show it.
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
