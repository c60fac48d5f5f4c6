//! Preludes in the forms hosts have them, prepared together: sources and files that use each other are ordered first.

use super::uses::order_of;
use super::{
    ArtifactHash, CompileOptions, LoadOptions, Outline, Prelude, PreludeError, Provenance, TrustedKeys,
};
use crate::host::Runtime;
use ptc_bytecode::{Diagnostic, read_manifest};
use std::sync::Arc;

/// A prelude before it is compiled or loaded, with its place for messages.
#[derive(Clone, Debug)]
pub struct PreludeInput {
    /// Place for messages, such as a file name.
    pub origin: Arc<str>,
    /// Source, file or finished prelude.
    pub content: PreludeContent,
    /// Hash of the only build to accept.
    pub pin: Option<ArtifactHash>,
}

/// The form in which a host has a prelude.
#[derive(Clone, Debug)]
pub enum PreludeContent {
    /// Source text.
    Source(Arc<str>),
    /// Bytes of a `.ptcp` file, and the text of its signature file if there is one.
    File(Arc<[u8]>, Option<Arc<str>>),
    /// A finished prelude, such as one that comes with the host.
    Ready(Prelude),
}

/// An error in preparing preludes.
#[derive(Clone, PartialEq, Debug)]
pub enum InputError {
    /// Preludes that require each other in a circle.
    Order(Diagnostic),
    /// The prelude with this index may not run here, or is not a valid file.
    Refused(usize, Diagnostic),
    /// The prelude with this index is a source that does not compile.
    NotCompiled(usize, Box<PreludeError>),
}

impl PreludeInput {
    /// Makes an input from source text.
    pub fn source(origin: impl Into<Arc<str>>, source: impl Into<Arc<str>>) -> PreludeInput {
        PreludeInput { origin: origin.into(), content: PreludeContent::Source(source.into()), pin: None }
    }

    /// Makes an input from a `.ptcp` file.
    pub fn file(
        origin: impl Into<Arc<str>>,
        bytes: impl Into<Arc<[u8]>>,
        signature: Option<&str>,
    ) -> PreludeInput {
        let content = PreludeContent::File(bytes.into(), signature.map(Into::into));
        PreludeInput { origin: origin.into(), content, pin: None }
    }

    /// Makes an input from a finished prelude. With an empty origin, it keeps its own.
    pub fn ready(origin: impl Into<Arc<str>>, prelude: Prelude) -> PreludeInput {
        PreludeInput { origin: origin.into(), content: PreludeContent::Ready(prelude), pin: None }
    }

    /// Refuses the prelude unless it is the build with this artifact hash. Sources are always refused then: they
    /// are not a build yet, and compiling one to find its hash would run the code of its constants.
    ///
    /// ```
    /// use ptc_runtime::{ArtifactHash, InputError, Prelude, PreludeInput, Runtime};
    /// let runtime = Runtime::with_core(ptc_preludes::core())?;
    /// let prelude = Prelude::compile(&runtime, "(ns a) (def x 1)")?;
    /// let input = PreludeInput::file("a.ptcp", prelude.to_bytes(), None);
    /// let pinned = |hash: &str| input.clone().pinned(ArtifactHash::parse(hash).unwrap());
    /// assert!(Prelude::make_ready(&runtime, &[pinned(&prelude.artifact_hash())]).is_ok());
    ///
    /// let error = Prelude::make_ready(&runtime, &[pinned(&"ab".repeat(32))]).unwrap_err();
    /// assert!(matches!(error, InputError::Refused(0, problem) if problem.code.reason() == "hash_mismatch"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn pinned(mut self, pin: impl Into<Option<ArtifactHash>>) -> PreludeInput {
        self.pin = pin.into();
        self
    }

    /// Returns its place for messages.
    fn shown(&self) -> String {
        match &self.content {
            PreludeContent::Ready(prelude) if self.origin.is_empty() => prelude.shown_origin(),
            _ => format!("`{}`", self.origin),
        }
    }

    /// Returns the namespaces it declares and requires; none for an unreadable input, which is reported in its turn.
    fn outline(&self, runtime: &Runtime) -> Outline {
        match &self.content {
            PreludeContent::Source(source) => Prelude::outline_of(runtime, source).unwrap_or_default(),
            PreludeContent::File(bytes, _) => {
                read_manifest(bytes).map_or(Outline::default(), |manifest| Outline {
                    declares: manifest.namespaces.into_iter().map(|namespace| namespace.name).collect(),
                    requires: manifest.uses.into_iter().map(|used| used.namespace).collect(),
                })
            }
            PreludeContent::Ready(prelude) => prelude.outline(),
        }
    }

    fn prelude(&self, number: usize, runtime: &Runtime, uses: &[Prelude]) -> Result<Prelude, InputError> {
        let refused = |problem| InputError::Refused(number, problem);
        let options = CompileOptions { uses, ..CompileOptions::default() };
        let prelude = match &self.content {
            PreludeContent::Source(_) if self.pin.is_some() => {
                return Err(refused(ArtifactHash::of_source()));
            }
            PreludeContent::Source(source) => {
                // Compiling evaluates constants, which runs code.
                let decided = runtime
                    .trusted_keys()
                    .map_or(Ok(()), |keys: &TrustedKeys| keys.decide(&[Provenance::Source]));
                decided.map_err(refused)?;
                Prelude::compile_with(runtime, source, &options)
                    .map_err(|error| InputError::NotCompiled(number, Box::new(error)))?
            }
            PreludeContent::File(bytes, signature) => {
                let (signature, pin) = (signature.as_deref(), self.pin);
                let options = LoadOptions { signature, pin, uses, ..LoadOptions::default() };
                Prelude::load(runtime, bytes, &options).map_err(refused)?
            }
            PreludeContent::Ready(prelude) => {
                let fits = |pin: &ArtifactHash| pin.check(prelude.manifest());
                self.pin.as_ref().map_or(Ok(()), fits).map_err(refused)?;
                prelude.clone()
            }
        };
        Ok(match self.origin.is_empty() {
            true => prelude,
            false => prelude.with_origin(self.origin.clone()),
        })
    }
}

impl Prelude {
    /// Prepares preludes for attaching, each after those it uses, otherwise in the given order.
    ///
    /// ```
    /// use ptc_runtime::{Prelude, PreludeInput, Runtime};
    /// let runtime = Runtime::with_core(ptc_preludes::core())?;
    /// let billing = "(ns billing (:require [crm :as c])) (defn due [id] (c/find id))";
    /// let inputs =
    ///     [PreludeInput::source("billing.clj", billing), PreludeInput::source("crm.clj", "(ns crm) (defn find [id] id)")];
    /// let ready = Prelude::make_ready(&runtime, &inputs).unwrap();
    /// assert_eq!(ready[0].origin(), Some("crm.clj"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn make_ready(runtime: &Runtime, inputs: &[PreludeInput]) -> Result<Vec<Prelude>, InputError> {
        let outline = |input: &PreludeInput| (input.shown(), input.outline(runtime));
        let outlines: Vec<(String, Outline)> = inputs.iter().map(outline).collect();
        let mut ready = Vec::with_capacity(inputs.len());
        for number in order_of(&outlines).map_err(InputError::Order)? {
            ready.push(inputs[number].prelude(number, runtime, &ready)?);
        }
        Ok(ready)
    }
}
