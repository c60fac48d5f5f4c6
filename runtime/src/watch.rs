//! Clock and cancel flag of a run. The VM calls these, since `ptc-vm` reads no clock.

use crate::schedule::Schedule;
use event_listener::Event;
use ptc_bytecode::Code;
use ptc_compiler::OUT_OF_TIME;
use ptc_vm::{Fault, Watch};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

/// Handle that stops runs from outside: every run that was given a clone of it ends `cancelled`.
///
/// ```
/// let cancel = ptc_runtime::Cancel::new();
/// cancel.cancel();
/// assert!(cancel.is_cancelled());
/// ```
#[derive(Clone, Debug, Default)]
pub struct Cancel(Arc<Flag>);

#[derive(Debug, Default)]
struct Flag {
    is_set: AtomicBool,
    /// Event that wakes its waiters.
    set: Event,
}

impl Cancel {
    /// Makes a handle that is not cancelled.
    pub fn new() -> Cancel {
        Cancel::default()
    }

    /// Cancels, for good.
    pub fn cancel(&self) {
        self.0.is_set.store(true, Ordering::Release);
        self.0.set.notify(usize::MAX);
    }

    /// True if it was cancelled.
    pub fn is_cancelled(&self) -> bool {
        self.0.is_set.load(Ordering::Acquire)
    }

    /// Waits until it is cancelled.
    ///
    /// ```
    /// # pollster::block_on(async {
    /// let cancel = ptc_runtime::Cancel::new();
    /// let other = cancel.clone();
    /// std::thread::spawn(move || other.cancel());
    /// cancel.cancelled().await;
    /// assert!(cancel.is_cancelled());
    /// # });
    /// ```
    pub async fn cancelled(&self) {
        while !self.is_cancelled() {
            let set = self.0.set.listen();
            // It may have been set before the listener was registered.
            if !self.is_cancelled() {
                set.await;
            }
        }
    }
}

/// Guard that cancels abandoned work when it is dropped, unless it was disarmed.
#[derive(Debug)]
pub struct CancelOnDrop(Option<Cancel>);

impl CancelOnDrop {
    /// Makes a guard that cancels this handle.
    pub fn new(cancel: &Cancel) -> CancelOnDrop {
        CancelOnDrop(Some(cancel.clone()))
    }

    /// Drops the guard without cancelling.
    pub fn disarm(mut self) {
        self.0 = None;
    }
}

impl Drop for CancelOnDrop {
    fn drop(&mut self) {
        if let Some(cancel) = &self.0 {
            cancel.cancel();
        }
    }
}

/// The clock of one compilation.
#[derive(Debug)]
pub(crate) struct CompileClock {
    started: Instant,
    limit: Duration,
}

impl CompileClock {
    /// Starts the clock now.
    pub fn new(limit_ms: u64) -> Arc<CompileClock> {
        Arc::new(CompileClock { started: Instant::now(), limit: Duration::from_millis(limit_ms) })
    }

    /// True if compiling has taken too long.
    pub fn is_up(&self) -> bool {
        self.started.elapsed() > self.limit
    }
}

impl Watch for CompileClock {
    fn check(&self) -> Option<Fault> {
        self.is_up().then(|| Fault::new(Code::CompileTimeout, OUT_OF_TIME))
    }
}

/// A stop-watch that only runs while the program computes: waiting for tools is free.
pub(crate) struct StopWatch {
    origin: Instant,
    limit: Duration,
    /// Nanoseconds after `origin` at which time is up; `u64::MAX` while stopped.
    deadline: AtomicU64,
    /// Nanoseconds used in finished stretches.
    used: AtomicU64,
    /// Schedule that decides how long the run may compute before others do.
    schedule: OnceLock<Arc<dyn Schedule>>,
    /// Nanoseconds after `origin` at which its slice is over.
    slice_end: AtomicU64,
    cancel: Option<Cancel>,
}

impl StopWatch {
    pub fn new(limit_ms: u64, cancel: Option<Cancel>) -> Arc<StopWatch> {
        Arc::new(StopWatch {
            origin: Instant::now(),
            limit: Duration::from_millis(limit_ms),
            deadline: AtomicU64::new(u64::MAX),
            used: AtomicU64::new(0),
            schedule: OnceLock::new(),
            slice_end: AtomicU64::new(u64::MAX),
            cancel,
        })
    }

    /// Restarts from zero.
    pub fn reset(&self) {
        self.used.store(0, Ordering::Relaxed);
    }

    /// Sets a schedule: the run computes in slices of time, from its next stretch on.
    pub fn set_schedule(&self, schedule: Arc<dyn Schedule>) {
        let _ = self.schedule.set(schedule);
    }

    /// Returns the schedule, if there is one.
    pub fn schedule(&self) -> Option<&Arc<dyn Schedule>> {
        self.schedule.get()
    }

    /// Returns the cancel handle, if there is one.
    pub fn cancel(&self) -> Option<&Cancel> {
        self.cancel.as_ref()
    }

    /// Returns the fault of a run that was cancelled.
    pub fn cancelled(&self) -> Option<Fault> {
        let is_cancelled = self.cancel.as_ref().is_some_and(Cancel::is_cancelled);
        is_cancelled.then(|| Fault::new(Code::Cancelled, "the host cancelled the run"))
    }

    fn now(&self) -> u64 {
        nanos(self.origin.elapsed())
    }

    /// Runs `work` with the watch ticking.
    pub fn during<T>(&self, work: impl FnOnce() -> T) -> T {
        let start = self.now();
        let slice = self.schedule().map_or(u64::MAX, |schedule| nanos(schedule.slice()));
        self.slice_end.store(start.saturating_add(slice), Ordering::Relaxed);
        let left = nanos(self.limit).saturating_sub(self.used.load(Ordering::Relaxed));
        self.deadline.store(start.saturating_add(left), Ordering::Relaxed);
        let result = work();
        self.deadline.store(u64::MAX, Ordering::Relaxed);
        self.used.fetch_add(self.now().saturating_sub(start), Ordering::Relaxed);
        result
    }
}

fn nanos(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}

impl Watch for StopWatch {
    fn is_slice_over(&self) -> bool {
        let end = self.slice_end.load(Ordering::Relaxed);
        end != u64::MAX && self.now() > end && self.schedule().is_some_and(|schedule| schedule.is_awaited())
    }

    fn check(&self) -> Option<Fault> {
        if let Some(fault) = self.cancelled() {
            return Some(fault);
        }
        (self.now() > self.deadline.load(Ordering::Relaxed)).then(|| {
            let limit = self.limit.as_millis();
            Fault::new(Code::Timeout, format!("the run took longer than {limit} ms (limits.timeout_ms)"))
                .hint("narrow the data first, or ask the host to raise limits.timeout_ms")
        })
    }
}
