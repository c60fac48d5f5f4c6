//! The value of a program, as text and as JSON, within `--max-result-bytes`.

use ptc_bytecode::Datum;
use ptc_contract::data::{Excerpt, Omissions, to_json};
use ptc_contract::firewall;
use serde_json::Value;

/// The value of a program as JSON, as far as replies have room for it.
#[derive(Clone, PartialEq, Debug)]
pub struct ResultValue {
    /// The value or an excerpt of it; None if JSON cannot express it: functions, keys other than strings.
    pub json: Option<Value>,
    /// Parts that an excerpt leaves out; None if the value is complete.
    pub left_out: Option<Omissions>,
}

impl ResultValue {
    /// Returns a value as text of at most `most` bytes, and as JSON, both without values of firewalled keys.
    pub(crate) fn of(value: &Datum, most: u64) -> (String, ResultValue) {
        let public = firewall::redact(value);
        let Excerpt { text, cut } = Excerpt::of(&public, usize::try_from(most).unwrap_or(usize::MAX));
        let (json, left_out) = match cut {
            None => (to_json(&public), None),
            Some((excerpt, left_out)) => (to_json(&excerpt), Some(left_out)),
        };
        (text, ResultValue { json: json.ok(), left_out })
    }

    /// Returns whether the value is complete.
    pub fn is_whole(&self) -> bool {
        self.left_out.is_none()
    }
}
