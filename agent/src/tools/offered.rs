//! The exports of preludes that a model is offered which calls tools itself.

use super::export::ExportTool;
use super::native::free_name;
use super::{Effect, Expose, Tool, ToolKind};
use ptc_bytecode::{Effects, Visibility};
use ptc_runtime::OfferedExport;
use std::collections::HashSet;

/// The functions that are for prompts, as tools with names unlike all that are taken. Of more than there is `room` for the first
/// are offered; then how many are left out.
pub(crate) fn export_tools<'p>(
    exports: impl Iterator<Item = OfferedExport<'p>>,
    taken: &mut HashSet<String>,
    room: usize,
) -> (Vec<Tool>, usize) {
    let offered: Vec<OfferedExport<'_>> = exports.filter(is_offered).collect();
    let left_out = offered.len().saturating_sub(room);
    (offered.iter().take(room).map(|offered| tool(offered, taken)).collect(), left_out)
}

/// Whether a model is offered it: constants are data and no tools, and what is left out of prompts is found by
/// looking, which takes programs.
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
