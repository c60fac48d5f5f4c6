//! Answers of every engine: where something matches, and why that is not known.

use ptc_vm::{Fault, Stop};

/// Where a match or group is; None for a group that took no part.
pub type Span = Option<(usize, usize)>;

/// Why there is no answer whether something matches.
#[derive(Debug)]
pub enum Refused {
    /// The pattern is no good, or not for this text.
    Words(String),
    /// Fuel, time or room ran out.
    Stopped(Stop),
}

impl From<Stop> for Refused {
    fn from(stop: Stop) -> Refused {
        Refused::Stopped(stop)
    }
}

impl From<Fault> for Refused {
    fn from(fault: Fault) -> Refused {
        Refused::Stopped(fault.into())
    }
}

/// The refusal of a pattern that cannot be read, of whose description the last line says why.
pub(super) fn bad_pattern(problem: &str) -> Refused {
    let reason = problem.lines().last().unwrap_or_default();
    Refused::Words(format!("bad pattern: {}", reason.trim_start_matches("error: ")))
}
