//! State of one run: its remaining budget and the calls it has made.

use crate::fault::{Fault, Reason};
use crate::ledger::{Call, Ledger};
use ptc_runtime::Schedule;
use serde_json::Value;
use std::fmt;
use std::future::Future;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant};

/// Limits on what programs may do with servers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct CallLimits {
    /// Time limit for one call, from the moment it is sent.
    pub call_timeout: Duration,
    /// Time limit for one call to wait for a free slot at its server.
    pub queue_timeout: Duration,
    /// Maximum size of one reply, in bytes.
    pub max_response_bytes: u64,
    /// Maximum number of calls per program.
    pub max_calls: u64,
    /// Maximum number of catalogue lookups per program.
    pub max_catalog_ops: u64,
    /// Maximum size of one lookup's result, in bytes of JSON.
    pub max_catalog_bytes: usize,
}

impl Default for CallLimits {
    fn default() -> CallLimits {
        CallLimits {
            call_timeout: Duration::from_millis(5_000),
            queue_timeout: Duration::from_millis(10_000),
            max_response_bytes: 2_097_152,
            max_calls: 50,
            max_catalog_ops: 25,
            max_catalog_bytes: 262_144,
        }
    }
}

/// State of one run. Closed when the run ends: a function kept beyond it can no longer make calls.
#[derive(Debug)]
pub struct RunContext {
    pub(crate) limits: CallLimits,
    calls: AtomicU64,
    ops: AtomicU64,
    closed: AtomicBool,
    deadline: Mutex<Deadline>,
    ledger: Mutex<Ledger>,
    /// W3C trace context, passed on to servers.
    traceparent: OnceLock<String>,
}

/// End of a run.
struct Deadline {
    at: Option<Instant>,
    /// Schedule of the run: time spent waiting for a turn does not count.
    schedule: Option<Arc<dyn Schedule>>,
}

impl fmt::Debug for Deadline {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.at.fmt(f)
    }
}

impl RunContext {
    /// Creates a run under these limits, ending at `deadline`.
    pub fn new(limits: CallLimits, deadline: Option<Instant>) -> RunContext {
        let most = usize::try_from(limits.max_calls).unwrap_or(usize::MAX).saturating_add(10);
        RunContext {
            limits,
            calls: AtomicU64::new(0),
            ops: AtomicU64::new(0),
            closed: AtomicBool::new(false),
            deadline: Mutex::new(Deadline { at: deadline, schedule: None }),
            ledger: Mutex::new(Ledger::new(most)),
            traceparent: OnceLock::new(),
        }
    }

    /// Sets the trace this run belongs to (W3C `traceparent`), once; it is passed on to servers. Invalid values
    /// are ignored.
    ///
    /// ```
    /// use ptc_upstream::{CallLimits, RunContext};
    /// let run = RunContext::new(CallLimits::default(), None);
    /// assert!(!run.set_traceparent("yesterday"));
    /// assert!(run.set_traceparent("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"));
    /// ```
    pub fn set_traceparent(&self, traceparent: &str) -> bool {
        is_traceparent(traceparent) && self.traceparent.set(traceparent.to_string()).is_ok()
    }

    /// Returns the id of the trace this run belongs to, if it was [set](RunContext::set_traceparent).
    pub fn trace_id(&self) -> Option<&str> {
        self.traceparent.get().and_then(|named| named.split('-').nth(1))
    }

    pub(crate) fn traceparent(&self) -> Option<&String> {
        self.traceparent.get()
    }

    /// Closes the run: further calls are refused.
    pub fn close(&self) {
        self.closed.store(true, Ordering::SeqCst);
    }

    pub(crate) fn is_closed(&self) -> bool {
        self.closed.load(Ordering::SeqCst)
    }

    /// Moves the end of the run: a suspended run resumes with the time it had left.
    pub fn set_deadline(&self, deadline: Instant) {
        self.deadline_lock().at = Some(deadline);
    }

    /// Extends the deadline by the time the run waits for its turns.
    pub(crate) fn set_schedule(&self, schedule: &Arc<dyn Schedule>) {
        self.deadline_lock().schedule = Some(schedule.clone());
    }

    fn deadline(&self) -> Option<Instant> {
        let deadline = self.deadline_lock();
        let waited = deadline.schedule.as_ref().map_or(Duration::ZERO, |schedule| schedule.waited());
        deadline.at.map(|at| at + waited)
    }

    fn deadline_lock(&self) -> MutexGuard<'_, Deadline> {
        self.deadline.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes one call from the budget; atomic, so parallel branches cannot take more than there are.
    pub(crate) fn take_call(&self) -> bool {
        take(&self.calls, self.limits.max_calls)
    }

    /// Takes one lookup from the budget.
    pub(crate) fn take_op(&self) -> bool {
        take(&self.ops, self.limits.max_catalog_ops)
    }

    /// Returns how many calls the program may still make.
    pub fn calls_left(&self) -> u64 {
        self.limits.max_calls.saturating_sub(self.calls.load(Ordering::SeqCst))
    }

    /// Returns how many lookups the program may still make in the catalogue.
    pub fn ops_left(&self) -> u64 {
        self.limits.max_catalog_ops.saturating_sub(self.ops.load(Ordering::SeqCst))
    }

    /// Returns the latest end of a call that begins now, including its time in the queue.
    pub(crate) fn call_deadline(&self) -> Instant {
        let own = Instant::now() + self.limits.queue_timeout + self.limits.call_timeout;
        self.deadline().map_or(own, |deadline| deadline.min(own))
    }

    /// Returns the result of `work`, unless the run's time is nearly over first: a tenth of the remaining time
    /// is kept for the program, which otherwise could do nothing with the result.
    pub(crate) async fn in_time<T>(
        &self,
        server: &str,
        work: impl Future<Output = Result<T, Fault>>,
    ) -> Result<T, Fault> {
        let Some(deadline) = self.deadline() else { return work.await };
        let kept = deadline.saturating_duration_since(Instant::now()) / 10;
        tokio::time::timeout_at((deadline - kept).into(), work).await.unwrap_or_else(|_| {
            let why = format!("upstream '{server}' was not ready before the time limit of the program");
            Err(Fault::new(Reason::Timeout, why))
        })
    }

    /// Records a call of which nothing was sent.
    pub(crate) fn record(&self, call: Call) {
        self.ledger().add(call);
    }

    /// Records a call that is being sent.
    pub(crate) fn begin(&self, call: &Call) -> Option<usize> {
        self.ledger().begin(call)
    }

    /// Records the outcome of a call that was sent.
    pub(crate) fn settle(&self, at: Option<usize>, call: Call) {
        self.ledger().settle(at, call);
    }

    pub(crate) fn record_op(&self, op: &str, reference: &str) {
        self.ledger().add_op(op, reference);
    }

    pub(crate) fn fail_op(&self, op: &str, reference: &str, reason: &str, error: &str) {
        self.ledger().fail_op(op, reference, reason, error);
    }

    /// Starts the next program of a run: its call and lookup budgets start again.
    pub(crate) fn next_program(&self) {
        self.calls.store(0, Ordering::SeqCst);
        self.ops.store(0, Ordering::SeqCst);
        self.ledger().next_program();
    }

    fn ledger(&self) -> MutexGuard<'_, Ledger> {
        self.ledger.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the calls made so far.
    pub fn calls(&self) -> Vec<Call> {
        self.ledger().calls().to_vec()
    }

    /// Returns the number of calls so far, including those in flight.
    pub fn call_count(&self) -> usize {
        self.ledger().calls().len()
    }

    /// `upstream_calls`: the calls made, as JSON.
    pub fn upstream_calls(&self) -> Value {
        self.ledger().upstream_calls()
    }

    /// `upstream_results`: a short summary of each call's result.
    pub fn upstream_results(&self) -> Value {
        self.ledger().upstream_results()
    }

    /// Returns the failed lookups, with reasons.
    pub fn catalog_faults(&self) -> Value {
        self.ledger().failed_ops()
    }

    /// `catalog_ops`: the lookups of the last program, with their outcomes.
    pub fn catalog_ops(&self) -> Vec<Value> {
        self.ledger().last_ops().to_vec()
    }

    /// `ptc_metrics`: the share of the servers' data that reached the run's result, whose size in bytes is given. None
    /// if there were no calls.
    pub fn metrics(&self, final_result: Option<u64>, prints: &[String]) -> Option<Value> {
        let ledger = self.ledger();
        (!ledger.is_empty()).then(|| ledger.metrics(final_result, prints))
    }

    /// `ptc_metrics` even without calls, then all zeros.
    pub fn metrics_in_any_case(&self, final_result: Option<u64>, prints: &[String]) -> Value {
        self.ledger().metrics(final_result, prints)
    }
}

/// Returns whether a text is `00-<32 hex>-<16 hex>-<2 hex>`. Other versions may have more parts; ids of only
/// zeros are invalid.
fn is_traceparent(text: &str) -> bool {
    let parts: Vec<&str> = text.split('-').collect();
    let is_hex = |part: &str, length: usize| {
        part.len() == length && part.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
    };
    let [version, trace, parent, flags, rest @ ..] = &parts[..] else { return false };
    text.len() <= 256
        && [(version, 2), (trace, 32), (parent, 16), (flags, 2)]
            .iter()
            .all(|(part, length)| is_hex(part, *length))
        && rest.iter().all(|part| part.bytes().all(|byte| byte.is_ascii_alphanumeric()))
        && (rest.is_empty() || *version != "00")
        && *version != "ff"
        && [trace, parent].iter().all(|part| part.bytes().any(|byte| byte != b'0'))
}

/// Takes one unit if fewer than `most` are used.
fn take(counter: &AtomicU64, most: u64) -> bool {
    counter.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |used| (used < most).then_some(used + 1)).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use ptc_runtime::{SliceFuture, Work};

    /// A schedule that reports this waiting time.
    struct Patient(Duration);

    impl Schedule for Patient {
        fn run(&self, work: Work) -> SliceFuture<'_> {
            Box::pin(async { drop(work()) })
        }

        fn slice(&self) -> Duration {
            Duration::ZERO
        }

        fn waited(&self) -> Duration {
            self.0
        }
    }

    #[test]
    fn time_in_line_takes_nothing_of_the_time_for_calls() {
        let (limits, now) = (CallLimits::default(), Instant::now());
        let run = RunContext::new(limits, Some(now + Duration::from_secs(1)));
        assert_eq!(run.call_deadline(), now + Duration::from_secs(1));
        let waited: Arc<dyn Schedule> = Arc::new(Patient(Duration::from_secs(3)));
        run.set_schedule(&waited);
        assert_eq!(run.call_deadline(), now + Duration::from_secs(4));
    }
}
