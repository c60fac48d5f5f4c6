//! Where a call stands: the part of an entry that decides what may follow, without its arguments and answers.

use crate::LedgerError;
use crate::record::{Record, State, Verdict};

/// State of a call and how it came to it. Small, so that a store can keep those of all calls in memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Standing {
    /// State.
    pub state: State,
    /// Number of times it was sent.
    pub attempts: u32,
    /// Time at which it was last begun, in milliseconds since 1970.
    pub at_ms: u64,
    /// Time of the outcome, in milliseconds since 1970.
    pub ended_ms: Option<u64>,
    /// True if an operator settled it.
    pub is_settled: bool,
    /// True if an earlier attempt was answered after all.
    pub is_doubtful: bool,
}

impl Standing {
    /// Returns where a call stands after a record, and whether the record says what came of the call. Fails if the
    /// record cannot follow, which a ledger never writes.
    pub fn after(before: Option<Standing>, record: &Record) -> Result<(Standing, bool), LedgerError> {
        let missing = || LedgerError::Damaged(format!("`{}` ends without having begun", record.id()));
        match record {
            Record::Begin { intent, attempt } => {
                let may_begin = |it: &Standing| {
                    matches!(it.state, State::NotDone | State::Held) && *attempt > it.attempts
                };
                if before.is_some_and(|before| !may_begin(&before)) {
                    return Err(LedgerError::Damaged(format!("`{}` begins twice", intent.id)));
                }
                let begun = Standing {
                    state: State::Sent,
                    attempts: *attempt,
                    at_ms: intent.at_ms,
                    ended_ms: None,
                    is_settled: before.is_some_and(|before| before.is_settled),
                    is_doubtful: before.is_some_and(|before| before.is_doubtful),
                };
                Ok((begun, false))
            }
            Record::End { attempt, end, at_ms, .. } => {
                let mut now = before.ok_or_else(missing)?;
                now.is_doubtful |= *attempt < now.attempts && end.state() != State::Unknown;
                let is_news = *attempt == now.attempts;
                if is_news {
                    (now.state, now.ended_ms, now.is_settled) = (end.state(), Some(*at_ms), false);
                }
                Ok((now, is_news))
            }
            Record::Settle { verdict, at_ms, .. } => {
                let mut now = before.ok_or_else(missing)?;
                (now.is_settled, now.ended_ms) = (true, Some(*at_ms));
                now.state = match verdict {
                    Verdict::Done { .. } => State::Done,
                    Verdict::NotDone => State::NotDone,
                };
                Ok((now, true))
            }
        }
    }

    /// Returns the time of the last record.
    pub fn last_ms(&self) -> u64 {
        self.ended_ms.unwrap_or(self.at_ms).max(self.at_ms)
    }
}
