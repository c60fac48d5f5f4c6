//! Schedules: how a host with many runs decides which of them compute.

use crate::pool::Pool;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

/// Decides when runs compute, and where: for hosts with more runs than threads. See
/// [`Run::scheduled`](crate::Run::scheduled). Without it a run computes on the pool of rayon whenever it can.
///
/// ```
/// use ptc_runtime::{Runtime, Schedule, SliceFuture, Work};
/// use std::sync::{Arc, atomic::{AtomicUsize, Ordering}};
/// use std::time::Duration;
///
/// #[derive(Default)]
/// struct Counted(AtomicUsize);
/// impl Schedule for Counted {
///     fn run(&self, work: Work) -> SliceFuture<'_> {
///         self.0.fetch_add(1, Ordering::Relaxed);
///         Box::pin(async { drop(work()) })
///     }
///     fn slice(&self) -> Duration {
///         Duration::from_micros(100)
///     }
/// }
/// # pollster::block_on(async {
/// let runtime = Runtime::with_core(ptc_preludes::core())?;
/// let program = runtime.compile("(reduce (fn [sum n] (+ sum (* n n))) 0 (range 300000))")?;
/// let counted = Arc::new(Counted::default());
/// let outcome = runtime.start(&program)?.scheduled(counted.clone()).finish_async().await?;
/// assert_eq!(outcome.print()?, "8999955000050000");
/// assert!(counted.0.load(Ordering::Relaxed) > 1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # }).unwrap();
/// ```
pub trait Schedule: Send + Sync {
    /// Waits until the run may compute, then does the work on a thread that may compute. Whoever drops the future before
    /// the work has begun gives its place up; work that has begun goes on to its end.
    fn run(&self, work: Work) -> SliceFuture<'_>;

    /// How long the run computes at a time. Then it pauses if others wait, and is scheduled again. It pauses between
    /// instructions only, so a builtin that works on much data at once may take longer.
    fn slice(&self) -> Duration;

    /// Whether others wait whose turn it is, so that the run pauses at the end of its slice.
    fn is_awaited(&self) -> bool {
        true
    }

    /// How long its runs have waited for their turns so far: time that is not theirs.
    fn waited(&self) -> Duration {
        Duration::ZERO
    }

    /// The memory that all runs of the host share, if there is a limit; see [`Run::reserve_from`](crate::Run::reserve_from).
    fn pool(&self) -> Option<&Arc<Pool>> {
        None
    }
}

/// A stretch of computing.
pub type Work = Box<dyn FnOnce() -> Computed + Send>;

/// What a stretch of computing came to. The run goes on when this is dropped, so whatever the stretch held, such as a
/// place among others, should be let go of before: who has its answer may ask for the place again at once.
#[must_use]
pub struct Computed(Option<Box<dyn FnOnce() + Send>>);

impl Computed {
    /// What `tell` says when this is dropped.
    pub fn new(tell: impl FnOnce() + Send + 'static) -> Computed {
        Computed(Some(Box::new(tell)))
    }
}

impl Drop for Computed {
    fn drop(&mut self) {
        if let Some(tell) = self.0.take() {
            tell();
        }
    }
}

/// A stretch that is waited for.
pub type SliceFuture<'a> = Pin<Box<dyn Future<Output = ()> + Send + 'a>>;
