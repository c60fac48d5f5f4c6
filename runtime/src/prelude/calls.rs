//! Calls from a prelude's code to exports of other preludes.

use ptc_bytecode::{Artifact, ExportRecord, Manifest, Reach, Target};

/// Returns, for each export, the exports of other namespaces that its code calls.
pub(super) fn uses_of(prelude: &Manifest, code: &Artifact) -> Vec<Vec<Box<str>>> {
    if code.defs.is_empty() {
        return Vec::new();
    }
    let mut reach = Reach::of(code);
    let uses = |export: &ExportRecord| match export.target {
        // The verifier has refused code too tangled to analyse.
        Target::Function(id) | Target::Made(id) => {
            reach.whole(id).map(|found| found.uses.iter().cloned().collect()).unwrap_or_default()
        }
        Target::Data(_) => Vec::new(),
    };
    prelude.exports.iter().map(uses).collect()
}
