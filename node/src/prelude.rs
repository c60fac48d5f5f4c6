//! Preludes: libraries for programs.

use crate::diagnostic::{JsFailure, Told, before};
use napi::bindgen_prelude::{Buffer, ClassInstance, Either};
use napi_derive::napi;
use ptc::Engine;
use ptc::binding::When;
use ptc::runtime::{
    ArtifactHash, CompileOptions, Failure, Inventory, LoadOptions, Prelude, Signing, Stale, TrustedKeys,
};

/// A library that programs call like builtins.
#[napi(js_name = "PreludeCore")]
pub struct JsPrelude {
    pub(crate) prelude: Prelude,
}

/// What a loaded prelude must be.
#[napi(object)]
pub struct LoadSpec {
    /// Signature of the file.
    pub signature: Option<String>,
    /// Public keys, one per line; one of them must have made the signature.
    pub trusted: Option<String>,
    /// Hash of the only build to accept.
    pub pin: Option<String>,
    /// Compiles a file again that another version built.
    pub recompile: bool,
}

#[napi]
impl JsPrelude {
    /// Compiles a prelude from its source, which may require the namespaces of other preludes.
    #[napi]
    pub fn compile(source: String, uses: Vec<ClassInstance<'_, JsPrelude>>) -> Told<JsPrelude> {
        let engine = match Engine::new() {
            Ok(engine) => engine,
            Err(failure) => return before(Err(failure)),
        };
        let uses: Vec<Prelude> = uses.iter().map(|prelude| prelude.prelude.clone()).collect();
        let options = CompileOptions { uses: &uses, ..CompileOptions::default() };
        match Prelude::compile_with(engine.runtime(), &source, &options) {
            Ok(prelude) => Either::A(JsPrelude { prelude }),
            Err(error) => Either::B(JsFailure::of(&error.diagnostics, &source, When::Before)),
        }
    }

    /// Loads a prelude from the bytes of a `.ptcp` file, which is fully verified.
    #[napi]
    pub fn load(data: Buffer, spec: LoadSpec) -> Told<JsPrelude> {
        before(load(&data, &spec).map(|prelude| JsPrelude { prelude }))
    }

    /// Returns the bytes of a `.ptcp` file.
    #[napi]
    pub fn to_bytes(&self) -> Buffer {
        self.prelude.to_bytes().into()
    }

    /// Signs the bytes of the file with a private key of 64 hexadecimal digits, and returns the signature as text.
    #[napi]
    pub fn sign(&self, key: String) -> Told<String> {
        let signature = Signing::from_hex(&key).and_then(|signing| signing.sign(&self.prelude.to_bytes()));
        before(signature.map_err(Failure::from))
    }

    /// Names of the namespaces it declares.
    #[napi(getter)]
    pub fn namespaces(&self) -> Vec<String> {
        self.prelude.namespaces().iter().map(|namespace| namespace.name.clone()).collect()
    }

    /// Names of what it exports, such as `crm/find`.
    #[napi(getter)]
    pub fn exports(&self) -> Vec<String> {
        self.prelude.exports().iter().map(|export| export.reference()).collect()
    }

    /// Hash of this build.
    #[napi(getter)]
    pub fn hash(&self) -> String {
        self.prelude.artifact_hash()
    }

    /// Hash of what programs see of it: names, parameters and types.
    #[napi(getter)]
    pub fn interface_hash(&self) -> String {
        self.prelude.interface_hash()
    }

    /// Part of a prompt that describes it to models.
    #[napi(getter)]
    pub fn inventory(&self) -> Option<String> {
        self.prelude.inventory(Inventory::default())
    }
}

fn load(data: &[u8], spec: &LoadSpec) -> Result<Prelude, Failure> {
    let trusted = spec.trusted.as_deref().map(TrustedKeys::parse).transpose()?;
    let pin = spec.pin.as_deref().map(ArtifactHash::parse).transpose()?;
    let stale = if spec.recompile { Stale::Recompile } else { Stale::default() };
    let signature = spec.signature.as_deref();
    let options = LoadOptions { stale, trusted: trusted.as_ref(), signature, pin, ..LoadOptions::default() };
    Ok(Prelude::load(Engine::new()?.runtime(), data, &options)?)
}

/// Returns the public key of a private key.
#[napi]
pub fn public_key(key: String) -> Told<String> {
    before(Signing::from_hex(&key).map(|signing| signing.public_key()).map_err(Failure::from))
}
