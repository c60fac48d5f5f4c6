//! Parameters of the protocol, as far as this server reads them.

use serde::{Deserialize, Serialize};

/// A place in a document: line from 0, column in UTF-16 units from 0.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
pub struct Position {
    pub line: u32,
    pub character: u32,
}

/// A range of a document; its end is not part of it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Range {
    pub start: Position,
    pub end: Position,
}

/// Which document.
#[derive(Deserialize, Debug)]
pub struct DocumentId {
    pub uri: String,
    /// Version after a change.
    #[serde(default)]
    pub version: Option<i64>,
}

/// A document that was opened.
#[derive(Deserialize, Debug)]
pub struct OpenedDocument {
    pub uri: String,
    #[serde(default)]
    pub version: Option<i64>,
    pub text: String,
}

/// `textDocument/didOpen`
#[derive(Deserialize, Debug)]
#[serde(rename_all = "camelCase")]
pub struct Opened {
    pub text_document: OpenedDocument,
}

/// `textDocument/didChange`
#[derive(Deserialize, Debug)]
#[serde(rename_all = "camelCase")]
pub struct Changed {
    pub text_document: DocumentId,
    pub content_changes: Vec<Change>,
}

/// New text of a range, or of the whole document.
#[derive(Deserialize, Debug)]
pub struct Change {
    #[serde(default)]
    pub range: Option<Range>,
    pub text: String,
}

/// Parameters with nothing but a document.
#[derive(Deserialize, Debug)]
#[serde(rename_all = "camelCase")]
pub struct InDocument {
    pub text_document: DocumentId,
}

/// Parameters with a place in a document.
#[derive(Deserialize, Debug)]
#[serde(rename_all = "camelCase")]
pub struct AtPosition {
    pub text_document: DocumentId,
    pub position: Position,
}

/// `textDocument/codeAction`
#[derive(Deserialize, Debug)]
#[serde(rename_all = "camelCase")]
pub struct InRange {
    pub text_document: DocumentId,
    pub range: Range,
}

/// `textDocument/rename`
#[derive(Deserialize, Debug)]
#[serde(rename_all = "camelCase")]
pub struct Rename {
    pub text_document: DocumentId,
    pub position: Position,
    pub new_name: String,
}

/// `initialize`
#[derive(Deserialize, Debug, Default)]
#[serde(default)]
pub struct Initialize {
    pub capabilities: ClientCapabilities,
}

/// What the client can do.
#[derive(Deserialize, Debug, Default)]
#[serde(default, rename_all = "camelCase")]
pub struct ClientCapabilities {
    pub text_document: TextCapabilities,
}

/// What it can do with documents.
#[derive(Deserialize, Debug, Default)]
#[serde(default)]
pub struct TextCapabilities {
    pub hover: HoverCapabilities,
}

/// What it can show beside a name.
#[derive(Deserialize, Debug, Default)]
#[serde(default, rename_all = "camelCase")]
pub struct HoverCapabilities {
    pub content_format: Vec<String>,
}
