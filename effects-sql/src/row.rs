//! Rows of the table: a call, in columns that an operator can query.

use ptc_effects::{EffectId, Entry, Intent, LedgerError, Outcome, Standing, State};
use serde::{Deserialize, Serialize};

/// A row. Rows travel to the database and back as JSON, so that one statement takes any number of them.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Row {
    run: String,
    key: String,
    /// Gives the order of calls: the time of the first attempt in microseconds, more or less.
    pub number: i64,
    tool: String,
    /// JSON.
    args: String,
    args_hash: String,
    effect: String,
    line: Option<u32>,
    at_ms: i64,
    state: String,
    attempts: u32,
    /// JSON.
    outcome: Option<String>,
    ended_ms: Option<i64>,
    /// Time of the last record, by which old runs are found.
    last_ms: i64,
    is_settled: u8,
    is_doubtful: u8,
}

impl Row {
    /// Makes the row of a call.
    pub fn of(entry: &Entry, number: i64) -> Result<Row, LedgerError> {
        let unwritable = |error: serde_json::Error| LedgerError::Storage(error.to_string());
        let Entry { intent, outcome, .. } = entry;
        let outcome = outcome.as_ref().map(serde_json::to_string).transpose().map_err(unwritable)?;
        Ok(Row {
            run: intent.id.run().to_string(),
            key: intent.id.key().to_string(),
            number,
            tool: intent.tool.clone(),
            args: intent.args.to_string(),
            args_hash: intent.args_hash.clone(),
            effect: intent.effect.clone(),
            line: intent.line,
            at_ms: time(intent.at_ms),
            state: entry.state.name().to_string(),
            attempts: entry.attempts,
            outcome,
            ended_ms: entry.ended_ms.map(time),
            last_ms: time(entry.standing().last_ms()),
            is_settled: entry.is_settled.into(),
            is_doubtful: entry.is_doubtful.into(),
        })
    }

    /// Reads the call. Someone may have changed the table by hand, so nothing in it is believed.
    pub fn entry(self) -> Result<Entry, LedgerError> {
        let damaged = |what: &str| {
            LedgerError::Damaged(format!("`{}/{}` has no {what} that a ledger writes", self.run, self.key))
        };
        let id: EffectId = format!("{}/{}", self.run, self.key).parse().map_err(|_| damaged("id"))?;
        let state = State::from_name(&self.state).ok_or_else(|| damaged("state"))?;
        let args = serde_json::from_str(&self.args).map_err(|_| damaged("arguments"))?;
        let outcome: Option<Outcome> = match &self.outcome {
            Some(json) => Some(serde_json::from_str(json).map_err(|_| damaged("outcome"))?),
            None => None,
        };
        // What came of a call is in the outcome; a row that says otherwise could make a call be sent twice.
        let has_outcome = !matches!(state, State::Sent | State::NotDone);
        if has_outcome != outcome.is_some() || outcome.as_ref().is_some_and(|it| it.state() != state) {
            return Err(damaged("outcome"));
        }
        let at_ms = u64::try_from(self.at_ms).map_err(|_| damaged("time"))?;
        let ended_ms = self.ended_ms.map(u64::try_from).transpose().map_err(|_| damaged("time"))?;
        let standing = Standing {
            state,
            attempts: self.attempts,
            at_ms,
            ended_ms,
            is_settled: self.is_settled != 0,
            is_doubtful: self.is_doubtful != 0,
        };
        let (tool, args_hash, effect) = (self.tool, self.args_hash, self.effect);
        let intent = Intent { id, tool, args, args_hash, effect, line: self.line, at_ms };
        Ok(Entry::new(intent, outcome, standing))
    }
}

/// Databases have signed integers.
fn time(ms: u64) -> i64 {
    i64::try_from(ms).unwrap_or(i64::MAX)
}
