//! Who calls.

/// Who sends a request, as far as the server knows: the hash of a token, or nobody in particular.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Identity(pub [u8; 32]);

impl Identity {
    /// The identity of everybody, where no tokens are asked for.
    pub const STRANGER: Identity = Identity([0; 32]);

    /// Whether the sender is known by a token.
    pub fn is_known(&self) -> bool {
        *self != Identity::STRANGER
    }
}
