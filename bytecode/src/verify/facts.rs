//! Facts about code that checking finds out, for the other checks and for the VM.

/// What is known of a code block besides its instructions. A block belongs to one arity of one
/// function.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct BlockFacts {
    /// The function, an index into [`Artifact::functions`](crate::Artifact::functions).
    pub function: u32,
    /// Which of its arities.
    pub arity: u32,
    /// How many values the function captures.
    pub captures: u16,
}
