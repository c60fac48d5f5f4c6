//! The catalogue of a document: the language, exports of preludes, and its own definitions.

use crate::project::Project;
use ptc_compiler::Definition;
use ptc_compiler::names::Names;
use ptc_runtime::{Catalog, Entry, Origin, Prelude};

/// Kind of an entry that is defined in the document.
pub const HERE: &str = "this file";

/// Returns the language and the exports that a document may use: in programs those of the project, in preludes those
/// of the namespaces it requires.
pub fn catalogue(project: &Project, preludes: &[Prelude], names: &Names) -> Catalog {
    let mut catalog = project.catalog.clone();
    if !preludes.is_empty() {
        let required: Vec<&str> = names.required().collect();
        let attached = |entry: &&Entry| project.catalog.find(&entry.reference).is_none();
        let entries = preludes.iter().flat_map(|prelude| prelude.entries()).filter(attached);
        catalog.add(entries.filter(|entry| required.contains(&&*entry.namespace)).cloned());
    }
    catalog
}

/// Returns the entry of a definition of the text.
pub fn entry_of(definition: &Definition) -> Entry {
    let kind = if definition.is_function { "function" } else { "value" };
    let doc = definition.doc.as_deref().unwrap_or_default();
    let doc = doc.split_whitespace().collect::<Vec<_>>().join(" ");
    let mut entry = Entry::new(Origin::Prelude, kind, HERE, &definition.name, &doc);
    entry.signatures = match definition.signatures.is_empty() {
        true => vec![definition.name.clone()],
        false => definition.signatures.clone(),
    };
    entry
}
