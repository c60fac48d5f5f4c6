//! Checks that every register is written before it is read, on every path: a frame never reads leftovers of another,
//! and the collector's roots are well defined.

use super::facts::BlockFacts;
use super::report::{at_op, in_block};
use crate::artifact::Artifact;
use crate::codes::Code;
use crate::diag::Diagnostic;
use crate::flow::{Segment, Work, segments};
use crate::isa::Op;
use crate::regset::RegSet;

/// Checks one code block whose operands were already checked.
pub fn check(
    artifact: &Artifact,
    block: usize,
    facts: BlockFacts,
    work: &mut Work,
) -> Result<(), Diagnostic> {
    let code = &artifact.blocks[block];
    let segments = segments(code);
    let mut paths = Paths { on_entry: vec![None; segments.len()] };
    paths.join(0, RegSet::below(u16::from(code.params) + 1));
    while paths.sweep(&code.ops, &segments) {
        if !work.sweep(code) {
            return Err(in_block(
                Code::ArtifactLimitExceeded,
                artifact,
                facts,
                "its jumps are too tangled to be checked",
            ));
        }
    }
    for (segment, on_entry) in segments.iter().zip(&paths.on_entry) {
        let Some(mut written) = *on_entry else { continue };
        for pc in segment.range() {
            let op = &code.ops[pc];
            let mut unwritten = None;
            op.reads(|run| unwritten = unwritten.or(written.first_missing(run.first, run.count)));
            if let Some(reg) = unwritten {
                let what = format!("reads register {reg}, which is not written on every path to here");
                return Err(at_op(Code::UninitialisedRegister, artifact, block, facts, pc, what));
            }
            execute(op, &mut written);
        }
    }
    Ok(())
}

/// Updates the set of written registers by one instruction.
#[inline]
fn execute(op: &Op, written: &mut RegSet) {
    if let Some(run) = op.clobbers() {
        written.remove_run(run.first, run.count);
    }
    op.writes(|run| written.insert_run(run.first, run.count));
}

/// Registers written on every known path to each segment; None if no path is known.
struct Paths {
    on_entry: Vec<Option<RegSet>>,
}

impl Paths {
    /// Walks all segments in order; true if a backward jump changed a set, so another sweep is needed. Sets only
    /// shrink, so this terminates.
    fn sweep(&mut self, ops: &[Op], segments: &[Segment]) -> bool {
        let mut news = false;
        for (index, segment) in segments.iter().enumerate() {
            let Some(mut written) = self.on_entry[index] else { continue };
            let Some((last, before)) = ops[segment.range()].split_last() else { continue };
            let mut throughout = written;
            for op in before {
                execute(op, &mut written);
                throughout = throughout.intersection(written);
            }
            if let Some(to) = segment.rescue {
                // An attempt may be given up at any instruction; the last one may have begun.
                if let Some(run) = last.clobbers() {
                    throughout.remove_run(run.first, run.count);
                }
                self.join(to as usize, throughout);
            }
            // Falling through writes the last instruction's output; jumping away does not: a finished iteration has
            // no element to give.
            if let Some(to) = segment.jumps {
                // A callee that was left by a jump may still have overwritten registers.
                if let Some(run) = last.clobbers() {
                    written.remove_run(run.first, run.count);
                }
                let changed = self.join(to as usize, written);
                news |= changed && to as usize <= index;
            }
            if let Some(behind) = segment.falls {
                execute(last, &mut written);
                self.join(behind as usize, written);
            }
        }
        news
    }

    /// Adds a path to a segment; true if fewer registers are known to be written there than before.
    fn join(&mut self, segment: usize, written: RegSet) -> bool {
        let known = &mut self.on_entry[segment];
        let joined = known.map_or(written, |known| known.intersection(written));
        let changed = *known != Some(joined);
        *known = Some(joined);
        changed
    }
}
