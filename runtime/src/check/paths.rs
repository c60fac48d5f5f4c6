//! Paths from a root to the values that are read.

use ptc_bytecode::ToolName;
use ptc_compiler::Reads;
use ptc_compiler::reads::{PathId, Step};

/// Returns the root of a path.
pub(super) fn root_of(reads: &Reads, mut path: PathId) -> PathId {
    while let Some(parent) = reads.paths.get(path.0 as usize).and_then(|path| path.parent) {
        path = parent;
    }
    path
}

/// Returns the steps of a path from its root on, without the root.
pub(super) fn steps(reads: &Reads, mut path: PathId) -> Vec<&Step> {
    let mut steps = Vec::new();
    while let Some(at) = reads.paths.get(path.0 as usize)
        && let Some(parent) = at.parent
    {
        steps.push(&at.step);
        path = parent;
    }
    steps.reverse();
    steps
}

/// Returns the name of a tool for messages.
pub(super) fn tool_name(tool: &ToolName) -> String {
    match tool {
        ToolName::Named(name) => format!("tool/{name}"),
        ToolName::Upstream { server, tool } => format!("{server}.{tool}"),
    }
}
