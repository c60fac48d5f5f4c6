//! Verification: the only way from an [`Artifact`], which anyone may have written, to a [`Verified`] one, which the VM
//! may trust. Every id exists, every register is inside the frame and written before it is read, and every jump lands
//! where it is paid for.
//!
//! The work is linear in the size of the artifact, even if it was written to be slow to check.

mod assigned;
mod code;
mod facts;
mod payment;
mod prelude;
mod report;
mod tables;
mod texts;
mod uses;

pub use facts::BlockFacts;
pub use prelude::{VerifiedPrelude, verify_prelude};
pub use texts::check_texts;

use crate::artifact::Artifact;
use crate::builtins::BuiltinId;
use crate::diag::Diagnostic;
use crate::flow::Work;
use crate::liveness::Liveness;
use std::sync::OnceLock;

/// An artifact that was checked and may be linked and run. Only [`verify`] makes one.
#[derive(Clone, Debug)]
pub struct Verified {
    artifact: Artifact,
    builtins: Vec<BuiltinId>,
    blocks: Vec<BlockFacts>,
    // Computed on first use: most runs end before they collect garbage.
    liveness: Vec<OnceLock<Liveness>>,
}

impl Verified {
    /// Returns the verified artifact.
    pub fn artifact(&self) -> &Artifact {
        &self.artifact
    }

    /// Returns the artifact for changes; it would have to be verified again.
    pub fn into_artifact(self) -> Artifact {
        self.artifact
    }

    /// Returns the builtins behind [`Artifact::imports`], in the same order.
    pub fn builtins(&self) -> &[BuiltinId] {
        &self.builtins
    }

    /// Returns the facts of each code block of the artifact.
    pub fn blocks(&self) -> &[BlockFacts] {
        &self.blocks
    }

    /// Returns the registers of a code block that may still be read at each of its instructions.
    ///
    /// # Panics
    ///
    /// If there is no such block.
    pub fn liveness(&self, block: u32) -> &Liveness {
        self.liveness[block as usize].get_or_init(|| Liveness::of(&self.artifact.blocks[block as usize]))
    }
}

/// Checks an artifact; the error says which rule it breaks and where.
///
/// ```
/// use ptc_bytecode::{Arity, Artifact, CodeBlock, Function, Op, verify};
/// let ops = vec![Op::Enter { fuel: 2 }, Op::LoadInt { dst: 1, value: 42 }, Op::Return { src: 1 }];
/// let program = Artifact {
///     blocks: vec![CodeBlock { regs: 2, params: 0, ops, spans: vec![] }],
///     functions: vec![Function {
///         name: None,
///         doc: None,
///         captures: 0,
///         arities: vec![Arity { required: 0, rest: false, block: 0, params: "".into() }],
///     }],
///     entry: Some(0),
///     ..Artifact::default()
/// };
/// assert!(verify(program.clone()).is_ok());
///
/// let mut unpaid = program;
/// unpaid.blocks[0].ops[0] = Op::Enter { fuel: 1 };
/// assert_eq!(
///     verify(unpaid).unwrap_err().message,
///     "in `fn#0`, instruction 0 (enter): pays 1 for instructions that cost 2"
/// );
/// ```
pub fn verify(artifact: Artifact) -> Result<Verified, Diagnostic> {
    let builtins = tables::imports(&artifact)?;
    tables::constants(&artifact)?;
    let blocks = tables::functions(&artifact)?;
    tables::entry_and_exports(&artifact)?;
    let mut work = Work::for_ops(artifact.blocks.iter().map(|block| block.ops.len()).sum());
    for (index, facts) in blocks.iter().enumerate() {
        code::check(&artifact, index, *facts)?;
        payment::check(&artifact, index, *facts)?;
        assigned::check(&artifact, index, *facts, &mut work)?;
    }
    let liveness = blocks.iter().map(|_| OnceLock::new()).collect();
    Ok(Verified { artifact, builtins, blocks, liveness })
}
