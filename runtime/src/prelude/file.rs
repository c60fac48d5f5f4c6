//! `.ptcp` files: loading them, and compiling anew what cannot be loaded.

use super::assemble::{assemble, compiled};
use super::constants::MAX_MEMORY;
use super::{
    ArtifactHash, CompileOptions, Prelude, PreludeError, Provenance, Selection, Standing, TrustedKeys,
};
use crate::host::Runtime;
use ptc_bytecode::{
    Code, Component, Diagnostic, Manifest, PreludeFile, decode_prelude, embedded_sources, encode_prelude,
    hex, read_manifest, verify_prelude,
};

/// The largest file that is looked at.
pub const MAX_FILE_BYTES: usize = 8 << 20;

/// What to do with a file that was compiled for another instruction set.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Stale {
    /// Refuse it.
    Refuse,
    /// Compile the source inside it anew. Its interface must come out the same.
    #[default]
    Recompile,
}

/// How to load a file.
///
/// ```
/// use ptc_runtime::{LoadOptions, Prelude, Runtime};
/// let runtime = Runtime::with_core(ptc_preludes::core())?;
/// let bytes = Prelude::compile(&runtime, "(ns a) (def x 1)")?.to_bytes();
/// let prelude = Prelude::load(&runtime, &bytes, &LoadOptions::default())?;
/// assert_eq!(prelude.exports()[0].reference(), "a/x");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct LoadOptions<'a> {
    /// A larger file is refused.
    pub max_bytes: usize,
    /// What to do with a file for another instruction set.
    pub stale: Stale,
    /// If given, only files signed by one of these keys are loaded; otherwise the keys of
    /// [`Runtime::trusted`], if there are any.
    pub trusted: Option<&'a TrustedKeys>,
    /// The text of the signature file, if there is one.
    pub signature: Option<&'a str>,
    /// If given, only the build with this artifact hash is loaded. A file for another instruction set is then refused, for
    /// what is compiled anew is another build.
    pub pin: Option<ArtifactHash>,
    /// Whether the host vouches for the bytes, as it does for those built into it: they need no signature, and
    /// what they say about their code is believed.
    pub vouched: bool,
    /// Preludes whose namespaces a file that is compiled anew may require, besides those that are attached to the
    /// runtime.
    pub uses: &'a [Prelude],
}

impl Default for LoadOptions<'_> {
    fn default() -> Self {
        LoadOptions {
            max_bytes: MAX_FILE_BYTES,
            stale: Stale::default(),
            trusted: None,
            signature: None,
            pin: None,
            vouched: false,
            uses: &[],
        }
    }
}

impl Prelude {
    /// Loads a `.ptcp` file, which may have been made by anyone: it is checked from end to end.
    ///
    /// `(source …)` shows the texts of a file that is signed by a trusted key, vouched for by the host or compiled anew,
    /// and those of any other file that are the definitions of the source inside it. Only the former is believed about
    /// what its functions give back, which no reading of a source can confirm.
    pub fn load(runtime: &Runtime, bytes: &[u8], options: &LoadOptions<'_>) -> Result<Prelude, Diagnostic> {
        if bytes.len() > options.max_bytes {
            let message = format!("the file has {} bytes, more than {}", bytes.len(), options.max_bytes);
            return Err(Diagnostic::without_span(Code::ArtifactTooLarge, message));
        }
        let trusted = options.trusted.or(runtime.trusted_keys());
        let provenance = match options.vouched {
            true => Provenance::Host,
            false => Provenance::of_file(bytes, options.signature)?,
        };
        if let Some(keys) = trusted {
            // Before anything of the file is compiled, let alone run.
            keys.decide([&provenance])?;
        }
        let is_believed = options.vouched || trusted.is_some();
        match decode_prelude(bytes) {
            Ok(file) => {
                let verified = verify_prelude(file)?;
                if let Some(pin) = &options.pin {
                    // By now its parts are known to have the hashes that this one is made of.
                    pin.check(&verified.manifest)?;
                }
                Prelude::link(verified, runtime.library(), is_believed, provenance.into())
                    .map_err(|fault| fault.to_diagnostic())
            }
            Err(problem) if problem.code == Code::AbiMismatch && options.pin.is_some() => {
                Err(problem
                    .hint("build it again with this version of ptc, and pin the hash of the new build"))
            }
            Err(problem) if problem.code == Code::AbiMismatch && options.stale == Stale::Recompile => {
                Prelude::recover(runtime, bytes, provenance, problem, options.uses)
            }
            Err(problem) => Err(problem),
        }
    }

    /// Compiles the source inside a file that cannot be run.
    fn recover(
        runtime: &Runtime,
        bytes: &[u8],
        provenance: Provenance,
        problem: Diagnostic,
        uses: &[Prelude],
    ) -> Result<Prelude, Diagnostic> {
        let Some(sources) = embedded_sources(bytes)? else { return Err(problem) };
        let old = read_manifest(bytes)?;
        let options = CompileOptions { positions: false, uses };
        let prelude = from_sources(runtime, &sources, &old.components, &provenance.into(), &options)
            .map_err(|error| {
                let mut first = error.diagnostic().clone();
                first.message =
                    format!("the source inside the file does not compile any more: {}", first.message);
                first
            })?;
        let is_true = old.interface_hash == old.computed_interface_hash();
        match is_true && prelude.manifest().has_interface_of(&old) {
            true => Ok(prelude),
            false => Err(Diagnostic::without_span(
                Code::InterfaceChanged,
                format!(
                    "compiled anew, the file has interface {}, but it says {}",
                    prelude.interface_hash(),
                    hex(&old.interface_hash)
                ),
            )
            .hint("rebuild it from its source, and look at what changed with ptc inspect")),
        }
    }

    /// The same prelude compiled anew from the sources inside it, which may require the namespaces of these preludes;
    /// None if they are not inside.
    pub fn rebuilt(&self, runtime: &Runtime, uses: &[Prelude]) -> Option<Result<Prelude, PreludeError>> {
        // What came out of a store stays that, whoever compiles it.
        let standing =
            Standing { provenance: vec![Provenance::Source], stored: self.standing().stored.clone() };
        let options = CompileOptions { positions: self.has_positions(), uses };
        Some(from_sources(runtime, self.sources()?, self.components(), &standing, &options))
    }

    /// Whether it tells where its instructions come from.
    pub fn has_positions(&self) -> bool {
        self.artifact().blocks.iter().any(|block| !block.spans.is_empty())
    }

    /// The bytes of its `.ptcp` file without its sources.
    pub fn to_bytes_without_source(&self) -> Vec<u8> {
        encode_prelude(&PreludeFile { sources: None, ..self.to_file() })
    }

    /// What a file says about itself, true or not: for tools that show files.
    pub fn claims(bytes: &[u8]) -> Result<Manifest, Diagnostic> {
        read_manifest(bytes)
    }
}

/// Compiles sources as the components of a file tell.
fn from_sources(
    runtime: &Runtime,
    sources: &[String],
    components: &[Component],
    standing: &Standing,
    options: &CompileOptions<'_>,
) -> Result<Prelude, PreludeError> {
    if let (true, [source]) = (components.is_empty(), sources) {
        let used = options.usable(runtime);
        let source = compiled(runtime, source, &used, MAX_MEMORY)?;
        return assemble(runtime, &[source], Vec::new(), &used, standing.clone(), options.positions);
    }
    let selections = sources.iter().zip(components);
    let selection =
        |(source, component): (&String, &Component)| Selection::of_component(source, component, standing);
    Prelude::compose_with(runtime, &selections.map(selection).collect::<Vec<_>>(), options)
}
