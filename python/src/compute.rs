//! Computing without the interpreter: in slices of time, and in processes that were forked.

use ptc::runtime::{Run, Schedule, SliceFuture, Step, Work};
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// Time that a run computes before Python looks for signals.
const SLICE: Duration = Duration::from_millis(20);
/// Time that a run computes on the thread of an event loop before it moves to another thread.
const SHORT_SLICE: Duration = Duration::from_millis(1);

/// Length of the slices of one run. The run is stepped by hand, so nothing is ever scheduled.
#[derive(Default)]
pub struct Slices {
    is_short: AtomicBool,
}

impl Slices {
    /// Sets short slices, for a run that computes on the thread of an event loop.
    pub fn set_short(&self, is_short: bool) {
        self.is_short.store(is_short, Ordering::Relaxed);
    }
}

impl Schedule for Slices {
    fn run(&self, work: Work) -> SliceFuture<'_> {
        drop(work());
        Box::pin(std::future::ready(()))
    }

    fn slice(&self) -> Duration {
        if self.is_short.load(Ordering::Relaxed) { SHORT_SLICE } else { SLICE }
    }
}

/// Computes for one slice, without holding the interpreter lock.
pub fn slice(py: Python<'_>, run: &mut Run) -> PyResult<Option<Step>> {
    detached(py, || run.slice())
}

/// Process in which the pool of rayon was or may have been started, if this process was forked from it; else 0.
static FORKED: AtomicU32 = AtomicU32::new(0);

/// The pool of a forked process, and the process it belongs to.
static POOL: Mutex<Option<(u32, Arc<rayon::ThreadPool>)>> = Mutex::new(None);

/// Notes that this process was forked; called by `os.register_at_fork`.
#[pyfunction]
pub fn after_fork() {
    FORKED.store(std::process::id(), Ordering::Relaxed);
}

/// True if this process is not the one that the package was imported in: threads did not come along.
pub fn is_forked() -> bool {
    FORKED.load(Ordering::Relaxed) != 0
}

/// Does work without holding the interpreter lock. In a forked process, the branches of the work need another pool: the
/// threads of the global one stayed behind.
pub fn detached<T: Send>(py: Python<'_>, work: impl FnOnce() -> T + Send) -> PyResult<T> {
    if !is_forked() {
        return Ok(py.detach(work));
    }
    let pool = forked_pool()?;
    Ok(py.detach(move || pool.install(work)))
}

fn forked_pool() -> PyResult<Arc<rayon::ThreadPool>> {
    let process = std::process::id();
    let mut pool = POOL.lock().unwrap_or_else(PoisonError::into_inner);
    match &*pool {
        Some((owner, pool)) if *owner == process => Ok(pool.clone()),
        _ => {
            let made = rayon::ThreadPoolBuilder::new()
                .build()
                .map_err(|error| PyRuntimeError::new_err(format!("no threads can be started: {error}")))?;
            let made = Arc::new(made);
            // A pool of the parent has no threads here, and waiting for them would never end.
            std::mem::forget(pool.replace((process, made.clone())));
            Ok(made)
        }
    }
}
