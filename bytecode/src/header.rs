//! The fixed start of an artifact file, which says what the rest is before any of it is read.
//!
//! | bytes | what |
//! |---|---|
//! | 4 | `PTCP` |
//! | 2 | format version |
//! | 2 | flags, all zero so far |
//! | 32 | fingerprint of the instruction set |
//! | 32 | SHA-256 of the source text |
//! | 32 | SHA-256 of the body |
//! | 8 | length of the body |
//!
//! Numbers are little-endian. The body behind it is the artifact in postcard's format.

use crate::codes::Code;
use crate::diag::Diagnostic;

/// What an artifact file starts with.
pub const MAGIC: [u8; 4] = *b"PTCP";

/// The layout of header and body that this version writes and reads. Goes up when the layout of
/// [`Artifact`](crate::Artifact) changes; the instruction set has a fingerprint of its own.
pub const FORMAT_VERSION: u16 = 1;

/// The parts of the header.
///
/// ```
/// use ptc_bytecode::{Artifact, Header, encode, fingerprint};
/// let bytes = encode(&Artifact { source_hash: [7; 32], ..Artifact::default() });
/// let header = Header::read(&bytes).unwrap();
/// assert_eq!(header.source_hash, [7; 32]);
/// assert_eq!(header.fingerprint, fingerprint());
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Header {
    /// Layout of header and body.
    pub version: u16,
    /// Reserved; zero.
    pub flags: u16,
    /// Fingerprint of the instruction set it was compiled for.
    pub fingerprint: [u8; 32],
    /// SHA-256 of the source text.
    pub source_hash: [u8; 32],
    /// SHA-256 of the body: two files with the same one hold the same program.
    pub content_hash: [u8; 32],
    /// Length of the body in bytes.
    pub body_bytes: u64,
}

impl Header {
    /// Length of a header in bytes.
    pub const BYTES: usize = 4 + 2 + 2 + 32 + 32 + 32 + 8;

    /// Reads the header of an artifact file without looking at the body or judging its age, so that
    /// a tool can say what a file is that cannot be loaded. Fails if the magic, the format version
    /// or the length is wrong.
    pub fn read(bytes: &[u8]) -> Result<Header, Diagnostic> {
        if bytes.is_empty() {
            return Err(not_ours("the file is empty"));
        }
        let known = bytes.len().min(MAGIC.len());
        if bytes[..known] != MAGIC[..known] {
            return Err(not_ours("the file does not start like an artifact, with `PTCP`"));
        }
        let mut rest = &bytes[known..];
        let version = take(&mut rest).map(u16::from_le_bytes);
        // The version comes first: the rest of the header may mean something else in another one.
        if let Some(version) = version.filter(|version| *version != FORMAT_VERSION) {
            return Err(other_version(version));
        }
        let header = || -> Option<Header> {
            Some(Header {
                version: version?,
                flags: u16::from_le_bytes(take(&mut rest)?),
                fingerprint: take(&mut rest)?,
                source_hash: take(&mut rest)?,
                content_hash: take(&mut rest)?,
                body_bytes: u64::from_le_bytes(take(&mut rest)?),
            })
        }();
        header.ok_or_else(|| cut_off(bytes.len(), Header::BYTES as u64))
    }

    /// The header as bytes.
    pub(crate) fn to_bytes(self) -> Vec<u8> {
        let mut out = Vec::with_capacity(Header::BYTES);
        out.extend(MAGIC);
        out.extend(self.version.to_le_bytes());
        out.extend(self.flags.to_le_bytes());
        out.extend(self.fingerprint);
        out.extend(self.source_hash);
        out.extend(self.content_hash);
        out.extend(self.body_bytes.to_le_bytes());
        out
    }
}

/// The next `N` bytes.
fn take<const N: usize>(rest: &mut &[u8]) -> Option<[u8; N]> {
    let (head, tail) = rest.split_first_chunk()?;
    *rest = tail;
    Some(*head)
}

/// A file with less in it than there should be.
pub(crate) fn cut_off(found: usize, needed: u64) -> Diagnostic {
    Diagnostic::without_span(
        Code::ArtifactInvalid,
        format!("the file is cut off: it has {found} bytes, but needs {needed}"),
    )
    .hint("copy the file again, or recompile it with this version of ptc")
}

fn not_ours(message: &str) -> Diagnostic {
    Diagnostic::without_span(Code::ArtifactInvalid, message)
        .hint("name a `.ptcp` file that ptc compiled, not its source")
}

fn other_version(version: u16) -> Diagnostic {
    let hint = match version > FORMAT_VERSION {
        true => "update ptc, or recompile the file with this version of ptc",
        false => "recompile it with this version of ptc",
    };
    let message = format!(
        "the file has format version {version}, but this version of ptc reads version {FORMAT_VERSION}"
    );
    Diagnostic::without_span(Code::ArtifactStale, message).hint(hint)
}
