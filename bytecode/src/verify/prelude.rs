//! Checks the manifest of a prelude file against its code.
//!
//! The manifest is a claim, never the source of truth: everything that follows from the bytecode is recomputed, and a
//! file that differs is refused.

use super::report::{invalid, quoted};
use super::texts::{check_code, check_returns, check_texts};
use super::uses::uses;
use super::{Verified, verify};
use crate::artifact::{Artifact, Const};
use crate::authority::{Authority, Reach};
use crate::builtins::lookup;
use crate::codes::Code;
use crate::diag::Diagnostic;
use crate::encode::PreludeFile;
use crate::fingerprint::abi;
use crate::manifest::{Effects, ExportRecord, ImportRecord, Manifest, Target, Totals};
use crate::namespaces::{is_definition_name, is_namespace_name, reserved_namespace};
use crate::returns::Returns;
use sha2::{Digest, Sha256};
use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::rc::Rc;

/// Maximum constants of a prelude.
const MAX_CONSTANTS: usize = 65_535;
const MAX_FUNCTIONS: usize = 4_096;
const MAX_INSTRUCTIONS: usize = 1 << 20;
const MAX_EXPORTS: usize = 4_096;
/// Maximum length of a doc string in bytes.
const MAX_DOC: usize = 16 << 10;

/// A prelude that was checked and may be linked. Only [`verify_prelude`] makes one.
#[derive(Clone, Debug)]
pub struct VerifiedPrelude {
    /// Manifest, which was found true.
    pub manifest: Manifest,
    /// Sources, if the file holds them.
    pub sources: Option<Vec<String>>,
    /// Definitions as `source` prints them, by `ns/name`. Their agreement with the code cannot be checked.
    pub rendered: Vec<(String, String)>,
    /// Return values of exports, by `ns/name`. Their agreement with the code cannot be checked.
    pub returns: Vec<(String, Returns)>,
    verified: Verified,
}

impl VerifiedPrelude {
    /// Returns the verified code.
    pub fn code(&self) -> &Verified {
        &self.verified
    }

    /// Splits into the verified code and the rest, a file whose artifact is empty.
    pub fn into_parts(self) -> (Verified, PreludeFile) {
        let VerifiedPrelude { manifest, sources, rendered, returns, verified } = self;
        (verified, PreludeFile { manifest, artifact: Artifact::default(), sources, rendered, returns })
    }
}

/// Checks a prelude; the error says which rule it breaks and where.
///
/// ```
/// use ptc_bytecode::{Code, PreludeFile, verify_prelude};
/// let error = verify_prelude(PreludeFile::default()).unwrap_err();
/// assert_eq!(error.code, Code::AbiMismatch);
/// ```
pub fn verify_prelude(file: PreludeFile) -> Result<VerifiedPrelude, Diagnostic> {
    let PreludeFile { manifest, artifact, sources, rendered, returns } = file;
    if manifest.abi != abi() {
        return Err(invalid(
            Code::AbiMismatch,
            format!(
                "its manifest names instruction set {:08x}, but this version of ptc runs {:08x}",
                manifest.abi,
                abi()
            ),
        ));
    }
    sizes(&manifest, &artifact)?;
    check_texts(&manifest)?;
    check_code(&artifact, &rendered)?;
    check_returns(&returns)?;
    imports(&manifest, &artifact)?;
    let verified = verify(artifact)?;
    let artifact = verified.artifact();
    if artifact.entry.is_some() {
        return Err(invalid(Code::BadFunction, "a prelude has no program"));
    }
    namespaces(&manifest)?;
    exports(&manifest, artifact)?;
    uses(&manifest, artifact)?;
    authority(&manifest, artifact)?;
    if manifest.totals != totals(artifact) {
        return Err(invalid(Code::BadFunction, "its manifest counts the code wrongly"));
    }
    if manifest.interface_hash != manifest.computed_interface_hash() {
        return Err(invalid(Code::BadExport, "its interface does not match its hash"));
    }
    origins(&manifest, sources.as_deref())?;
    definitions(&manifest, artifact, &rendered)?;
    results(&manifest, &returns)?;
    Ok(VerifiedPrelude { manifest, sources, rendered, returns, verified })
}

fn sizes(manifest: &Manifest, artifact: &Artifact) -> Result<(), Diagnostic> {
    let instructions = artifact.blocks.iter().map(|block| block.ops.len()).sum();
    for (what, found, most) in [
        ("constants", artifact.consts.len(), MAX_CONSTANTS),
        ("functions", artifact.functions.len(), MAX_FUNCTIONS),
        ("instructions", instructions, MAX_INSTRUCTIONS),
        ("exports", manifest.exports.len(), MAX_EXPORTS),
    ] {
        if found > most {
            let message = format!("it has {found} {what}, but a prelude may have at most {most}");
            return Err(invalid(Code::ArtifactLimitExceeded, message));
        }
    }
    let docs = manifest.exports.iter().map(|export| &export.doc);
    let docs = docs.chain(manifest.namespaces.iter().map(|namespace| &namespace.doc));
    if docs.flatten().any(|doc| doc.len() > MAX_DOC) {
        return Err(invalid(Code::BadConstant, format!("a doc string is longer than {MAX_DOC} bytes")));
    }
    Ok(())
}

/// Computes the size of the code.
pub(crate) fn totals(artifact: &Artifact) -> Totals {
    Totals {
        registers: artifact.blocks.iter().map(|block| block.regs).max().unwrap_or(0),
        functions: artifact.functions.len() as u32,
        instructions: artifact.blocks.iter().map(|block| block.ops.len()).sum::<usize>() as u32,
        constants: artifact.consts.len() as u32,
    }
}

/// Lists every import with its present argument counts, sorted, as a manifest does.
pub(crate) fn import_records(artifact: &Artifact) -> Vec<ImportRecord> {
    let row = |name: &str| lookup(name).and_then(|id| id.row());
    let mut records: Vec<ImportRecord> = artifact
        .imports
        .iter()
        .map(|name| ImportRecord {
            name: name.to_string(),
            min: row(name).map_or(0, |row| row.min),
            max: row(name).and_then(|row| row.max),
        })
        .collect();
    records.sort_by(|a, b| a.name.cmp(&b.name));
    records
}

fn imports(manifest: &Manifest, artifact: &Artifact) -> Result<(), Diagnostic> {
    let listed: Vec<&str> = manifest.imports.iter().map(|import| &*import.name).collect();
    let mut used: Vec<&str> = artifact.imports.iter().map(|name| &**name).collect();
    used.sort_unstable();
    if listed != used || listed.windows(2).any(|pair| pair[0] == pair[1]) {
        return Err(invalid(Code::BadFunction, "its manifest lists other builtins than its code"));
    }
    // Mutable places are for the core library: a prelude has no state.
    const STATE: &[&str] = &["%state", "%held", "%hold!", "%hold-if-own!"];
    let is_missing = |import: &&ImportRecord| {
        STATE.contains(&&*import.name)
            || lookup(&import.name).and_then(|id| id.row()).is_none_or(|row| {
                let covers_most = row.max.is_none() || import.max.is_some_and(|max| row.max >= Some(max));
                row.min > import.min || !covers_most
            })
    };
    let missing: Vec<String> =
        manifest.imports.iter().filter(is_missing).take(8).map(|import| quoted(&import.name)).collect();
    if missing.is_empty() {
        return Ok(());
    }
    Err(super::report::stale(format!(
        "it needs builtins that this version of ptc does not have, or that take other arguments: {}",
        missing.join(", ")
    )))
}

fn namespaces(manifest: &Manifest) -> Result<(), Diagnostic> {
    let names: Vec<&str> = manifest.namespaces.iter().map(|namespace| &*namespace.name).collect();
    if names.is_empty() || names.windows(2).any(|pair| pair[0] >= pair[1]) {
        return Err(invalid(Code::BadExport, "its namespaces are not listed once each, in order"));
    }
    for name in names {
        if !is_namespace_name(name) {
            return Err(invalid(Code::BadExport, format!("{} cannot be a namespace", quoted(name))));
        }
        if let Some(why) = reserved_namespace(name) {
            return Err(invalid(
                Code::BadExport,
                format!("it declares the namespace {}: {why}", quoted(name)),
            ));
        }
    }
    Ok(())
}

fn exports(manifest: &Manifest, artifact: &Artifact) -> Result<(), Diagnostic> {
    let mut seen = HashSet::new();
    let mut functions = artifact.exports.iter();
    for export in &manifest.exports {
        let name = export.reference();
        let wrong = |what: String| Err(invalid(Code::BadExport, format!("export {} {what}", quoted(&name))));
        let spaces = &manifest.namespaces;
        if spaces.binary_search_by(|space| space.name.as_str().cmp(&export.namespace)).is_err() {
            return wrong("is in a namespace that is not declared".into());
        }
        if !is_definition_name(&export.symbol) {
            return wrong("has a name that cannot be one".into());
        }
        if !seen.insert(name.clone()) {
            return wrong("is listed twice".into());
        }
        if let Some(what) = wrong_target(export, artifact) {
            return wrong(what);
        }
        if let Target::Function(id) | Target::Made(id) = export.target {
            let listed = functions.next();
            if listed.is_none_or(|listed| *listed.name != *name || listed.function != id) {
                return wrong("is listed differently in its code".into());
            }
        }
    }
    match functions.next() {
        None => Ok(()),
        Some(extra) => Err(invalid(
            Code::BadExport,
            format!("its code exports {}, its manifest does not", quoted(&extra.name)),
        )),
    }
}

/// Describes why an export is not the definition it claims to be, if so.
fn wrong_target(export: &ExportRecord, artifact: &Artifact) -> Option<String> {
    let arities = |id: u32| artifact.functions.get(id as usize).map(|function| &function.arities);
    match export.target {
        Target::Function(id) => {
            let Some(arities) = arities(id) else {
                return Some(format!("is function {id}, which does not exist"));
            };
            let is_same = |(params, arity): (&Vec<String>, &crate::artifact::Arity)| {
                let rest = params.iter().position(|name| name == "&");
                let has_rest = rest.is_some_and(|at| at + 2 == params.len());
                let required = rest.unwrap_or(params.len());
                (rest.is_none() || has_rest)
                    && required == usize::from(arity.required)
                    && has_rest == arity.rest
            };
            // Arities of the code are sorted; those of the manifest are in source order.
            let mut params: Vec<&Vec<String>> = export.params.iter().collect();
            params.sort_by_key(|params| {
                let rest = params.iter().position(|name| name == "&");
                (rest.is_some(), rest.unwrap_or(params.len()))
            });
            let same = params.len() == arities.len() && params.into_iter().zip(arities).all(is_same);
            (!same).then(|| "takes other arguments than its code".into())
        }
        Target::Made(id) => {
            let is_maker = arities(id)
                .is_some_and(|arities| matches!(&arities[..], [only] if only.required == 0 && !only.rest));
            (!is_maker || !export.params.is_empty())
                .then(|| "is a constant, but its code takes arguments".into())
        }
        Target::Data(id) => {
            let is_data = artifact.consts.get(id as usize).is_some_and(|c| !matches!(c, Const::Keys(_)));
            (!is_data || !export.params.is_empty()).then(|| format!("is constant {id}, which is not a value"))
        }
    }
}

fn authority(manifest: &Manifest, artifact: &Artifact) -> Result<(), Diagnostic> {
    let mut reach = Reach::of(artifact);
    for export in &manifest.exports {
        let found = match export.target {
            Target::Function(id) | Target::Made(id) => reach.whole(id),
            Target::Data(_) => Some(Rc::new(Authority::default())),
        };
        let Some(found) = found else {
            return Err(invalid(Code::ArtifactLimitExceeded, "its functions are too tangled to be checked"));
        };
        let name = quoted(&export.reference());
        let wrong = |what: String| Err(invalid(Code::AuthorityMismatch, format!("export {name} {what}")));
        let same = |listed: &[String], real: &BTreeSet<Box<str>>| {
            listed.len() == real.len() && listed.iter().zip(real).all(|(a, b)| **a == **b)
        };
        if !same(&export.tool_refs, &found.tools) {
            let tools: Vec<&str> = found.tools.iter().map(|name| &**name).collect();
            return wrong(format!("says it calls {:?}, but its code calls {tools:?}", export.tool_refs));
        }
        if export.effect == Effects::Pure && !found.tools.is_empty() {
            return wrong("says it is pure, but its code calls tools".into());
        }
        if export.dynamic != found.dynamic {
            return wrong("says wrongly whether its calls are known before the run".into());
        }
        if !same(&export.data_keys, &found.data) {
            return wrong("reads other data than it says".into());
        }
        if !export.requires.windows(2).all(|pair| pair[0] < pair[1]) {
            return wrong("lists what it requires out of order".into());
        }
        if let Some(id) = found.requires().iter().find(|id| export.requires.binary_search(id).is_err()) {
            return wrong(format!("does not say that it requires {}", quoted(id)));
        }
    }
    Ok(())
}

fn origins(manifest: &Manifest, sources: Option<&[String]>) -> Result<(), Diagnostic> {
    let wrong = |what: &str| Err(invalid(Code::SourceMismatch, what));
    if !manifest.components.is_empty() {
        let mut claimed: Vec<&String> = manifest.components.iter().flat_map(|c| &c.namespaces).collect();
        claimed.sort_unstable();
        let declared: Vec<&String> = manifest.namespaces.iter().map(|namespace| &namespace.name).collect();
        if claimed != declared {
            return wrong("its components declare other namespaces than it has");
        }
        if manifest.source_hash != Manifest::bundle_hash(&manifest.components) {
            return wrong("its source hash is not that of its components");
        }
    }
    let Some(sources) = sources else { return Ok(()) };
    let hash = |source: &String| -> [u8; 32] { Sha256::digest(source.as_bytes()).into() };
    let expected: Vec<[u8; 32]> = match manifest.components.is_empty() {
        true => vec![manifest.source_hash],
        false => manifest.components.iter().map(|component| component.source_hash).collect(),
    };
    match sources.iter().map(hash).collect::<Vec<_>>() == expected {
        true => Ok(()),
        false => wrong("the source inside is not the one it was compiled from"),
    }
}

/// Checks that only exports, and the functions they lead to, have a definition text.
fn definitions(
    manifest: &Manifest,
    artifact: &Artifact,
    rendered: &[(String, String)],
) -> Result<(), Diagnostic> {
    if rendered.windows(2).any(|pair| pair[0].0 >= pair[1].0) {
        return Err(invalid(Code::SourceMismatch, "its definitions are not listed once each, in order"));
    }
    let exports: BTreeMap<String, ()> = manifest.exports.iter().map(|e| (e.reference(), ())).collect();
    let functions: HashSet<&str> = artifact.functions.iter().filter_map(|f| f.name.as_deref()).collect();
    for (name, _) in rendered {
        if !exports.contains_key(name) && !functions.contains(&**name) {
            let message = format!("it has a text for {}, which no export leads to", quoted(name));
            return Err(invalid(Code::SourceMismatch, message));
        }
    }
    Ok(())
}

/// Checks that only exports have a return value, each one.
fn results(manifest: &Manifest, returns: &[(String, Returns)]) -> Result<(), Diagnostic> {
    if returns.windows(2).any(|pair| pair[0].0 >= pair[1].0) {
        return Err(invalid(Code::BadExport, "its results are not listed once each, in order"));
    }
    let functions = manifest.exports.iter().filter(|export| !export.is_constant());
    let functions: HashSet<String> = functions.map(ExportRecord::reference).collect();
    for (name, returns) in returns {
        if !functions.contains(name) {
            let message =
                format!("it describes what {} returns, which is not one of its functions", quoted(name));
            return Err(invalid(Code::BadExport, message));
        }
        if !returns.is_sound() {
            let message = format!("its description of what {} returns is invalid", quoted(name));
            return Err(invalid(Code::BadExport, message));
        }
    }
    Ok(())
}

impl PreludeFile {
    /// Fills in the derived fields: instruction set, hashes, imports, totals.
    #[must_use]
    pub fn sealed(mut self) -> PreludeFile {
        self.manifest.abi = abi();
        self.manifest.imports = import_records(&self.artifact);
        self.manifest.totals = totals(&self.artifact);
        self.manifest.interface_hash = self.manifest.computed_interface_hash();
        self.manifest.code_hash = Sha256::digest(crate::encode::code_bytes(&self.artifact)).into();
        self
    }
}
