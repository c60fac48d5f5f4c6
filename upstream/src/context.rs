//! One run: what it may still do, and what it has done.

use crate::fault::{Fault, Reason};
use crate::ledger::{Call, Ledger};
use ptc_runtime::Schedule;
use serde_json::Value;
use std::fmt;
use std::future::Future;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant};

/// What programs may do with servers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct CallLimits {
    /// How long one call may take, from the moment it is sent.
    pub call_timeout: Duration,
    /// How long one call may wait until its server has a place for it.
    pub queue_timeout: Duration,
    /// How many bytes one answer may have.
    pub max_response_bytes: u64,
    /// How many calls one program may make.
    pub max_calls: u64,
    /// How often one program may look something up.
    pub max_catalog_ops: u64,
    /// How many bytes of JSON one answer of a lookup may have.
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

/// The context of one run. Closed when the run is over: a function that was kept longer calls nothing.
#[derive(Debug)]
pub struct RunContext {
    pub(crate) limits: CallLimits,
    calls: AtomicU64,
    ops: AtomicU64,
    closed: AtomicBool,
    deadline: Mutex<Deadline>,
    ledger: Mutex<Ledger>,
    /// W3C trace context, handed on to servers.
    traceparent: OnceLock<String>,
}

/// When a run ends.
struct Deadline {
    at: Option<Instant>,
    /// Waiting for a turn takes none of the run's time.
    schedule: Option<Arc<dyn Schedule>>,
}

impl fmt::Debug for Deadline {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.at.fmt(f)
    }
}

impl RunContext {
    /// A run under these limits, which ends at `deadline`.
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

    /// Names the trace this run belongs to (W3C `traceparent`), once; servers are told. What is no such name is not
    /// handed on.
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

    /// The trace this run belongs to, if it was [named](RunContext::set_traceparent).
    pub fn trace_id(&self) -> Option<&str> {
        self.traceparent.get().and_then(|named| named.split('-').nth(1))
    }

    pub(crate) fn traceparent(&self) -> Option<&String> {
        self.traceparent.get()
    }

    /// Ends it: calls from now on are refused.
    pub fn close(&self) {
        self.closed.store(true, Ordering::SeqCst);
    }

    pub(crate) fn is_closed(&self) -> bool {
        self.closed.load(Ordering::SeqCst)
    }

    /// Ends it at another time: a run that was put off has as much left as it had.
    pub fn set_deadline(&self, deadline: Instant) {
        self.deadline_lock().at = Some(deadline);
    }

    /// Puts the end off by the time that the run waits for its turns.
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

    /// Takes the right to one call; parallel branches cannot take more than there are.
    pub(crate) fn take_call(&self) -> bool {
        take(&self.calls, self.limits.max_calls)
    }

    /// Takes the right to one lookup.
    pub(crate) fn take_op(&self) -> bool {
        take(&self.ops, self.limits.max_catalog_ops)
    }

    /// When a call that begins now must be over, if it waits and takes as long as it may.
    pub(crate) fn call_deadline(&self) -> Instant {
        let own = Instant::now() + self.limits.queue_timeout + self.limits.call_timeout;
        self.deadline().map_or(own, |deadline| deadline.min(own))
    }

    /// What `work` gives, unless the run's time is nearly over first: a tenth of what was left stays for the program, which
    /// could do nothing with the answer otherwise.
    pub(crate) async fn in_time<T>(
        &self,
        server: &str,
        work: impl Future<Output = Result<T, Fault>>,
    ) -> Result<T, Fault> {
        let Some(deadline) = self.deadline() else { return work.await };
        let kept = deadline.saturating_duration_since(Instant::now()) / 10;
        tokio::time::timeout_at((deadline - kept).into(), work).await.unwrap_or_else(|_| {
            let why = format!("upstream '{server}' was not ready when the time of the program was over");
            Err(Fault::new(Reason::Timeout, why))
        })
    }

    /// A call of which nothing was sent.
    pub(crate) fn record(&self, call: Call) {
        self.ledger().add(call);
    }

    /// A call that is sent now.
    pub(crate) fn begin(&self, call: &Call) -> Option<usize> {
        self.ledger().begin(call)
    }

    /// What became of it.
    pub(crate) fn settle(&self, at: Option<usize>, call: Call) {
        self.ledger().settle(at, call);
    }

    pub(crate) fn record_op(&self, op: &str, reference: &str) {
        self.ledger().add_op(op, reference);
    }

    pub(crate) fn fail_op(&self, op: &str, reference: &str, reason: &str, error: &str) {
        self.ledger().fail_op(op, reference, reason, error);
    }

    /// Begins the next program of a run that has several: it may call and look up as much as the one before.
    pub(crate) fn next_program(&self) {
        self.calls.store(0, Ordering::SeqCst);
        self.ops.store(0, Ordering::SeqCst);
        self.ledger().next_program();
    }

    fn ledger(&self) -> MutexGuard<'_, Ledger> {
        self.ledger.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What was called so far.
    pub fn calls(&self) -> Vec<Call> {
        self.ledger().calls().to_vec()
    }

    /// How many calls it has made so far, those under way included.
    pub fn call_count(&self) -> usize {
        self.ledger().calls().len()
    }

    /// `upstream_calls`: what was called, as JSON.
    pub fn upstream_calls(&self) -> Value {
        self.ledger().upstream_calls()
    }

    /// `upstream_results`: what came of it, in a few words.
    pub fn upstream_results(&self) -> Value {
        self.ledger().upstream_results()
    }

    /// Lookups that gave nothing, and why.
    pub fn catalog_faults(&self) -> Value {
        self.ledger().failed_ops()
    }

    /// `catalog_ops`: what the last program looked up, and what came of it.
    pub fn catalog_ops(&self) -> Vec<Value> {
        self.ledger().last_ops().to_vec()
    }

    /// `ptc_metrics`: how much of what servers sent is in the answer. None if nothing was called.
    pub fn metrics(&self, final_result: Option<&str>, prints: &[String]) -> Option<Value> {
        let ledger = self.ledger();
        (!ledger.is_empty()).then(|| ledger.metrics(final_result, prints))
    }

    /// The same, all zeros if nothing was called.
    pub fn metrics_in_any_case(&self, final_result: Option<&str>, prints: &[String]) -> Value {
        self.ledger().metrics(final_result, prints)
    }
}

/// `00-<32 hex>-<16 hex>-<2 hex>`; other versions may have more parts. Zeros alone name nothing.
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

/// One of `most`, if there is one left.
fn take(counter: &AtomicU64, most: u64) -> bool {
    counter.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |used| (used < most).then_some(used + 1)).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use ptc_runtime::{SliceFuture, Work};

    /// A schedule whose runs have waited for so long.
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
