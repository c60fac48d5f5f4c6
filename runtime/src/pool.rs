//! Memory pool shared by many runs: a host that serves many programs refuses runs rather than grows.

use ptc_bytecode::Code;
use ptc_vm::{Fault, Vm};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Bytes that a run takes besides its data.
const MACHINE: u64 = 16 << 10;

/// Maximum ratio of a share to the memory left for others. A single user gets two thirds, and the next two thirds
/// of the rest; once all release memory and take it again, they get equal shares.
const SHARE: u64 = 2;

/// A budget of bytes that reservations are taken from.
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
    /// Pool that this one is a share of.
    whole: Option<Arc<Pool>>,
}

impl Pool {
    /// Size in bytes of the steps of reservations: few runs hold less, and small changes cost nothing.
    pub const STEP: u64 = 16 << 10;

    /// Makes a pool of `most` bytes.
    pub fn new(most: u64) -> Arc<Pool> {
        Arc::new(Pool { most, used: AtomicU64::new(0), whole: None })
    }

    /// Makes a share for one user of the pool: the more the others hold, the less it may.
    ///
    /// ```
    /// use ptc_runtime::Pool;
    /// let pool = Pool::new(9 << 20);
    /// let (greedy, other) = (pool.share(), pool.share());
    /// let (mut all, mut little) = (greedy.reserve(), other.reserve());
    /// assert!(!all.set(9 << 20) && all.set(6 << 20));
    /// assert!(little.set(512 << 10));
    /// ```
    pub fn share(self: &Arc<Pool>) -> Arc<Pool> {
        let most = self.most / (SHARE + 1) * SHARE;
        Arc::new(Pool { most, used: AtomicU64::new(0), whole: Some(self.clone()) })
    }

    /// Returns the maximum of a single reservation.
    pub fn most(&self) -> u64 {
        self.most
    }

    /// Returns the number of reserved bytes.
    pub fn used(&self) -> u64 {
        self.used.load(Ordering::Relaxed)
    }

    /// Makes an empty reservation.
    pub fn reserve(self: &Arc<Pool>) -> Reservation {
        Reservation { pool: self.clone(), bytes: 0 }
    }

    /// Takes `more` bytes; false if fewer are left.
    fn take(&self, more: u64) -> bool {
        // Two threads at once may both find room in a share that has it for one, but never in the whole.
        let own = self.used.load(Ordering::Relaxed);
        let is_taken = match &self.whole {
            None => add_within(&self.used, more, |used| used <= self.most),
            Some(whole) => add_within(&whole.used, more, |used| {
                let left = whole.most.checked_sub(used);
                left.is_some_and(|left| own.saturating_add(more) <= left.saturating_mul(SHARE))
            }),
        };
        if is_taken && self.whole.is_some() {
            self.used.fetch_add(more, Ordering::Relaxed);
        }
        is_taken
    }

    fn give_back(&self, bytes: u64) {
        self.used.fetch_sub(bytes, Ordering::Relaxed);
        if let Some(whole) = &self.whole {
            whole.give_back(bytes);
        }
    }
}

/// Adds to a count if the sum is allowed; returns whether it did.
fn add_within(count: &AtomicU64, more: u64, is_allowed: impl Fn(u64) -> bool) -> bool {
    let sum = |count: u64| count.checked_add(more).filter(|sum| is_allowed(*sum));
    count.fetch_update(Ordering::Relaxed, Ordering::Relaxed, sum).is_ok()
}

/// Bytes reserved from a [`Pool`], released when this is dropped.
#[derive(Debug)]
pub struct Reservation {
    pool: Arc<Pool>,
    bytes: u64,
}

impl Reservation {
    /// Resizes it to `bytes`, rounded up. False if the pool has too little left: then it is unchanged.
    pub fn set(&mut self, bytes: u64) -> bool {
        let bytes = bytes.checked_next_multiple_of(Pool::STEP).unwrap_or(u64::MAX);
        if bytes < self.bytes {
            self.pool.give_back(self.bytes - bytes);
        } else if bytes > self.bytes && !self.pool.take(bytes - self.bytes) {
            return false;
        }
        self.bytes = bytes;
        true
    }

    /// Resizes it to the memory a run holds while it waits.
    pub(crate) fn set_waiting(&mut self, vm: &Vm) -> Result<(), Fault> {
        let held = vm.held_as_branch();
        let granted = held.granted.saturating_add(vm.granted_at_start());
        self.set_or_fault(held.bytes.saturating_add(granted).saturating_add(held.stack))
    }

    /// Resizes it to the memory a run may need while it computes.
    pub(crate) fn set_computing(&mut self, vm: &Vm) -> Result<(), Fault> {
        let held = vm.held_as_branch();
        let most = held.bytes.max(vm.limits().memory_bytes);
        let granted = held.granted.saturating_add(vm.granted_at_start());
        self.set_or_fault(most.saturating_add(granted).saturating_add(held.stack))
    }

    /// Adds bytes of data that arrive before the run continues.
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
        self.pool.give_back(self.bytes);
    }
}
