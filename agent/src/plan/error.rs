//! What can be wrong with keeping a plan.

use std::fmt;
use std::time::Duration;

/// Which kind of thing went wrong.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum PlanErrorKind {
    /// The plan, or the name of one, is not well formed.
    Invalid,
    /// The file is no plan.
    Damaged,
    /// It is larger than plans are.
    TooLarge,
    /// There is none.
    NotFound,
    /// The file system refused.
    Io,
    /// GitHub does not take the token.
    Unauthorized,
    /// The token may not do this.
    Forbidden,
    /// GitHub wants to be left alone for a while.
    RateLimited,
    /// Others changed the plan meanwhile: the issue faster than it could be read, or steps of the file that were done here.
    Conflict,
    /// GitHub failed, or answered what cannot be read.
    Server,
    /// GitHub could not be reached.
    Network,
}

/// Why a plan was not read or kept.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct PlanError {
    /// Which kind of thing went wrong.
    pub kind: PlanErrorKind,
    /// What, in a sentence.
    pub message: String,
    /// When it may be tried again, if GitHub said so.
    pub retry_after: Option<Duration>,
}

impl PlanError {
    /// An error of this kind.
    pub fn new(kind: PlanErrorKind, message: impl Into<String>) -> PlanError {
        PlanError { kind, message: message.into(), retry_after: None }
    }
}

impl fmt::Display for PlanError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for PlanError {}
