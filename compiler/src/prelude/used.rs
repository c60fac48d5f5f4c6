//! Exports of other preludes, as seen by a source compiled beside them.

use crate::interface::Interface;
use ptc_bytecode::UseRecord;
use std::collections::BTreeSet;

/// Exports of other preludes that a source may use.
#[derive(Clone, Debug, Default)]
pub struct Used {
    /// Names and shapes of the exports.
    pub interface: Interface,
    /// Exports known to reach no tool, by `ns/name`.
    pub pure: BTreeSet<String>,
    /// Namespaces of preludes that are compiled already; others are part of the same file.
    pub records: Vec<UseRecord>,
}

impl Used {
    /// Returns the identity of a namespace that is compiled already.
    pub fn record(&self, namespace: &str) -> Option<&UseRecord> {
        self.records.iter().find(|record| record.namespace == namespace)
    }

    /// Adds the exports of another source of the same file.
    #[must_use]
    pub fn beside(&self, own: &Interface) -> Used {
        // A namespace compiled again for this file replaces the older one.
        let is_new = |name: &str| own.namespaces().all(|space| space != name);
        let kept: Vec<&str> = self.interface.namespaces().filter(|name| is_new(name)).collect();
        Used { interface: self.interface.only(&kept).beside(own), ..self.clone() }
    }
}
