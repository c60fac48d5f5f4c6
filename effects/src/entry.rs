//! A call in a ledger: what was asked, and what came of it.

use crate::record::{Intent, Outcome, Record, State, Verdict};
use crate::standing::Standing;
use crate::{EffectId, LedgerError};
use serde::Serialize;

/// A call in the ledger.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Entry {
    /// The call, as it was last sent.
    #[serde(flatten)]
    pub intent: Intent,
    /// State.
    pub state: State,
    /// Number of times it was sent.
    pub attempts: u32,
    /// Outcome, if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub outcome: Option<Outcome>,
    /// Time of the outcome, in milliseconds since 1970.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ended_ms: Option<u64>,
    /// True if an operator settled it.
    pub is_settled: bool,
    /// True if an earlier attempt was answered after all, so that the call may have been done twice: an operator had
    /// said that it was not done.
    pub is_doubtful: bool,
}

impl Entry {
    /// Makes the entry of a call from its parts.
    pub fn new(intent: Intent, outcome: Option<Outcome>, standing: Standing) -> Entry {
        let Standing { state, attempts, at_ms: _, ended_ms, is_settled, is_doubtful } = standing;
        Entry { intent, state, attempts, outcome, ended_ms, is_settled, is_doubtful }
    }

    /// Returns the id of the call.
    pub fn id(&self) -> &EffectId {
        &self.intent.id
    }

    /// Returns where the call stands.
    pub fn standing(&self) -> Standing {
        Standing {
            state: self.state,
            attempts: self.attempts,
            at_ms: self.intent.at_ms,
            ended_ms: self.ended_ms,
            is_settled: self.is_settled,
            is_doubtful: self.is_doubtful,
        }
    }

    /// Returns the entry of a call after a record.
    pub(crate) fn after(before: Option<Entry>, record: Record) -> Result<Entry, LedgerError> {
        let (standing, is_news) = Standing::after(before.as_ref().map(Entry::standing), &record)?;
        let (intent, outcome) = match (record, before) {
            (Record::Begin { intent, .. }, _) => (intent, None),
            (Record::End { end, .. }, Some(before)) if is_news => (before.intent, Some(end)),
            (Record::Settle { verdict, .. }, Some(before)) => (before.intent, verdict.outcome()),
            (_, Some(before)) => (before.intent, before.outcome),
            (record, None) => {
                return Err(LedgerError::Damaged(format!("`{}` ends without having begun", record.id())));
            }
        };
        Ok(Entry::new(intent, outcome, standing))
    }

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
            let known = self.outcome.clone().filter(|outcome| outcome.state() != State::Unknown);
            let end = known.unwrap_or(Outcome::done(serde_json::Value::Null));
            records.push(Record::End { id, attempt: attempt.saturating_sub(1), end, at_ms });
        }
        records
    }
}
