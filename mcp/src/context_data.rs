//! Data that a call supplies for its program.

use crate::pending::RunScope;
use crate::reason::Reason;
use crate::reply::Payload;
use ptc_runtime::bridge::{MAX_DEPTH, freeze};
use ptc_runtime::json::{ReadOptions, parse_json};
use ptc_runtime::{Frozen, Grants};
use serde_json::value::RawValue;
use serde_json::{Map, Value};
use std::collections::BTreeMap;

/// Data of a call: kept as sent until the program needs it, then frozen once. The JSON, which takes many times
/// as much memory, is freed then.
pub(crate) enum ContextData {
    Sent(Map<String, Value>),
    /// JSON text of data with integers of more than 64 bits.
    Exact(String),
    Frozen(Vec<(String, Frozen)>),
}

impl ContextData {
    /// Takes the data as it was sent, and its text if the data rounds numbers.
    pub fn new(sent: Map<String, Value>, exact: Option<String>) -> ContextData {
        exact.map_or(ContextData::Sent(sent), ContextData::Exact)
    }

    /// Returns the grants of a run with the data as `data/…`.
    pub fn grants(&mut self, scope: &RunScope) -> Result<Grants, Box<Payload>> {
        let values = self.frozen()?;
        Ok(values.iter().fold(scope.grants(), |grants, (name, value)| grants.frozen(name, value.clone())))
    }

    fn frozen(&mut self) -> Result<&[(String, Frozen)], Box<Payload>> {
        let wrong = |error: String| {
            Box::new(Payload::error(Reason::ArgsError, format!("argument `context`: {error}")))
        };
        let values = match self {
            ContextData::Sent(sent) => std::mem::take(sent)
                .into_iter()
                .map(|(name, value)| Ok((name, freeze(&value).map_err(|error| error.to_string())?)))
                .collect::<Result<_, String>>()
                .map(Some),
            ContextData::Exact(text) => exact(text).map(Some),
            ContextData::Frozen(_) => Ok(None),
        };
        if let Some(values) = values.map_err(wrong)? {
            *self = ContextData::Frozen(values);
        }
        Ok(match self {
            ContextData::Frozen(values) => values,
            ContextData::Sent(_) | ContextData::Exact(_) => &[],
        })
    }

    /// Returns the size of the frozen data in bytes; 0 before it is frozen.
    pub fn bytes(&self) -> u64 {
        match self {
            ContextData::Sent(_) | ContextData::Exact(_) => 0,
            ContextData::Frozen(values) => values.iter().map(|(_, value)| value.bytes() as u64).sum(),
        }
    }
}

/// Reads data from its text, member by member, as the runtime reads JSON: integers of any size stay integers.
fn exact(text: &str) -> Result<Vec<(String, Frozen)>, String> {
    let members: BTreeMap<String, &RawValue> =
        serde_json::from_str(text).map_err(|error| error.to_string())?;
    let options = ReadOptions { max_depth: MAX_DEPTH, ..ReadOptions::default() };
    let frozen = |(name, text): (String, &RawValue)| {
        let value = Frozen::build(|heap| parse_json(heap, text.get(), &options));
        Ok((name, value.map_err(|error| error.to_string())?))
    };
    members.into_iter().map(frozen).collect()
}
