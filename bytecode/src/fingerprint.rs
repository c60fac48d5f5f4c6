//! The fingerprint of the instruction set, by which a stale artifact is known.

use crate::isa::OPS;
use sha2::{Digest, Sha256};
use std::sync::LazyLock;

/// SHA-256 over the names, operands and costs of all instructions, in table order.
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
