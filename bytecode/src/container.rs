//! The container of an artifact file: a row of sections, each with its kind, position and hash.
//!
//! Only bytes are handled here; the content of sections is for [`encode`](crate::encode) and [`decode`](crate::decode).
//! A reader skips an unknown section if it is marked as ancillary and refuses the file if not, so new kinds can be
//! added without a new container.

use crate::codes::Code;
use crate::diag::Diagnostic;
use crate::fingerprint::abi;
use crate::header::{FORMAT_VERSION, Header, cut_off, take};
use sha2::{Digest, Sha256};

/// Kinds of sections, by what they hold.
pub mod kind {
    /// The manifest of a prelude.
    pub const MANIFEST: u32 = 1;
    /// Code and constants.
    pub const CODE: u32 = 2;
    /// The source texts.
    pub const SOURCE: u32 = 3;
    /// Definitions as `source` prints them.
    pub const RENDERED: u32 = 4;
    /// Source positions of instructions.
    pub const DEBUG: u32 = 5;
    /// Return values of exports.
    pub const RETURNS: u32 = 6;
    /// Namespaces of other preludes that the code calls.
    pub const USES: u32 = 7;
}

/// Maximum number of sections in a file.
const MAX_SECTIONS: u32 = 16;
/// Size of an entry of the section table: kind, flags, offset, length, hash.
const ENTRY_BYTES: usize = 4 + 4 + 8 + 8 + 32;
/// Flag of a section that old readers may skip.
const ANCILLARY: u32 = 1;

/// One section of a file.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Section<'a> {
    /// Kind of content, from [`kind`].
    pub kind: u32,
    /// True if a reader that does not know the kind may skip it.
    pub ancillary: bool,
    /// Content of the section.
    pub body: &'a [u8],
}

/// The parts of a file whose bytes were checked against its hashes.
#[derive(Clone, Debug)]
pub struct Container<'a> {
    /// Header of the file.
    pub header: Header,
    /// Sections by rising kind, without those this version does not know.
    pub sections: Vec<Section<'a>>,
    /// Hashes of the sections, in the same order.
    hashes: Vec<[u8; 32]>,
}

impl<'a> Container<'a> {
    /// Reads a file without interpreting its sections. The instruction set is not checked, so tools can also
    /// describe files that cannot be run.
    pub fn read(bytes: &'a [u8]) -> Result<Container<'a>, Diagnostic> {
        let header = Header::read(bytes)?;
        let found = bytes.len() as u64;
        if found < header.file_bytes {
            return Err(cut_off(bytes.len(), header.file_bytes));
        }
        if found > header.file_bytes {
            let extra = found - header.file_bytes;
            return Err(damaged(format!("the file is damaged: {extra} bytes follow its end")));
        }
        if digest(bytes) != header.digest {
            return Err(damaged("the file is damaged: its content does not match its hash"));
        }
        if !(1..=MAX_SECTIONS).contains(&header.sections) {
            let message =
                format!("the file has {} sections, but 1 to {MAX_SECTIONS} are possible", header.sections);
            return Err(Diagnostic::without_span(Code::ArtifactLimitExceeded, message));
        }
        let table_end = Header::BYTES + header.sections as usize * ENTRY_BYTES;
        let Some(mut table) = bytes.get(Header::BYTES..table_end) else {
            return Err(cut_off(bytes.len(), table_end as u64));
        };
        let mut sections = Vec::with_capacity(header.sections as usize);
        let mut hashes = Vec::with_capacity(header.sections as usize);
        let (mut last_kind, mut end) = (0, table_end as u64);
        for _ in 0..header.sections {
            let entry = Entry::read(&mut table).ok_or_else(|| cut_off(bytes.len(), table_end as u64))?;
            if entry.kind <= last_kind || entry.flags & !ANCILLARY != 0 || entry.offset != end {
                return Err(damaged("the file is damaged: its table of sections is out of order"));
            }
            last_kind = entry.kind;
            let stop = entry.offset.checked_add(entry.length).filter(|stop| *stop <= found);
            let body = stop.and_then(|stop| bytes.get(entry.offset as usize..stop as usize));
            let (Some(body), Some(stop)) = (body, stop) else {
                return Err(damaged("the file is damaged: a section ends after the end of the file"));
            };
            end = stop;
            if <[u8; 32]>::from(Sha256::digest(body)) != entry.hash {
                return Err(damaged(format!(
                    "the file is damaged: section {} does not match its hash",
                    entry.kind
                )));
            }
            let ancillary = entry.flags == ANCILLARY;
            match entry.kind {
                kind::MANIFEST | kind::CODE | kind::USES if ancillary => {
                    return Err(damaged(
                        "the file is damaged: a section is marked as one that may be skipped",
                    ));
                }
                kind::SOURCE..=kind::RETURNS if !ancillary => {
                    return Err(damaged(
                        "the file is damaged: a section is marked as one that must be known",
                    ));
                }
                kind::MANIFEST..=kind::USES => {
                    sections.push(Section { kind: entry.kind, ancillary, body });
                    hashes.push(entry.hash);
                }
                _ if ancillary => {}
                unknown => {
                    let message = format!(
                        "the file has a section of kind {unknown}, which this version of ptc does not know"
                    );
                    return Err(Diagnostic::without_span(Code::UnsupportedFormat, message)
                        .hint("update ptc, or recompile the file with this version of ptc"));
                }
            }
        }
        if end != found {
            return Err(damaged("the file is damaged: bytes belong to no section"));
        }
        Ok(Container { header, sections, hashes })
    }

    /// Returns the hash of the section of this kind.
    pub fn hash(&self, kind: u32) -> Option<[u8; 32]> {
        let at = self.sections.iter().position(|section| section.kind == kind)?;
        self.hashes.get(at).copied()
    }

    /// Returns the content of the section of this kind.
    pub fn section(&self, kind: u32) -> Option<&'a [u8]> {
        self.sections.iter().find(|section| section.kind == kind).map(|section| section.body)
    }

    /// Fails if the file was compiled for another instruction set.
    pub(crate) fn check_abi(&self) -> Result<(), Diagnostic> {
        if self.header.abi == abi() {
            return Ok(());
        }
        let message = format!(
            "the file was compiled for instruction set {:08x}, but this version of ptc runs {:08x}",
            self.header.abi,
            abi()
        );
        Err(Diagnostic::without_span(Code::AbiMismatch, message)
            .hint("recompile it with this version of ptc: ptc build source.clj -o dist/"))
    }
}

/// Builds the bytes of a file with these sections, which must come by rising kind. Equal sections give equal bytes
/// on every machine.
///
/// ```
/// use ptc_bytecode::{Container, Section, kind, seal};
/// let section = Section { kind: kind::CODE, ancillary: false, body: b"code" };
/// let bytes = seal(0, &[section]);
/// assert_eq!(Container::read(&bytes).unwrap().sections, [section]);
/// ```
pub fn seal(flags: u16, sections: &[Section<'_>]) -> Vec<u8> {
    seal_for(flags, abi(), sections)
}

/// Builds a file as [`seal`] does, for another instruction set; tests of old files need it.
#[doc(hidden)]
pub fn seal_for(flags: u16, abi: u32, sections: &[Section<'_>]) -> Vec<u8> {
    let table_end = Header::BYTES + sections.len() * ENTRY_BYTES;
    let length = table_end + sections.iter().map(|section| section.body.len()).sum::<usize>();
    let header = Header {
        version: FORMAT_VERSION,
        flags,
        abi,
        sections: sections.len() as u32,
        file_bytes: length as u64,
        digest: [0; 32],
    };
    let mut bytes = header.to_bytes();
    bytes.reserve_exact(length - bytes.len());
    let mut offset = table_end;
    for section in sections {
        bytes.extend(section.kind.to_le_bytes());
        bytes.extend(u32::from(section.ancillary).to_le_bytes());
        bytes.extend((offset as u64).to_le_bytes());
        bytes.extend((section.body.len() as u64).to_le_bytes());
        bytes.extend(Sha256::digest(section.body));
        offset += section.body.len();
    }
    for section in sections {
        bytes.extend_from_slice(section.body);
    }
    let digest = digest(&bytes);
    bytes[Header::DIGEST_AT..Header::DIGEST_AT + 32].copy_from_slice(&digest);
    bytes
}

/// Computes the SHA-256 of a file with its digest field zeroed.
pub(crate) fn digest(bytes: &[u8]) -> [u8; 32] {
    let end = Header::DIGEST_AT + 32;
    let mut hash = Sha256::new();
    hash.update(bytes.get(..Header::DIGEST_AT).unwrap_or(bytes));
    hash.update([0; 32]);
    hash.update(bytes.get(end..).unwrap_or_default());
    hash.finalize().into()
}

struct Entry {
    kind: u32,
    flags: u32,
    offset: u64,
    length: u64,
    hash: [u8; 32],
}

impl Entry {
    fn read(table: &mut &[u8]) -> Option<Entry> {
        Some(Entry {
            kind: u32::from_le_bytes(take(table)?),
            flags: u32::from_le_bytes(take(table)?),
            offset: u64::from_le_bytes(take(table)?),
            length: u64::from_le_bytes(take(table)?),
            hash: take(table)?,
        })
    }
}

pub(crate) fn damaged(message: impl Into<String>) -> Diagnostic {
    Diagnostic::without_span(Code::Corrupt, message)
        .hint("copy the file again, or recompile it with this version of ptc")
}
