//! File bytes → artifact, trusting nothing.
//!
//! What is allocated stays within a small multiple of the input: a vector's length in the file is
//! only a hint, which postcard drops if fewer bytes follow, and which serde caps. Nothing recurses
//! on the input, since data is flat. Whether the artifact makes sense is for [`verify`](crate::verify).

use crate::artifact::Artifact;
use crate::codes::Code;
use crate::diag::Diagnostic;
use crate::fingerprint::fingerprint;
use crate::header::{Header, cut_off};
use sha2::{Digest, Sha256};

/// Reads a `.ptcp` file; the error says what is wrong with it and what to do.
///
/// ```
/// use ptc_bytecode::{Artifact, Code, decode, encode};
/// let mut bytes = encode(&Artifact::default());
/// *bytes.last_mut().unwrap() ^= 1;
/// let error = decode(&bytes).unwrap_err();
/// assert_eq!(error.code, Code::ArtifactInvalid);
/// assert_eq!(error.message, "the file is damaged: its content does not match its hash");
/// ```
pub fn decode(bytes: &[u8]) -> Result<Artifact, Diagnostic> {
    let header = Header::read(bytes)?;
    let body = &bytes[Header::BYTES..];
    if header.flags != 0 {
        let message =
            format!("the file uses features this version of ptc does not have (flags {:#06x})", header.flags);
        return Err(Diagnostic::without_span(Code::ArtifactStale, message)
            .hint("update ptc, or recompile the file with this version of ptc"));
    }
    if header.fingerprint != fingerprint() {
        return Err(Diagnostic::without_span(
            Code::ArtifactStale,
            "the file was compiled for another instruction set",
        )
        .hint("recompile it with this version of ptc"));
    }
    let found = body.len() as u64;
    if found < header.body_bytes {
        return Err(cut_off(bytes.len(), header.body_bytes.saturating_add(Header::BYTES as u64)));
    }
    if found > header.body_bytes {
        let extra = found - header.body_bytes;
        return Err(damaged(format!("the file is damaged: {extra} bytes follow its end")));
    }
    let hash: [u8; 32] = Sha256::digest(body).into();
    if hash != header.content_hash {
        return Err(damaged("the file is damaged: its content does not match its hash"));
    }
    let (artifact, rest) = postcard::take_from_bytes::<Artifact>(body)
        .map_err(|error| damaged(format!("the file does not hold an artifact: {}", words(&error))))?;
    if !rest.is_empty() {
        return Err(damaged(format!("the file holds {} bytes behind its artifact", rest.len())));
    }
    if artifact.source_hash != header.source_hash {
        return Err(damaged("the file is damaged: header and content name different sources"));
    }
    Ok(artifact)
}

fn damaged(message: impl Into<String>) -> Diagnostic {
    Diagnostic::without_span(Code::ArtifactInvalid, message)
        .hint("copy the file again, or recompile it with this version of ptc")
}

/// What postcard found, without its own vocabulary.
fn words(error: &postcard::Error) -> &'static str {
    match error {
        postcard::Error::DeserializeUnexpectedEnd => "it ends too early",
        postcard::Error::DeserializeBadUtf8 => "a text is not valid UTF-8",
        postcard::Error::DeserializeBadBool => "a flag is neither true nor false",
        postcard::Error::DeserializeBadOption => "a choice is neither there nor absent",
        postcard::Error::DeserializeBadEnum => "an instruction or constant has an unknown kind",
        postcard::Error::DeserializeBadVarint => "a number is too large",
        _ => "a value has an impossible form",
    }
}
