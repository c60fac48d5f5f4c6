//! Preludes attached to a run, side by side: each keeps its code, its hashes and its visible exports.

use super::effects::KnownEffects;
use super::{Keep, Prelude, shown_as};
use ptc_bytecode::{Code, Diagnostic, Effects, ExportRecord, Subject, Visibility, used_export};
use ptc_compiler::Interface;
use ptc_vm::{Frozen, Vm};
use std::sync::Arc;

/// Preludes of a run, in the order in which they were attached. No two declare the same namespace.
pub struct Attached {
    parts: Vec<Arc<AttachedPrelude>>,
    interface: Arc<Interface>,
}

impl Attached {
    /// Adds one prelude, which [`Prelude::check_beside`] has let through.
    pub(super) fn adding(these: Option<&Attached>, added: AttachedPrelude) -> Attached {
        let interface = match these {
            None => added.interface.clone(),
            Some(these) => Arc::new(these.interface.beside(&added.interface)),
        };
        let mut parts = these.map_or(Vec::new(), |these| these.parts.clone());
        parts.push(Arc::new(added));
        Attached { parts, interface }
    }

    /// Returns each prelude with its visible exports.
    pub(crate) fn parts(&self) -> &[Arc<AttachedPrelude>] {
        &self.parts
    }

    /// Returns the preludes alone.
    pub(crate) fn preludes(&self) -> impl Iterator<Item = &Prelude> {
        self.parts.iter().map(|part| &part.prelude)
    }

    /// Returns the compiler's view of all of them.
    pub(crate) fn interface(&self) -> &Arc<Interface> {
        &self.interface
    }

    /// Returns the prelude that has an export of this name, even if the host hides it.
    pub(crate) fn owner(&self, reference: &str) -> Option<&Prelude> {
        self.preludes().find(|prelude| prelude.export(reference).is_some())
    }

    /// True if the host lets an export of this name through.
    pub(crate) fn has(&self, reference: &str) -> bool {
        self.parts.iter().any(|part| part.find(reference).is_some())
    }

    /// Returns the shown effect of the export of this name; None if there is none, or the host hides it.
    pub(crate) fn effect(&self, reference: &str) -> Option<Effects> {
        self.parts.iter().find_map(|part| Some(part.effect(part.find(reference)?.0)))
    }

    /// Returns the value of an export, if the host lets it through.
    pub(crate) fn value(&self, name: &str) -> Option<&Frozen> {
        self.parts.iter().find_map(|part| part.value(name))
    }

    /// Returns the value of a definition that code names: an export that a program calls, if the host lets it
    /// through, or one that another prelude uses, which may be hidden from programs.
    pub(crate) fn meaning(&self, name: &str) -> Option<&Frozen> {
        match used_export(name) {
            None => self.value(name),
            Some(export) => {
                self.preludes().find_map(|prelude| prelude.inner.values.get(prelude.index(export)?))
            }
        }
    }

    /// Returns the value of a constant that is data, by the name that programs write.
    pub(crate) fn constant(&self, reference: &str) -> Option<&Frozen> {
        self.preludes().find_map(|prelude| prelude.constant(reference))
    }

    /// Binds the values of the exports that a run names.
    pub(crate) fn bind(&self, vm: &mut Vm) {
        let value = |name: &str| Some((name.to_string(), self.meaning(name)?));
        while let Some((name, value)) = { vm.undefined().find_map(value) } {
            vm.define(&name, value);
        }
    }
}

impl Prelude {
    /// Fails if one of these preludes declares one of its namespaces; the message names both preludes.
    pub fn check_beside<'p>(&self, others: impl IntoIterator<Item = &'p Prelude>) -> Result<(), Diagnostic> {
        for other in others {
            let is_taken = |name: &str| other.namespaces().iter().any(|taken| taken.name == name);
            if let Some(clash) = self.namespaces().iter().find(|namespace| is_taken(&namespace.name)) {
                let message = format!(
                    "prelude attach failed: duplicate namespace '{}': both {} and {} declare it",
                    clash.name,
                    other.shown_origin(),
                    self.shown_origin()
                );
                return Err(Diagnostic::without_span(Code::InvalidNamespace, message)
                    .about(Subject::Attachment)
                    .hint("attach only one of them, or rename the namespace in one"));
            }
        }
        Ok(())
    }
}

/// An export that the host lets through.
#[derive(Clone, Copy, Debug)]
pub struct OfferedExport<'p> {
    /// Record of the export.
    pub export: &'p ExportRecord,
    /// Place where it is listed, after the host's policy.
    pub visibility: Visibility,
    /// Effect that lists and prompts show.
    pub shown: Effects,
    /// Effect for decisions: metadata cannot make it weaker than that of the tools behind it.
    pub enforced: Effects,
}

impl OfferedExport<'_> {
    /// Returns the exports of unattached preludes, as a run without tools would show them.
    pub fn all_of(preludes: &[Prelude]) -> impl Iterator<Item = OfferedExport<'_>> {
        let known = KnownEffects::default();
        let exports = preludes.iter().flat_map(Prelude::exports);
        exports.map(move |export| {
            let (shown, enforced) = (known.shown(export), known.enforced(export));
            OfferedExport { export, visibility: export.visibility, shown, enforced }
        })
    }
}

/// A prelude that was checked and attached to a run.
pub struct AttachedPrelude {
    pub(super) prelude: Prelude,
    pub(super) interface: Arc<Interface>,
    pub(super) keep: Option<Vec<Keep>>,
    pub(super) unverified: Vec<String>,
    pub(super) known: KnownEffects,
}

impl AttachedPrelude {
    pub(crate) fn prelude(&self) -> &Prelude {
        &self.prelude
    }

    pub(crate) fn unverified(&self) -> &[String] {
        &self.unverified
    }

    /// Returns the visibility of an export; None if the host hides it.
    pub(crate) fn visibility(&self, index: usize) -> Option<Visibility> {
        let keep = self.keep.as_ref().and_then(|keep| keep.get(index)).copied().unwrap_or_default();
        shown_as(self.prelude.exports().get(index)?, keep)
    }

    /// Returns the exports the host lets through, with their visibility.
    pub(crate) fn shown(&self) -> impl Iterator<Item = (usize, Visibility)> {
        (0..self.prelude.exports().len()).filter_map(|index| Some((index, self.visibility(index)?)))
    }

    /// Returns the export of this name, if the host lets it through.
    pub(crate) fn find(&self, reference: &str) -> Option<(usize, &ExportRecord)> {
        let index = self.prelude.index(reference)?;
        self.visibility(index)?;
        Some((index, &self.prelude.exports()[index]))
    }

    /// Returns the shown effect of an export.
    pub(crate) fn effect(&self, index: usize) -> Effects {
        let export = self.prelude.exports().get(index);
        export.map_or(Effects::Unknown, |export| self.known.shown(export))
    }

    /// Returns the exports the host lets through, with all the facts hosts show of them and decide by.
    pub(crate) fn offered(&self) -> impl Iterator<Item = OfferedExport<'_>> {
        self.shown().map(|(index, visibility)| {
            let export = &self.prelude.exports()[index];
            let (shown, enforced) = (self.known.shown(export), self.known.enforced(export));
            OfferedExport { export, visibility, shown, enforced }
        })
    }

    /// Returns the value of an export, if the host lets it through.
    fn value(&self, name: &str) -> Option<&Frozen> {
        let (index, _) = self.find(name)?;
        self.prelude.inner.values.get(index)
    }
}
