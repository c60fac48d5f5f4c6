//! Versioned preludes: written by hosts and agents, read by name, number or checksum.
//!
//! A store is in memory or in a folder, with the same behaviour. Only sources that compile are stored, and a stored
//! prelude grants no tool or credential: attaching it is checked as usual.

mod disk;
mod error;
mod index;
mod limits;
mod log;
mod memory;
mod pin;
mod reference;
mod rows;
mod seed;
mod tools;

pub use error::StoreError;
pub use index::Metadata;
pub use limits::StoreLimits;
pub use reference::{StoreRef, ToStoreRef};
pub use rows::{FrozenRef, Listed, Past, Selected, Stored, Written};
pub use seed::Seeded;
pub use tools::STORE_TOOLS;

use super::{Origin, Prelude};
use crate::host::Runtime;
use disk::Disk;
use index::{Entry, Index, Version, weight};
use memory::Memory;
use ptc_bytecode::{Code, Limits};
use serde_json::Value;
use std::collections::HashMap;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

/// Storage behind a store.
trait Backend: Send + Sync {
    /// Passes the current index to `see`.
    fn look(&self, see: &mut dyn FnMut(&Index)) -> Result<(), StoreError>;

    /// Returns the source of the version that `find` finds.
    fn fetch(
        &self,
        find: &mut dyn FnMut(&Index) -> Result<Version, StoreError>,
    ) -> Result<Object, StoreError>;

    /// Makes the change that `plan` wants, under a lock: nothing changes between its look and the change.
    fn change(
        &self,
        plan: &mut dyn FnMut(&Index) -> Result<Entry, StoreError>,
        new: Option<&New<'_>>,
    ) -> Result<Entry, StoreError>;
}

/// A source to be stored.
struct New<'a> {
    checksum: &'a str,
    source: &'a str,
    artifact: &'a [u8],
}

/// A stored source.
struct Object {
    version: Version,
    source: Arc<str>,
}

/// A store of versioned preludes. Cheap to clone; all clones are the same store.
///
/// ```
/// use ptc_runtime::{PreludeStore, Runtime, StoreRef};
/// use serde_json::json;
/// let runtime = Runtime::with_core(ptc_preludes::core())?;
/// let store = PreludeStore::new(&runtime);
/// let v1 = store.write("shop", "(ns shop) (defn tax [x] (* x 0.19))", json!({}))?;
/// let v2 = store.write("shop", "(ns shop) (defn tax [x] (* x 0.07))", json!({"reason": "food"}))?;
/// assert_eq!((v1.version, v2.version, store.read("shop")?.version), (1, 2, 2));
///
/// store.set_default("shop@1", json!({"reason": "not only food"}))?;
/// assert_eq!(store.read("shop")?.version, 1);
/// assert_eq!(store.list()?[0].latest_version, 2);
/// assert_eq!(store.history("shop")?.len(), 2);
///
/// let meant = StoreRef::version("shop", 2).checksum(&v1.checksum);
/// assert_eq!(store.read(&meant).unwrap_err().reason(), "checksum_mismatch");
/// assert_eq!(store.write("shop", "(ns shop", json!({})).unwrap_err().reason(), "prelude_compile_error");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct PreludeStore(Arc<Inner>);

struct Inner {
    runtime: Runtime,
    limits: StoreLimits,
    backend: Box<dyn Backend>,
    /// Recently compiled preludes, by checksum; a checksum always means the same source.
    compiled: Mutex<HashMap<String, Prelude>>,
}

/// Maximum compiled preludes in the cache.
const MAX_AT_HAND: usize = 64;

impl PreludeStore {
    /// Makes a store in memory.
    pub fn new(runtime: &Runtime) -> PreludeStore {
        PreludeStore::of(runtime, StoreLimits::default(), Box::new(Memory::default()))
    }

    /// Makes a store in memory with other limits.
    pub fn with_limits(runtime: &Runtime, limits: StoreLimits) -> Result<PreludeStore, StoreError> {
        limits.check()?;
        Ok(PreludeStore::of(runtime, limits, Box::new(Memory::default())))
    }

    /// Opens a store in a folder, which is made if it is missing. Any number of processes may use it at the same
    /// time. When a change returns, it is on disk; a crash loses only changes that have not returned.
    ///
    /// ```
    /// use ptc_runtime::{PreludeStore, Runtime, StoreLimits};
    /// # let folder = std::env::temp_dir().join(format!("ptc-store-doc-{}", std::process::id()));
    /// let runtime = Runtime::with_core(ptc_preludes::core())?;
    /// let store = PreludeStore::open(&runtime, &folder, StoreLimits::default())?;
    /// store.write("shop", "(ns shop) (def rate 19)", serde_json::json!({}))?;
    /// let again = PreludeStore::open(&runtime, &folder, StoreLimits::default())?;
    /// assert_eq!(again.read("shop")?.version, 1);
    /// # std::fs::remove_dir_all(&folder)?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn open(
        runtime: &Runtime,
        folder: impl AsRef<Path>,
        limits: StoreLimits,
    ) -> Result<PreludeStore, StoreError> {
        limits.check()?;
        Ok(PreludeStore::of(runtime, limits, Box::new(Disk::open(folder.as_ref(), limits)?)))
    }

    fn of(runtime: &Runtime, limits: StoreLimits, backend: Box<dyn Backend>) -> PreludeStore {
        let own = Limits { compile_ms: limits.compile_timeout_ms, ..*runtime.current_limits() };
        let runtime = runtime.clone().limits(own);
        PreludeStore(Arc::new(Inner { runtime, limits, backend, compiled: Mutex::default() }))
    }

    /// Returns its limits.
    pub fn limits(&self) -> &StoreLimits {
        &self.0.limits
    }

    /// Stores a new version and makes it current. The source must compile and declare the namespace `id` and no
    /// other. `metadata` is an object; with `parent_checksum` in it, the version is stored only if that one is
    /// still current.
    pub fn write(&self, id: &str, source: &str, metadata: Value) -> Result<Written, StoreError> {
        self.write_from(id, source, metadata, None)
    }

    /// Stores a new version like [`PreludeStore::write`], with the origin of the source.
    pub fn write_from(
        &self,
        id: &str,
        source: &str,
        metadata: Value,
        origin: Option<Origin>,
    ) -> Result<Written, StoreError> {
        let limits = &self.0.limits;
        reference::check_id(id)?;
        if source.len() as u64 > limits.max_source_bytes {
            let (bytes, most) = (source.len(), limits.max_source_bytes);
            let message = format!("the source has {bytes} bytes, more than {most} (max_source_bytes)");
            return Err(StoreError::new(Code::SourceTooLarge, message).with("limit_bytes", most));
        }
        let metadata = self.metadata(metadata)?;
        // Compiling takes time, so it happens before taking the lock; the base version is checked again under the lock.
        let mut base = Ok(());
        self.0.backend.look(&mut |index| base = index.check_parent(id, &metadata))?;
        base?;
        let prelude = self.compile(source)?;
        let namespaces: Vec<String> = prelude.namespaces().iter().map(|n| n.name.clone()).collect();
        if namespaces != [id] {
            let message =
                format!("`{id}` must declare the namespace {id} only, not {}", namespaces.join(", "));
            return Err(StoreError::new(Code::PreludeNamespaceViolation, message)
                .with("expected", vec![id])
                .with("actual", namespaces));
        }
        let artifact = prelude.to_bytes();
        let checksum = prelude.source_hash();
        let version = Version {
            version: 0,
            checksum: checksum.clone(),
            bytes: source.len() as u64,
            namespaces,
            exports: prelude.exports().iter().map(|export| export.reference()).collect(),
            metadata,
            origin: origin.map(|origin| origin.to_string()),
            created_at: now(),
        };
        let new = New { checksum: &checksum, source, artifact: &artifact };
        let entry =
            self.0.backend.change(&mut |index| index.plan_write(id, version.clone(), limits), Some(&new))?;
        let Entry::Write { version, .. } = entry else {
            return Err(StoreError::new(Code::Internal, "the store made another change"));
        };
        self.keep_at_hand(&checksum, prelude);
        Ok(Written {
            id: id.to_string(),
            version: version.version,
            checksum,
            namespaces: version.namespaces,
            exports: version.exports,
            metadata: version.metadata,
        })
    }

    /// Reads a version: `"paged"` the current one, `"paged@7"` that one, or a [`StoreRef`].
    pub fn read(&self, reference: impl ToStoreRef) -> Result<Stored, StoreError> {
        let reference = reference.to_store_ref()?;
        let mut standing = (false, false);
        let object = self.0.backend.fetch(&mut |index| {
            let (versions, version) = index.find(&reference)?;
            standing = (version.version == versions.current, version.version == versions.latest);
            Ok(version.clone())
        })?;
        let Object { version, source } = object;
        let compiled = self.compiled(&version.checksum, &source)?;
        Ok(Stored {
            id: reference.id,
            version: version.version,
            current: standing.0,
            latest: standing.1,
            checksum: version.checksum,
            source,
            namespaces: version.namespaces,
            exports: version.exports,
            metadata: version.metadata,
            origin: version.origin,
            created_at: version.created_at,
            compiled,
        })
    }

    /// Makes a version current and keeps it from then on. A bare id is refused: the version must be given.
    pub fn set_default(&self, reference: impl ToStoreRef, metadata: Value) -> Result<Selected, StoreError> {
        let reference = reference.to_store_ref()?;
        if reference.version.is_none() {
            let id = &reference.id;
            let message = format!("`{id}` does not say which version is meant; write {id}@7");
            return Err(StoreError::new(Code::InvalidRef, message));
        }
        let metadata = self.metadata(metadata)?;
        let mut checksum = String::new();
        let limits = &self.0.limits;
        self.0.backend.change(
            &mut |index| {
                checksum = index.find(&reference)?.1.checksum.clone();
                index.plan_select(&reference, metadata.clone(), now(), limits)
            },
            None,
        )?;
        let version = reference.version.unwrap_or_default();
        Ok(Selected { id: reference.id, version, checksum, metadata })
    }

    /// Lists every prelude, by id, at its current version.
    pub fn list(&self) -> Result<Vec<Listed>, StoreError> {
        let mut rows = Vec::new();
        self.0.backend.look(&mut |index| {
            let row = |(id, versions): (&String, &index::Versions)| {
                Some(Listed::of(id, versions, versions.all.get(&versions.current)?))
            };
            rows = index.ids.iter().filter_map(row).collect();
        })?;
        Ok(rows)
    }

    /// Lists the kept versions of a prelude, oldest first.
    pub fn history(&self, id: &str) -> Result<Vec<Past>, StoreError> {
        let reference = StoreRef::parse(id)?;
        if reference.version.is_some() {
            let message = format!("the history of `{}` needs its id alone, without a version", reference.id);
            return Err(StoreError::new(Code::InvalidRef, message));
        }
        let mut rows = Ok(Vec::new());
        self.0.backend.look(&mut |index| {
            rows = index.find(&reference).map(|(versions, _)| {
                versions.all.values().map(|version| Past::of(versions, version)).collect()
            });
        })?;
        rows
    }

    fn metadata(&self, metadata: Value) -> Result<Metadata, StoreError> {
        let metadata = match metadata {
            Value::Object(metadata) => metadata,
            Value::Null => Metadata::new(),
            _ => return Err(StoreError::new(Code::InvalidMetadata, "metadata must be an object")),
        };
        let (bytes, most) = (weight(&metadata), self.0.limits.max_metadata_bytes);
        if bytes > most {
            let message =
                format!("the metadata has {bytes} bytes as JSON, more than {most} (max_metadata_bytes)");
            return Err(StoreError::new(Code::MetadataTooLarge, message).with("limit_bytes", most));
        }
        Ok(metadata)
    }

    fn compile(&self, source: &str) -> Result<Prelude, StoreError> {
        Prelude::compile_stored(&self.0.runtime, source, self.0.limits.compile_max_heap)
            .map_err(|error| StoreError::of_source(&error, source))
    }

    fn compiled(&self, checksum: &str, source: &str) -> Result<Prelude, StoreError> {
        let at_hand = self.0.compiled.lock().unwrap_or_else(PoisonError::into_inner).get(checksum).cloned();
        if let Some(prelude) = at_hand {
            return Ok(prelude);
        }
        let prelude = self.compile(source)?;
        self.keep_at_hand(checksum, prelude.clone());
        Ok(prelude)
    }

    fn keep_at_hand(&self, checksum: &str, compiled: Prelude) {
        let mut at_hand = self.0.compiled.lock().unwrap_or_else(PoisonError::into_inner);
        if at_hand.len() >= MAX_AT_HAND {
            at_hand.clear();
        }
        at_hand.insert(checksum.to_string(), compiled);
    }
}

impl std::fmt::Debug for PreludeStore {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("PreludeStore").field("limits", &self.0.limits).finish_non_exhaustive()
    }
}

/// Returns the current time, to the millisecond.
fn now() -> String {
    let now = jiff::Timestamp::now();
    now.round(jiff::Unit::Millisecond).unwrap_or(now).to_string()
}
