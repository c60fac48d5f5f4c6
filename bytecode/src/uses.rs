//! The uses of a prelude: exports of other preludes that its code calls.
//!
//! Code reaches an export of another prelude through a definition of the run. Its name begins with a mark that no
//! program can write, so no definition of a program or session can replace it.

use crate::encode::to_bytes;
use crate::manifest::{ExportRecord, Manifest};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

/// First character of a definition that stands for an export; the reader never makes a symbol with it.
const MARK: char = '^';

/// A namespace of another prelude that the code calls, as it was at compile time.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct UseRecord {
    /// Name of the namespace.
    pub namespace: String,
    /// [`Manifest::hash_of_namespace`], which must still be equal where both are attached.
    pub interface_hash: [u8; 32],
    /// [`Manifest::artifact_hash`] of the prelude that declared it; another one with the same interface will do.
    pub artifact_hash: [u8; 32],
}

/// Returns the definition by which code reaches an export of another prelude.
///
/// ```
/// use ptc_bytecode::{used_as, used_export};
/// assert_eq!(used_export(&used_as("crm/find")), Some("crm/find"));
/// assert_eq!(used_export("crm/find"), None);
/// ```
pub fn used_as(reference: &str) -> String {
    format!("{MARK}{reference}")
}

/// Returns the export behind a definition of this name; None for a definition of a program.
pub fn used_export(definition: &str) -> Option<&str> {
    definition.strip_prefix(MARK)
}

impl Manifest {
    /// Computes the identity of one namespace for preludes that use it: names, signatures and effects of its
    /// exports. Their order, docs and code do not count.
    ///
    /// ```
    /// use ptc_bytecode::Manifest;
    /// let manifest = Manifest::default();
    /// assert_ne!(manifest.hash_of_namespace("crm"), manifest.hash_of_namespace("shop"));
    /// ```
    pub fn hash_of_namespace(&self, namespace: &str) -> [u8; 32] {
        let mut exports: Vec<&ExportRecord> =
            self.exports.iter().filter(|export| export.namespace == namespace).collect();
        exports.sort_by(|a, b| a.symbol.cmp(&b.symbol));
        let mut hash = Sha256::new();
        hash.update("ptc-uses-1");
        hash.update(to_bytes(namespace));
        for export in exports {
            hash.update(to_bytes(&(&export.symbol, export.kind(), &export.params, export.effect)));
        }
        hash.finalize().into()
    }
}
