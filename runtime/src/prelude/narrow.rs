//! Narrowing of a prelude by the host: it can only show less than the prelude does.

/// Visibility left to an export; later variants leave less.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub enum Keep {
    /// Shown as the prelude says.
    #[default]
    Keep,
    /// Left out of the prompt.
    Discoverable,
    /// Hidden from programs.
    Hide,
}
