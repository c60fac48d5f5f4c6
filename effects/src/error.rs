//! Reasons why a ledger cannot answer.

use std::fmt;

/// Reason why a ledger cannot answer. Nothing may be sent then.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum LedgerError {
    /// The file or database cannot be read or written.
    Storage(String),
    /// There is no room for another call. The ledger can still be read, and outcomes written.
    Full(String),
    /// A record is not what was written.
    Damaged(String),
    /// The ledger has no such call, or the call is not in a state for this.
    Refused(String),
}

impl fmt::Display for LedgerError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            LedgerError::Storage(why) => write!(f, "the effect ledger cannot be used: {why}"),
            LedgerError::Full(why) => write!(f, "the effect ledger is full: {why}"),
            LedgerError::Damaged(why) => write!(f, "the effect ledger is damaged: {why}"),
            LedgerError::Refused(why) => f.write_str(why),
        }
    }
}

impl std::error::Error for LedgerError {}
