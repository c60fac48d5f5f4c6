//! Artifacts of functions in a folder or an object store. Anyone may have written them there.

use object_store::path::Path;
use object_store::{ObjectStore, ObjectStoreExt};
use ptc_datafusion::{Code, Library, Reference};
use ptc_runtime::{ArtifactHash, LoadOptions, MAX_FILE_BYTES, Prelude, Runtime};
use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// Maximum preludes that a function may need.
const MAX_ARTIFACTS: usize = 64;

/// Maximum length of a signature file.
const MAX_SIGNATURE: u64 = 4096;

/// Maximum functions whose code is kept.
const MAX_KEPT: usize = 1024;

/// Time limit for loading the artifacts of a function.
const TIMEOUT: Duration = Duration::from_secs(30);

/// The signatures that artifacts need.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Signatures {
    /// One of a key that the runtime trusts.
    Trusted,
    /// None: who can write to the store can run code here, within the sandbox.
    NotNeeded,
}

/// A store of artifacts: `HASH.ptcp`, and `HASH.ptcp.sig` with its signature.
pub struct Artifacts {
    store: Arc<dyn ObjectStore>,
    folder: Path,
    place: String,
    runtime: Runtime,
    found: Mutex<HashMap<Vec<String>, Arc<Code>>>,
}

impl fmt::Debug for Artifacts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Artifacts").field(&self.place).finish()
    }
}

impl Artifacts {
    /// Opens a store. Its functions run within the limits of the runtime, and its trusted keys must have signed them.
    pub fn open(place: &str, runtime: &Runtime, signatures: Signatures) -> Result<Artifacts, String> {
        if signatures == Signatures::Trusted && runtime.trusted_keys().is_none() {
            return Err("no key is trusted, so no artifact could run".to_string());
        }
        let (store, folder) = crate::stores::open(place)?;
        let found = Mutex::default();
        Ok(Artifacts { store, folder, place: place.to_string(), runtime: runtime.clone(), found })
    }

    /// Returns the name of an artifact in the store.
    pub(crate) fn name(hash: &ArtifactHash) -> String {
        format!("{hash}.ptcp")
    }

    async fn load(&self, hashes: &[ArtifactHash]) -> Result<Code, String> {
        let mut preludes: Vec<Prelude> = Vec::with_capacity(hashes.len());
        for hash in hashes {
            let name = Artifacts::name(hash);
            let bytes = self.read(&name, MAX_FILE_BYTES as u64).await?.ok_or_else(|| {
                format!(
                    "this executor has no artifact {hash} in `{}`; put it there with `ptc-ballista publish`",
                    self.place
                )
            })?;
            let signature = self.read(&format!("{name}.sig"), MAX_SIGNATURE).await?;
            let signature = signature.map(String::from_utf8).transpose().map_err(|_| {
                format!("this executor refuses artifact {hash}: its signature file is not text")
            })?;
            let options = LoadOptions {
                signature: signature.as_deref(),
                pin: Some(*hash),
                uses: &preludes,
                ..LoadOptions::default()
            };
            let prelude = Prelude::load(&self.runtime, &bytes, &options).map_err(|problem| {
                let reason = problem.code.reason();
                format!("this executor refuses artifact {hash}: {reason}: {}", problem.message)
            })?;
            preludes.push(prelude);
        }
        Code::link(&self.runtime, &preludes).map_err(|refused| format!("this executor refuses it: {refused}"))
    }

    /// Reads a file; None if there is none.
    async fn read(&self, name: &str, most: u64) -> Result<Option<Vec<u8>>, String> {
        let failed = |error: object_store::Error| format!("this executor cannot read `{name}`: {error}");
        let found = match self.store.get(&self.folder.clone().join(name)).await {
            Ok(found) => found,
            Err(object_store::Error::NotFound { .. }) => return Ok(None),
            Err(error) => return Err(failed(error)),
        };
        // The store says so before a byte is read.
        if found.meta.size > most {
            return Err(format!("this executor refuses `{name}`: it has more than {most} bytes"));
        }
        found.bytes().await.map(|bytes| Some(bytes.to_vec())).map_err(failed)
    }
}

impl Library for Artifacts {
    fn find(&self, reference: &Reference) -> Result<Arc<Code>, String> {
        if reference.artifacts.is_empty() || reference.artifacts.len() > MAX_ARTIFACTS {
            return Err(format!("a function has 1 to {MAX_ARTIFACTS} artifacts"));
        }
        let found = || self.found.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(code) = found().get(&reference.artifacts) {
            return Ok(code.clone());
        }
        let hash = |text: &String| ArtifactHash::parse(text).map_err(|problem| problem.message);
        let hashes: Vec<ArtifactHash> = reference.artifacts.iter().map(hash).collect::<Result<_, _>>()?;
        // Functions of engines are not async, and this thread may be one of a runtime, which must not be blocked on.
        let loaded = std::thread::scope(|scope| {
            let load = || {
                let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
                let runtime = runtime.map_err(|error| error.to_string())?;
                let loading = async { tokio::time::timeout(TIMEOUT, self.load(&hashes)).await };
                let late =
                    || format!("loading its artifacts from `{}` took more than {TIMEOUT:?}", self.place);
                runtime.block_on(loading).map_err(|_| late())?
            };
            scope.spawn(load).join().map_err(|_| "loading its artifacts failed".to_string())?
        });
        let code = Arc::new(loaded?);
        let mut kept = found();
        if kept.len() >= MAX_KEPT {
            kept.clear();
        }
        kept.insert(reference.artifacts.clone(), code.clone());
        Ok(code)
    }
}
