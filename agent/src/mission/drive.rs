//! Runs of single programs: calls go through the tools of the mission, on its clock and into its ledger.

use super::place::now;
use super::step::CallRecord;
use super::toolbox::Toolbox;
use ptc_runtime::{
    CallFuture, CallId, Dispatch, Failure, Frozen, Outcome, PendingCall, Run, Session, asynchronous,
};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Maximum bytes of arguments and results in the records of one program; further records omit them.
const LEDGER_BYTES: usize = 8 << 20;

/// Record of a program's calls. Calls are kept even if the mission ends in the middle.
#[derive(Default)]
pub(crate) struct Ledger(Mutex<Entries>);

#[derive(Default)]
struct Entries {
    done: Vec<CallRecord>,
    bytes: usize,
    /// Calls without an answer yet.
    open: Vec<(CallId, CallRecord)>,
}

impl Ledger {
    fn entries(&self) -> MutexGuard<'_, Entries> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns all calls so far, including abandoned ones.
    pub fn take(&self) -> Vec<CallRecord> {
        let Entries { mut done, open, .. } = std::mem::take(&mut *self.entries());
        let given_up = Some("cancelled before there was a result".to_string());
        done.extend(open.into_iter().map(|(_, call)| CallRecord { error: given_up.clone(), ..call }));
        done
    }

    fn open(&self, id: CallId, record: CallRecord) {
        self.entries().open.push((id, record));
    }

    fn close(&self, id: &CallId, mut record: CallRecord) {
        let mut entries = self.entries();
        entries.open.retain(|(known, _)| known != id);
        let size = |value: &serde_json::Value| serde_json::to_string(value).map_or(0, |text| text.len());
        if entries.bytes <= LEDGER_BYTES {
            entries.bytes += size(&record.args) + size(&record.result);
        } else {
            let cut = CallRecord { is_cut: true, ..CallRecord::default() };
            (record.args, record.result, record.is_cut) = (cut.args, cut.result, cut.is_cut);
        }
        entries.done.push(record);
    }
}

/// Ending of a program.
pub(crate) enum Ending {
    /// A value.
    Value(Box<Outcome>),
    /// A value from `(return v)`.
    Returned(Box<Outcome>),
    /// An error, or `(fail v)`.
    Failed(Box<Failure>),
}

/// A finished program.
pub(crate) struct ProgramRun {
    pub ending: Ending,
    /// Definitions made, even if the program failed.
    pub definitions: Vec<(String, Frozen)>,
}

/// Dispatcher of the calls of one program.
pub(crate) struct ProgramCalls<'e> {
    toolbox: &'e Arc<Toolbox>,
    session: &'e Session,
    ledger: &'e Ledger,
    clock: Mutex<Clock>,
}

impl<'e> ProgramCalls<'e> {
    /// Returns a dispatcher for a program of this session, with this timeout.
    pub fn new(
        toolbox: &'e Arc<Toolbox>,
        session: &'e Session,
        ledger: &'e Ledger,
        timeout: Duration,
    ) -> ProgramCalls<'e> {
        ProgramCalls { toolbox, session, ledger, clock: Mutex::new(Clock::new(timeout)) }
    }

    /// Runs the program to its end.
    pub async fn drive(&self, run: Run) -> ProgramRun {
        match asynchronous(run, self).await {
            Ok(outcome) => {
                let definitions = outcome.definitions();
                let outcome = Box::new(outcome);
                let ending =
                    if outcome.returned { Ending::Returned(outcome) } else { Ending::Value(outcome) };
                ProgramRun { ending, definitions }
            }
            Err(failed) => {
                let definitions = failed.definitions();
                ProgramRun { ending: Ending::Failed(Box::new(failed.failure)), definitions }
            }
        }
    }

    fn clock(&self) -> MutexGuard<'_, Clock> {
        self.clock.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Dispatch for ProgramCalls<'_> {
    fn call(&self, call: PendingCall) -> CallFuture<'_> {
        let asks_models = self.toolbox.asks_models(&call.name);
        self.ledger.open(call.id.clone(), self.toolbox.begun(&call));
        let until = self.clock().began(asks_models);
        Box::pin(async move {
            let called = self.toolbox.call(self.session.tools(), &call, until).await;
            self.clock().ended(asks_models);
            self.ledger.close(&call.id, called.record);
            (call, called.answer)
        })
    }
}

/// Clock of a program. Stands still while a call waits for a model, since such waits say nothing about the program and
/// end with the mission.
struct Clock {
    limit: Duration,
    used: Duration,
    since: Instant,
    /// Number of calls in flight that ask models.
    waits: u32,
}

impl Clock {
    fn new(limit: Duration) -> Clock {
        Clock { limit, used: Duration::ZERO, since: now(), waits: 0 }
    }

    fn tick(&mut self) {
        let now = now();
        if self.waits == 0 {
            self.used += now.saturating_duration_since(self.since);
        }
        self.since = now;
    }

    /// Starts a call. Returns when the program will run out of time, unless its clock is stopped.
    fn began(&mut self, asks_models: bool) -> Option<Instant> {
        self.tick();
        self.waits += u32::from(asks_models);
        self.since.checked_add(self.limit.saturating_sub(self.used))
    }

    fn ended(&mut self, asks_models: bool) {
        self.tick();
        self.waits = self.waits.saturating_sub(u32::from(asks_models));
    }
}
