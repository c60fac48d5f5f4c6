//! The value of a program, for people and for machines, within `--max-result-bytes`.

use ptc_bytecode::Datum;
use ptc_contract::data::{Excerpt, Omissions, to_json};
use ptc_contract::firewall;
use serde_json::Value;

/// The value of a program as JSON, as much of it as replies have room for.
#[derive(Clone, PartialEq, Debug)]
pub struct ResultValue {
    /// The value, or an excerpt of it; None if JSON has no such value: functions, keys that are no text.
    pub json: Option<Value>,
    /// What an excerpt leaves out; None if the value is whole.
    pub left_out: Option<Omissions>,
}

impl ResultValue {
    /// A value as text of at most so many bytes, and as JSON. Values of firewalled keys are in neither.
    pub(crate) fn of(value: &Datum, most: u64) -> (String, ResultValue) {
        let public = firewall::redact(value);
        let Excerpt { text, cut } = Excerpt::of(&public, usize::try_from(most).unwrap_or(usize::MAX));
        let (json, left_out) = match cut {
            None => (to_json(&public), None),
            Some((excerpt, left_out)) => (to_json(&excerpt), Some(left_out)),
        };
        (text, ResultValue { json: json.ok(), left_out })
    }

    /// Whether nothing was left out.
    pub fn is_whole(&self) -> bool {
        self.left_out.is_none()
    }
}
