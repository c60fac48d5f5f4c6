//! Schedules, by which a host with many runs decides which of them compute.

use crate::pool::Pool;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

/// Decides when and where runs compute, for hosts with more runs than threads. See
/// [`Run::scheduled`](crate::Run::scheduled). Without a schedule, a run computes on the pool of rayon whenever it
/// can.
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
    /// Waits until the run may compute, then does the work on a thread that may compute. Dropping the future before
    /// the work has begun gives up its place; work that has begun runs to its end.
    fn run(&self, work: Work) -> SliceFuture<'_>;

    /// Returns the length of a slice. After it, the run pauses if others wait, and is scheduled again. It pauses
    /// between instructions only, so a builtin that works on much data at once may take longer.
    fn slice(&self) -> Duration;

    /// True if other runs wait for their turn, so that the run pauses at the end of its slice.
    fn is_awaited(&self) -> bool {
        true
    }

    /// Returns the total time its runs have waited for their turns, which does not count as theirs.
    fn waited(&self) -> Duration {
        Duration::ZERO
    }

    /// Returns the memory pool that all runs of the host share, if there is a limit; see
    /// [`Run::reserve_from`](crate::Run::reserve_from).
    fn pool(&self) -> Option<&Arc<Pool>> {
        None
    }
}

/// A slice of computing.
pub type Work = Box<dyn FnOnce() -> Computed + Send>;

/// The result of a slice of computing. The run continues when this is dropped, so release resources of the slice,
/// such as its place in a queue, before that: its caller may request the place again at once.
#[must_use]
pub struct Computed(Option<Box<dyn FnOnce() + Send>>);

impl Computed {
    /// Makes a result that calls `tell` when dropped.
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

/// A future of a slice.
pub type SliceFuture<'a> = Pin<Box<dyn Future<Output = ()> + Send + 'a>>;
