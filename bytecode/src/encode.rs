//! Encoder from an artifact to file bytes.

use crate::artifact::Artifact;
use crate::container::{Section, kind, seal};
use crate::header::Header;
use crate::manifest::Manifest;
use crate::returns::Returns;
use crate::span::Span;
use serde::Serialize;

/// Source spans of the instructions of each block.
pub(crate) type Spans = Vec<Vec<(u32, Span)>>;

/// The parts of a prelude file, as [`encode_prelude`] writes and [`decode_prelude`](crate::decode_prelude) reads them.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct PreludeFile {
    /// Manifest: what the file claims about itself.
    pub manifest: Manifest,
    /// Code.
    pub artifact: Artifact,
    /// Source of each component, in order; None if left out.
    pub sources: Option<Vec<String>>,
    /// Definitions as `source` prints them, by `ns/name`, sorted.
    pub rendered: Vec<(String, String)>,
    /// Return values of exports, by `ns/name`, sorted; exports about which nothing is known are left out.
    pub returns: Vec<(String, Returns)>,
}

/// Encodes an artifact as a `.ptcp` file that holds code only. Equal artifacts give equal bytes on every machine.
///
/// ```
/// use ptc_bytecode::{Artifact, decode, encode};
/// let library = Artifact { defs: vec!["total".into()], ..Artifact::default() };
/// let bytes = encode(&library);
/// assert!(bytes.starts_with(b"\x89PTCP"));
/// assert_eq!(decode(&bytes).unwrap(), library);
/// ```
pub fn encode(artifact: &Artifact) -> Vec<u8> {
    let (code, debug) = code_sections(artifact);
    let mut sections = vec![Section { kind: kind::CODE, ancillary: false, body: &code }];
    if let Some(debug) = &debug {
        sections.push(Section { kind: kind::DEBUG, ancillary: true, body: debug });
    }
    seal(if debug.is_some() { Header::HAS_DEBUG } else { 0 }, &sections)
}

/// Encodes a prelude as a `.ptcp` file. Its manifest must hold the SHA-256 of [`code_bytes`].
pub fn encode_prelude(file: &PreludeFile) -> Vec<u8> {
    let manifest = to_bytes(&file.manifest);
    let (code, debug) = code_sections(&file.artifact);
    let sources = file.sources.as_ref().map(to_bytes);
    let rendered = to_bytes(&file.rendered);
    let mut sections = vec![
        Section { kind: kind::MANIFEST, ancillary: false, body: &manifest },
        Section { kind: kind::CODE, ancillary: false, body: &code },
    ];
    let mut flags = 0;
    if let Some(sources) = &sources {
        flags |= Header::HAS_SOURCE;
        sections.push(Section { kind: kind::SOURCE, ancillary: true, body: sources });
    }
    sections.push(Section { kind: kind::RENDERED, ancillary: true, body: &rendered });
    if let Some(debug) = &debug {
        flags |= Header::HAS_DEBUG;
        sections.push(Section { kind: kind::DEBUG, ancillary: true, body: debug });
    }
    let returns = to_bytes(&file.returns);
    if !file.returns.is_empty() {
        sections.push(Section { kind: kind::RETURNS, ancillary: true, body: &returns });
    }
    let uses = to_bytes(&file.manifest.uses);
    if !file.manifest.uses.is_empty() {
        sections.push(Section { kind: kind::USES, ancillary: false, body: &uses });
    }
    if !file.manifest.components.is_empty() {
        flags |= Header::IS_BUNDLE;
    }
    seal(flags, &sections)
}

/// Encodes the code section of an artifact, whose SHA-256 is the code hash of a manifest.
pub fn code_bytes(artifact: &Artifact) -> Vec<u8> {
    code_sections(artifact).0
}

/// Encodes code and, separately, source positions if there are any.
fn code_sections(artifact: &Artifact) -> (Vec<u8>, Option<Vec<u8>>) {
    if artifact.blocks.iter().all(|block| block.spans.is_empty()) {
        return (to_bytes(artifact), None);
    }
    let mut bare = artifact.clone();
    let spans: Spans = bare.blocks.iter_mut().map(|block| std::mem::take(&mut block.spans)).collect();
    (to_bytes(&bare), Some(to_bytes(&spans)))
}

pub(crate) fn to_bytes<T: Serialize + ?Sized>(value: &T) -> Vec<u8> {
    // Writing to memory fails only for sequences of unknown length; ours all know theirs.
    postcard::to_stdvec(value).expect("every sequence of an artifact knows its length")
}
