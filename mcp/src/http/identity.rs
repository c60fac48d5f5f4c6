//! Who calls.

/// Who sends a request, as far as the server knows: the hash of a token, or nobody in particular.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Identity(pub [u8; 32]);
