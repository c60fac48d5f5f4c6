//! What every ledger can do.

use crate::EffectId;
use crate::Entry;
use crate::error::LedgerError;
use crate::record::{Begun, Intent, Outcome, State, Verdict};
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

    /// Forgets calls. Returns how many. A run that is forgotten makes its calls again when it is run again.
    fn forget(&self, what: Forget) -> LedgerFuture<'_, u64>;

    /// Returns a hash of these bytes that says nothing about them to readers who do not have the ledger's key.
    fn keyed_hash(&self, bytes: &[u8]) -> String;
}

/// Calls that a ledger is to forget.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Forget {
    /// All runs whose last record is older, except those with open calls.
    OlderThan(SystemTime),
    /// One run. Refused if it has open calls, unless it says that these are to be forgotten, too.
    Run {
        /// Name of the run.
        name: String,
        /// Also with calls whose outcome is unknown.
        with_open: bool,
    },
}

impl Forget {
    /// Returns the error of a run that cannot be forgotten because of this many open calls.
    pub fn refused(name: &str, open: u64) -> LedgerError {
        LedgerError::Refused(format!(
            "`{name}` has {open} calls of unknown outcome; settle them first: `ptc effects list --run {name} --state \
             unknown --state sent`"
        ))
    }

    /// Returns the error of a run that there is not.
    pub fn missing(name: &str) -> LedgerError {
        LedgerError::Refused(format!("the ledger has no run `{name}`; `ptc effects list` shows all"))
    }
}

/// Selection of calls.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Filter {
    /// Only calls of this run.
    pub run: Option<String>,
    /// Only calls in these states; empty for all.
    pub states: Vec<State>,
    /// At most this many, the newest of them; None for all.
    pub newest: Option<usize>,
}

impl Filter {
    /// Returns whether a call in this state of this run fits.
    pub fn fits(&self, run: &str, state: State) -> bool {
        self.run.as_deref().is_none_or(|wanted| wanted == run)
            && (self.states.is_empty() || self.states.contains(&state))
    }
}
