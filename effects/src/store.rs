//! What a place needs to be able to do to hold a ledger: a file, a database, or one of yours.

use crate::LedgerError;
use crate::ledger::{Filter, Forget};
use crate::record::Record;
use crate::{Book, EffectId, Entry};
use std::collections::BTreeSet;

/// Storage of a ledger. Its methods may block: they are called on a thread of the ledger's own
/// ([`Stored`](crate::Stored)).
///
/// The rules are not its business: it gives calls to a function that knows them, and writes what that returns.
pub trait Store: Send + 'static {
    /// Returns the key with which arguments are hashed. It is the same for all who share the ledger.
    fn key(&self) -> [u8; 32];

    /// Gives the calls of these ids, as far as there are any, to `decide`, and makes the records that it returns durable.
    /// Nobody else may change these calls in between. `decide` may be called again if the first decision could not be
    /// written because somebody else was faster. If this fails, nothing is written.
    fn update(&mut self, ids: &BTreeSet<EffectId>, decide: &mut Decide<'_>) -> Result<(), LedgerError>;

    /// Returns the calls that fit, oldest first.
    fn list(&mut self, filter: &Filter) -> Result<Vec<Entry>, LedgerError>;

    /// Forgets calls. Returns how many.
    fn forget(&mut self, what: &Forget) -> Result<u64, LedgerError>;
}

/// Function that decides about calls: it gets them as a book, and returns the records to write, which the book has taken
/// over already.
pub type Decide<'d> = dyn FnMut(&mut Book) -> Result<Vec<Record>, LedgerError> + 'd;
