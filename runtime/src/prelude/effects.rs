//! Effects of exports: one judgement for everything that shows them or decides by them.
//!
//! An export that reaches no tool is pure. If all its tools have known effects, it has the strongest of them; otherwise
//! its effect is unknown, which counts as a write in every decision. The author's metadata replaces the shown effect,
//! and can only strengthen the enforced one: a wrapper cannot turn a write into a read.

use super::attach::{Known, Requirement, Upstream};
use ptc_bytecode::{Effects, ExportRecord, ToolName};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Effects of the tools that a prelude may reach, as far as they are known.
#[derive(Clone, Default)]
pub(crate) struct KnownEffects {
    /// Effects of the host's own tools, by name.
    pub tools: Arc<BTreeMap<String, Effects>>,
    /// Servers behind `tool/call`.
    pub upstream: Option<Arc<dyn Upstream>>,
}

impl KnownEffects {
    /// Returns the effect that lists, docs, prompts and traces show: the author's metadata, else that of the tools.
    pub fn shown(&self, export: &ExportRecord) -> Effects {
        match export.effect {
            Effects::Unknown if !export.tool_refs.is_empty() => self.reached(export),
            said => said,
        }
    }

    /// Returns the effect for decisions: metadata cannot make it weaker than that of the tools.
    pub fn enforced(&self, export: &ExportRecord) -> Effects {
        self.shown(export).max(self.reached(export))
    }

    /// Returns the strongest effect of the tools that the code of an export reaches.
    fn reached(&self, export: &ExportRecord) -> Effects {
        let own = |name: &String| match name.as_str() {
            ToolName::CALL if export.dynamic => Effects::Unknown,
            ToolName::CALL => self.strongest_call(export),
            _ => self.tools.get(name).copied().unwrap_or(Effects::Unknown),
        };
        export.tool_refs.iter().map(own).max().unwrap_or(Effects::Pure)
    }

    /// Returns the strongest effect of the upstream operations an export requires, which are all those it calls.
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
