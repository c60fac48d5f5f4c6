//! Decoder from file bytes to an artifact; it trusts nothing.
//!
//! Allocations stay within a small multiple of the input: a vector's length in the file is only a hint, which postcard
//! drops if fewer bytes follow, and which serde caps. Nothing recurses on the input, since data is flat.
//! [`verify`](crate::verify) decides whether the artifact makes sense.

use crate::artifact::Artifact;
use crate::codes::Code;
use crate::container::{Container, damaged, kind};
use crate::diag::Diagnostic;
use crate::encode::{PreludeFile, Spans, to_bytes};
use crate::header::Header;
use crate::manifest::Manifest;
use crate::verify::check_texts;
use serde::Serialize;
use serde::de::DeserializeOwned;

/// Reads the code of a `.ptcp` file; the error says what is wrong with the file and how to fix it.
///
/// ```
/// use ptc_bytecode::{Artifact, Code, decode, encode};
/// let mut bytes = encode(&Artifact::default());
/// *bytes.last_mut().unwrap() ^= 1;
/// let error = decode(&bytes).unwrap_err();
/// assert_eq!(error.code, Code::Corrupt);
/// assert_eq!(error.message, "the file is damaged: its content does not match its hash");
/// ```
pub fn decode(bytes: &[u8]) -> Result<Artifact, Diagnostic> {
    let container = Container::read(bytes)?;
    container.check_abi()?;
    code_of(&container)
}

/// Reads the `.ptcp` file of a prelude. Its manifest is not trusted until [`verify_prelude`](crate::verify_prelude)
/// has checked it.
pub fn decode_prelude(bytes: &[u8]) -> Result<PreludeFile, Diagnostic> {
    let container = Container::read(bytes)?;
    container.check_abi()?;
    let sources: Option<Vec<String>> =
        container.section(kind::SOURCE).map(|body| read_exactly(body, "sources")).transpose()?;
    let rendered = container.section(kind::RENDERED).map(|body| read_exactly(body, "definitions"));
    let returns = container.section(kind::RETURNS).map(|body| read_exactly(body, "results"));
    let file = PreludeFile {
        manifest: manifest_of(&container)?,
        artifact: code_of(&container)?,
        sources,
        rendered: rendered.transpose()?.unwrap_or_default(),
        returns: returns.transpose()?.unwrap_or_default(),
    };
    if container.hash(kind::CODE) != Some(file.manifest.code_hash) {
        return Err(damaged("the file is damaged: its manifest belongs to other code"));
    }
    let claims = [
        (Header::HAS_SOURCE, file.sources.is_some()),
        (Header::HAS_DEBUG, container.section(kind::DEBUG).is_some()),
        (Header::IS_BUNDLE, !file.manifest.components.is_empty()),
    ];
    if claims.iter().any(|(flag, is_so)| (container.header.flags & flag != 0) != *is_so) {
        return Err(damaged("the file is damaged: its header and its sections disagree"));
    }
    Ok(file)
}

/// Returns the sources inside a prelude file, whatever instruction set it was compiled for, so that it can be
/// recompiled.
pub fn embedded_sources(bytes: &[u8]) -> Result<Option<Vec<String>>, Diagnostic> {
    let container = Container::read(bytes)?;
    container.section(kind::SOURCE).map(|body| read_exactly(body, "sources")).transpose()
}

/// Returns the unverified manifest of a prelude file, whatever instruction set it was compiled for. Its texts are
/// checked, so they can be shown.
pub fn read_manifest(bytes: &[u8]) -> Result<Manifest, Diagnostic> {
    let container = Container::read(bytes)?;
    let manifest = manifest_of(&container)?;
    // The manifest is read to be shown; nothing else is checked in a file for another instruction set.
    check_texts(&manifest)?;
    Ok(manifest)
}

/// Reads the manifest and the section that belongs to it.
fn manifest_of(container: &Container<'_>) -> Result<Manifest, Diagnostic> {
    let Some(body) = container.section(kind::MANIFEST) else {
        let message = "the file has code but no manifest: it is not a prelude";
        return Err(Diagnostic::without_span(Code::UnsupportedFormat, message)
            .hint("build preludes with ptc build source.clj -o dist/"));
    };
    let mut manifest: Manifest = read_exactly(body, "manifest")?;
    if let Some(body) = container.section(kind::USES) {
        manifest.uses = read_exactly(body, "list of used namespaces")?;
        if manifest.uses.is_empty() {
            return Err(not_canonical("its list of used namespaces is empty, and would be left out"));
        }
    }
    Ok(manifest)
}

fn code_of(container: &Container<'_>) -> Result<Artifact, Diagnostic> {
    let Some(body) = container.section(kind::CODE) else {
        return Err(damaged("the file holds no code"));
    };
    let mut artifact: Artifact = read_exactly(body, "artifact")?;
    if artifact.blocks.iter().any(|block| !block.spans.is_empty()) {
        return Err(not_canonical("source positions are among the code"));
    }
    if let Some(body) = container.section(kind::DEBUG) {
        let spans: Spans = read_exactly(body, "source positions")?;
        if spans.len() != artifact.blocks.len() || spans.iter().all(Vec::is_empty) {
            return Err(damaged("the file is damaged: source positions do not fit the code"));
        }
        for (block, spans) in artifact.blocks.iter_mut().zip(spans) {
            block.spans = spans;
        }
    }
    Ok(artifact)
}

/// Decodes a value from all of these bytes; they must be its canonical encoding.
fn read_exactly<T: Serialize + DeserializeOwned>(body: &[u8], what: &str) -> Result<T, Diagnostic> {
    let (value, rest) = postcard::take_from_bytes::<T>(body)
        .map_err(|error| damaged(format!("the file does not hold its {what}: {}", words(&error))))?;
    if !rest.is_empty() {
        return Err(not_canonical(&format!("{} bytes follow its {what}", rest.len())));
    }
    // Postcard accepts some numbers that are written longer than necessary.
    match to_bytes(&value) == body {
        true => Ok(value),
        false => Err(not_canonical(&format!("its {what} could be written shorter"))),
    }
}

fn not_canonical(what: &str) -> Diagnostic {
    Diagnostic::without_span(Code::NonCanonical, format!("the file is not in its canonical form: {what}"))
        .hint("recompile it with this version of ptc")
}

/// Describes a postcard error without postcard's own vocabulary.
fn words(error: &postcard::Error) -> &'static str {
    match error {
        postcard::Error::DeserializeUnexpectedEnd => "it ends too early",
        postcard::Error::DeserializeBadUtf8 => "a text is not valid UTF-8",
        postcard::Error::DeserializeBadBool => "a flag is neither true nor false",
        postcard::Error::DeserializeBadOption => "an optional value is neither present nor absent",
        postcard::Error::DeserializeBadEnum => "an instruction or constant has an unknown kind",
        postcard::Error::DeserializeBadVarint => "a number is too large",
        _ => "a value has an impossible form",
    }
}
