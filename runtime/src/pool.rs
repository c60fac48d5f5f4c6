//! Memory that many runs share: a host that serves many programs refuses rather than grows.

use ptc_bytecode::Code;
use ptc_vm::{Fault, Vm};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Reservations are made in steps of this many bytes: few runs hold less, and small changes cost nothing.
const STEP: u64 = 16 << 10;

/// Bytes that a run takes besides its data.
const MACHINE: u64 = 16 << 10;

/// A number of bytes that reservations are taken from.
///
/// ```
/// use ptc_runtime::Pool;
/// let pool = Pool::new(1 << 20);
/// let mut first = pool.reserve();
/// assert!(first.set(700_000));
/// let mut second = pool.reserve();
/// assert!(!second.set(700_000));
/// drop(first);
/// assert!(second.set(700_000));
/// ```
#[derive(Debug)]
pub struct Pool {
    most: u64,
    used: AtomicU64,
}

impl Pool {
    /// A pool of so many bytes.
    pub fn new(most: u64) -> Arc<Pool> {
        Arc::new(Pool { most, used: AtomicU64::new(0) })
    }

    /// Bytes that are reserved.
    pub fn used(&self) -> u64 {
        self.used.load(Ordering::Relaxed)
    }

    /// A reservation of nothing yet.
    pub fn reserve(self: &Arc<Pool>) -> Reservation {
        Reservation { pool: self.clone(), bytes: 0 }
    }
}

/// Bytes taken from a [`Pool`], given back when this is dropped.
#[derive(Debug)]
pub struct Reservation {
    pool: Arc<Pool>,
    bytes: u64,
}

impl Reservation {
    /// Makes it so many bytes, or a few more. False if the pool has not that much left: then it stays as it was.
    pub fn set(&mut self, bytes: u64) -> bool {
        let bytes = bytes.checked_next_multiple_of(STEP).unwrap_or(u64::MAX);
        if bytes > self.bytes {
            let more = bytes - self.bytes;
            let fits = |used: u64| used.checked_add(more).filter(|used| *used <= self.pool.most);
            if self.pool.used.fetch_update(Ordering::Relaxed, Ordering::Relaxed, fits).is_err() {
                return false;
            }
        } else {
            self.pool.used.fetch_sub(self.bytes - bytes, Ordering::Relaxed);
        }
        self.bytes = bytes;
        true
    }

    /// Makes it as much as a run holds while it waits.
    pub(crate) fn set_waiting(&mut self, vm: &Vm) -> Result<(), Fault> {
        let held = vm.held_as_branch();
        self.set_or_fault(held.bytes.saturating_add(held.granted).saturating_add(held.stack))
    }

    /// Makes it as much as a run may come to hold while it computes.
    pub(crate) fn set_computing(&mut self, vm: &Vm) -> Result<(), Fault> {
        let held = vm.held_as_branch();
        let most = held.bytes.max(vm.limits().memory_bytes);
        self.set_or_fault(most.saturating_add(held.granted).saturating_add(held.stack))
    }

    /// Adds what comes in before the run goes on.
    pub(crate) fn add(&mut self, bytes: u64) -> Result<(), Fault> {
        self.set_or_fault(self.bytes.saturating_add(bytes).saturating_sub(MACHINE))
    }

    fn set_or_fault(&mut self, bytes: u64) -> Result<(), Fault> {
        match self.set(bytes.saturating_add(MACHINE)) {
            true => Ok(()),
            false => Err(Fault::new(
                Code::MemoryExceeded,
                format!("the memory for all programs together is used up ({} bytes)", self.pool.most),
            )
            .hint("try again later: other programs hold it now")),
        }
    }
}

impl Drop for Reservation {
    fn drop(&mut self) {
        self.pool.used.fetch_sub(self.bytes, Ordering::Relaxed);
    }
}
