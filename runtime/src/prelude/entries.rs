//! Entries of exports for lookups.

use super::Prelude;
use crate::catalog::{Entry, Origin};
use ptc_bytecode::ExportRecord;

impl Prelude {
    /// Returns one entry for each export, in the same order; made on first use.
    pub fn entries(&self) -> &[Entry] {
        self.inner.entries.get_or_init(|| self.exports().iter().map(entry).collect())
    }
}

fn entry(export: &ExportRecord) -> Entry {
    let doc = export.doc.as_deref().unwrap_or("");
    let doc = doc.split_whitespace().collect::<Vec<_>>().join(" ");
    let mut entry = Entry::new(Origin::Prelude, export.kind(), &export.namespace, &export.symbol, &doc);
    entry.reference = export.reference();
    entry.signatures = export.signatures();
    let names = format!("{} {}", export.symbol, entry.reference);
    let others = format!("{doc} {}", export.namespace);
    entry.with_words(&names, &others)
}
