//! The host's clock and cancel flag, as a run sees them.

use crate::fault::Fault;

/// Handle by which the host stops a run from outside. This crate reads no clock itself: the same program with the
/// same fuel must stop at the same instruction.
pub trait Watch: Send + Sync {
    /// Returns a fault of `Code::Timeout` or `Code::Cancelled` when the run must stop.
    fn check(&self) -> Option<Fault>;

    /// True if the run should pause where it can go on later: others wait for the thread.
    fn is_slice_over(&self) -> bool {
        false
    }
}
