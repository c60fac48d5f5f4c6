//! Execution of programs: slots, time limits, and waiting for approvals.

use super::Server;
use super::approve::{CallFingerprint, Decision, denied_for_room};
use super::calling::Calling;
use super::open_calls::OpenCall;
use super::schedule::FairSchedule;
use super::slots::{Full, Slot};
use crate::connection::Flight;
use crate::frame::RpcError;
use crate::pending::{ProgramState, RunScope};
use crate::reason::Reason;
use crate::reply::Payload;
use crate::spans;
use crate::tool::Job;
use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use ptc_runtime::{Cancel, CancelOnDrop, Schedule, panic_text};
use ptc_upstream::ApprovalRequest;
use serde_json::{Map, Value};
use std::fmt::Display;
use std::panic::AssertUnwindSafe;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll, ready};
use std::time::{Duration, Instant};
use tokio::runtime::Handle;
use tokio::task::JoinError;
use tracing::Instrument;

/// Extra time before the server stops a program that is over its limit: the engine stops by itself, unless it
/// waits for servers.
const GRACE: Duration = Duration::from_millis(50);

/// Message if no more programs may be open.
pub(super) const TOO_MANY_OPEN: &str =
    "too many programs are running or waiting (--max-open-calls); wait a little and retry";

/// Time limit for a program to end after it was told to stop.
const PATIENCE: Duration = Duration::from_secs(1);

/// Preliminary or final outcome of a call.
#[expect(clippy::large_enum_variant, reason = "there is one for each call, and it is moved once or twice")]
pub enum CallOutcome {
    /// The call has ended.
    Finished(Payload),
    /// The client must ask a person, and then make the call again.
    InputRequired(Map<String, Value>),
}

/// Reason why a program does not start.
pub(super) enum NoSlot {
    /// Too many programs are before it; holds the message.
    Busy(String),
    /// The client cancelled the call.
    Cancelled,
}

impl Server {
    /// Returns a slot for a new program, which waits in the queue at most as long as it may run.
    pub(super) async fn slot(&self, flight: &Flight, left: Duration) -> Result<Slot, NoSlot> {
        let slots = &self.0.slots;
        let most = slots.count();
        let full = || {
            let waiting = self.0.parts.settings.max_queued_calls;
            format!(
                "all program slots ({most}) and queue slots ({waiting}) are taken; wait a little and retry"
            )
        };
        let slot = slots.next(flight.connection().payer()).map_err(|Full| NoSlot::Busy(full()))?;
        tokio::select! {
            biased;
            slot = slot => slot.map_err(|Full| NoSlot::Busy(full())),
            () = flight.cancel().cancelled() => Err(NoSlot::Cancelled),
            () = tokio::time::sleep(left) => Err(NoSlot::Busy(format!(
                "all program slots are taken ({most}), and none was free for this program within {} ms; \
                 wait a little and retry",
                left.as_millis()
            ))),
        }
    }

    /// Runs a program to its end. If it needs approval, it is kept without a slot until the person has
    /// answered, or returned to the client to ask.
    pub(super) async fn see_through(
        &self,
        slot: Slot,
        open: OpenCall,
        calling: &Calling<'_>,
        job: Job,
        left: Duration,
        fingerprint: Option<CallFingerprint>,
    ) -> Result<CallOutcome, RpcError> {
        let effects = match self.effects_of(calling) {
            Ok(effects) => effects,
            Err(payload) => return Ok(CallOutcome::Finished(*payload)),
        };
        // A repeated request finds this one running until it is answered.
        let (effects, _running) = effects.unzip();
        let scope = RunScope { traceparent: calling.traceparent(), effects, ..RunScope::default() };
        // Held until the program has ended, or its client has been told to ask.
        let _open = open;
        let (mut slot, mut job, mut left) = (slot, job, left);
        let mut fingerprint = fingerprint;
        loop {
            let waiting = match self.work(slot, calling, &scope, left, job).await? {
                ProgramState::Finished(payload) => return Ok(CallOutcome::Finished(payload)),
                ProgramState::Waiting(waiting) => waiting,
            };
            // Suspended, the program is bytes, which count until it computes again.
            let payer = calling.flight.connection().payer();
            let (waiting, verdicts, _reserved) = match self.reserve_waiting(&waiting, payer) {
                None => {
                    let verdicts = denied_for_room(&waiting);
                    (waiting, verdicts, None)
                }
                Some(reserved) => {
                    let requests: Vec<ApprovalRequest> = waiting.requests().cloned().collect();
                    let asked = Counted::new(&self.0.asked);
                    let decision = self.decide(&requests, calling).await;
                    drop(asked);
                    match decision {
                        Decision::Now(verdicts) => (waiting, verdicts, Some(reserved)),
                        Decision::ByClient => match self.park(waiting, reserved, calling, fingerprint.take())
                        {
                            Ok(asks) => return Ok(CallOutcome::InputRequired(asks)),
                            Err((waiting, verdicts)) => (waiting, verdicts, None),
                        },
                    }
                }
            };
            let Some(next) = self.next_slot(calling.flight).await else {
                return Ok(CallOutcome::Finished(Payload::cancelled()));
            };
            slot = next;
            left = waiting.left();
            job = Box::new(move |scope| waiting.go_on(verdicts, scope));
        }
    }

    /// Waits for a slot for a program that has started; None if its client cancels first.
    pub(super) async fn next_slot(&self, flight: &Flight) -> Option<Slot> {
        tokio::select! {
            biased;
            () = flight.cancel().cancelled() => None,
            slot = self.0.slots.next_of_begun(flight.connection().payer()) => Some(slot),
        }
    }

    /// Runs a stretch of a program, first in the given slot and then in others.
    async fn work(
        &self,
        slot: Slot,
        calling: &Calling<'_>,
        scope: &RunScope,
        left: Duration,
        job: Job,
    ) -> Result<ProgramState, RpcError> {
        // Not the call's own flag: a program stopped for taking too long was not cancelled by its client.
        let stop = Cancel::new();
        let _gone = CancelOnDrop::new(&stop);
        let payer = calling.flight.connection().payer();
        let memory = self.0.memory.of(payer);
        let schedule = Arc::new(FairSchedule::new(&self.0.slots, payer, slot, &memory));
        let asked = RunScope { schedule: Some(schedule.clone()), ..scope.stopped_by(&stop) };
        let mut task = Attended::new(job(asked).instrument(spans::execute()));
        let (timeout, began) = (self.0.parts.host.timeout(), Instant::now());
        let state = || {
            let calls = scope.calls.get().map_or(0, |context| context.call_count());
            let seconds = began.elapsed().as_secs_f64();
            match calls {
                0 => format!("running for {seconds:.1} s"),
                1 => format!("running for {seconds:.1} s, 1 call made"),
                _ => format!("running for {seconds:.1} s, {calls} calls made"),
            }
        };
        let ended = tokio::select! {
            biased;
            // First, so that clients with progress notifications hear of every call, even a very short one.
            never = calling.report(left, state) => match never {},
            ended = &mut task => ended,
            () = calling.flight.cancel().cancelled() => {
                stop.cancel();
                stopped(task).await?
            }
            () = time_is_up(left + GRACE, &schedule) => {
                stop.cancel();
                stopped(task).await?.map(|went| late(went, timeout))
            }
        };
        ended.map_err(|panic| broken(&panic_text(&*panic)))
    }
}

/// Counts something while this value exists.
struct Counted<'c>(&'c AtomicUsize);

impl Counted<'_> {
    fn new(count: &AtomicUsize) -> Counted<'_> {
        count.fetch_add(1, Ordering::Relaxed);
        Counted(count)
    }
}

impl Drop for Counted<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Waits for the time limit, extended by the time that the program waited for its turns.
async fn time_is_up(within: Duration, schedule: &FairSchedule) {
    let (since, mut waited) = (Instant::now(), Duration::ZERO);
    loop {
        tokio::time::sleep((within + waited).saturating_sub(since.elapsed())).await;
        match schedule.waited() {
            more if more > waited => waited = more,
            _ => return,
        }
    }
}

/// A program with a caller waiting for it. If the caller stops waiting, the program runs to its end by itself,
/// so that its effects are recorded and its session is freed.
struct Attended(Option<BoxFuture<'static, std::thread::Result<ProgramState>>>);

impl Attended {
    fn new(program: impl Future<Output = ProgramState> + Send + 'static) -> Attended {
        Attended(Some(AssertUnwindSafe(program).catch_unwind().boxed()))
    }
}

impl Future for Attended {
    type Output = std::thread::Result<ProgramState>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let Some(program) = &mut self.0 else { return Poll::Pending };
        let ended = ready!(program.as_mut().poll(context));
        self.0 = None;
        Poll::Ready(ended)
    }
}

impl Drop for Attended {
    fn drop(&mut self) {
        if let (Some(program), Ok(runtime)) = (self.0.take(), Handle::try_current()) {
            runtime.spawn(program);
        }
    }
}

/// Waits for the end of a program that was told to stop, but not long, for the client's sake.
async fn stopped(task: Attended) -> Result<std::thread::Result<ProgramState>, RpcError> {
    let timed_out = |_| RpcError::new(RpcError::UNAVAILABLE, "request timed out");
    tokio::time::timeout(PATIENCE, task).await.map_err(timed_out)
}

pub fn panicked(error: JoinError) -> RpcError {
    broken(&error)
}

/// Builds the error for a bug of the server. The log has the details, which the client does not see.
fn broken(error: &dyn Display) -> RpcError {
    tracing::error!(%error, "a call panicked");
    RpcError::new(RpcError::INTERNAL, "Internal error")
}

/// Turns the cancellation of a program that took too long into a timeout, because its client did not cancel it.
fn late(went: ProgramState, timeout: Duration) -> ProgramState {
    match went {
        // Tasks report by themselves that their time was up.
        ProgramState::Finished(payload)
            if payload.reason == Some(Reason::Cancelled) && payload.answer.is_none() =>
        {
            let message =
                format!("the program took longer than {} ms (--program-timeout-ms)", timeout.as_millis());
            let (reason, feedback) = (Some(Reason::Timeout), String::new());
            ProgramState::Finished(Payload { reason, message, feedback, ..payload })
        }
        went => went,
    }
}
