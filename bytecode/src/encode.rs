//! Artifact → file bytes.

use crate::artifact::Artifact;
use crate::fingerprint::fingerprint;
use crate::header::{FORMAT_VERSION, Header};
use sha2::{Digest, Sha256};

/// The bytes of a `.ptcp` file. The same artifact gives the same bytes everywhere.
///
/// ```
/// use ptc_bytecode::{Artifact, decode, encode};
/// let library = Artifact { defs: vec!["total".into()], ..Artifact::default() };
/// let bytes = encode(&library);
/// assert!(bytes.starts_with(b"PTCP"));
/// assert_eq!(decode(&bytes).unwrap(), library);
/// ```
pub fn encode(artifact: &Artifact) -> Vec<u8> {
    // Writing to memory fails only for sequences that do not know their length; ours all do.
    let body = postcard::to_stdvec(artifact).expect("every sequence of an artifact knows its length");
    let header = Header {
        version: FORMAT_VERSION,
        flags: 0,
        fingerprint: fingerprint(),
        source_hash: artifact.source_hash,
        content_hash: Sha256::digest(&body).into(),
        body_bytes: body.len() as u64,
    };
    let mut bytes = header.to_bytes();
    bytes.extend(body);
    bytes
}
