//! Tool calls that wait for an answer.

use crate::prelude::Prelude;
use ptc_bytecode::{Datum, Effects};
use std::fmt;

/// Names one tool call in flight: which branch of which branch of the run made it.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct CallId(Vec<u32>);

impl CallId {
    pub(crate) fn new(path: &[u32]) -> CallId {
        CallId(path.to_vec())
    }

    /// The branches that lead to it, from the run on.
    pub(crate) fn path(&self) -> &[u32] {
        &self.0
    }

    /// Whether a branch of `pmap` or `pcalls` made it.
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

/// A tool call that waits for an answer.
#[derive(Clone, Debug)]
pub struct PendingCall {
    /// What to answer to.
    pub id: CallId,
    /// The tool.
    pub name: String,
    /// Its arguments: a map with string keys.
    pub args: Datum,
    /// The export of a prelude that makes the call, as `ns/name`; None for the program itself.
    pub origin: Option<String>,
    /// Whether that export says it calls this tool: what a private tool asks for.
    pub is_declared: bool,
    /// Bytes that the answer may take as data: see [`ToolArgs::max_answer_bytes`](crate::ToolArgs::max_answer_bytes).
    pub max_answer_bytes: u64,
    /// The prelude of that export.
    pub(crate) prelude: Option<Prelude>,
}

impl PendingCall {
    /// Effect that the calling export says it has: `:effect :read` or `:write` in its metadata. It may strengthen what
    /// is known of the tool, and never weakens it.
    pub fn stated_effect(&self) -> Option<Effects> {
        let export = self.prelude.as_ref()?.export(self.origin.as_deref()?)?;
        Some(export.effect).filter(|effect| matches!(effect, Effects::Read | Effects::Write))
    }
}
