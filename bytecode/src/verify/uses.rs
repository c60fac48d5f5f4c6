//! Checks the uses of other preludes in a manifest against the definitions its code names.

use super::report::{invalid, quoted};
use crate::artifact::Artifact;
use crate::codes::Code;
use crate::diag::Diagnostic;
use crate::isa::{Op, Operand};
use crate::manifest::{ExportRecord, Manifest};
use crate::namespaces::{is_definition_name, is_namespace_name, reserved_namespace};
use crate::uses::used_export;
use std::collections::{BTreeSet, HashSet};

/// Checks that code names only exports of namespaces, never writes to them, and that the manifest lists exactly the
/// namespaces of other preludes that are named. The exports themselves are checked when both are attached.
pub(super) fn uses(manifest: &Manifest, artifact: &Artifact) -> Result<(), Diagnostic> {
    if artifact.defs.is_empty() && manifest.uses.is_empty() {
        return Ok(());
    }
    let wrong = |what: String| Err(invalid(Code::BadExport, what));
    let own: HashSet<String> = manifest.exports.iter().map(ExportRecord::reference).collect();
    let is_own = |space: &str| manifest.namespaces.iter().any(|namespace| namespace.name == space);
    let mut named = BTreeSet::new();
    let mut seen = HashSet::new();
    for name in &artifact.defs {
        let parts = used_export(name).and_then(|export| export.split_once('/'));
        let Some((space, symbol)) = parts.filter(|(space, symbol)| {
            is_namespace_name(space) && reserved_namespace(space).is_none() && is_definition_name(symbol)
        }) else {
            return wrong(format!("its code names {}, which is not an export of a prelude", quoted(name)));
        };
        if !seen.insert(name) {
            return wrong(format!("its code lists {} twice", quoted(name)));
        }
        if !is_own(space) {
            named.insert(space);
        } else if !own.contains(&format!("{space}/{symbol}")) {
            return wrong(format!("its code names {}, which it does not export", quoted(name)));
        }
    }
    if !manifest.uses.iter().map(|used| &*used.namespace).eq(named.iter().copied()) {
        return wrong("its manifest lists other namespaces than its code uses".into());
    }
    let only_reads = |op: &Op| {
        let mut names_any = false;
        op.operands(|_, operand| names_any |= matches!(operand, Operand::Def(_)));
        !names_any || matches!(op, Op::GetDef { .. } | Op::CallDef { .. })
    };
    match artifact.blocks.iter().flat_map(|block| &block.ops).all(only_reads) {
        true => Ok(()),
        false => {
            wrong("its code may only read and call the exports that it uses, but does something else".into())
        }
    }
}
