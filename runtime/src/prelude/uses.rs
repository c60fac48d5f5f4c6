//! Preludes that use others: the namespaces a source may use where it is compiled, and their meaning where a prelude is
//! attached.
//!
//! A file lists the namespaces it uses, and its code names the exports. Everything else is looked up in the attached
//! preludes: whatever those exports reach counts as reached by the exports that use them.

use super::attached::Attached;
use super::{Prelude, interface};
use ptc_bytecode::{Code, Diagnostic, Effects, ExportRecord, Subject, UseRecord, hex, used_export};
use ptc_compiler::prelude::{BREAK_UP, Outline, Used, in_order};
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// Maximum steps for all exports of a prelude together.
const MAX_STEPS: usize = 2_000_000;

/// Returns the namespaces that sources compiled beside these preludes may use. Of two with the same namespace, the
/// first wins.
pub(super) fn usable<'p>(preludes: impl Iterator<Item = &'p Prelude>) -> Used {
    let mut used = Used::default();
    for prelude in preludes {
        let is_new = |name: &&str| used.record(name).is_none();
        let names: Vec<&str> =
            prelude.namespaces().iter().map(|namespace| &*namespace.name).filter(is_new).collect();
        let manifest = prelude.manifest();
        let known = interface(&manifest.exports, prelude.namespaces(), &[], |_| true).only(&names);
        used.interface = used.interface.beside(&known);
        let exports = manifest.exports.iter().filter(|export| names.contains(&&*export.namespace));
        used.pure.extend(exports.filter(|e| e.effect == Effects::Pure).map(ExportRecord::reference));
        used.records.extend(names.iter().map(|name| UseRecord {
            namespace: (*name).to_string(),
            interface_hash: manifest.hash_of_namespace(name),
            artifact_hash: manifest.artifact_hash(),
        }));
    }
    used
}

impl Prelude {
    /// Returns the namespaces of other preludes that its code calls, as they were at compile time.
    pub fn uses(&self) -> &[UseRecord] {
        &self.manifest().uses
    }

    /// Returns the exports of other namespaces that an export calls directly, as `ns/name`, sorted.
    pub fn used_by(&self, reference: &str) -> impl Iterator<Item = &str> {
        let uses = self.index(reference).and_then(|index| self.inner.uses.get(index));
        uses.into_iter().flatten().map(|name| &**name)
    }

    /// Returns the record of an export as its own code gives it, without anything it reaches through other preludes.
    pub(crate) fn own_export(&self, reference: &str) -> Option<&ExportRecord> {
        self.index(reference).map(|index| &self.manifest().exports[index])
    }

    /// Resolves its uses among `others`: each export gets everything it reaches through them. Fails if one of them
    /// is missing or has another interface than at compile time.
    pub(crate) fn beside(&self, others: Option<&Attached>) -> Result<Prelude, Diagnostic> {
        let others: Vec<&Prelude> = others.into_iter().flat_map(Attached::preludes).collect();
        for used in self.uses() {
            self.check_use(used, &others)?;
        }
        if self.inner.uses.iter().all(Vec::is_empty) {
            return Ok(self.clone());
        }
        let mut walk = Walk { prelude: self, others: &others, found: HashMap::new(), steps: MAX_STEPS };
        let exports = 0..self.manifest().exports.len();
        let reached = exports.map(|index| walk.reached(index)).collect::<Result<Vec<_>, _>>()?;
        Ok(Prelude { reached: Some(reached.into()), ..self.clone() })
    }

    fn check_use(&self, used: &UseRecord, others: &[&Prelude]) -> Result<(), Diagnostic> {
        let name = &used.namespace;
        let declares = |other: &&&Prelude| other.namespaces().iter().any(|namespace| namespace.name == *name);
        let mine = self.shown_origin();
        let Some(other) = others.iter().find(declares) else {
            return Err(refused(format!(
                "{mine} uses the namespace `{name}`, which no attached prelude declares"
            ))
            .hint(format!("attach the prelude that declares `{name}` before it")));
        };
        let found = other.manifest().hash_of_namespace(name);
        if found == used.interface_hash {
            return Ok(());
        }
        let missing: Vec<&str> =
            self.names_of(name).filter(|used| other.index(used).is_none()).take(5).collect();
        let missing = match missing.is_empty() {
            true => String::new(),
            false => format!("; it lacks {}", missing.join(", ")),
        };
        let message = format!(
            "{mine} was compiled for interface {} of `{name}`, but {} has interface {}{missing}",
            short(&used.interface_hash),
            other.shown_origin(),
            short(&found),
        );
        Err(refused_as(Code::InterfaceChanged, &message)
            .hint(format!("build it again together with the new `{name}`, or attach the old one")))
    }

    /// Returns the exports of this namespace that its code names.
    fn names_of(&self, namespace: &str) -> impl Iterator<Item = &str> {
        let names = self.artifact().defs.iter().filter_map(|name| used_export(name));
        names.filter(move |name| name.split('/').next() == Some(namespace))
    }

    /// Orders preludes so that each comes after those it uses, otherwise as given. Missing ones are reported where
    /// the preludes are attached.
    ///
    /// ```
    /// use ptc_runtime::{CompileOptions, Prelude, Runtime};
    /// let runtime = Runtime::with_core(ptc_preludes::core())?;
    /// let crm = Prelude::compile(&runtime, "(ns crm) (defn find [id] id)")?;
    /// let options = CompileOptions { uses: &[crm.clone()], ..CompileOptions::default() };
    /// let billing = "(ns billing (:require [crm :as c])) (defn due [id] (c/find id))";
    /// let billing = Prelude::compile_with(&runtime, billing, &options)?;
    /// let sorted = Prelude::in_order(vec![billing, crm])?;
    /// assert_eq!(sorted[0].namespaces()[0].name, "crm");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn in_order(preludes: Vec<Prelude>) -> Result<Vec<Prelude>, Diagnostic> {
        let outlines = preludes.iter().map(|prelude| (prelude.shown_origin(), prelude.outline()));
        let order = order_of(&outlines.collect::<Vec<_>>())?;
        Ok(order.into_iter().filter_map(|i| preludes.get(i).cloned()).collect())
    }

    pub(super) fn outline(&self) -> Outline {
        Outline {
            declares: self.namespaces().iter().map(|namespace| namespace.name.clone()).collect(),
            requires: self.uses().iter().map(|used| used.namespace.clone()).collect(),
        }
    }
}

/// Returns the order in which preludes are compiled or attached: each after those that declare the namespaces it
/// requires. Each outline comes with its place for messages.
///
/// ```
/// use ptc_runtime::{PreludeOutline, order_of_preludes};
/// let outline = |name: &str, needs: &str| {
///     (format!("{name}.clj"), PreludeOutline { declares: vec![name.into()], requires: vec![needs.into()] })
/// };
/// assert_eq!(order_of_preludes(&[outline("billing", "crm"), outline("crm", "paged")]), Ok(vec![1, 0]));
/// let circle = order_of_preludes(&[outline("a", "b"), outline("b", "a")]).unwrap_err();
/// assert!(circle.message.ends_with("in a circle: a.clj → b.clj → a.clj"));
/// ```
pub fn order_of(outlines: &[(String, Outline)]) -> Result<Vec<usize>, Diagnostic> {
    let mut places: BTreeMap<&str, usize> = BTreeMap::new();
    for (i, name) in
        outlines.iter().enumerate().flat_map(|(i, (_, o))| o.declares.iter().map(move |n| (i, n)))
    {
        places.entry(name).or_insert(i);
    }
    let needed = |(_, outline): &(String, Outline)| {
        outline.requires.iter().filter_map(|name| places.get(&**name).copied()).collect()
    };
    let needs: Vec<Vec<usize>> = outlines.iter().map(needed).collect();
    in_order(&needs).map_err(|circle| {
        let names: Vec<&str> = circle.iter().map(|i| &*outlines[*i].0).collect();
        let first = names.first().copied().unwrap_or_default();
        refused(format!("preludes require each other in a circle: {} → {first}", names.join(" → ")))
            .hint(BREAK_UP)
    })
}

/// Walk that collects everything that exports of one prelude reach through others.
struct Walk<'p> {
    prelude: &'p Prelude,
    others: &'p [&'p Prelude],
    /// Exports of others by name; None for those that no prelude has.
    found: HashMap<Box<str>, Option<&'p ExportRecord>>,
    steps: usize,
}

impl<'p> Walk<'p> {
    /// Returns the record of an export with everything it reaches.
    fn reached(&mut self, index: usize) -> Result<ExportRecord, Diagnostic> {
        let exports = &self.prelude.manifest().exports;
        let own = &exports[index];
        let (mut requires, mut tools, mut data): (BTreeSet<&str>, BTreeSet<&str>, BTreeSet<&str>) =
            Default::default();
        let mut dynamic = false;
        let mut through = None;
        let (mut seen, mut queue) = (BTreeSet::from([index]), vec![index]);
        while let Some(at) = queue.pop() {
            for part in std::iter::once(Some(&exports[at])).chain(self.others_of(at)?) {
                let Some(part) = part else { continue };
                let size = 1 + part.requires.len() + part.tool_refs.len() + part.data_keys.len();
                self.steps = self.steps.checked_sub(size).ok_or_else(too_tangled)?;
                requires.extend(part.requires.iter().map(|id| &**id));
                tools.extend(part.tool_refs.iter().map(|name| &**name));
                data.extend(part.data_keys.iter().map(|key| &**key));
                dynamic |= part.dynamic;
                if !part.tool_refs.is_empty() {
                    through = through.or(Some(part));
                }
            }
            let uses = self.prelude.inner.uses.get(at).into_iter().flatten();
            let inside = uses.filter_map(|name| self.prelude.index(name));
            queue.extend(inside.filter(|next| seen.insert(*next)));
        }
        if let (Effects::Pure, Some(through)) = (own.effect, through) {
            let (name, other) = (own.reference(), through.reference());
            let message = format!("{name} says that it is pure, but it reaches tools through {other}");
            return Err(refused_as(Code::AuthorityMismatch, &message)
                .hint("compile its source again; if the new file is refused too, report it as a bug"));
        }
        let texts = |names: BTreeSet<&str>| names.into_iter().map(str::to_string).collect();
        Ok(ExportRecord {
            requires: texts(requires),
            tool_refs: texts(tools),
            data_keys: texts(data),
            dynamic,
            ..own.clone()
        })
    }

    /// Returns the exports of other preludes that an export of this one calls directly.
    fn others_of(&mut self, index: usize) -> Result<Vec<Option<&'p ExportRecord>>, Diagnostic> {
        let mut all = Vec::new();
        for name in self.prelude.inner.uses.get(index).into_iter().flatten() {
            self.steps = self.steps.checked_sub(1).ok_or_else(too_tangled)?;
            if self.prelude.index(name).is_some() {
                continue;
            }
            let others = self.others;
            let look = || others.iter().find_map(|other| other.export(name));
            let Some(export) = *self.found.entry(name.clone()).or_insert_with(look) else {
                let mine = self.prelude.shown_origin();
                return Err(refused(format!("{mine} uses `{name}`, which no attached prelude exports")));
            };
            all.push(Some(export));
        }
        Ok(all)
    }
}

fn refused(message: String) -> Diagnostic {
    let message = format!("prelude attach failed: {message}");
    Diagnostic::without_span(Code::PreludeAttachFailed, message).about(Subject::Attachment)
}

/// Makes a refusal whose message states its reason too, for places that show only the message.
fn refused_as(code: Code, message: &str) -> Diagnostic {
    Diagnostic { code, ..refused(format!("{}: {message}", code.reason())) }
}

fn too_tangled() -> Diagnostic {
    refused("what its exports use is too tangled to be checked".into())
}

/// Returns the start of a hash, by which people tell two apart.
fn short(hash: &[u8; 32]) -> String {
    hex(hash).chars().take(12).collect()
}
