//! Origin of a prelude, as far as authority hangs on it: who signed it, and what of it came out of a store.

use super::Prelude;
use std::collections::BTreeSet;

/// Facts about a prelude that its host knows and that no file can claim for itself.
#[derive(Clone, Debug, Default)]
pub(crate) struct Provenance {
    /// True if the texts `(source …)` shows are known to belong to the code.
    pub shows_source: bool,
    /// Public key of the trusted signer, in hexadecimal.
    pub signer: Option<String>,
    /// Namespaces out of a store. A model may have written them, whatever else they were composed with.
    pub stored: BTreeSet<String>,
}

/// Names the preludes that a private tool is for: see [`Tools::private_to`](crate::Tools::private_to). Everything it
/// says must hold. A prelude out of a store never fits, whatever it is called.
///
/// ```
/// use ptc_runtime::PreludeId;
/// // The namespace `crm`, wherever the host took it from.
/// let by_name = PreludeId::from("crm");
/// // Whatever this key signed, as loaded with `LoadOptions::trusted`; here only its namespace `crm`.
/// let by_key = PreludeId::signed_by("07".repeat(32)).namespace("crm");
/// // Exactly this build: `Prelude::artifact_hash`, as `ptc inspect` prints it.
/// let by_hash = PreludeId::artifact("ab".repeat(32));
/// assert_ne!(by_key, by_hash);
/// # let _ = by_name;
/// ```
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct PreludeId {
    namespace: Option<String>,
    artifact: Option<String>,
    signer: Option<String>,
}

impl PreludeId {
    /// The build with this artifact hash, in hexadecimal.
    pub fn artifact(hash: impl Into<String>) -> PreludeId {
        PreludeId { artifact: Some(hash.into()), ..PreludeId::default() }
    }

    /// Files that this public key signed, in hexadecimal.
    pub fn signed_by(key: impl Into<String>) -> PreludeId {
        PreludeId { signer: Some(key.into()), ..PreludeId::default() }
    }

    /// Only this namespace of it.
    #[must_use]
    pub fn namespace(mut self, name: impl Into<String>) -> PreludeId {
        self.namespace = Some(name.into());
        self
    }

    /// True if an export in `namespace` of `prelude` is meant.
    pub(crate) fn fits(&self, prelude: &Prelude, namespace: &str) -> bool {
        let is = |wanted: &Option<String>, found: Option<&str>| {
            let is_same = |wanted: &String| found.is_some_and(|found| wanted.eq_ignore_ascii_case(found));
            wanted.as_ref().is_none_or(is_same)
        };
        let is_named = self.namespace.as_ref().is_none_or(|wanted| wanted == namespace);
        let hash = || prelude.artifact_hash();
        !prelude.is_stored(namespace)
            && is_named
            && is(&self.signer, prelude.signer())
            && (self.artifact.is_none() || is(&self.artifact, Some(&hash())))
    }
}

impl From<&str> for PreludeId {
    fn from(namespace: &str) -> PreludeId {
        PreludeId::default().namespace(namespace)
    }
}

impl From<String> for PreludeId {
    fn from(namespace: String) -> PreludeId {
        PreludeId::default().namespace(namespace)
    }
}

impl Prelude {
    /// Public key of the trusted signer it was loaded with, in hexadecimal.
    pub fn signer(&self) -> Option<&str> {
        self.0.provenance.signer.as_deref()
    }

    /// True if a namespace of it came out of a [`PreludeStore`](crate::PreludeStore). Such a namespace is never
    /// granted a private tool.
    pub fn is_stored(&self, namespace: &str) -> bool {
        self.0.provenance.stored.contains(namespace)
    }
}
