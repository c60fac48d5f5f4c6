//! Compiled namespaces → the parts of a prelude file: one artifact, the facts on each export, and the
//! text of each definition that may be shown.

use super::constants;
use super::{Prelude, PreludeError};
use crate::host::Runtime;
use ptc_bytecode::{
    Authority, Code, Component, Const, Datum, Diagnostic, Effects, Export, ExportRecord, Join, Limits,
    Manifest, NamespaceRecord, PreludeFile, Reach, Target, verify_prelude,
};
use ptc_compiler::prelude::{self, CompiledDefinition, CompiledNamespace, Namespaces};
use sha2::{Digest, Sha256};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// One source, compiled, with the values of its constants.
#[derive(Clone)]
pub(super) struct Compiled {
    pub source: String,
    pub source_hash: [u8; 32],
    namespaces: Namespaces,
    /// The constants that are data, by `ns/name`.
    known: BTreeMap<String, Datum>,
    /// What each definition names of its own namespace.
    mentions: BTreeMap<String, BTreeSet<String>>,
}

impl Compiled {
    /// Compiles one source, and again as often as constants need each other.
    pub fn of(runtime: &Runtime, source: &str) -> Result<Compiled, PreludeError> {
        let limits = runtime.current_limits();
        let limit = Duration::from_millis(limits.compile_ms);
        let started = Instant::now();
        let stop = || started.elapsed() > limit;
        // A prelude has limits of its own; those of programs may be much smaller.
        let limits = Limits { compile_ms: limits.compile_ms, ..Limits::default() };
        let compile = |known: &BTreeMap<String, Datum>| prelude::compile(source, &limits, known, true, &stop);
        let mut known = BTreeMap::new();
        let mut namespaces = compile(&known)?;
        let mentions = namespaces.0.iter().flat_map(mentions).collect();
        let rounds: Vec<Vec<Vec<usize>>> =
            namespaces.0.iter().map(constants::rounds).collect::<Result<_, _>>()?;
        let most = rounds.iter().map(Vec::len).max().unwrap_or(0);
        if most > 0 {
            let library =
                constants::pure_library(runtime).map_err(|fault| PreludeError::new(fault.to_diagnostic()))?;
            let library = Arc::new(library);
            for round in 0..most {
                for (namespace, rounds) in namespaces.0.iter().zip(&rounds) {
                    let ready = rounds.get(round).map_or(&[][..], |ready| ready);
                    let values = constants::evaluate(namespace, ready, &known, &library)?;
                    for (index, value) in ready.iter().zip(values) {
                        let reference = namespace.definitions[*index].reference.clone();
                        known.extend(value.map(|value| (reference, value)));
                    }
                }
                if stop() {
                    let message =
                        "finding the constants took longer than the host allows (limits.compile_ms)";
                    return Err(PreludeError::new(Diagnostic::without_span(Code::CompileError, message)));
                }
            }
            namespaces = compile(&known)?;
        }
        let source_hash = Sha256::digest(source.as_bytes()).into();
        Ok(Compiled { source: source.to_string(), source_hash, namespaces, known, mentions })
    }

    /// The namespaces it declares, sorted.
    pub fn names(&self) -> Vec<String> {
        let mut names: Vec<String> = self.namespaces.0.iter().map(|n| n.record.name.clone()).collect();
        names.sort_unstable();
        names
    }
}

/// The definitions of a namespace with those each names.
fn mentions(namespace: &CompiledNamespace) -> Vec<(String, BTreeSet<String>)> {
    let definitions = &namespace.definitions;
    let is_own = |id: u32| (id as usize) < definitions.len();
    let mut reach = Reach::of(&namespace.artifact);
    let mut named = |i: usize| -> BTreeSet<String> {
        // The function and the closures inside it, then what those make.
        let inside = reach.functions([i as u32], |id| !is_own(id)).unwrap_or_default();
        let mut found = BTreeSet::new();
        for id in inside {
            let function = &namespace.artifact.functions[id as usize];
            let blocks =
                function.arities.iter().map(|arity| &namespace.artifact.blocks[arity.block as usize]);
            for op in blocks.flat_map(|block| &block.ops) {
                if let ptc_bytecode::Op::MakeClosure { code, .. } = *op
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

/// A prelude from compiled sources. `components` describes them if there are several.
pub(super) fn assemble(
    runtime: &Runtime,
    sources: &[Compiled],
    components: Vec<Component>,
    positions: bool,
) -> Result<Prelude, PreludeError> {
    let mut file = file_of(sources, components)?;
    if !positions {
        // They mean nothing to whoever runs a program.
        file.artifact.blocks.iter_mut().for_each(|block| block.spans.clear());
    }
    let file = file.sealed();
    let internal = |diagnostic: Diagnostic| PreludeError::new(diagnostic);
    // The same check that a file goes through: compiler and verifier are held against each other.
    let verified = verify_prelude(file).map_err(|mut problem| {
        if problem.code == Code::ArtifactLimitExceeded {
            problem.code = Code::CompileError;
            problem.hint = Some("split the prelude into several, or drop what nobody calls".to_string());
        }
        internal(problem)
    })?;
    Prelude::link(verified, runtime.library(), true).map_err(|fault| internal(fault.to_diagnostic()))
}

fn file_of(sources: &[Compiled], components: Vec<Component>) -> Result<PreludeFile, PreludeError> {
    let mut join = Join::default();
    let mut exports = Vec::new();
    let mut listed = Vec::new();
    let mut records: Vec<NamespaceRecord> = Vec::new();
    let mut rendered: BTreeMap<String, String> = BTreeMap::new();
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
                let record = facts.export(i, target).ok_or_else(too_tangled)?;
                rendered.insert(definition.reference.clone(), facts.text(i, Some(&record)));
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
    let manifest = Manifest {
        compiler: env!("CARGO_PKG_VERSION").to_string(),
        source_hash,
        namespaces: records,
        exports,
        components,
        ..Manifest::default()
    };
    let sources = Some(sources.iter().map(|source| source.source.clone()).collect());
    Ok(PreludeFile { manifest, artifact, sources, rendered: rendered.into_iter().collect() })
}

#[cold]
fn too_tangled() -> PreludeError {
    PreludeError::new(Diagnostic::without_span(
        Code::CompileError,
        "the definitions of this prelude are too tangled to be checked",
    ))
}

/// What is known of the definitions of one namespace.
struct Facts<'a> {
    namespace: &'a CompiledNamespace,
    source: &'a Compiled,
    reach: Reach,
    /// The helpers that public definitions lead to.
    helpers: BTreeSet<usize>,
}

impl<'a> Facts<'a> {
    fn of(namespace: &'a CompiledNamespace, source: &'a Compiled) -> Facts<'a> {
        Facts { namespace, source, reach: Reach::of(&namespace.artifact), helpers: BTreeSet::new() }
    }

    /// The record of a public definition.
    fn export(&mut self, i: usize, target: Target) -> Option<ExportRecord> {
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
        let inferred = match provider_ref.is_some() || !requires.is_empty() {
            true => Effects::Read,
            false => Effects::Unknown,
        };
        let texts = |names: BTreeSet<Box<str>>| names.into_iter().map(String::from).collect();
        Some(ExportRecord {
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
        })
    }

    fn find_helpers(&mut self) -> Option<()> {
        let definitions = &self.namespace.definitions;
        // What a constant of data was made with is not in the artifact.
        let is_root = |d: &CompiledDefinition| !d.private && !self.source.known.contains_key(&d.reference);
        let roots = definitions.iter().enumerate().filter(|(_, d)| is_root(d)).map(|(i, _)| i as u32);
        let reached = self.reach.functions(roots, |_| true)?;
        let is_helper = |id: &usize| definitions.get(*id).is_some_and(|d| d.private);
        self.helpers.extend(reached.into_iter().map(|id| id as usize).filter(is_helper));
        Some(())
    }

    /// The text of a definition: what it is, what it names, and the form itself.
    fn text(&self, i: usize, record: Option<&ExportRecord>) -> String {
        let definition = &self.namespace.definitions[i];
        let visibility = record.map_or("private", |record| record.visibility.name());
        let mut head = format!(";; {}: {visibility}", definition.reference);
        if let Some(record) = record.filter(|record| record.effect != Effects::Unknown) {
            head.push_str(&format!(", {}", record.effect.name()));
        }
        let is_rest = definition.params.iter().any(|params| params.iter().any(|name| name == "&"));
        let arities: Vec<String> = definition.params.iter().map(|params| params.len().to_string()).collect();
        match (definition.constant, is_rest) {
            (true, _) => head.push_str(", constant"),
            (false, true) => head.push_str(", variadic"),
            (false, false) => head.push_str(&format!(", arity {}", arities.join(" or "))),
        }
        head.push_str(" (effective)\n");
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
            head.push_str(&format!(";; uses {}\n", named.join(" ")));
        }
        head + &definition.rendered
    }
}
