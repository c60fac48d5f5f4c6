//! The host's clock and cancel flag, as a run sees them.

use crate::fault::Fault;

/// How the host stops a run from outside. This crate reads no clock itself: the same program with
/// the same fuel must stop at the same instruction.
pub trait Watch: Send + Sync {
    /// `Some(Code::Timeout)` or `Some(Code::Cancelled)` when the run must stop.
    fn check(&self) -> Option<Fault>;

    /// Whether the run is to pause where it can go on later: others wait for the thread.
    fn is_slice_over(&self) -> bool {
        false
    }
}
