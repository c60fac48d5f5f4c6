//! Assembly of compiled namespaces into the parts of a prelude file: one artifact, the facts on each export, and the
//! text of each definition that may be shown.

use super::parts::{CompiledDefinition, CompiledNamespace, Namespaces, PreludeError};
use super::used::Used;
use super::{texts, uses};
use crate::interface::Interface;
use ptc_bytecode::{
    Authority, Code, Component, Const, Datum, Diagnostic, Effects, Export, ExportRecord, Join, Manifest,
    NamespaceRecord, Op, PreludeFile, Reach, Returns, Target, used_export,
};
use sha2::{Digest, Sha256};
use std::collections::{BTreeMap, BTreeSet};

/// One compiled source, with the values of its constants.
#[derive(Clone, Debug)]
pub struct Compiled {
    source: String,
    source_hash: [u8; 32],
    namespaces: Namespaces,
    /// Constants that are data, by `ns/name`.
    known: BTreeMap<String, Datum>,
    /// Names of its own namespace that each definition uses.
    mentions: BTreeMap<String, BTreeSet<String>>,
}

impl Compiled {
    /// Makes it from the result of [`compile`](super::compile) on `source` before any constant is known. A source
    /// with constants then needs [`Compiled::with_constants`].
    pub fn new(source: &str, namespaces: Namespaces) -> Compiled {
        let mentions = namespaces.0.iter().flat_map(mentions).collect();
        let source_hash = Sha256::digest(source.as_bytes()).into();
        Compiled { source: source.to_string(), source_hash, namespaces, known: BTreeMap::new(), mentions }
    }

    /// Replaces it by the source compiled with the values of its constants.
    #[must_use]
    pub fn with_constants(self, namespaces: Namespaces, known: BTreeMap<String, Datum>) -> Compiled {
        Compiled { namespaces, known, ..self }
    }

    /// Returns its namespaces, in the order of the source.
    pub fn namespaces(&self) -> &[CompiledNamespace] {
        &self.namespaces.0
    }

    /// Returns the exports that other sources may use.
    pub fn interface(&self) -> Interface {
        let parts = self.namespaces.0.iter().map(|namespace| uses::interface_of(namespace, &self.known));
        parts.fold(Interface::default(), |all, part| all.beside(&part))
    }

    /// True if this constant is data that is known.
    pub(super) fn knows(&self, reference: &str) -> bool {
        self.known.contains_key(reference)
    }

    /// Returns the namespaces it declares, sorted.
    pub fn names(&self) -> Vec<String> {
        let mut names: Vec<String> = self.namespaces.0.iter().map(|n| n.record.name.clone()).collect();
        names.sort_unstable();
        names
    }
}

/// Builds the file of compiled sources, without its hashes. `components` describes the sources if there are
/// several, `used` the preludes they were compiled with.
///
/// ```
/// use ptc_compiler::prelude::{Compiled, compile, file_of};
/// let source = "(ns crm) (defn get-user [id] (tool/get_user {:id id}))";
/// let limits = ptc_bytecode::Limits::default();
/// let meter = ptc_compiler::Meter::new(&limits, &|| false);
/// let (known, used) = Default::default();
/// let namespaces = compile(source, &limits, &known, &used, true, &meter)?;
/// let file = file_of(&[Compiled::new(source, namespaces)], Vec::new(), &used)?.sealed();
/// assert_eq!(file.manifest.exports[0].requires, ["tool:get_user"]);
/// # Ok::<(), ptc_compiler::prelude::PreludeError>(())
/// ```
pub fn file_of(
    sources: &[Compiled],
    components: Vec<Component>,
    used: &Used,
) -> Result<PreludeFile, PreludeError> {
    let pure = uses::pure_of(sources, used);
    let mut join = Join::default();
    let mut exports = Vec::new();
    let mut listed = Vec::new();
    let mut records: Vec<NamespaceRecord> = Vec::new();
    let mut rendered: BTreeMap<String, String> = BTreeMap::new();
    let mut returns: BTreeMap<String, Returns> = BTreeMap::new();
    for source in sources {
        for namespace in &source.namespaces.0 {
            let mut facts = Facts::of(namespace, source);
            facts.find_helpers().ok_or_else(too_tangled)?;
            let is_data = |d: &CompiledDefinition| source.known.contains_key(&d.reference);
            let public = || namespace.definitions.iter().enumerate().filter(|(_, d)| !d.private);
            let roots: Vec<u32> = public().filter(|(_, d)| !is_data(d)).map(|(i, _)| i as u32).collect();
            let mut moved = join.add(&namespace.artifact, roots).into_iter();
            for (i, definition) in public() {
                let target = match source.known.get(&definition.reference) {
                    Some(datum) => Target::Data(join.constant(Const::Data(datum.clone()))),
                    None => {
                        let id = moved.next().unwrap_or_default();
                        let name = definition.reference.as_str().into();
                        listed.push(Export { name, function: id });
                        if definition.constant { Target::Made(id) } else { Target::Function(id) }
                    }
                };
                let (record, impure) = facts.export(i, target, &pure).ok_or_else(too_tangled)?;
                if record.effect == Effects::Pure && !impure.is_empty() {
                    return Err(not_pure(definition, &impure));
                }
                rendered.insert(definition.reference.clone(), facts.text(i, Some(&record)));
                if !record.is_constant() && !definition.returns.0.is_empty() {
                    returns.insert(definition.reference.clone(), definition.returns.clone());
                }
                exports.push(record);
            }
            for i in facts.helpers.clone() {
                let reference = namespace.definitions[i].reference.clone();
                let text = facts.text(i, None);
                rendered.insert(reference, text);
            }
            records.push(namespace.record.clone());
        }
    }
    records.sort_by(|a, b| a.name.cmp(&b.name));
    let mut artifact = join.finish();
    artifact.exports = listed;
    let source_hash = match (&components[..], sources) {
        ([], [only]) => only.source_hash,
        _ => Manifest::bundle_hash(&components),
    };
    let named = artifact.defs.iter().filter_map(|name| used_export(name)?.split('/').next());
    let is_own = |space: &&str| records.iter().any(|record| record.name == **space);
    let named: BTreeSet<&str> = named.filter(|space| !is_own(space)).collect();
    let uses = named.iter().filter_map(|space| used.record(space).cloned()).collect();
    let manifest = Manifest {
        uses,
        compiler: env!("CARGO_PKG_VERSION").to_string(),
        source_hash,
        namespaces: records,
        exports,
        components,
        ..Manifest::default()
    };
    let sources = Some(sources.iter().map(|source| source.source.clone()).collect());
    let (rendered, returns) = (rendered.into_iter().collect(), returns.into_iter().collect());
    Ok(PreludeFile { manifest, artifact, sources, rendered, returns })
}

/// Returns the definitions of a namespace with the ones that each names.
fn mentions(namespace: &CompiledNamespace) -> Vec<(String, BTreeSet<String>)> {
    let definitions = &namespace.definitions;
    let is_own = |id: u32| (id as usize) < definitions.len();
    let mut reach = Reach::of(&namespace.artifact);
    let mut named = |i: usize| -> BTreeSet<String> {
        // The function and the closures inside it, then the functions those make.
        let inside = reach.functions([i as u32], |id| !is_own(id)).unwrap_or_default();
        let mut found = BTreeSet::new();
        for id in inside {
            let function = &namespace.artifact.functions[id as usize];
            let blocks =
                function.arities.iter().map(|arity| &namespace.artifact.blocks[arity.block as usize]);
            for op in blocks.flat_map(|block| &block.ops) {
                if let Op::MakeClosure { code, .. } = *op
                    && is_own(code)
                {
                    found.insert(definitions[code as usize].reference.clone());
                }
            }
        }
        found.remove(&definitions[i].reference);
        found
    };
    (0..definitions.len()).map(|i| (definitions[i].reference.clone(), named(i))).collect()
}

#[cold]
fn not_pure(definition: &CompiledDefinition, impure: &[String]) -> PreludeError {
    let message = format!("{} says :effect :pure, but it calls {}", definition.reference, impure.join(", "));
    let problem = Diagnostic::error(Code::InvalidMetadata, definition.span, message);
    PreludeError::of(&definition.reference, problem.hint("write :effect :read or :write, or leave it out"))
}

#[cold]
fn too_tangled() -> PreludeError {
    PreludeError::new(Diagnostic::without_span(
        Code::CompileError,
        "the definitions of this prelude are too tangled to be checked",
    ))
}

/// Facts on the definitions of one namespace.
struct Facts<'a> {
    namespace: &'a CompiledNamespace,
    source: &'a Compiled,
    reach: Reach,
    /// Helpers that public definitions lead to.
    helpers: BTreeSet<usize>,
}

impl<'a> Facts<'a> {
    fn of(namespace: &'a CompiledNamespace, source: &'a Compiled) -> Facts<'a> {
        Facts { namespace, source, reach: Reach::of(&namespace.artifact), helpers: BTreeSet::new() }
    }

    /// Returns the record of a public definition, and its callees that are not known to be pure.
    fn export(
        &mut self,
        i: usize,
        target: Target,
        pure: &BTreeSet<String>,
    ) -> Option<(ExportRecord, Vec<String>)> {
        let definition = &self.namespace.definitions[i];
        let own = self.namespace.definitions.len() as u32;
        let (all, inside) = match target {
            Target::Data(_) => (Authority::default(), Authority::default()),
            _ => ((*self.reach.whole(i as u32)?).clone(), self.reach.from(i as u32, |id| id >= own)?),
        };
        let metadata = &definition.metadata;
        let mut requires = all.requires();
        requires.extend(metadata.requires.iter().cloned());
        requires.sort_unstable();
        requires.dedup();
        let mut upstream = inside.upstream.iter();
        let only = upstream.next().filter(|_| upstream.next().is_none());
        let provider_ref = metadata
            .provider_ref
            .clone()
            .or_else(|| only.map(|(server, tool)| format!("upstream:{server}/{tool}")));
        let called = all.tools.iter().map(|name| format!("tool/{name}"));
        let used = all.uses.iter().filter(|name| !pure.contains(&***name)).map(|name| name.to_string());
        let impure: Vec<String> = called.chain(used).collect();
        // Effects of tools are known later; here, only their absence is certain.
        let inferred = if impure.is_empty() { Effects::Pure } else { Effects::Unknown };
        let texts = |names: BTreeSet<Box<str>>| names.into_iter().map(String::from).collect();
        let record = ExportRecord {
            namespace: self.namespace.record.name.clone(),
            symbol: definition.name.clone(),
            params: definition.params.clone(),
            doc: definition.doc.clone(),
            visibility: metadata.visibility.unwrap_or(self.namespace.record.visibility),
            effect: metadata.effect.unwrap_or(inferred),
            provider_ref,
            requires,
            tool_refs: texts(all.tools),
            dynamic: all.dynamic,
            data_keys: texts(all.data),
            target,
        };
        Some((record, impure))
    }

    fn find_helpers(&mut self) -> Option<()> {
        let definitions = &self.namespace.definitions;
        // The code that made a constant of data is not in the artifact.
        let is_root = |d: &CompiledDefinition| !d.private && !self.source.known.contains_key(&d.reference);
        let roots = definitions.iter().enumerate().filter(|(_, d)| is_root(d)).map(|(i, _)| i as u32);
        let reached = self.reach.functions(roots, |_| true)?;
        let is_helper = |id: &usize| definitions.get(*id).is_some_and(|d| d.private);
        self.helpers.extend(reached.into_iter().map(|id| id as usize).filter(is_helper));
        Some(())
    }

    /// Formats the text of a definition: its kind, the names it uses, and the form itself.
    fn text(&self, i: usize, record: Option<&ExportRecord>) -> String {
        let definition = &self.namespace.definitions[i];
        let mut head = texts::heading(definition, record);
        let is_shown = |reference: &&String| {
            let at = self.namespace.definitions.iter().position(|d| d.reference == **reference);
            at.is_some_and(|at| !self.namespace.definitions[at].private || self.helpers.contains(&at))
        };
        let named = self.source.mentions.get(&definition.reference);
        let named: Vec<String> = named
            .into_iter()
            .flatten()
            .filter(is_shown)
            .map(|reference| format!("(source {reference})"))
            .collect();
        if !named.is_empty() {
            head.push_str(&format!("{}{}\n", texts::USES, named.join(" ")));
        }
        head + &definition.rendered
    }
}
