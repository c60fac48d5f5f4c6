//! Exports of other preludes, as a source that is compiled beside them sees them.

use crate::interface::Interface;
use ptc_bytecode::UseRecord;
use std::collections::BTreeSet;

/// Exports of other preludes that a source may use.
#[derive(Clone, Debug, Default)]
pub struct Used {
    /// Their names and shapes.
    pub interface: Interface,
    /// Those that are known to reach no tool, by `ns/name`.
    pub pure: BTreeSet<String>,
    /// The namespaces of preludes that are compiled already; others are part of the same file.
    pub records: Vec<UseRecord>,
}

impl Used {
    /// The identity of a namespace that is compiled already.
    pub fn record(&self, namespace: &str) -> Option<&UseRecord> {
        self.records.iter().find(|record| record.namespace == namespace)
    }

    /// These exports, with those of another source of the same file.
    #[must_use]
    pub fn beside(&self, own: &Interface) -> Used {
        // What is compiled again for this file takes the place of what there was.
        let is_new = |name: &str| own.namespaces().all(|space| space != name);
        let kept: Vec<&str> = self.interface.namespaces().filter(|name| is_new(name)).collect();
        Used { interface: self.interface.only(&kept).beside(own), ..self.clone() }
    }
}
