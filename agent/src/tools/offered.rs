//! Exports of preludes that are offered to models which call tools themselves.

use super::export::ExportTool;
use super::native::free_name;
use super::{Effect, Expose, Tool, ToolKind};
use ptc_bytecode::{Effects, Visibility};
use ptc_runtime::OfferedExport;
use std::collections::HashSet;

/// Returns tools for the exports that are meant for prompts, under free names. If there are more than `room`, only the
/// first ones are offered; also returns how many are left out.
pub(crate) fn export_tools<'p>(
    exports: impl Iterator<Item = OfferedExport<'p>>,
    taken: &mut HashSet<String>,
    room: usize,
) -> (Vec<Tool>, usize) {
    let offered: Vec<OfferedExport<'_>> = exports.filter(is_offered).collect();
    let left_out = offered.len().saturating_sub(room);
    (offered.iter().take(room).map(|offered| tool(offered, taken)).collect(), left_out)
}

/// Returns whether an export is offered to models: constants are data, and exports left out of prompts are found by
/// lookups, which take programs.
pub(crate) fn is_offered(offered: &OfferedExport<'_>) -> bool {
    offered.visibility == Visibility::Prompt && !offered.export.is_constant()
}

fn tool(offered: &OfferedExport<'_>, taken: &mut HashSet<String>) -> Tool {
    let export = offered.export;
    let name = free_name(&export.namespace, &export.symbol, taken);
    let behind = ExportTool::new(export);
    let signature = behind.signature();
    let mut description = export.doc.as_deref().unwrap_or_default().trim().to_string();
    if behind.has_arities() {
        let line = format!("Called as {}.", behind.signatures());
        description = if description.is_empty() { line } else { format!("{description}\n{line}") };
    }
    if offered.shown != Effects::Pure {
        let mark = format!("[{}]", offered.shown.name());
        description = if description.is_empty() { mark } else { format!("{description} {mark}") };
    }
    let tool =
        Tool::of(name, ToolKind::Export(behind)).expose(Expose::Native).effect(match offered.enforced {
            Effects::Write => Effect::Write,
            effect if effect.may_write() => Effect::Unknown,
            _ => Effect::Read,
        });
    let tool = tool.with_signature(Ok(signature));
    if description.is_empty() { tool } else { tool.description(description) }
}
