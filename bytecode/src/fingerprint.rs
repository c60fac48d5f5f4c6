//! The fingerprint of the instruction set, which tells stale artifacts.

use crate::isa::OPS;
use sha2::{Digest, Sha256};
use std::sync::LazyLock;

/// Version of the layout and meaning of code, constants and manifests, beyond what the table says. Goes up when an
/// instruction, a kind of constant, the calling convention or a manifest field changes its meaning.
const MEANING: u32 = 2;

/// Computes the SHA-256 over the names, operands and costs of all instructions, in table order, and `MEANING`.
///
/// An artifact carries the fingerprint of the table it was compiled for. Instructions are encoded
/// by their place in the table, so under any other table the same bytes would mean something else.
///
/// ```
/// assert_eq!(ptc_bytecode::fingerprint(), ptc_bytecode::fingerprint());
/// ```
pub fn fingerprint() -> [u8; 32] {
    static FINGERPRINT: LazyLock<[u8; 32]> = LazyLock::new(|| {
        let mut hash = Sha256::new();
        hash.update(MEANING.to_le_bytes());
        for row in OPS {
            hash.update(row.name);
            for (name, kind, role) in row.operands {
                hash.update(format!(" {name}:{kind}:{role}"));
            }
            hash.update(format!(" = {}\n", row.cost));
        }
        hash.finalize().into()
    });
    *FINGERPRINT
}

/// Returns the number of the instruction set: the start of its [`fingerprint`], so it changes whenever the table does.
///
/// ```
/// assert_eq!(ptc_bytecode::abi(), ptc_bytecode::abi());
/// ```
pub fn abi() -> u32 {
    let [a, b, c, d, ..] = fingerprint();
    u32::from_be_bytes([a, b, c, d])
}
