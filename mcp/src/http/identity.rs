//! Identity of callers.

/// Sender of a request as far as known: the hash of its token, or a stranger.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Identity(pub [u8; 32]);

impl Identity {
    /// Identity of all senders if no tokens are required.
    pub const STRANGER: Identity = Identity([0; 32]);

    /// Returns whether the sender is known by a token.
    pub fn is_known(&self) -> bool {
        *self != Identity::STRANGER
    }
}
