//! Results of store operations, and the parts of them that models may see.

use super::index::{Metadata, Version, Versions};
use crate::prelude::Prelude;
use serde::Serialize;
use serde_json::{Value, json};
use std::sync::Arc;

/// Result of writing a version.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[allow(missing_docs)] // named as in the store
pub struct Written {
    pub id: String,
    pub version: u64,
    /// SHA-256 of the source, in hexadecimal.
    pub checksum: String,
    pub namespaces: Vec<String>,
    /// Public exports, as `ns/name`.
    pub exports: Vec<String>,
    pub metadata: Metadata,
}

/// Result of making a version current.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[allow(missing_docs)] // named as in the store
pub struct Selected {
    pub id: String,
    pub version: u64,
    pub checksum: String,
    pub metadata: Metadata,
}

/// One prelude of [`PreludeStore::list`](super::PreludeStore::list), at its current version.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[allow(missing_docs)] // named as in the store
pub struct Listed {
    pub id: String,
    pub checksum: String,
    pub namespaces: Vec<String>,
    pub exports: Vec<String>,
    pub metadata: Metadata,
    /// Version that a bare id reads.
    pub current_version: u64,
    /// Newest version.
    pub latest_version: u64,
    /// Number of kept versions.
    pub versions_count: u64,
    pub origin: Option<String>,
    /// Metadata given when a version was last selected.
    pub default_metadata: Option<Metadata>,
    pub created_at: String,
    pub updated_at: String,
}

/// One version of [`PreludeStore::history`](super::PreludeStore::history).
#[derive(Clone, PartialEq, Debug, Serialize)]
#[allow(missing_docs)] // named as in the store
pub struct Past {
    pub version: u64,
    pub current: bool,
    pub latest: bool,
    pub checksum: String,
    pub namespaces: Vec<String>,
    pub exports: Vec<String>,
    pub metadata: Metadata,
    pub origin: Option<String>,
    pub created_at: String,
}

/// Result of reading a version: compiled and ready to be attached.
#[derive(Clone, Debug)]
#[allow(missing_docs)] // named as in the store
pub struct Stored {
    pub id: String,
    pub version: u64,
    pub current: bool,
    pub latest: bool,
    pub checksum: String,
    pub source: Arc<str>,
    pub namespaces: Vec<String>,
    pub exports: Vec<String>,
    pub metadata: Metadata,
    pub origin: Option<String>,
    pub created_at: String,
    pub compiled: Prelude,
}

/// A version that a session was started with.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[allow(missing_docs)] // named as in the store
pub struct FrozenRef {
    pub id: String,
    pub version: u64,
    pub checksum: String,
    pub origin: Option<String>,
}

/// Maximum length in bytes of a source that a model is shown.
const MAX_SHOWN: usize = 64 << 10;
/// Metadata that a model may see and give.
const PUBLIC: &[&str] = &["reason", "parent_version", "parent_checksum", "source_session_id", "created_by"];
/// Maximum length in bytes of a metadata text that a model is shown.
const MAX_TEXT: usize = 1_024;

impl Stored {
    /// Returns the part that a model may see: a source of at most 64 KiB and the public metadata.
    pub fn public_view(&self) -> Value {
        let source = &*self.source;
        let shown = cut(source, MAX_SHOWN);
        json!({
            "status": "ok",
            "id": self.id,
            "version": self.version,
            "current": self.current,
            "latest": self.latest,
            "checksum": self.checksum,
            "namespaces": self.namespaces,
            "exports": self.exports,
            "metadata": public_metadata(&self.metadata),
            "origin": self.origin,
            "created_at": self.created_at,
            "source": shown,
            "source_bytes": source.len(),
            "source_truncated": shown.len() < source.len(),
        })
    }
}

impl Listed {
    pub(super) fn of(id: &str, versions: &Versions, current: &Version) -> Listed {
        Listed {
            id: id.to_string(),
            checksum: current.checksum.clone(),
            namespaces: current.namespaces.clone(),
            exports: current.exports.clone(),
            metadata: current.metadata.clone(),
            current_version: versions.current,
            latest_version: versions.latest,
            versions_count: versions.all.len() as u64,
            origin: current.origin.clone(),
            default_metadata: versions.default_metadata.clone(),
            created_at: versions.created_at.clone(),
            updated_at: versions.updated_at.clone(),
        }
    }

    /// Returns the part that a model may see.
    pub fn public_view(&self) -> Value {
        let mut shown = self.clone();
        shown.metadata = public_metadata(&self.metadata);
        shown.default_metadata = self.default_metadata.as_ref().map(public_metadata);
        json!(shown)
    }
}

impl Past {
    pub(super) fn of(versions: &Versions, version: &Version) -> Past {
        Past {
            version: version.version,
            current: version.version == versions.current,
            latest: version.version == versions.latest,
            checksum: version.checksum.clone(),
            namespaces: version.namespaces.clone(),
            exports: version.exports.clone(),
            metadata: version.metadata.clone(),
            origin: version.origin.clone(),
            created_at: version.created_at.clone(),
        }
    }

    /// Returns the part that a model may see.
    pub fn public_view(&self) -> Value {
        let mut shown = self.clone();
        shown.metadata = public_metadata(&self.metadata);
        json!(shown)
    }
}

/// Filters metadata to what a model may see or give: known names, no nested values, bounded texts.
pub(super) fn public_metadata(metadata: &Metadata) -> Metadata {
    let is_public = |(name, value): &(&String, &Value)| {
        PUBLIC.contains(&name.as_str()) && !value.is_array() && !value.is_object()
    };
    let shown = |value: &Value| match value {
        Value::String(text) if text.len() > MAX_TEXT => Value::String(bounded(text)),
        other => other.clone(),
    };
    metadata.iter().filter(is_public).map(|(name, value)| (name.clone(), shown(value))).collect()
}

/// Cuts a text to 1,024 bytes, with a note if it was longer.
pub(super) fn bounded(text: &str) -> String {
    if text.len() <= MAX_TEXT {
        return text.to_string();
    }
    let note = format!("…(cut, {} bytes)", text.len());
    format!("{}{note}", cut(text, MAX_TEXT - note.len()))
}

fn cut(text: &str, most: usize) -> &str {
    let mut end = text.len().min(most);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    &text[..end]
}
