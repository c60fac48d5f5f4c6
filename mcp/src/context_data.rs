//! Data that a call supplies for its program.

use crate::pending::RunScope;
use crate::reason::Reason;
use crate::reply::Payload;
use ptc_runtime::{Frozen, Grants};
use serde_json::{Map, Value};

/// Data of a call: kept as sent until the program needs it, then frozen once. The JSON, which takes many times
/// as much memory, is freed then.
pub(crate) enum ContextData {
    Sent(Map<String, Value>),
    Frozen(Vec<(String, Frozen)>),
}

impl ContextData {
    /// Returns the grants of a run with the data as `data/…`.
    pub fn grants(&mut self, scope: &RunScope) -> Result<Grants, Box<Payload>> {
        let values = self.frozen()?;
        Ok(values.iter().fold(scope.grants(), |grants, (name, value)| grants.frozen(name, value.clone())))
    }

    fn frozen(&mut self) -> Result<&[(String, Frozen)], Box<Payload>> {
        if let ContextData::Sent(sent) = self {
            let values = std::mem::take(sent).into_iter().map(|(name, value)| {
                let frozen = ptc_runtime::bridge::freeze(&value).map_err(|error| {
                    Box::new(Payload::error(Reason::ArgsError, format!("argument `context`: {error}")))
                })?;
                Ok((name, frozen))
            });
            *self = ContextData::Frozen(values.collect::<Result<_, Box<Payload>>>()?);
        }
        Ok(match self {
            ContextData::Frozen(values) => values,
            ContextData::Sent(_) => &[],
        })
    }

    /// Returns the size of the frozen data in bytes; 0 before it is frozen.
    pub fn bytes(&self) -> u64 {
        match self {
            ContextData::Sent(_) => 0,
            ContextData::Frozen(values) => values.iter().map(|(_, value)| value.bytes() as u64).sum(),
        }
    }
}
