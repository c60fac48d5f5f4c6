//! Facts about code found by the checks, for other checks and for the VM.

/// Facts about a code block besides its instructions. A block belongs to one arity of one function.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct BlockFacts {
    /// Function it belongs to, an index into [`Artifact::functions`](crate::Artifact::functions).
    pub function: u32,
    /// Index of the arity in that function.
    pub arity: u32,
    /// Number of values the function captures.
    pub captures: u16,
}
