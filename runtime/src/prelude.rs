//! Preludes: libraries in PTC-Lisp that a host compiles once and attaches to any number of runs.
//!
//! [`Prelude::compile`] turns source into an artifact, [`Prelude::load`] reads one compiled ahead of time, and
//! [`Runtime::attach`](crate::Runtime::attach) checks that a run is granted the prelude's requirements. Both ways go
//! through the same verifier.

mod assemble;
mod attach;
mod attached;
mod calls;
mod compose;
mod constants;
mod describe;
mod effects;
mod entries;
mod file;
mod input;
mod inventory;
mod narrow;
mod pin;
mod policy;
mod provenance;
mod signature;
mod store;
mod trace;
mod trust;
mod uses;

pub(crate) use attach::Surroundings;
pub use attach::{Attach, Known, Lookup, ToolIndex, Upstream};
pub(crate) use attached::Attached;
pub use attached::OfferedExport;
pub use compose::{CompileOptions, Origin, Selection};
pub use file::{LoadOptions, MAX_FILE_BYTES, Stale};
pub use input::{InputError, PreludeContent, PreludeInput};
pub use inventory::{Calls, Inventory};
pub use narrow::Keep;
pub use pin::ArtifactHash;
pub use policy::Policy;
pub use provenance::PreludeId;
pub(crate) use provenance::Standing;
pub use ptc_compiler::prelude::{Outline, PreludeError};
pub use signature::{Signing, TrustedKeys};
pub use store::{
    FrozenRef, Listed, Metadata, Past, PreludeStore, STORE_TOOLS, Seeded, Selected, StoreError, StoreLimits,
    StoreRef, Stored, ToStoreRef, Written,
};
pub use trace::{ComponentTrace, ExportTrace, PreludeTrace};
pub use trust::Provenance;
pub use uses::order_of;

use crate::catalog::Entry;
use ptc_bytecode::{
    Component, ExportRecord, Manifest, NamespaceRecord, PreludeFile, Returns, Target, VerifiedPrelude,
    Visibility, encode_prelude, hex,
};
use ptc_compiler::{Held, Interface, Shape};
use ptc_vm::{Fault, Frozen, Library, Module};
use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, OnceLock};

/// A compiled prelude, checked and linked. Cheap to clone; one serves every run on every thread.
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
pub struct Prelude {
    inner: Arc<Inner>,
    /// Place the host loaded it from.
    origin: Option<Arc<str>>,
    /// Exports with everything they reach through the preludes beside which it is attached, if it uses any.
    reached: Option<Arc<[ExportRecord]>>,
}

struct Inner {
    manifest: Manifest,
    sources: Option<Vec<String>>,
    rendered: Vec<(String, String)>,
    returns: Vec<(String, Returns)>,
    /// True if texts and return values are trusted to fit the code: a trusted party or this process vouches for them.
    is_believed: bool,
    /// True if the texts are those of the source inside; computed on first use.
    texts_fit: OnceLock<bool>,
    standing: Standing,
    module: Arc<Module>,
    /// Value of each export.
    values: Vec<Frozen>,
    by_name: HashMap<Box<str>, u32>,
    interface: Arc<Interface>,
    /// Required grants, each id once, with the index of the first export that needs it.
    needs: Vec<(u32, String)>,
    /// Exports of other namespaces that each export calls; empty if none calls any.
    uses: Vec<Vec<Box<str>>>,
    entries: OnceLock<Vec<Entry>>,
}

impl Prelude {
    /// Links a verified prelude.
    fn link(
        verified: VerifiedPrelude,
        library: &Library,
        is_believed: bool,
        standing: Standing,
    ) -> Result<Prelude, Fault> {
        let (code, PreludeFile { manifest, sources, rendered, returns, .. }) = verified.into_parts();
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
        let believed: &[_] = if is_believed { &returns } else { &[] };
        let interface = Arc::new(interface(&manifest.exports, &manifest.namespaces, believed, |_| true));
        let uses = calls::uses_of(&manifest, module.artifact());
        Ok(Prelude {
            inner: Arc::new(Inner {
                manifest,
                sources,
                rendered,
                returns,
                is_believed,
                texts_fit: OnceLock::new(),
                standing,
                module,
                values,
                by_name,
                interface,
                needs,
                uses,
                entries: OnceLock::new(),
            }),
            origin: None,
            reached: None,
        })
    }

    /// Sets the place the host loaded it from, such as a file name. Messages mention it; hashes and traces ignore it.
    ///
    /// ```
    /// # use ptc_runtime::{Attach, Prelude, Runtime};
    /// # let runtime = Runtime::with_core(ptc_preludes::core())?;
    /// let mine = Prelude::compile(&runtime, "(ns crm)")?.with_origin("mine/crm.clj");
    /// let yours = Prelude::compile(&runtime, "(ns crm)")?.with_origin("yours/crm.clj");
    /// let failure = runtime.attach(&mine, &Attach::new())?.attach(&yours, &Attach::new()).err().unwrap();
    /// assert!(failure.to_string().contains("both `mine/crm.clj` and `yours/crm.clj` declare it"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn with_origin(mut self, origin: impl Into<Arc<str>>) -> Prelude {
        self.origin = Some(origin.into());
        self
    }

    /// Returns the place the host loaded it from, if set.
    pub fn origin(&self) -> Option<&str> {
        self.origin.as_deref()
    }

    /// Returns its place for messages; without one, its hash, by which it can be found.
    pub(crate) fn shown_origin(&self) -> String {
        match self.origin() {
            Some(origin) => format!("`{origin}`"),
            None => format!("the prelude with artifact {}", &self.artifact_hash()[..12]),
        }
    }

    /// Returns its manifest.
    pub fn manifest(&self) -> &Manifest {
        &self.inner.manifest
    }

    /// Returns its namespaces, by name.
    pub fn namespaces(&self) -> &[NamespaceRecord] {
        &self.inner.manifest.namespaces
    }

    /// Returns its public exports, in the order of the source. Those of an attached prelude include everything they
    /// reach through the preludes it uses.
    pub fn exports(&self) -> &[ExportRecord] {
        self.reached.as_deref().unwrap_or(&self.inner.manifest.exports)
    }

    /// Returns the export a program calls by this name, such as `crm/get-user`.
    pub fn export(&self, reference: &str) -> Option<&ExportRecord> {
        self.index(reference).map(|index| &self.exports()[index])
    }

    fn index(&self, reference: &str) -> Option<usize> {
        self.inner.by_name.get(reference).map(|index| *index as usize)
    }

    /// Returns the parties that answer for its code, as far as this process knows; several for a composed prelude.
    pub fn provenance(&self) -> &[Provenance] {
        &self.inner.standing.provenance
    }

    /// Returns the return values of its functions, if they are trusted.
    fn believed_returns(&self) -> &[(String, Returns)] {
        if self.inner.is_believed { &self.inner.returns } else { &[] }
    }

    /// Returns the value of a constant that is data, by the name that programs write.
    pub(crate) fn constant(&self, reference: &str) -> Option<&Frozen> {
        let index = self.index(reference)?;
        let is_data = matches!(self.exports()[index].target, Target::Data(_));
        self.inner.values.get(index).filter(|_| is_data)
    }

    /// Returns its linked code.
    pub(crate) fn module(&self) -> &Arc<Module> {
        &self.inner.module
    }

    /// Returns the sources it was compiled from, if there were several.
    pub fn components(&self) -> &[Component] {
        &self.inner.manifest.components
    }

    /// Returns the source texts, if they are inside.
    pub fn sources(&self) -> Option<&[String]> {
        self.inner.sources.as_deref()
    }

    /// Returns the SHA-256 of the source in hexadecimal.
    pub fn source_hash(&self) -> String {
        hex(&self.inner.manifest.source_hash)
    }

    /// Returns the identity of the compiled artifact in hexadecimal.
    pub fn artifact_hash(&self) -> String {
        hex(&self.inner.manifest.artifact_hash())
    }

    /// Returns a hash that changes with the interface that programs see or with the requirements, in hexadecimal.
    pub fn interface_hash(&self) -> String {
        hex(&self.inner.manifest.interface_hash)
    }

    /// Returns a definition as `(source ns/name)` prints it: of an export, or of a helper an export leads to. An
    /// untrusted file shows a text only if the source inside it agrees.
    pub fn source_of(&self, reference: &str) -> Option<&str> {
        let rendered = &self.inner.rendered;
        let at = rendered.binary_search_by(|(name, _)| name.as_str().cmp(reference)).ok()?;
        self.shows_source().then(|| rendered[at].1.as_str())
    }

    /// True if the texts of definitions may be shown.
    fn shows_source(&self) -> bool {
        let fit = || {
            let sources = self.sources().unwrap_or_default();
            ptc_compiler::prelude::texts_fit(sources, self.exports(), &self.inner.rendered)
        };
        self.inner.is_believed || *self.inner.texts_fit.get_or_init(fit)
    }

    /// Encodes its `.ptcp` file, with its sources if it has them. Equal preludes give equal bytes on every machine.
    pub fn to_bytes(&self) -> Vec<u8> {
        encode_prelude(&self.to_file())
    }

    /// Returns the parts of its `.ptcp` file.
    pub fn to_file(&self) -> PreludeFile {
        PreludeFile {
            manifest: self.inner.manifest.clone(),
            artifact: self.inner.module.artifact().clone(),
            sources: self.inner.sources.clone(),
            rendered: self.inner.rendered.clone(),
            returns: self.inner.returns.clone(),
        }
    }

    /// Returns its code.
    pub fn artifact(&self) -> &ptc_bytecode::Artifact {
        self.inner.module.artifact()
    }

    /// True if no export needs any grant.
    pub fn is_pure(&self) -> bool {
        let is_pure = |export: &ExportRecord| export.requires.is_empty() && export.tool_refs.is_empty();
        self.exports().iter().all(is_pure) && (self.uses().is_empty() || self.reached.is_some())
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

/// Returns the compiler's view of the exports that `keep` lets through.
fn interface(
    exports: &[ExportRecord],
    namespaces: &[NamespaceRecord],
    returns: &[(String, Returns)],
    keep: impl Fn(usize) -> bool,
) -> Interface {
    let names: Vec<String> = exports.iter().map(ExportRecord::reference).collect();
    let shape = |name: &str, export: &ExportRecord| Shape {
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
        returns: match returns.binary_search_by(|(known, _)| known.as_str().cmp(name)) {
            Ok(at) => returns[at].1.clone(),
            Err(_) => Returns::default(),
        },
    };
    let exports = exports.iter().enumerate().filter(|(i, _)| keep(*i));
    Interface::new(
        namespaces.iter().map(|namespace| &*namespace.name),
        exports.map(|(i, export)| (&*names[i], shape(&names[i], export))),
    )
}

/// Returns the visibility of an export, narrowed by the host.
pub(crate) fn shown_as(export: &ExportRecord, keep: Keep) -> Option<Visibility> {
    match keep {
        Keep::Keep => Some(export.visibility),
        Keep::Discoverable => Some(Visibility::Discoverable),
        Keep::Hide => None,
    }
}
