//! Errors of reading and keeping plans.

use std::fmt;
use std::time::Duration;

/// The kind of a plan error.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum PlanErrorKind {
    /// The plan or its name is not well formed.
    Invalid,
    /// The file is not a plan.
    Damaged,
    /// The plan or its file is too large.
    TooLarge,
    /// The plan does not exist.
    NotFound,
    /// The file system returned an error.
    Io,
    /// GitHub rejects the token.
    Unauthorized,
    /// The token lacks a permission.
    Forbidden,
    /// GitHub's rate limit is reached.
    RateLimited,
    /// Others changed the plan meanwhile: the issue faster than it could be read, or steps of the file that were done here.
    Conflict,
    /// GitHub failed, or its reply cannot be read.
    Server,
    /// GitHub could not be reached.
    Network,
}

/// Reason why a plan was not read or kept.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct PlanError {
    /// Kind of the error.
    pub kind: PlanErrorKind,
    /// Description of the error, in a sentence.
    pub message: String,
    /// Waiting time before a retry, if GitHub gave one.
    pub retry_after: Option<Duration>,
}

impl PlanError {
    /// Returns an error of this kind.
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
