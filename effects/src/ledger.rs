//! What every ledger can do.

use crate::EffectId;
use crate::record::{Begun, Entry, Intent, Outcome, State, Verdict};
use std::fmt;
use std::pin::Pin;
use std::time::SystemTime;

/// An answer of a ledger in progress.
pub type LedgerFuture<'a, T> = Pin<Box<dyn Future<Output = Result<T, LedgerError>> + Send + 'a>>;

/// A ledger of effects. The records that an answer is based on are on disk, or in the database, when it is given.
pub trait Ledger: Send + Sync + fmt::Debug {
    /// Writes a call down before it is sent, unless the ledger has it: of all who begin the same call, one is told to
    /// send it.
    fn begin(&self, intent: Intent) -> LedgerFuture<'_, Begun>;

    /// Writes down what came of an attempt. An answer may come after its run has ended.
    fn end<'a>(&'a self, id: &'a EffectId, attempt: u32, outcome: Outcome) -> LedgerFuture<'a, ()>;

    /// Writes down that nobody waits for a call any more, if it has no outcome. Does not wait, since it is for calls that are
    /// dropped; what is read through this ledger afterwards shows it.
    fn abandon(&self, id: &EffectId, why: &str);

    /// Settles a call whose outcome is unknown. Returns the call as it is then.
    fn settle<'a>(&'a self, id: &'a EffectId, verdict: Verdict) -> LedgerFuture<'a, Entry>;

    /// Returns a call.
    fn get<'a>(&'a self, id: &'a EffectId) -> LedgerFuture<'a, Option<Entry>>;

    /// Returns the calls that fit, oldest first.
    fn list(&self, filter: Filter) -> LedgerFuture<'_, Vec<Entry>>;

    /// Forgets the calls of all runs whose last record is older. Runs with open calls are kept. Returns the number of
    /// calls forgotten.
    fn prune(&self, older_than: SystemTime) -> LedgerFuture<'_, u64>;

    /// Returns a hash of these bytes that says nothing about them to readers who do not have the ledger's key.
    fn keyed_hash(&self, bytes: &[u8]) -> String;
}

/// Selection of calls.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Filter {
    /// Only calls of this run.
    pub run: Option<String>,
    /// Only calls in these states; empty for all.
    pub states: Vec<State>,
}

impl Filter {
    /// Returns whether a call fits.
    pub fn fits(&self, entry: &Entry) -> bool {
        self.run.as_deref().is_none_or(|run| run == entry.intent.id.run())
            && (self.states.is_empty() || self.states.contains(&entry.state))
    }
}

/// Reason why a ledger cannot answer. Nothing may be sent then.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum LedgerError {
    /// The file or database cannot be read or written.
    Storage(String),
    /// A record is not what was written.
    Damaged(String),
    /// The ledger has no such call, or the call is not in a state for this.
    Refused(String),
}

impl fmt::Display for LedgerError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            LedgerError::Storage(why) => write!(f, "the effect ledger cannot be used: {why}"),
            LedgerError::Damaged(why) => write!(f, "the effect ledger is damaged: {why}"),
            LedgerError::Refused(why) => f.write_str(why),
        }
    }
}

impl std::error::Error for LedgerError {}
