//! Preludes that were found to fit a run, side by side: each keeps its code, its hashes and what the host lets through.

use super::effects::KnownEffects;
use super::{Keep, Prelude, shown_as};
use ptc_bytecode::{Code, Diagnostic, Effects, ExportRecord, Subject, Visibility, used_export};
use ptc_compiler::Interface;
use ptc_vm::{Frozen, Vm};
use std::sync::Arc;

/// The preludes of a run, in the order in which they were attached. No two declare the same namespace.
pub struct Attached {
    parts: Vec<Arc<AttachedPrelude>>,
    interface: Arc<Interface>,
}

impl Attached {
    /// These preludes and one more, which [`Prelude::check_beside`] has let through.
    pub(super) fn adding(these: Option<&Attached>, added: AttachedPrelude) -> Attached {
        let interface = match these {
            None => added.interface.clone(),
            Some(these) => Arc::new(these.interface.beside(&added.interface)),
        };
        let mut parts = these.map_or(Vec::new(), |these| these.parts.clone());
        parts.push(Arc::new(added));
        Attached { parts, interface }
    }

    /// Each prelude with what the host lets through of it.
    pub(crate) fn parts(&self) -> &[Arc<AttachedPrelude>] {
        &self.parts
    }

    /// The preludes alone.
    pub(crate) fn preludes(&self) -> impl Iterator<Item = &Prelude> {
        self.parts.iter().map(|part| &part.prelude)
    }

    /// What the compiler needs to know of all of them.
    pub(crate) fn interface(&self) -> &Arc<Interface> {
        &self.interface
    }

    /// The prelude that has an export of this name, which the host may hide.
    pub(crate) fn owner(&self, reference: &str) -> Option<&Prelude> {
        self.preludes().find(|prelude| prelude.export(reference).is_some())
    }

    /// True if the host lets an export of this name through.
    pub(crate) fn has(&self, reference: &str) -> bool {
        self.parts.iter().any(|part| part.find(reference).is_some())
    }

    /// Effect of the export of this name, as it is shown; None if there is none, or the host hides it.
    pub(crate) fn effect(&self, reference: &str) -> Option<Effects> {
        self.parts.iter().find_map(|part| Some(part.effect(part.find(reference)?.0)))
    }

    /// The value of an export, if the host lets it through.
    pub(crate) fn value(&self, name: &str) -> Option<&Frozen> {
        self.parts.iter().find_map(|part| part.value(name))
    }

    /// The value of a definition that code names: an export that a program calls, if the host lets it through, or one
    /// that another prelude uses, which need not be shown to programs.
    pub(crate) fn meaning(&self, name: &str) -> Option<&Frozen> {
        match used_export(name) {
            None => self.value(name),
            Some(export) => {
                self.preludes().find_map(|prelude| prelude.inner.values.get(prelude.index(export)?))
            }
        }
    }

    /// The value of a constant that is data, by the name that programs write.
    pub(crate) fn constant(&self, reference: &str) -> Option<&Frozen> {
        self.preludes().find_map(|prelude| prelude.constant(reference))
    }

    /// Gives a run the values of the exports it names.
    pub(crate) fn bind(&self, vm: &mut Vm) {
        let value = |name: &str| Some((name.to_string(), self.meaning(name)?));
        while let Some((name, value)) = { vm.undefined().find_map(value) } {
            vm.define(&name, value);
        }
    }
}

impl Prelude {
    /// Fails if one of these preludes declares a namespace that it declares too; the message names both preludes.
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
    /// The export itself.
    pub export: &'p ExportRecord,
    /// Where it is shown, once the host's policy has had its say.
    pub visibility: Visibility,
    /// Effect that lists and prompts show.
    pub shown: Effects,
    /// Effect to decide by: the author's word cannot make it weaker than what its tools do.
    pub enforced: Effects,
}

impl OfferedExport<'_> {
    /// The exports of preludes that are attached to nothing: what a run that knows no tools would show of them.
    pub fn all_of(preludes: &[Prelude]) -> impl Iterator<Item = OfferedExport<'_>> {
        let known = KnownEffects::default();
        let exports = preludes.iter().flat_map(Prelude::exports);
        exports.map(move |export| {
            let (shown, enforced) = (known.shown(export), known.enforced(export));
            OfferedExport { export, visibility: export.visibility, shown, enforced }
        })
    }
}

/// One prelude that was found to fit a run.
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

    /// The place where an export is shown; None if the host hides it.
    pub(crate) fn visibility(&self, index: usize) -> Option<Visibility> {
        let keep = self.keep.as_ref().and_then(|keep| keep.get(index)).copied().unwrap_or_default();
        shown_as(self.prelude.exports().get(index)?, keep)
    }

    /// The exports the host lets through, with where each is shown.
    pub(crate) fn shown(&self) -> impl Iterator<Item = (usize, Visibility)> {
        (0..self.prelude.exports().len()).filter_map(|index| Some((index, self.visibility(index)?)))
    }

    /// The export of this name, if the host lets it through.
    pub(crate) fn find(&self, reference: &str) -> Option<(usize, &ExportRecord)> {
        let index = self.prelude.index(reference)?;
        self.visibility(index)?;
        Some((index, &self.prelude.exports()[index]))
    }

    /// Effect of an export, as it is shown.
    pub(crate) fn effect(&self, index: usize) -> Effects {
        let export = self.prelude.exports().get(index);
        export.map_or(Effects::Unknown, |export| self.known.shown(export))
    }

    /// The exports the host lets through, with all that hosts show of them and decide by.
    pub(crate) fn offered(&self) -> impl Iterator<Item = OfferedExport<'_>> {
        self.shown().map(|(index, visibility)| {
            let export = &self.prelude.exports()[index];
            let (shown, enforced) = (self.known.shown(export), self.known.enforced(export));
            OfferedExport { export, visibility, shown, enforced }
        })
    }

    /// The value of an export, if the host lets it through.
    fn value(&self, name: &str) -> Option<&Frozen> {
        let (index, _) = self.find(name)?;
        self.prelude.inner.values.get(index)
    }
}
