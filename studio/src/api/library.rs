//! Documentation: the language and preludes, searched.

use crate::studio::Studio;
use ptc_runtime::{Catalog, Entry, Origin};
use serde::Deserialize;
use serde_json::{Value, json};

/// Entries of one answer.
const MAX_FOUND: usize = 200;

/// What is looked for: words, or everything in a namespace.
#[derive(Deserialize, Default)]
#[serde(default)]
pub struct Query {
    words: String,
    namespace: String,
}

/// Returns the namespaces, and the entries that match.
pub fn search(studio: &Studio, query: &Query) -> Value {
    let mut catalog = Catalog::language().clone();
    let preludes = studio.preludes.iter().chain(&studio.documented);
    catalog.add(preludes.flat_map(|prelude| prelude.entries()).cloned());
    let found: Vec<&Entry> = match (query.words.trim(), &*query.namespace) {
        ("", "") => Vec::new(),
        ("", namespace) => catalog.members(namespace),
        (words, namespace) => {
            let mut found = catalog.search(words, MAX_FOUND);
            if let Some(exact) = catalog.find(words) {
                found.retain(|entry| entry.reference != exact.reference);
                found.insert(0, exact);
            }
            found.retain(|entry| namespace.is_empty() || entry.namespace == namespace);
            found
        }
    };
    json!({
        "namespaces": catalog.namespaces(),
        "found": found.iter().take(MAX_FOUND).map(|found| entry(found)).collect::<Vec<_>>(),
        "left_out": found.len().saturating_sub(MAX_FOUND),
    })
}

fn entry(entry: &Entry) -> Value {
    json!({
        "name": entry.reference,
        "signatures": entry.signatures,
        "description": entry.description,
        "example": entry.example,
        "place": entry.place(),
        "prelude": entry.origin == Origin::Prelude,
    })
}
