//! `lisp_debug`: the server's recent calls and their outcomes.
//!
//! A [`Recorder`] takes the calls; it neither waits nor fails. A thread removes secrets and most of the bulk,
//! and keeps the calls in a ring, in memory only. The ring holds the calls of all clients; each client sees
//! only its own, unless the operator allows more (`--debug-all-owners`).
//!
//! ```
//! use ptc_mcp::debug::{Debug, Record};
//! use ptc_mcp::{Payload, Settings, sessions::Owner};
//! use serde_json::json;
//! let debug = Debug::new(&Settings::default(), None);
//! let args = json!({"program": "(+ 1 2)"});
//! let payload = Payload { result: Some("user=> 3".into()), ..Payload::default() };
//! let (ann, bob) = (Owner::new("ann"), Owner::new("bob"));
//! debug.recorder().record(Record::new(&ann, &json!(7), "lisp_eval", args.as_object().unwrap(), &payload));
//! let recent = |owner| debug.call(json!({"op": "recent"}).as_object().unwrap(), owner, 64).answer.unwrap();
//! assert_eq!(recent(&ann)["calls"][0]["request_id"], "7");
//! assert_eq!(recent(&bob)["count"], 0);
//! ```

mod answer;
mod args;
mod record;
mod stats;
mod trace;

pub use record::Record;

use crate::reason::Reason;
use crate::reply::Payload;
use crate::sessions::{Clock, Owner};
use crate::settings::{Settings, TracePayloads};
use answer::{Fit, fit};
pub(crate) use args::DebugArgs;
use args::Op;
use ptc_upstream::redact::Redactor;
pub(crate) use record::StoredCall;
use serde_json::{Map, Value, json};
use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime};

/// Maximum number of calls waiting to be recorded; further ones are dropped.
const MAX_QUEUED: usize = 1_000;
/// Maximum size of all records together, in bytes.
const MAX_RING_BYTES: usize = 8 << 20;
/// Time limit for a lookup to wait for calls recorded before it.
const CATCH_UP: Duration = Duration::from_secs(2);

/// Message from the recorder to its thread.
enum Message {
    Call(Box<Record>),
    /// Replied to when everything sent before has been recorded.
    Done(SyncSender<()>),
}

/// Recorder of calls. Cheap to clone.
#[derive(Clone)]
pub struct Recorder(SyncSender<Message>);

impl Recorder {
    /// Records a call, unless too many are waiting. Never waits. Calls of `lisp_debug` itself and of unknown
    /// tools are not recorded.
    pub fn record(&self, record: Record) {
        if record.tool == "lisp_debug" || record.payload.reason == Some(Reason::UnknownTool) {
            return;
        }
        // The message is dropped if the queue is full or the thread is gone.
        let _ = self.0.try_send(Message::Call(Box::new(record)));
    }
}

/// The recorded calls. Clones share them.
#[derive(Clone)]
pub struct Debug(Arc<Inner>);

struct Inner {
    recorder: Recorder,
    ring: Arc<Mutex<Ring>>,
    clock: Clock,
    settings: Settings,
    redactor: Option<Arc<Redactor>>,
    max_bytes: usize,
}

/// The most recent calls, oldest first.
pub(crate) struct Ring {
    pub size: usize,
    pub calls: VecDeque<StoredCall>,
    bytes: usize,
}

impl Ring {
    fn push(&mut self, call: StoredCall) {
        self.bytes += call.bytes;
        self.calls.push_back(call);
        while self.calls.len() > self.size || self.bytes > MAX_RING_BYTES {
            let Some(oldest) = self.calls.pop_front() else { break };
            self.bytes -= oldest.bytes;
        }
    }
}

impl Debug {
    /// Creates a ring of the configured size, with a redactor that removes secrets.
    pub fn new(settings: &Settings, redactor: Option<Arc<Redactor>>) -> Debug {
        Debug::with_clock(settings, redactor, Arc::new(SystemTime::now))
    }

    /// Creates a ring with a separate clock, for tests.
    pub fn with_clock(settings: &Settings, redactor: Option<Arc<Redactor>>, clock: Clock) -> Debug {
        let size = settings.debug_ring_size.clamp(10, 5_000) as usize;
        let ring = Arc::new(Mutex::new(Ring { size, calls: VecDeque::new(), bytes: 0 }));
        let (sender, receiver) = sync_channel(MAX_QUEUED);
        let policy = settings.trace_payloads;
        let (kept, scrub) = (ring.clone(), redactor.clone());
        // Without the thread nothing is recorded, but everything else works.
        let _ = std::thread::Builder::new()
            .name("ptc-debug".to_string())
            .spawn(move || keep(&receiver, &kept, policy, scrub.as_deref()));
        Debug(Arc::new(Inner {
            recorder: Recorder(sender),
            ring,
            clock,
            settings: settings.clone(),
            redactor,
            max_bytes: usize::try_from(settings.max_debug_response_bytes.max(4_096)).unwrap_or(usize::MAX),
        }))
    }

    /// Returns the recorder for new calls.
    pub fn recorder(&self) -> Recorder {
        self.0.recorder.clone()
    }

    /// Answers a call of the tool by `owner`. `frame_bytes` is the size of the protocol's frame around the
    /// result: together they must not exceed the configured limit.
    pub fn call(&self, args: &Map<String, Value>, owner: &Owner, frame_bytes: usize) -> Payload {
        let wanted = match DebugArgs::of_op(args, &self.0.settings) {
            Ok(args) => args,
            Err(message) => {
                let op = DebugArgs::op(args).ok().map(Op::name);
                let mut payload = Payload::refused(Reason::ArgsError, message);
                if let Some(answer) = &mut payload.answer {
                    self.mark(answer, op);
                }
                return payload;
            }
        };
        self.catch_up();
        let most = self.0.max_bytes.saturating_sub(frame_bytes);
        let mut answer = match wanted.op {
            Op::Stats => self.stats(&wanted, owner),
            Op::Recent => self.recent(&wanted, owner),
            Op::Get => self.get(wanted.request_id.as_deref().unwrap_or_default(), owner, most),
        };
        self.mark(&mut answer, Some(wanted.op.name()));
        let how = match wanted.op {
            Op::Stats => Fit::Stats,
            Op::Recent => Fit::Recent,
            Op::Get => Fit::Get,
        };
        Payload::answered(fit(answer, how, most))
    }

    /// Adds the fields that every answer has.
    fn mark(&self, answer: &mut Map<String, Value>, op: Option<&str>) {
        answer.insert("op".to_string(), json!(op));
        answer
            .insert("payload_policy".to_string(), json!(record::policy_name(self.0.settings.trace_payloads)));
        answer.insert("redaction_applied".to_string(), json!(true));
    }

    /// Waits until all calls sent before are recorded.
    fn catch_up(&self) {
        let (done, wait) = sync_channel(1);
        if self.0.recorder.0.send(Message::Done(done)).is_ok() {
            let _ = wait.recv_timeout(CATCH_UP);
        }
    }

    fn ring(&self) -> MutexGuard<'_, Ring> {
        self.0.ring.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns whether an owner may see a call.
    fn shows(&self, call: &StoredCall, owner: &Owner) -> bool {
        self.0.settings.debug_all_owners || call.owner == *owner
    }

    /// Adds the owner of a call if calls of several owners are shown.
    fn labelled(&self, mut shown: Map<String, Value>, call: &StoredCall) -> Map<String, Value> {
        if self.0.settings.debug_all_owners {
            shown.insert("owner".to_string(), json!(call.owner.label()));
        }
        shown
    }

    fn stats(&self, wanted: &DebugArgs, owner: &Owner) -> Map<String, Value> {
        let now = (self.0.clock)();
        let ring = self.ring();
        let shown: Vec<&StoredCall> = ring.calls.iter().filter(|call| self.shows(call, owner)).collect();
        let calls: Vec<&StoredCall> = shown.iter().copied().filter(|call| wanted.wants(call, now)).collect();
        let mut answer = stats::of(&calls, wanted.since(now), now);
        answer.insert("status".to_string(), json!("ok"));
        answer.insert("ring_size".to_string(), json!(ring.size));
        answer.insert("ring_count".to_string(), json!(shown.len()));
        answer.insert("trace_dir_enabled".to_string(), json!(self.0.settings.trace_dir.is_some()));
        answer
    }

    fn recent(&self, wanted: &DebugArgs, owner: &Owner) -> Map<String, Value> {
        let now = (self.0.clock)();
        let ring = self.ring();
        let newest = ring
            .calls
            .iter()
            .rev()
            .filter(|call| self.shows(call, owner) && wanted.wants(call, now))
            .take(wanted.limit.unwrap_or(20) as usize);
        let rows: Vec<Value> =
            newest.map(|call| Value::Object(self.labelled(call.row.clone(), call))).collect();
        let mut answer = Map::new();
        answer.insert("status".to_string(), json!("ok"));
        answer.insert("count".to_string(), json!(rows.len()));
        answer.insert("calls".to_string(), Value::Array(rows));
        answer
    }

    /// Returns a call by its id: from its trace if that has full payloads and fits, else from the ring.
    fn get(&self, id: &str, owner: &Owner, most: usize) -> Map<String, Value> {
        let mut answer = Map::new();
        answer.insert("status".to_string(), json!("ok"));
        answer.insert("request_id".to_string(), json!(id));
        let traced = match (&self.0.settings.trace_dir, self.0.settings.trace_payloads) {
            (Some(dir), TracePayloads::Full) => {
                let whose = (!self.0.settings.debug_all_owners).then(|| owner.label());
                trace::find(Path::new(dir), id, whose.as_deref(), most)
            }
            _ => None,
        };
        let found = match traced {
            Some(lines) => {
                let lines = self.0.redactor.as_ref().map_or(lines.clone(), |r| r.scrub_json(lines));
                Some(("trace_file", lines))
            }
            None => {
                let ring = self.ring();
                let call = ring.calls.iter().rev().find(|call| call.id == id && self.shows(call, owner));
                call.map(|call| ("ring_buffer", Value::Object(self.labelled(call.whole(), call))))
            }
        };
        answer.insert("found".to_string(), json!(found.is_some()));
        if let Some((source, record)) = found {
            answer.insert("source".to_string(), json!(source));
            answer.insert("record".to_string(), record);
        }
        answer
    }
}

/// Records calls until all recorders are gone.
fn keep(told: &Receiver<Message>, ring: &Mutex<Ring>, policy: TracePayloads, redactor: Option<&Redactor>) {
    while let Ok(message) = told.recv() {
        match message {
            Message::Call(call) => {
                // A call that cannot be recorded is skipped.
                let stored = catch_unwind(AssertUnwindSafe(|| StoredCall::of(&call, policy, redactor)));
                if let Ok(stored) = stored {
                    ring.lock().unwrap_or_else(PoisonError::into_inner).push(stored);
                }
            }
            Message::Done(done) => {
                let _ = done.send(());
            }
        }
    }
}
