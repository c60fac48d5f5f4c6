//! The rules of a ledger, apart from where it is stored: which record may follow which.

use crate::entry::Entry;
use crate::record::{Begun, Intent, Outcome, Record, State, Verdict, now_ms};
use crate::{EffectId, LedgerError};
use std::collections::HashMap;

/// Calls in memory: those about which a store is asked at the same time.
///
/// A method that changes something returns the record to write. The book itself changes when the record is
/// [applied](Book::apply).
#[derive(Clone, Debug, Default)]
pub struct Book {
    entries: HashMap<EffectId, Entry>,
    /// Ids in the order in which they came.
    order: Vec<EffectId>,
    /// Reason why no further call can be written down.
    full: Option<String>,
}

impl Book {
    /// Decides about a call: the answer, and the record to write first.
    pub fn begin(&self, intent: &Intent) -> (Begun, Option<Record>) {
        let send = |attempt| {
            let record = Record::Begin { intent: intent.clone(), attempt };
            (Begun::Send { attempt }, Some(record))
        };
        let Some(entry) = self.entries.get(&intent.id) else { return send(1) };
        if entry.intent.tool != intent.tool || entry.intent.args_hash != intent.args_hash {
            return (Begun::Diverged { tool: entry.intent.tool.clone() }, None);
        }
        match (entry.state, &entry.outcome) {
            (State::NotDone | State::Held, _) => send(entry.attempts.saturating_add(1)),
            (State::Sent, _) => {
                let why = "it was sent, and no answer is written down".to_string();
                (Begun::Unknown { why }, None)
            }
            (_, Some(Outcome::Done { answer, .. })) if entry.is_settled => {
                (Begun::Settled(answer.clone()), None)
            }
            (_, Some(Outcome::Unknown { why })) => (Begun::Unknown { why: why.clone() }, None),
            (_, Some(outcome)) => (Begun::Known(outcome.clone()), None),
            (state, None) => (Begun::Unknown { why: format!("the ledger has it as {}", state.name()) }, None),
        }
    }

    /// Decides about an outcome: the record to write, or None if nothing changes.
    pub fn end(&self, id: &EffectId, attempt: u32, outcome: Outcome) -> Option<Record> {
        let entry = self.entries.get(id)?;
        let is_news = match entry.state {
            _ if attempt > entry.attempts => false,
            // An unknown outcome replaces neither a known one nor what an operator said.
            _ if outcome.state() == State::Unknown => attempt == entry.attempts && entry.state == State::Sent,
            State::Sent | State::Unknown | State::NotDone | State::Held => true,
            // An answer of an earlier attempt: the call was done twice, which somebody has to know.
            State::Done | State::Failed | State::Refused => {
                attempt < entry.attempts || (entry.is_settled && entry.outcome != Some(outcome.clone()))
            }
        };
        let record = || Record::End { id: id.clone(), attempt, end: outcome, at_ms: now_ms() };
        is_news.then(record)
    }

    /// Decides about a call that nobody waits for any more.
    pub fn abandon(&self, id: &EffectId, why: String) -> Option<Record> {
        self.end(id, self.entries.get(id)?.attempts, Outcome::Unknown { why })
    }

    /// Decides about an operator's verdict.
    pub fn settle(&self, id: &EffectId, verdict: Verdict) -> Result<Record, LedgerError> {
        let refused = |why: String| Err(LedgerError::Refused(why));
        let Some(entry) = self.entries.get(id) else {
            return refused(format!("the ledger has no effect `{id}`; `ptc effects list` shows all"));
        };
        if !entry.state.is_open() {
            return refused(format!(
                "`{id}` is {}; only effects that are `sent` or `unknown` can be settled",
                entry.state.name()
            ));
        }
        Ok(Record::Settle { id: id.clone(), verdict, at_ms: now_ms() })
    }

    /// Takes a record over. Fails if it cannot follow those before it, which a ledger never writes.
    pub fn apply(&mut self, record: Record) -> Result<(), LedgerError> {
        let before = self.entries.get(record.id()).cloned();
        let after = Entry::after(before, record)?;
        if !self.entries.contains_key(after.id()) {
            self.order.push(after.id().clone());
        }
        self.entries.insert(after.id().clone(), after);
        Ok(())
    }

    /// Returns a call.
    pub fn get(&self, id: &EffectId) -> Option<&Entry> {
        self.entries.get(id)
    }

    /// Returns all calls, oldest first.
    pub fn entries(&self) -> impl Iterator<Item = &Entry> {
        self.order.iter().filter_map(|id| self.entries.get(id))
    }

    /// Adds a call that a store has.
    pub fn insert(&mut self, entry: Entry) {
        if self.entries.insert(entry.id().clone(), entry.clone()).is_none() {
            self.order.push(entry.intent.id);
        }
    }

    /// Says why no further call can be written down.
    pub fn set_full(&mut self, why: String) {
        self.full = Some(why);
    }

    /// Returns why no further call can be written down; None if there is room.
    pub fn full(&self) -> Option<&str> {
        self.full.as_deref()
    }
}
