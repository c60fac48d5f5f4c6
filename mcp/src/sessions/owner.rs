//! Owners of sessions.

use sha2::{Digest, Sha256};
use std::fmt;

/// Owner of sessions: a hash, so that the identity itself is not kept.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Owner([u8; 32]);

impl Owner {
    /// Creates the owner for an identity, such as a token or connection id.
    ///
    /// ```
    /// use ptc_mcp::sessions::Owner;
    /// assert_eq!(Owner::new("a"), Owner::new(b"a"));
    /// assert!(!format!("{:?}", Owner::new("token")).contains("token"));
    /// ```
    pub fn new(identity: impl AsRef<[u8]>) -> Owner {
        Owner(Sha256::digest(identity.as_ref()).into())
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        &self.0
    }

    /// Returns a label that distinguishes owners in logs and listings but gives no access.
    pub(crate) fn label(&self) -> String {
        self.to_hex()[..16].to_string()
    }

    pub(super) fn to_hex(&self) -> String {
        ptc_bytecode::hex(&self.0)
    }

    pub(super) fn from_hex(text: &str) -> Option<Owner> {
        let mut bytes = [0; 32];
        if text.len() != 64 || !text.is_ascii() {
            return None;
        }
        for (i, byte) in bytes.iter_mut().enumerate() {
            *byte = u8::from_str_radix(&text[2 * i..2 * i + 2], 16).ok()?;
        }
        Some(Owner(bytes))
    }
}

impl fmt::Debug for Owner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [a, b, c, d, ..] = self.0;
        write!(f, "Owner({a:02x}{b:02x}{c:02x}{d:02x})")
    }
}
