//! Loading of `.ptcp` files, and recompiling of those that cannot be loaded.

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

/// Maximum size of a file in bytes, by default.
pub const MAX_FILE_BYTES: usize = 8 << 20;

/// Treatment of a file that was compiled for another instruction set.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Stale {
    /// Refuses it.
    Refuse,
    /// Recompiles the source inside it, which must give the same interface.
    #[default]
    Recompile,
}

/// Options for loading a file.
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
    /// Maximum size of the file in bytes.
    pub max_bytes: usize,
    /// Treatment of a file for another instruction set.
    pub stale: Stale,
    /// Keys of which one must have signed the file; if None, the keys of [`Runtime::trusted`] apply, if any.
    pub trusted: Option<&'a TrustedKeys>,
    /// Text of the signature file, if there is one.
    pub signature: Option<&'a str>,
    /// Artifact hash of the only build to load, if given. A file for another instruction set is then refused, since
    /// recompiling makes another build.
    pub pin: Option<ArtifactHash>,
    /// True if the host vouches for the bytes, as it does for those built into it: they need no signature, and
    /// their metadata is trusted.
    pub vouched: bool,
    /// Preludes whose namespaces a recompiled file may require, besides those attached to the runtime.
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
    /// Loads a `.ptcp` file, which anyone may have made: it is fully verified.
    ///
    /// `(source …)` shows all texts of a file that is signed by a trusted key, vouched for by the host or recompiled.
    /// Of any other file it shows only the texts that equal the definitions of the source inside it. What such a
    /// file says about return values is ignored, since its source cannot confirm it.
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
            // The signature is checked before any of the file is compiled, let alone run.
            keys.decide([&provenance])?;
        }
        let is_believed = options.vouched || trusted.is_some();
        match decode_prelude(bytes) {
            Ok(file) => {
                let verified = verify_prelude(file)?;
                if let Some(pin) = &options.pin {
                    // The parts were checked against the hashes that make up this one.
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
                    "recompiled, the file has interface {}, but it says {}",
                    prelude.interface_hash(),
                    hex(&old.interface_hash)
                ),
            )
            .hint("rebuild it from its source, and look at what changed with ptc inspect")),
        }
    }

    /// Recompiles it from the sources inside it, which may require the namespaces of these preludes; None if it
    /// holds no sources.
    pub fn rebuilt(&self, runtime: &Runtime, uses: &[Prelude]) -> Option<Result<Prelude, PreludeError>> {
        // A prelude out of a store stays marked as stored, whoever compiles it.
        let standing =
            Standing { provenance: vec![Provenance::Source], stored: self.standing().stored.clone() };
        let options = CompileOptions { positions: self.has_positions(), uses };
        Some(from_sources(runtime, self.sources()?, self.components(), &standing, &options))
    }

    /// True if it holds source positions of its instructions.
    pub fn has_positions(&self) -> bool {
        self.artifact().blocks.iter().any(|block| !block.spans.is_empty())
    }

    /// Encodes its `.ptcp` file without its sources.
    pub fn to_bytes_without_source(&self) -> Vec<u8> {
        encode_prelude(&PreludeFile { sources: None, ..self.to_file() })
    }

    /// Reads the unverified manifest of a file, for tools that show files.
    pub fn claims(bytes: &[u8]) -> Result<Manifest, Diagnostic> {
        read_manifest(bytes)
    }
}

/// Compiles sources as recorded in the components of a file.
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
