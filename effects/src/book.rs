//! The rules of a ledger, apart from where it is stored: which record may follow which.

use crate::record::{Begun, Entry, Intent, Outcome, Record, State, Verdict, now_ms};
use crate::{EffectId, LedgerError};
use sha2::{Digest, Sha256};
use std::collections::HashMap;

/// A ledger in memory. Every store keeps one, or asks its database the same questions.
///
/// A method that changes something returns the record to write. The book itself changes when the record is
/// [applied](Book::apply), which a store does once it is on disk.
#[derive(Clone, Debug, Default)]
pub struct Book {
    entries: HashMap<EffectId, Entry>,
    /// Ids in the order in which they came.
    order: Vec<EffectId>,
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
        match record {
            Record::Begin { intent, attempt } => self.apply_begin(intent, attempt),
            Record::End { id, attempt, end, at_ms } => {
                let entry = self.known(&id)?;
                entry.is_doubtful |= attempt < entry.attempts && end.state() != State::Unknown;
                if attempt == entry.attempts {
                    entry.is_settled = false;
                    entry.state = end.state();
                    entry.ended_ms = Some(at_ms);
                    entry.outcome = Some(end);
                }
                Ok(())
            }
            Record::Settle { id, verdict, at_ms } => {
                let entry = self.known(&id)?;
                (entry.is_settled, entry.ended_ms) = (true, Some(at_ms));
                (entry.state, entry.outcome) = match verdict {
                    Verdict::Done { answer } => (State::Done, Some(Outcome::done(answer))),
                    Verdict::NotDone => (State::NotDone, None),
                };
                Ok(())
            }
        }
    }

    fn apply_begin(&mut self, intent: Intent, attempt: u32) -> Result<(), LedgerError> {
        let id = intent.id.clone();
        match self.entries.get_mut(&id) {
            None => {
                self.order.push(id.clone());
                let entry = Entry {
                    intent,
                    state: State::Sent,
                    attempts: attempt,
                    outcome: None,
                    ended_ms: None,
                    is_settled: false,
                    is_doubtful: false,
                };
                self.entries.insert(id, entry);
            }
            Some(entry)
                if matches!(entry.state, State::NotDone | State::Held) && attempt > entry.attempts =>
            {
                (entry.intent, entry.state, entry.attempts) = (intent, State::Sent, attempt);
                (entry.outcome, entry.ended_ms) = (None, None);
            }
            Some(_) => return Err(LedgerError::Damaged(format!("`{id}` begins twice"))),
        }
        Ok(())
    }

    fn known(&mut self, id: &EffectId) -> Result<&mut Entry, LedgerError> {
        let missing = || LedgerError::Damaged(format!("`{id}` ends without having begun"));
        self.entries.get_mut(id).ok_or_else(missing)
    }

    /// Returns a call.
    pub fn get(&self, id: &EffectId) -> Option<&Entry> {
        self.entries.get(id)
    }

    /// Returns all calls, oldest first.
    pub fn entries(&self) -> impl Iterator<Item = &Entry> {
        self.order.iter().filter_map(|id| self.entries.get(id))
    }

    /// Returns the calls to keep if all runs are forgotten whose last record is older than this time and which have no
    /// open call.
    pub fn after_pruning(&self, before_ms: u64) -> Vec<Entry> {
        let mut kept: HashMap<&str, bool> = HashMap::new();
        for entry in self.entries.values() {
            let last = entry.ended_ms.unwrap_or(entry.intent.at_ms).max(entry.intent.at_ms);
            let keeps = entry.state.is_open() || last >= before_ms;
            *kept.entry(entry.intent.id.run()).or_default() |= keeps;
        }
        self.entries().filter(|entry| kept.get(entry.intent.id.run()) == Some(&true)).cloned().collect()
    }
}

impl Entry {
    /// Returns the records that make this entry again, for a ledger that is written anew.
    pub fn to_records(&self) -> Vec<Record> {
        let (id, attempt) = (self.intent.id.clone(), self.attempts);
        let at_ms = self.ended_ms.unwrap_or(self.intent.at_ms);
        let mut records = vec![Record::Begin { intent: self.intent.clone(), attempt }];
        let verdict = match (&self.outcome, self.state) {
            (_, State::NotDone) => Some(Verdict::NotDone),
            (Some(Outcome::Done { answer, .. }), _) if self.is_settled => {
                Some(Verdict::Done { answer: answer.clone() })
            }
            _ => None,
        };
        match (verdict, &self.outcome) {
            (Some(verdict), _) => records.push(Record::Settle { id: id.clone(), verdict, at_ms }),
            (None, Some(end)) => {
                records.push(Record::End { id: id.clone(), attempt, end: end.clone(), at_ms });
            }
            (None, None) => {}
        }
        if self.is_doubtful {
            // An answer of an attempt before the last marks the entry as it was.
            let end = self.outcome.clone().unwrap_or(Outcome::done(serde_json::Value::Null));
            records.push(Record::End { id, attempt: attempt.saturating_sub(1), end, at_ms });
        }
        records
    }
}

/// Returns the hash of arguments without a key, for hosts that have none.
pub(crate) fn plain_hash(args: &serde_json::Value) -> String {
    hex(&Sha256::digest(args.to_string().as_bytes()))
}

/// Returns bytes as lower-case hexadecimal digits.
pub(crate) fn hex(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let digit = |nibble: u8| char::from(DIGITS[usize::from(nibble & 15)]);
    bytes.iter().flat_map(|byte| [digit(byte >> 4), digit(*byte)]).collect()
}
