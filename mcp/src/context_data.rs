//! The data that a call brings along for its program.

use crate::reason::Reason;
use crate::reply::Payload;
use ptc_runtime::{Cancel, Frozen, Grants};
use serde_json::{Map, Value};

/// Data of a call: as it was sent, until the program needs it. Then it is frozen once, and the JSON, which takes many times
/// as much, is let go.
pub(crate) enum ContextData {
    Sent(Map<String, Value>),
    Frozen(Vec<(String, Frozen)>),
}

impl ContextData {
    /// The data as `data/…` of a run that this stops.
    pub fn grants(&mut self, cancel: &Cancel) -> Result<Grants, Box<Payload>> {
        // Whoever calls a tool of the server is a model, or shows it to one.
        let grants = Grants::new().cancel(cancel).firewall(true);
        let values = self.frozen()?;
        Ok(values.iter().fold(grants, |grants, (name, value)| grants.frozen(name, value.clone())))
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

    /// Bytes that it holds once it is frozen.
    pub fn bytes(&self) -> u64 {
        match self {
            ContextData::Sent(_) => 0,
            ContextData::Frozen(values) => values.iter().map(|(_, value)| value.bytes() as u64).sum(),
        }
    }
}
