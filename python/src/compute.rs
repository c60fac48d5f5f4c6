//! Computing without the interpreter: in slices of time, and in processes that were forked.

use ptc::runtime::{Run, Step};
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

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
