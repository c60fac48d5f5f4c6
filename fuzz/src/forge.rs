//! Files with wrong contents and correct hashes, so that the contents are read at all.

use ptc_bytecode::{Header, MAGIC, Section, kind, seal};
use sha2::{Digest, Sha256};

/// Size of a saved machine's header, in bytes: magic, version, fingerprint and hash.
const SNAPSHOT_HEADER: usize = 4 + 2 + 32 + 32;

/// Applies changes to a copy of `body`: four bytes each, a kind, a place and a value.
pub fn mutate(body: &[u8], changes: &[u8]) -> Vec<u8> {
    let mut bent = body.to_vec();
    for change in changes.chunks_exact(4).take(16) {
        let &[kind, low, high, value] = change else { continue };
        let at = usize::from(u16::from_le_bytes([low, high])) % bent.len().max(1);
        if bent.is_empty() {
            bent.push(value);
        }
        match kind % 6 {
            0 => bent[at] ^= value,
            1 => bent[at] = value,
            2 => bent.insert(at, value),
            3 => drop(bent.remove(at)),
            4 => bent[at] = bent[at].wrapping_add(value % 5).wrapping_sub(2),
            _ => {
                // A copy of bytes from elsewhere: puts an instruction or an object in the place of another.
                let from = (at + usize::from(value) * 3) % bent.len();
                let len = (usize::from(kind) / 6).min(12).min(bent.len() - at.max(from));
                bent.copy_within(from..from + len, at);
            }
        }
    }
    bent
}

/// Builds a file with this code section.
pub fn seal_code(code: &[u8]) -> Vec<u8> {
    seal(0, &[Section { kind: kind::CODE, ancillary: false, body: code }])
}

/// Returns the machine of a saved run, which follows the length of the source and the source.
pub fn machine_of(saved: &[u8]) -> &[u8] {
    let length = saved.first_chunk().map_or(0, |length| u64::from_le_bytes(*length));
    saved.get(8 + length as usize..).unwrap_or_default()
}

/// Returns the body of a saved machine.
pub fn body_of(machine: &[u8]) -> &[u8] {
    machine.get(SNAPSHOT_HEADER..).unwrap_or_default()
}

/// Replaces the body of a saved run and corrects its hash.
pub fn seal_snapshot(saved: &[u8], body: &[u8]) -> Vec<u8> {
    let machine = saved.len() - machine_of(saved).len();
    // All of the header except the hash at its end.
    let mut file = saved[..(machine + SNAPSHOT_HEADER - 32).min(saved.len())].to_vec();
    file.extend_from_slice(&Sha256::digest(body));
    file.extend_from_slice(body);
    file
}

/// Replaces the first artifact in the body of a saved machine.
pub fn replace_artifact(machine: &[u8], artifact: &[u8]) -> Vec<u8> {
    let body = body_of(machine);
    let Some(at) = body.windows(MAGIC.len()).position(|start| start == MAGIC) else { return body.to_vec() };
    let old = &body[at..];
    let old_len = Header::read(old).map_or(0, |header| header.file_bytes as usize);
    let mut out = body[..at - varint(old_len).len()].to_vec();
    out.extend(varint(artifact.len()));
    out.extend_from_slice(artifact);
    out.extend_from_slice(&old[old_len..]);
    out
}

/// Encodes a length as postcard does.
fn varint(mut n: usize) -> Vec<u8> {
    let mut out = Vec::new();
    loop {
        let low = (n & 0x7f) as u8;
        n >>= 7;
        if n == 0 {
            out.push(low);
            return out;
        }
        out.push(low | 0x80);
    }
}
