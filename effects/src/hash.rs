//! Hashes as text.

use sha2::{Digest, Sha256};

/// Returns the hash of arguments without a key, for hosts that have none.
pub(crate) fn plain_hash(args: &serde_json::Value) -> String {
    hex(&Sha256::digest(args.to_string().as_bytes()))
}

/// Returns bytes as lower-case hexadecimal digits.
pub(crate) fn hex(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let digit = |nibble: u8| char::from(DIGITS[usize::from(nibble & 15)]);
    bytes.iter().flat_map(|byte| [digit(byte >> 4), digit(*byte)]).collect()
}
