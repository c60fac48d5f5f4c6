//! Counters of work: what one operation may do, and what the instruction under way has to pay for.

use crate::fault::Fault;
use ptc_bytecode::Code;
use std::sync::atomic::AtomicU64;

/// A bound on the work of one operation over data, since shared data can be exponentially larger
/// than the memory it takes.
#[derive(Clone, Copy, Debug)]
pub struct Work {
    /// Done so far.
    pub steps: u64,
    /// Most that may be done.
    pub limit: u64,
}

impl Work {
    /// At most `limit` steps.
    pub fn new(limit: u64) -> Work {
        Work { steps: 0, limit }
    }

    /// As many steps as it takes: for walks that memory bounds and that cannot fail.
    pub(crate) fn unlimited() -> Work {
        Work::new(u64::MAX)
    }

    /// Counts `n` steps; faults `fuel_exceeded` past the limit.
    #[inline]
    pub fn step(&mut self, n: u64) -> Result<(), Fault> {
        self.steps = self.steps.saturating_add(n);
        if self.steps > self.limit { Err(too_much_work()) } else { Ok(()) }
    }
}

/// Set in [`Charges::unpaid`] while something is due, so that one comparison tells whether there is anything to do
/// after an instruction.
pub(crate) const DUE: u64 = 1 << 63;

/// Work is not charged: the host does it, or nobody pays.
pub(crate) const FREE: u64 = u64::MAX;

/// The counters of one heap. Only its own run writes them, so reading and writing need not be one step.
pub(crate) struct Charges {
    /// Steps since the clock was last looked at, and [`DUE`].
    pub(crate) unpaid: AtomicU64,
    /// Steps that the instruction under way has to pay for in fuel.
    pub(crate) due: AtomicU64,
    /// Steps that fuel could pay for when it was last settled, at least as many as it can now; or [`FREE`].
    pub(crate) allowance: AtomicU64,
}

impl Default for Charges {
    fn default() -> Charges {
        Charges { unpaid: AtomicU64::new(0), due: AtomicU64::new(0), allowance: AtomicU64::new(FREE) }
    }
}

/// The fault of one operation that needs more steps than fuel is left for.
#[cold]
pub(crate) fn too_much_work() -> Fault {
    Fault::new(Code::FuelExceeded, "one operation needed more fuel than was left (limits.fuel)")
        .hint("narrow the data first, or ask the host to raise limits.fuel")
}
