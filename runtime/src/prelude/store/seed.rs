//! Seeding of a store from files.

use super::reference::check_id;
use super::{PreludeStore, StoreError, StoreRef};
use crate::prelude::{Prelude, Selection};
use ptc_bytecode::Code;
use serde::Serialize;
use serde_json::Value;
use std::collections::BTreeMap;

/// Result for one seeded source.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[allow(missing_docs)] // named as in the store
pub struct Seeded {
    pub id: String,
    pub version: u64,
    pub checksum: String,
    /// False if it already was the current version.
    pub is_new: bool,
}

impl PreludeStore {
    /// Stores sources under the names of their namespaces; each must declare exactly one. Sources that are already
    /// current are not stored again. All are compiled first; if one is wrong, the store is unchanged. The error
    /// names the [`Selection`] by its id.
    ///
    /// ```
    /// use ptc_runtime::{PreludeStore, Runtime, Selection};
    /// let runtime = Runtime::with_core(ptc_preludes::core())?;
    /// let store = PreludeStore::new(&runtime);
    /// let shop = Selection::new("shop.clj", "(ns shop) (def rate 19)");
    /// assert!(store.seed(&[shop.clone()], &serde_json::json!({}))?[0].is_new);
    /// assert!(!store.seed(&[shop.clone()], &serde_json::json!({}))?[0].is_new);
    /// let two = Selection::new("two.clj", "(ns a) (ns b)");
    /// assert_eq!(store.seed(&[shop, two], &serde_json::json!({})).unwrap_err().details["source"], "two.clj");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn seed(&self, sources: &[Selection], metadata: &Value) -> Result<Vec<Seeded>, StoreError> {
        let mut ids: BTreeMap<String, &str> = BTreeMap::new();
        for selection in sources {
            let id = self.compile(&selection.source).and_then(|prelude| id_of(&prelude));
            let id = id.map_err(|error| told(error, selection))?;
            if let Some(other) = ids.insert(id.clone(), &selection.id) {
                let message = format!("`{other}` declares the namespace {id} too");
                return Err(told(StoreError::new(Code::PreludeNamespaceViolation, message), selection));
            }
        }
        let named = |selection: &Selection| ids.iter().find(|(_, name)| **name == selection.id);
        let mut seeded = Vec::with_capacity(sources.len());
        for selection in sources {
            let Some((id, _)) = named(selection) else { continue };
            let stored = self.put(id, selection, metadata);
            seeded.push(stored.map_err(|error| told(error, selection))?);
        }
        Ok(seeded)
    }

    fn put(&self, id: &str, selection: &Selection, metadata: &Value) -> Result<Seeded, StoreError> {
        match self.read(StoreRef { id: id.to_string(), version: None, checksum: None }) {
            Ok(stored) if *stored.source == *selection.source => {
                let (version, checksum) = (stored.version, stored.checksum);
                Ok(Seeded { id: id.to_string(), version, checksum, is_new: false })
            }
            Err(error) if error.code != Code::NotFound => Err(error),
            _ => {
                let origin = selection.origin.clone();
                let written = self.write_from(id, &selection.source, metadata.clone(), origin)?;
                let (version, checksum) = (written.version, written.checksum);
                Ok(Seeded { id: id.to_string(), version, checksum, is_new: true })
            }
        }
    }
}

/// Returns the only namespace of a prelude.
fn id_of(prelude: &Prelude) -> Result<String, StoreError> {
    match prelude.namespaces() {
        [only] => check_id(&only.name).map(|()| only.name.clone()),
        several => {
            let names: Vec<&str> = several.iter().map(|namespace| namespace.name.as_str()).collect();
            let message = format!("it must declare exactly one namespace, but declares {}", names.join(", "));
            Err(StoreError::new(Code::PreludeNamespaceViolation, message))
        }
    }
}

fn told(mut error: StoreError, selection: &Selection) -> StoreError {
    error.message = format!("{}: {}", selection.id, error.message);
    error.with("source", selection.id.clone())
}
