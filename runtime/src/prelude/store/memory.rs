//! A store in the memory of this process.

use super::index::{Entry, Index, Version};
use super::{Backend, New, Object, StoreError};
use ptc_bytecode::Code;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

#[derive(Default)]
pub(super) struct Memory(Mutex<Held>);

#[derive(Default)]
struct Held {
    index: Index,
    sources: HashMap<String, Arc<str>>,
}

impl Memory {
    fn held(&self) -> MutexGuard<'_, Held> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Backend for Memory {
    fn look(&self, see: &mut dyn FnMut(&Index)) -> Result<(), StoreError> {
        see(&self.held().index);
        Ok(())
    }

    fn fetch(
        &self,
        find: &mut dyn FnMut(&Index) -> Result<Version, StoreError>,
    ) -> Result<Object, StoreError> {
        let held = self.held();
        let version = find(&held.index)?;
        let lost = || StoreError::new(Code::Internal, "the store has lost a source");
        let source = held.sources.get(&version.checksum).cloned().ok_or_else(lost)?;
        Ok(Object { version, source })
    }

    fn change(
        &self,
        plan: &mut dyn FnMut(&Index) -> Result<Entry, StoreError>,
        new: Option<&New<'_>>,
    ) -> Result<Entry, StoreError> {
        let mut held = self.held();
        let entry = plan(&held.index)?;
        let freed = held.index.apply(entry.clone()).map_err(|why| StoreError::new(Code::Internal, why))?;
        if let Some(new) = new {
            held.sources.insert(new.checksum.to_string(), new.source.into());
        }
        for checksum in freed {
            held.sources.remove(&checksum);
        }
        Ok(entry)
    }
}
