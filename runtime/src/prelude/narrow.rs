//! What a host lets through of a prelude. It can only show less than the prelude does.

/// What becomes of an export, by how little is left of it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub enum Keep {
    /// It stays as it is.
    #[default]
    Keep,
    /// It is left out of the prompt.
    Discoverable,
    /// It is not there.
    Hide,
}
