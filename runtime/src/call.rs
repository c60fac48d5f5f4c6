//! Tool calls that wait for a result.

use crate::bridge::{self, BridgeError};
use crate::effects::EffectSlot;
use crate::prelude::Prelude;
use ptc_bytecode::{Datum, Effects};
use serde::de::DeserializeOwned;
use std::fmt;

/// Id of one tool call in flight: the path of branches that made it.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct CallId(Vec<u32>);

impl CallId {
    pub(crate) fn new(path: &[u32]) -> CallId {
        CallId(path.to_vec())
    }

    /// Returns the branches that lead to it, from the run on.
    pub(crate) fn path(&self) -> &[u32] {
        &self.0
    }

    /// True if a branch of `pmap` or `pcalls` made it.
    pub fn is_parallel(&self) -> bool {
        !self.0.is_empty()
    }
}

impl fmt::Display for CallId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("call")?;
        self.0.iter().try_for_each(|index| write!(f, ".{index}"))
    }
}

/// A tool call that waits for a result.
#[derive(Clone, Debug)]
pub struct PendingCall {
    /// Id of the call, under which its result is supplied.
    pub id: CallId,
    /// Name of the tool.
    pub name: String,
    /// Arguments, a map with string keys.
    pub args: Datum,
    /// Export of a prelude that makes the call, as `ns/name`; None for the program itself.
    pub origin: Option<String>,
    /// True if that export declares that it calls this tool, which private tools require.
    pub is_declared: bool,
    /// Maximum size of the result as data, in bytes: see
    /// [`ToolArgs::max_answer_bytes`](crate::ToolArgs::max_answer_bytes).
    pub max_answer_bytes: u64,
    /// Prelude of that export.
    pub(crate) prelude: Option<Prelude>,
    /// Place of the call in the ledger of its run, if it has one.
    pub(crate) slot: Option<EffectSlot>,
}

impl PendingCall {
    /// Returns the arguments as a Rust type.
    pub fn parse<T: DeserializeOwned>(&self) -> Result<T, BridgeError> {
        bridge::from_datum(&self.args)
    }

    /// Returns the arguments as JSON.
    ///
    /// ```
    /// use ptc_runtime::{Runtime, Step};
    /// let runtime = Runtime::with_core(ptc_preludes::core())?;
    /// let mut run = runtime.start(&runtime.compile("(tool/approve {:amount 900})")?)?;
    /// let Step::NeedsTools(calls) = run.step() else { panic!() };
    /// assert_eq!(calls[0].json()?["amount"], 900);
    /// assert_eq!(calls[0].parse::<std::collections::HashMap<String, i64>>()?["amount"], 900);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn json(&self) -> Result<serde_json::Value, BridgeError> {
        bridge::datum_to_json(&self.args)
    }

    /// Returns the place of the call in the ledger of its run: see [`Grants::recorded`](crate::Grants::recorded). A host that makes
    /// calls by hand makes those that may change something with [`EffectSlot::once`].
    pub fn effect_slot(&self) -> Option<&EffectSlot> {
        self.slot.as_ref()
    }

    /// Returns the effect that the calling export declares: `:effect :read` or `:write` in its metadata. It may
    /// strengthen the known effect of the tool, and never weakens it.
    pub fn stated_effect(&self) -> Option<Effects> {
        let export = self.prelude.as_ref()?.export(self.origin.as_deref()?)?;
        Some(export.effect).filter(|effect| matches!(effect, Effects::Read | Effects::Write))
    }
}
