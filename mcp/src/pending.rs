//! A program that waits for somebody's decision. While it does, it is bytes: no thread, no permit and no clock is kept for it.

use crate::reply::Payload;
use futures_util::future::BoxFuture;
use ptc_runtime::{Cancel, Computed, Schedule};
use ptc_upstream::{ProgramHost, RunContext, Suspension, Verdict, Wish};
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::{Arc, OnceLock};
use std::time::Duration;
use tokio::sync::oneshot;

/// What a run is told besides its program.
#[derive(Clone, Default)]
pub struct RunScope {
    /// What stops it.
    pub cancel: Cancel,
    /// The trace that the call belongs to (W3C `traceparent`); servers are told.
    pub traceparent: Option<String>,
    /// What the run has called, once it has begun.
    pub calls: Arc<OnceLock<Arc<RunContext>>>,
    /// When and where it computes; without one it does where it is polled.
    pub schedule: Option<Arc<dyn Schedule>>,
}

impl fmt::Debug for RunScope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RunScope").field("traceparent", &self.traceparent).finish_non_exhaustive()
    }
}

impl RunScope {
    /// A run that only this stops.
    pub fn of(cancel: &Cancel) -> RunScope {
        RunScope { cancel: cancel.clone(), ..RunScope::default() }
    }

    /// The run begins: the servers it calls are told what it is a part of, and whoever asks may see what it calls.
    pub fn note(&self, host: &ProgramHost) {
        host.context().into_iter().for_each(|context| self.note_calls(context));
    }

    pub(crate) fn note_calls(&self, context: Arc<RunContext>) {
        if let Some(traceparent) = &self.traceparent {
            context.set_traceparent(traceparent);
        }
        let _ = self.calls.set(context);
    }

    /// The same run with another way to stop it.
    #[must_use]
    pub fn stopped_by(&self, cancel: &Cancel) -> RunScope {
        RunScope { cancel: cancel.clone(), ..self.clone() }
    }

    /// The time it has waited for its turns, which is not its own.
    pub(crate) fn waited(&self) -> Duration {
        self.schedule.as_ref().map_or(Duration::ZERO, |schedule| schedule.waited())
    }

    /// Does work that takes a while, when and where the run may compute.
    pub(crate) async fn compute<T: Send + 'static>(&self, work: impl FnOnce() -> T + Send + 'static) -> T {
        let Some(schedule) = &self.schedule else { return work() };
        let (give, wait) = oneshot::channel();
        let work = move || {
            let done = catch_unwind(AssertUnwindSafe(work));
            Computed::new(move || drop(give.send(done)))
        };
        schedule.run(Box::new(work)).await;
        match wait.await {
            Ok(Ok(done)) => done,
            Ok(Err(panic)) => resume_unwind(panic),
            // The server ends, and its threads with it.
            Err(_) => std::future::pending().await,
        }
    }
}

/// How a program goes on once all is decided.
type GoOn = Box<dyn FnOnce(Suspension, Vec<Verdict>, RunScope) -> BoxFuture<'static, ProgramState> + Send>;

/// A program that is over, or waits for somebody's decision.
#[expect(clippy::large_enum_variant, reason = "there is one for each call, and it is moved once or twice")]
pub enum ProgramState {
    /// It is over.
    Finished(Payload),
    /// It waits.
    Waiting(PendingProgram),
}

/// A program that waits for somebody's decision. Dropped, it is given up.
pub struct PendingProgram {
    suspended: Suspension,
    kept_bytes: u64,
    go_on: GoOn,
}

impl PendingProgram {
    pub(crate) fn new(
        suspended: Suspension,
        kept_bytes: u64,
        go_on: impl FnOnce(Suspension, Vec<Verdict>, RunScope) -> BoxFuture<'static, ProgramState>
        + Send
        + 'static,
    ) -> PendingProgram {
        PendingProgram { suspended, kept_bytes, go_on: Box::new(go_on) }
    }

    /// What has to be decided, one by one.
    pub fn wishes(&self) -> impl ExactSizeIterator<Item = &Wish> {
        self.suspended.wishes.iter().map(|(_, wish)| wish)
    }

    /// How many bytes it is, with the data that came along with it.
    pub fn bytes(&self) -> u64 {
        self.kept_bytes.saturating_add(self.suspended.snapshot.len() as u64)
    }

    /// How much of its time is left.
    pub fn left(&self) -> Duration {
        self.suspended.left
    }

    /// Goes on with what was decided, in the order of the wishes.
    pub fn go_on(self, verdicts: Vec<Verdict>, scope: RunScope) -> BoxFuture<'static, ProgramState> {
        (self.go_on)(self.suspended, verdicts, scope)
    }
}

impl fmt::Debug for PendingProgram {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PendingProgram").field("suspended", &self.suspended).finish_non_exhaustive()
    }
}

impl ProgramState {
    /// To the end without asking anybody: what needs approval is denied.
    pub async fn to_end(mut self, scope: &RunScope) -> Payload {
        loop {
            match self {
                ProgramState::Finished(payload) => return payload,
                ProgramState::Waiting(waiting) => {
                    let verdicts =
                        vec![Verdict::Denied(Verdict::UNAVAILABLE.to_string()); waiting.wishes().len()];
                    self = waiting.go_on(verdicts, scope.clone()).await;
                }
            }
        }
    }
}
