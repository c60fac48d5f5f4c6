//! Limits of a store.

use super::StoreError;
use ptc_bytecode::Code;

/// Limits on the size of a store and on compiling its sources. Every limit is positive.
///
/// ```
/// use ptc_runtime::{PreludeStore, Runtime, StoreLimits};
/// let runtime = Runtime::with_core(ptc_preludes::core())?;
/// let limits = StoreLimits { max_versions: 0, ..StoreLimits::default() };
/// let error = PreludeStore::with_limits(&runtime, limits).err().unwrap();
/// assert_eq!(error.reason(), "invalid_config");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct StoreLimits {
    /// Maximum length of a source in bytes.
    pub max_source_bytes: u64,
    /// Maximum length of a version's metadata as compact JSON in bytes.
    pub max_metadata_bytes: u64,
    /// Number of the newest versions of a prelude to keep. Versions that were ever selected as default stay besides.
    pub max_versions: u64,
    /// Maximum number of preludes.
    pub max_ids: u64,
    /// Maximum length of all sources and metadata together in bytes.
    pub max_total_bytes: u64,
    /// Time limit for compiling a source in milliseconds.
    pub compile_timeout_ms: u64,
    /// Memory limit for computing the constants of a source in bytes.
    pub compile_max_heap: u64,
    /// Timeout of a store on disk for locks of other processes in milliseconds.
    pub lock_timeout_ms: u64,
    /// Maximum size of superseded entries in the list of a store on disk, in bytes, before it is rewritten.
    pub max_log_slack_bytes: u64,
}

impl Default for StoreLimits {
    fn default() -> StoreLimits {
        StoreLimits {
            max_source_bytes: 1_000_000,
            max_metadata_bytes: 8 << 10,
            max_versions: 1_000,
            max_ids: 1_000,
            max_total_bytes: 10 << 20,
            compile_timeout_ms: 5_000,
            compile_max_heap: 10_000_000,
            lock_timeout_ms: 10_000,
            max_log_slack_bytes: 1 << 20,
        }
    }
}

impl StoreLimits {
    /// Checks that every limit is positive.
    pub(super) fn check(&self) -> Result<(), StoreError> {
        let all = [
            ("max_source_bytes", self.max_source_bytes),
            ("max_metadata_bytes", self.max_metadata_bytes),
            ("max_versions", self.max_versions),
            ("max_ids", self.max_ids),
            ("max_total_bytes", self.max_total_bytes),
            ("compile_timeout_ms", self.compile_timeout_ms),
            ("compile_max_heap", self.compile_max_heap),
            ("lock_timeout_ms", self.lock_timeout_ms),
            ("max_log_slack_bytes", self.max_log_slack_bytes),
        ];
        match all.iter().find(|(_, value)| *value == 0) {
            None => Ok(()),
            Some((name, _)) => {
                Err(StoreError::new(Code::InvalidConfig, format!("{name} must be positive, but it is 0")))
            }
        }
    }
}
