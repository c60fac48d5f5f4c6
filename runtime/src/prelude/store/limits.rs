//! How much a store holds.

use super::StoreError;
use ptc_bytecode::Code;

/// How much a store holds, and how long compiling a source for it may take. Every limit is positive.
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
    /// The longest source, in bytes.
    pub max_source_bytes: u64,
    /// The longest metadata of a version, as compact JSON, in bytes.
    pub max_metadata_bytes: u64,
    /// How many of the newest versions of a prelude are kept. Those that were ever selected as default
    /// stay besides.
    pub max_versions: u64,
    /// How many preludes there may be.
    pub max_ids: u64,
    /// The length of all sources and metadata together, in bytes.
    pub max_total_bytes: u64,
    /// How long compiling a source may take, in milliseconds.
    pub compile_timeout_ms: u64,
    /// How much memory the constants of a source may take while they are found, in bytes.
    pub compile_max_heap: u64,
    /// How long a store on disk waits for other processes, in milliseconds.
    pub lock_timeout_ms: u64,
    /// How many bytes of superseded entries the list of a store on disk may hold before it is rewritten.
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
    /// Whether each can be one.
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
