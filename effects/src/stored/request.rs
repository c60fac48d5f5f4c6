//! Requests to the thread of a ledger, and what the rules say about each.

use crate::LedgerError;
use crate::ledger::{Filter, Forget};
use crate::record::{Begun, Intent, Outcome, Record, Verdict};
use crate::{Book, EffectId, Entry};
use futures_channel::oneshot;

/// Largest outcome that is kept, in bytes of JSON.
const MAX_OUTCOME: usize = 2 << 20;

/// Waiter for the answer to a change.
pub type Done = oneshot::Sender<Result<Answer, LedgerError>>;

/// A request, with the channel for its answer.
pub enum Request {
    /// About one call. Nobody may wait for it.
    Change(Change, Option<Done>),
    List(Filter, oneshot::Sender<Result<Vec<Entry>, LedgerError>>),
    Forget(Forget, oneshot::Sender<Result<u64, LedgerError>>),
}

/// A request about one call. Many of them are decided together.
pub enum Change {
    Begin(Box<Intent>),
    End { id: EffectId, attempt: u32, outcome: Outcome },
    Abandon(EffectId, String),
    Settle(EffectId, Verdict),
    Get(EffectId),
}

/// Answer to a change.
pub enum Answer {
    Begun(Begun),
    Entry(Option<Box<Entry>>),
    Nothing,
}

/// Sends an answer; whoever has gone needs none.
pub fn tell<A>(done: oneshot::Sender<Result<A, LedgerError>>, answer: Result<A, LedgerError>) {
    let _ = done.send(answer);
}

impl Change {
    /// Returns the call.
    pub fn id(&self) -> &EffectId {
        match self {
            Change::Begin(intent) => &intent.id,
            Change::End { id, .. } | Change::Abandon(id, _) | Change::Settle(id, _) | Change::Get(id) => id,
        }
    }

    /// Decides by the rules. The record to write goes to `records`, and applies to the requests after this one.
    pub fn decide(&self, book: &mut Book, records: &mut Vec<Record>) -> Result<Answer, LedgerError> {
        let mut take = |book: &mut Book, record: Option<Record>| {
            let Some(record) = record else { return Ok(()) };
            book.apply(record.clone())?;
            records.push(record);
            Ok(())
        };
        match self {
            Change::Begin(intent) => {
                let (begun, record) = book.begin(intent);
                if let (Some(_), Some(why)) = (&record, book.full()) {
                    return Err(LedgerError::Full(why.to_string()));
                }
                take(book, record)?;
                Ok(Answer::Begun(begun))
            }
            Change::End { id, attempt, outcome } => {
                // In a ledger that is full there is room for the fact, and not for a long answer.
                let most = if book.full().is_some() { MAX_OUTCOME >> 10 } else { MAX_OUTCOME };
                let record = book.end(id, *attempt, outcome.clone().within(most));
                take(book, record)?;
                Ok(Answer::Nothing)
            }
            Change::Abandon(id, why) => {
                let record = book.abandon(id, why.clone());
                take(book, record)?;
                Ok(Answer::Nothing)
            }
            Change::Settle(id, verdict) => {
                let record = book.settle(id, verdict.clone())?;
                take(book, Some(record))?;
                Ok(Answer::Entry(book.get(id).cloned().map(Box::new)))
            }
            Change::Get(id) => Ok(Answer::Entry(book.get(id).cloned().map(Box::new))),
        }
    }
}
