//! Counters of work: the bound of one operation, and the charges of the current instruction.

use crate::fault::Fault;
use ptc_bytecode::Code;
use std::sync::atomic::AtomicU64;

/// A bound on the work of one operation over data, since shared data can be exponentially larger than its memory.
#[derive(Clone, Copy, Debug)]
pub struct Work {
    /// Steps done so far.
    pub steps: u64,
    /// Maximum steps.
    pub limit: u64,
}

impl Work {
    /// Makes a counter with a limit.
    pub fn new(limit: u64) -> Work {
        Work { steps: 0, limit }
    }

    /// Makes a counter without a limit: for walks that memory bounds and that cannot fail.
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

/// Flag in [`Charges::unpaid`] while steps are due, so that one comparison tells whether there is anything to do
/// after an instruction.
pub(crate) const DUE: u64 = 1 << 63;

/// Allowance of work that is not charged, such as the host's.
pub(crate) const FREE: u64 = u64::MAX;

/// The counters of one heap. Only its own run writes them, so a read and a write need not be one atomic step.
pub(crate) struct Charges {
    /// Steps since the clock was last checked, and [`DUE`].
    pub(crate) unpaid: AtomicU64,
    /// Steps that the current instruction has to pay for in fuel.
    pub(crate) due: AtomicU64,
    /// Steps that fuel could pay for when it was last settled, at least as many as it can now; or [`FREE`].
    pub(crate) allowance: AtomicU64,
}

impl Default for Charges {
    fn default() -> Charges {
        Charges { unpaid: AtomicU64::new(0), due: AtomicU64::new(0), allowance: AtomicU64::new(FREE) }
    }
}

/// Makes the fault of an operation that needs more steps than the fuel left.
#[cold]
pub(crate) fn too_much_work() -> Fault {
    Fault::new(Code::FuelExceeded, "one operation needed more fuel than was left (limits.fuel)")
        .hint("narrow the data first, or ask the host to raise limits.fuel")
}
