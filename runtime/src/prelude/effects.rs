//! Effects of exports: one judgement for everything that shows or decides by them.
//!
//! An export that reaches no tool is pure. One whose tools all have known effects has the strongest of them, and
//! anything else is unknown, which counts as a write wherever something is decided. What the author says replaces what
//! is shown, and can only strengthen what is enforced: a wrapper cannot talk a write down to a read.

use super::attach::{Known, Requirement, Upstream};
use ptc_bytecode::{Effects, ExportRecord, ToolName};
use std::collections::BTreeMap;
use std::sync::Arc;

/// What is known of the tools that a prelude may reach.
#[derive(Clone, Default)]
pub(crate) struct KnownEffects {
    /// Effects of the host's own tools, by name.
    pub tools: Arc<BTreeMap<String, Effects>>,
    /// The servers behind `tool/call`.
    pub upstream: Option<Arc<dyn Upstream>>,
}

impl KnownEffects {
    /// Effect that lists, docs, prompts and traces show: the author's word, else what the tools do.
    pub fn shown(&self, export: &ExportRecord) -> Effects {
        match export.effect {
            Effects::Unknown if !export.tool_refs.is_empty() => self.reached(export),
            said => said,
        }
    }

    /// Effect to decide by: the author's word cannot make it weaker than what the tools do.
    pub fn enforced(&self, export: &ExportRecord) -> Effects {
        self.shown(export).max(self.reached(export))
    }

    /// The strongest effect of what the code of an export reaches.
    fn reached(&self, export: &ExportRecord) -> Effects {
        let own = |name: &String| match name.as_str() {
            ToolName::CALL if export.dynamic => Effects::Unknown,
            ToolName::CALL => self.strongest_call(export),
            _ => self.tools.get(name).copied().unwrap_or(Effects::Unknown),
        };
        export.tool_refs.iter().map(own).max().unwrap_or(Effects::Pure)
    }

    /// The strongest effect of the upstream operations an export requires, which are all those it calls.
    fn strongest_call(&self, export: &ExportRecord) -> Effects {
        let Some(upstream) = &self.upstream else { return Effects::Unknown };
        let effect = |id: &String| match Requirement::of(id) {
            Some(Requirement::Upstream(server, tool)) => Some(match upstream.operation(server, tool) {
                Known::Present(effect) => effect,
                _ => Effects::Unknown,
            }),
            _ => None,
        };
        export.requires.iter().filter_map(effect).max().unwrap_or(Effects::Unknown)
    }
}
