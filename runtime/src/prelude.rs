//! Preludes: libraries in PTC-Lisp that a host compiles once and attaches to any number of runs.
//!
//! [`Prelude::compile`] turns source into an artifact, [`Prelude::load`] reads one that was compiled
//! ahead of time, and [`Runtime::attach`](crate::Runtime::attach) checks that a run is granted what the
//! prelude needs. Both ways lead through the same verifier.

mod assemble;
mod attach;
mod compose;
mod constants;
mod describe;
mod effects;
mod entries;
mod file;
mod inventory;
mod narrow;
mod provenance;
mod signature;
mod store;
mod trace;
mod trust;

pub use attach::{Attach, Known, Lookup, Upstream};
pub(crate) use attach::{Attached, Surroundings};
pub use compose::{Origin, Selection};
pub use file::{LoadOptions, MAX_FILE_BYTES, Stale};
pub use inventory::{Calls, Inventory};
pub use narrow::Keep;
pub use provenance::PreludeId;
pub(crate) use provenance::Standing;
pub use ptc_compiler::prelude::PreludeError;
pub use signature::{Signing, TrustedKeys};
pub use store::{
    FrozenRef, Listed, Metadata, Past, PreludeStore, STORE_TOOLS, Seeded, Selected, StoreError, StoreLimits,
    StoreRef, Stored, ToStoreRef, Written,
};
pub use trace::{ComponentTrace, ExportTrace, PreludeTrace};
pub use trust::Provenance;

use crate::catalog::Entry;
use ptc_bytecode::{
    Component, ExportRecord, Manifest, NamespaceRecord, PreludeFile, Target, VerifiedPrelude, Visibility,
    encode_prelude, hex,
};
use ptc_compiler::{Held, Interface, Shape};
use ptc_vm::{Fault, Frozen, Library, Module};
use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, OnceLock};

/// A compiled prelude, checked and linked. Cheap to clone; the same one serves every run on every
/// thread.
///
/// ```
/// use ptc_runtime::{Attach, Grants, Prelude, Runtime, Tools};
/// let runtime = Runtime::with_core(ptc_preludes::core())?;
/// let prelude = Prelude::compile(&runtime, r#"
///     (ns crm "CRM helpers." {:visibility :prompt})
///     (defn- clean [id] (trim (str id)))
///     (defn get-user "Return a CRM user by id." [id]
///       (tool/call {:server "crm" :tool "get_user" :args {:id (clean id)}}))
/// "#)?;
/// assert_eq!(prelude.exports()[0].requires, ["upstream:crm/get_user"]);
///
/// let tools = Tools::new().with("call", |_| Ok(std::collections::BTreeMap::from([("ok", true)])));
/// let runtime = runtime.with_tools(tools).attach(&prelude, &Attach::new())?;
/// let found = runtime.eval("(:ok (crm/get-user \" 7 \"))", &Grants::new())?;
/// assert_eq!(found.print()?, "true");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct Prelude(Arc<Inner>);

struct Inner {
    manifest: Manifest,
    sources: Option<Vec<String>>,
    rendered: Vec<(String, String)>,
    /// True if the rendered text is known to belong to the code.
    shows_source: bool,
    standing: Standing,
    module: Arc<Module>,
    /// The value of each export.
    values: Vec<Frozen>,
    by_name: HashMap<Box<str>, u32>,
    interface: Arc<Interface>,
    /// What must be granted, each id once, with the first export that needs it.
    needs: Vec<(u32, String)>,
    entries: OnceLock<Vec<Entry>>,
}

impl Prelude {
    /// Links what was verified.
    fn link(
        verified: VerifiedPrelude,
        library: &Library,
        shows_source: bool,
        standing: Standing,
    ) -> Result<Prelude, Fault> {
        let (code, PreludeFile { manifest, sources, rendered, .. }) = verified.into_parts();
        let module = Module::link(code, library)?;
        let ids: Vec<u32> = manifest.exports.iter().filter_map(function_of).collect();
        let mut functions = module.functions(&ids)?.into_iter();
        let mut values = Vec::with_capacity(manifest.exports.len());
        let mut by_name = HashMap::with_capacity(manifest.exports.len());
        let mut needs: Vec<(u32, String)> = Vec::new();
        let mut needed = std::collections::HashSet::new();
        for (i, export) in manifest.exports.iter().enumerate() {
            let value = match export.target {
                Target::Data(id) => module.constant(id),
                Target::Function(_) | Target::Made(_) => functions.next(),
            };
            values.push(
                value.ok_or_else(|| Fault::new(ptc_bytecode::Code::BadExport, "an export has no value"))?,
            );
            by_name.insert(export.reference().into(), i as u32);
            for id in &export.requires {
                if needed.insert(id) {
                    needs.push((i as u32, id.clone()));
                }
            }
        }
        let interface = Arc::new(interface(&manifest, |_| true));
        Ok(Prelude(Arc::new(Inner {
            manifest,
            sources,
            rendered,
            shows_source,
            standing,
            module,
            values,
            by_name,
            interface,
            needs,
            entries: OnceLock::new(),
        })))
    }

    /// What it says about itself.
    pub fn manifest(&self) -> &Manifest {
        &self.0.manifest
    }

    /// Its namespaces, by name.
    pub fn namespaces(&self) -> &[NamespaceRecord] {
        &self.0.manifest.namespaces
    }

    /// Its public exports, in the order of the source.
    pub fn exports(&self) -> &[ExportRecord] {
        &self.0.manifest.exports
    }

    /// The export a program calls by this name, such as `crm/get-user`.
    pub fn export(&self, reference: &str) -> Option<&ExportRecord> {
        self.index(reference).map(|index| &self.exports()[index])
    }

    fn index(&self, reference: &str) -> Option<usize> {
        self.0.by_name.get(reference).map(|index| *index as usize)
    }

    /// Who answers for its code, as far as this process knows; several for one that was composed of several.
    pub fn provenance(&self) -> &[Provenance] {
        &self.0.standing.provenance
    }

    /// Its linked code.
    pub(crate) fn module(&self) -> &Arc<Module> {
        &self.0.module
    }

    /// The sources it was made of, if there were several.
    pub fn components(&self) -> &[Component] {
        &self.0.manifest.components
    }

    /// The source texts, if they are inside.
    pub fn sources(&self) -> Option<&[String]> {
        self.0.sources.as_deref()
    }

    /// SHA-256 of the source, in hexadecimal.
    pub fn source_hash(&self) -> String {
        hex(&self.0.manifest.source_hash)
    }

    /// The identity of the compiled artifact, in hexadecimal.
    pub fn artifact_hash(&self) -> String {
        hex(&self.0.manifest.artifact_hash())
    }

    /// Changes when what programs see or what is needed changes; in hexadecimal.
    pub fn interface_hash(&self) -> String {
        hex(&self.0.manifest.interface_hash)
    }

    /// A definition as `(source ns/name)` shows it: of an export, or of a helper an export leads to.
    pub fn source_of(&self, reference: &str) -> Option<&str> {
        if !self.0.shows_source {
            return None;
        }
        let rendered = &self.0.rendered;
        let at = rendered.binary_search_by(|(name, _)| name.as_str().cmp(reference)).ok()?;
        Some(&rendered[at].1)
    }

    /// The bytes of its `.ptcp` file, with its sources if it has them. The same prelude gives the same
    /// bytes everywhere.
    pub fn to_bytes(&self) -> Vec<u8> {
        encode_prelude(&self.to_file())
    }

    /// The parts of its `.ptcp` file.
    pub fn to_file(&self) -> PreludeFile {
        PreludeFile {
            manifest: self.0.manifest.clone(),
            artifact: self.0.module.artifact().clone(),
            sources: self.0.sources.clone(),
            rendered: self.0.rendered.clone(),
        }
    }

    /// Its code.
    pub fn artifact(&self) -> &ptc_bytecode::Artifact {
        self.0.module.artifact()
    }

    /// Whether no export needs anything of the host.
    pub fn is_pure(&self) -> bool {
        self.exports().iter().all(|export| export.requires.is_empty() && export.tool_refs.is_empty())
    }
}

impl fmt::Debug for Prelude {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<&str> = self.namespaces().iter().map(|namespace| &*namespace.name).collect();
        f.debug_struct("Prelude").field("namespaces", &names).field("exports", &self.exports().len()).finish()
    }
}

fn function_of(export: &ExportRecord) -> Option<u32> {
    match export.target {
        Target::Function(id) | Target::Made(id) => Some(id),
        Target::Data(_) => None,
    }
}

/// What the compiler needs to know of the exports `keep` lets through.
fn interface(manifest: &Manifest, keep: impl Fn(usize) -> bool) -> Interface {
    let names: Vec<String> = manifest.exports.iter().map(ExportRecord::reference).collect();
    let shape = |export: &ExportRecord| Shape {
        constant: match export.target {
            Target::Function(_) => None,
            Target::Data(_) => Some(Held::Value),
            Target::Made(_) => Some(Held::Made),
        },
        arities: export
            .params
            .iter()
            .map(|params| match params.iter().position(|name| name == "&") {
                Some(rest) => (rest as u8, true),
                None => (params.len() as u8, false),
            })
            .collect(),
        tools: export.tool_refs.iter().map(|name| name.as_str().into()).collect(),
    };
    let exports = manifest.exports.iter().enumerate().filter(|(i, _)| keep(*i));
    Interface::new(
        manifest.namespaces.iter().map(|namespace| &*namespace.name),
        exports.map(|(i, export)| (&*names[i], shape(export))),
    )
}

/// How an export is shown, after the host had its say.
pub(crate) fn shown_as(export: &ExportRecord, keep: Keep) -> Option<Visibility> {
    match keep {
        Keep::Keep => Some(export.visibility),
        Keep::Discoverable => Some(Visibility::Discoverable),
        Keep::Hide => None,
    }
}
