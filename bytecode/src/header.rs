//! The fixed start of an artifact file, which describes the rest before any of it is read.
//!
//! | offset | bytes | what |
//! |---|---|---|
//! | 0 | 8 | `89 50 54 43 50 0D 0A 1A`: not text, and damaged by any conversion of line ends |
//! | 8 | 2 | container version |
//! | 10 | 2 | flags |
//! | 12 | 4 | number of the instruction set |
//! | 16 | 4 | number of sections |
//! | 20 | 4 | zero |
//! | 24 | 8 | length of the whole file |
//! | 32 | 32 | SHA-256 of the file with these 32 bytes zero |
//!
//! Numbers are little-endian. The table of sections follows: see [`Section`](crate::Section).

use crate::codes::Code;
use crate::diag::Diagnostic;

/// Magic bytes at the start of an artifact file.
pub const MAGIC: [u8; 8] = [0x89, b'P', b'T', b'C', b'P', 0x0D, 0x0A, 0x1A];

/// Version of the layout of header and section table that this version writes and reads.
pub const FORMAT_VERSION: u16 = 1;

/// The fields of the header.
///
/// ```
/// use ptc_bytecode::{Artifact, Header, abi, encode};
/// let bytes = encode(&Artifact::default());
/// let header = Header::read(&bytes).unwrap();
/// assert_eq!(header.abi, abi());
/// assert_eq!(header.file_bytes, bytes.len() as u64);
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Header {
    /// Version of the layout of header and section table.
    pub version: u16,
    /// Flags; see the constants of this type.
    pub flags: u16,
    /// Instruction set it was compiled for: see [`abi`](crate::abi).
    pub abi: u32,
    /// Number of sections.
    pub sections: u32,
    /// Length of the file in bytes.
    pub file_bytes: u64,
    /// SHA-256 of the file with this field zeroed.
    pub digest: [u8; 32],
}

impl Header {
    /// Length of a header in bytes.
    pub const BYTES: usize = 64;
    /// Offset of the digest.
    pub(crate) const DIGEST_AT: usize = 32;
    /// Flag: the file holds the source.
    pub(crate) const HAS_SOURCE: u16 = 1;
    /// Flag: the file holds source positions.
    pub(crate) const HAS_DEBUG: u16 = 2;
    /// Flag: compiled from several sources.
    pub(crate) const IS_BUNDLE: u16 = 4;

    /// Reads the header of an artifact file and ignores the rest, so that a tool can also describe files that
    /// cannot be loaded. Fails if the magic, the container version or the length is wrong.
    pub fn read(bytes: &[u8]) -> Result<Header, Diagnostic> {
        if bytes.is_empty() {
            return Err(not_ours("the file is empty"));
        }
        let known = bytes.len().min(MAGIC.len());
        if bytes[..known] != MAGIC[..known] {
            return Err(not_ours("the file does not start like an artifact"));
        }
        let mut rest = &bytes[known..];
        let version = take(&mut rest).map(u16::from_le_bytes);
        // The version is checked first: in another version the rest of the header may mean something else.
        if let Some(version) = version.filter(|version| *version != FORMAT_VERSION) {
            return Err(other_version(version));
        }
        let header = || -> Option<(Header, u32)> {
            let version = version?;
            let flags = u16::from_le_bytes(take(&mut rest)?);
            let abi = u32::from_le_bytes(take(&mut rest)?);
            let sections = u32::from_le_bytes(take(&mut rest)?);
            let reserved = u32::from_le_bytes(take(&mut rest)?);
            let file_bytes = u64::from_le_bytes(take(&mut rest)?);
            let digest = take(&mut rest)?;
            Some((Header { version, flags, abi, sections, file_bytes, digest }, reserved))
        }();
        let (header, reserved) = header.ok_or_else(|| cut_off(bytes.len(), Header::BYTES as u64))?;
        let known_flags = Header::HAS_SOURCE | Header::HAS_DEBUG | Header::IS_BUNDLE;
        if header.flags & !known_flags != 0 || reserved != 0 {
            let message = format!(
                "the file uses features this version of ptc does not have (flags {:#06x})",
                header.flags
            );
            return Err(Diagnostic::without_span(Code::UnsupportedFormat, message)
                .hint("update ptc, or recompile the file with this version of ptc"));
        }
        Ok(header)
    }

    /// Encodes the header.
    pub(crate) fn to_bytes(self) -> Vec<u8> {
        let mut out = Vec::with_capacity(Header::BYTES);
        out.extend(MAGIC);
        out.extend(self.version.to_le_bytes());
        out.extend(self.flags.to_le_bytes());
        out.extend(self.abi.to_le_bytes());
        out.extend(self.sections.to_le_bytes());
        out.extend([0; 4]);
        out.extend(self.file_bytes.to_le_bytes());
        out.extend(self.digest);
        out
    }
}

/// Takes the next `N` bytes off `rest`.
pub(crate) fn take<const N: usize>(rest: &mut &[u8]) -> Option<[u8; N]> {
    let (head, tail) = rest.split_first_chunk()?;
    *rest = tail;
    Some(*head)
}

/// Makes the error for a file that is shorter than it should be.
pub(crate) fn cut_off(found: usize, needed: u64) -> Diagnostic {
    Diagnostic::without_span(
        Code::Corrupt,
        format!("the file is cut off: it has {found} bytes, but needs {needed}"),
    )
    .hint("copy the file again, or recompile it with this version of ptc")
}

fn not_ours(message: &str) -> Diagnostic {
    Diagnostic::without_span(Code::BadMagic, message)
        .hint("name a `.ptcp` file that ptc compiled, not its source")
}

fn other_version(version: u16) -> Diagnostic {
    let hint = match version > FORMAT_VERSION {
        true => "update ptc, or recompile the file with this version of ptc",
        false => "recompile it with this version of ptc",
    };
    let message = format!(
        "the file has container version {version}, but this version of ptc reads version {FORMAT_VERSION}"
    );
    Diagnostic::without_span(Code::UnsupportedFormat, message).hint(hint)
}
