//! Results shared by all engines: the places of a match, and the reasons for a refusal.

use ptc_vm::{Fault, Stop};

/// Place of a match or group; None for a group that took no part.
pub type Span = Option<(usize, usize)>;

/// The reason a search has no result.
#[derive(Debug)]
pub enum Refused {
    /// A message: the pattern is invalid, or unsuitable for this text.
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

/// Makes the refusal of a pattern that cannot be parsed, from the last line of the parser's description.
pub(super) fn bad_pattern(problem: &str) -> Refused {
    let reason = problem.lines().last().unwrap_or_default();
    Refused::Words(format!("bad pattern: {}", reason.trim_start_matches("error: ")))
}
