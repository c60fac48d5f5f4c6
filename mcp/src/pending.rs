//! Programs waiting for an approval. Meanwhile they exist only as bytes: without a thread, a permit or a running clock.

use crate::reply::Payload;
use futures_util::future::BoxFuture;
use ptc_runtime::effects::Ledger;
use ptc_runtime::{Cancel, Computed, Grants, Schedule};
use ptc_upstream::{ApprovalRequest, ProgramHost, RunContext, Suspension, Verdict};
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::{Arc, OnceLock};
use std::time::Duration;
use tokio::sync::oneshot;

/// Options of a run in addition to its program.
#[derive(Clone, Default)]
pub struct RunScope {
    /// Flag that stops the run.
    pub cancel: Cancel,
    /// Trace that the call belongs to (W3C `traceparent`), passed on to servers.
    pub traceparent: Option<String>,
    /// Calls of the run, set when it begins.
    pub calls: Arc<OnceLock<Arc<RunContext>>>,
    /// Schedule for computing; without one the run computes where it is polled.
    pub schedule: Option<Arc<dyn Schedule>>,
    /// Ledger of the run's effects.
    pub effects: Option<RunEffects>,
}

/// A ledger, and the name of a run there.
#[derive(Clone, Debug)]
pub struct RunEffects {
    /// The ledger.
    pub ledger: Arc<dyn Ledger>,
    /// Name of the run.
    pub run: String,
}

impl fmt::Debug for RunScope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RunScope").field("traceparent", &self.traceparent).finish_non_exhaustive()
    }
}

impl RunScope {
    /// Creates a scope that only this flag stops.
    pub fn of(cancel: &Cancel) -> RunScope {
        RunScope { cancel: cancel.clone(), ..RunScope::default() }
    }

    /// Returns the grants of the run, without data. Callers of the server's tools are models, or show the results to one.
    pub(crate) fn grants(&self) -> Grants {
        let grants = Grants::new().cancel(&self.cancel).firewall(true);
        match &self.effects {
            Some(RunEffects { ledger, run }) => grants.recorded(ledger.clone(), run),
            None => grants,
        }
    }

    /// Notes that the run begins: passes its trace on to servers, and makes its calls available.
    pub fn note(&self, host: &ProgramHost) {
        host.context().into_iter().for_each(|context| self.note_calls(context));
    }

    pub(crate) fn note_calls(&self, context: Arc<RunContext>) {
        if let Some(traceparent) = &self.traceparent {
            context.set_traceparent(traceparent);
        }
        let _ = self.calls.set(context);
    }

    /// Returns the scope with another flag that stops the run.
    #[must_use]
    pub fn stopped_by(&self, cancel: &Cancel) -> RunScope {
        RunScope { cancel: cancel.clone(), ..self.clone() }
    }

    /// Returns the time spent waiting for turns, which does not count as the run's own.
    pub(crate) fn waited(&self) -> Duration {
        self.schedule.as_ref().map_or(Duration::ZERO, |schedule| schedule.waited())
    }

    /// Runs CPU work when and where the run may compute.
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
            // The server is shutting down, together with its threads.
            Err(_) => std::future::pending().await,
        }
    }
}

/// Function that resumes a program after all approvals are decided.
type GoOn = Box<dyn FnOnce(Suspension, Vec<Verdict>, RunScope) -> BoxFuture<'static, ProgramState> + Send>;

/// State of a program: finished, or waiting for approvals.
#[expect(clippy::large_enum_variant, reason = "there is one for each call, and it is moved once or twice")]
pub enum ProgramState {
    /// The program has finished.
    Finished(Payload),
    /// The program waits for approvals.
    Waiting(PendingProgram),
}

/// A program waiting for approvals; dropping it ends the program.
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

    /// Returns the calls that need approval.
    pub fn requests(&self) -> impl ExactSizeIterator<Item = &ApprovalRequest> {
        self.suspended.requests.iter().map(|(_, request)| request)
    }

    /// Returns the size of the suspended program with its data, in bytes.
    pub fn bytes(&self) -> u64 {
        self.kept_bytes.saturating_add(self.suspended.snapshot.len() as u64)
    }

    /// Returns the remaining time of the program.
    pub fn left(&self) -> Duration {
        self.suspended.left
    }

    /// Resumes the program with the verdicts, in the order of the requests.
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
    /// Runs the program to its end, denying all calls that need approval.
    pub async fn to_end(mut self, scope: &RunScope) -> Payload {
        loop {
            match self {
                ProgramState::Finished(payload) => return payload,
                ProgramState::Waiting(waiting) => {
                    let verdicts =
                        vec![Verdict::Denied(Verdict::UNAVAILABLE.to_string()); waiting.requests().len()];
                    self = waiting.go_on(verdicts, scope.clone()).await;
                }
            }
        }
    }
}
