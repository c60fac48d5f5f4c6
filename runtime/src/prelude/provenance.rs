//! Identity of preludes by origin, on which the grants of private tools depend.

use super::{Prelude, Provenance};
use std::collections::BTreeSet;

/// Facts about a prelude that its host knows and that no file can claim for itself.
#[derive(Clone, Debug)]
pub(crate) struct Standing {
    /// Parties that answer for its code; several for a composed prelude.
    pub provenance: Vec<Provenance>,
    /// Namespaces out of a store. A model may have written them, whatever else they were composed with.
    pub stored: BTreeSet<String>,
}

impl From<Provenance> for Standing {
    fn from(provenance: Provenance) -> Standing {
        Standing { provenance: vec![provenance], stored: BTreeSet::new() }
    }
}

/// Identity of the preludes that a private tool is for: see [`Tools::private_to`](crate::Tools::private_to). All
/// its conditions must hold. A prelude out of a store never matches, whatever its name.
///
/// ```
/// use ptc_runtime::PreludeId;
/// // The namespace `crm`, wherever the host took it from.
/// let by_name = PreludeId::from("crm");
/// // Files that this key signed, loaded with their signature; here only their namespace `crm`.
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
    /// Matches the build with this artifact hash, in hexadecimal.
    pub fn artifact(hash: impl Into<String>) -> PreludeId {
        PreludeId { artifact: Some(hash.into()), ..PreludeId::default() }
    }

    /// Matches files signed by this public key, in hexadecimal.
    pub fn signed_by(key: impl Into<String>) -> PreludeId {
        PreludeId { signer: Some(super::signature::bare(&key.into()).to_string()), ..PreludeId::default() }
    }

    /// Restricts the match to this namespace of the prelude.
    #[must_use]
    pub fn namespace(mut self, name: impl Into<String>) -> PreludeId {
        self.namespace = Some(name.into());
        self
    }

    /// True if it matches an export in `namespace` of `prelude`.
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
    /// Returns the public key that signed all of it, in hexadecimal.
    pub fn signer(&self) -> Option<&str> {
        match self.provenance() {
            [Provenance::Signed(key)] => Some(key),
            _ => None,
        }
    }

    pub(super) fn standing(&self) -> &Standing {
        &self.inner.standing
    }

    /// True if a namespace of it came out of a [`PreludeStore`](crate::PreludeStore). Such a namespace is never
    /// granted a private tool.
    pub fn is_stored(&self, namespace: &str) -> bool {
        self.inner.standing.stored.contains(namespace)
    }
}
