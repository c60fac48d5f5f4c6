//! Bundles of stored versions: one prelude that stays as it is, whatever is written later.

use super::{FrozenRef, PreludeStore, StoreError, ToStoreRef};
use crate::prelude::{Origin, Prelude, Provenance, Selection};

impl PreludeStore {
    /// Composes the versions that these references mean now into one prelude in this order, perhaps with further
    /// sources; also returns the versions.
    ///
    /// ```
    /// use ptc_runtime::{PreludeStore, Runtime};
    /// let runtime = Runtime::with_core(ptc_preludes::core())?;
    /// let store = PreludeStore::new(&runtime);
    /// store.write("a", "(ns a) (def x 1)", serde_json::json!({}))?;
    /// let (prelude, frozen) = store.bundle(&["a"], &[])?;
    /// store.write("a", "(ns a) (def x 2)", serde_json::json!({}))?;
    /// assert_eq!((prelude.components()[0].version, frozen[0].version), (Some(1), 1));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn bundle<R: ToStoreRef>(
        &self,
        references: &[R],
        more: &[Selection],
    ) -> Result<(Prelude, Vec<FrozenRef>), StoreError> {
        let mut frozen = Vec::with_capacity(references.len());
        let mut selections = Vec::with_capacity(references.len() + more.len());
        for reference in references {
            if let Some(keys) = self.0.runtime.trusted_keys() {
                // A store holds unsigned sources, and anyone with write access may have written them.
                let stored = reference.to_store_ref()?;
                keys.decide(&[Provenance::Source]).map_err(|problem| {
                    let message = format!("the stored prelude `{stored}`: {}", problem.message);
                    StoreError::new(problem.code, message).with("hint", problem.hint.unwrap_or_default())
                })?;
            }
            let stored = self.read(reference)?;
            let origin = Origin::Text(stored.origin.clone().unwrap_or_else(|| "store".to_string()));
            let selection = Selection::new(&*stored.id, &*stored.source).version(stored.version);
            let selection = selection.checksum(&*stored.checksum).origin(origin);
            selections.push(Selection { is_stored: true, ..selection });
            frozen.push(FrozenRef {
                id: stored.id,
                version: stored.version,
                checksum: stored.checksum,
                origin: stored.origin,
            });
        }
        selections.extend_from_slice(more);
        let prelude = Prelude::compose(&self.0.runtime, &selections);
        Ok((prelude.map_err(|error| StoreError::of_source(&error, ""))?, frozen))
    }
}
