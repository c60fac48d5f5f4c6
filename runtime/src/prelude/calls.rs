//! Calls of other preludes' exports, as the code of a prelude has them.

use ptc_bytecode::{Artifact, ExportRecord, Manifest, Reach, Target};

/// Exports of other namespaces that each export calls, by its number, as its code tells.
pub(super) fn uses_of(prelude: &Manifest, code: &Artifact) -> Vec<Vec<Box<str>>> {
    if code.defs.is_empty() {
        return Vec::new();
    }
    let mut reach = Reach::of(code);
    let uses = |export: &ExportRecord| match export.target {
        // What is too tangled to be looked at was refused by the verifier.
        Target::Function(id) | Target::Made(id) => {
            reach.whole(id).map(|found| found.uses.iter().cloned().collect()).unwrap_or_default()
        }
        Target::Data(_) => Vec::new(),
    };
    prelude.exports.iter().map(uses).collect()
}
