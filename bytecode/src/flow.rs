//! The basic blocks of a code block, shared by the verifier and liveness.
//!
//! Jumps land on an `Enter`, so a basic block starts at an `Enter`, behind a conditional jump, or (unreachable) behind
//! an instruction that never goes on. Jump targets that do not exist are ignored, so that liveness also works on
//! unverified code.

use crate::artifact::CodeBlock;
use crate::isa::Op;

impl Op {
    /// True if a jump may land here.
    pub(crate) fn is_enter(&self) -> bool {
        matches!(self, Op::Enter { .. })
    }
}

/// A run of instructions entered only at its head.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Segment {
    start: u32,
    end: u32,
    /// Segment that follows when the last instruction falls through, if it can.
    pub falls: Option<u32>,
    /// Segment that the last instruction jumps to, if it is a jump.
    pub jumps: Option<u32>,
    /// True if an instruction at or behind its head jumps back to the head.
    pub heads_loop: bool,
}

impl Segment {
    /// Returns the range of its instructions.
    pub fn range(&self) -> std::ops::Range<usize> {
        self.start as usize..self.end as usize
    }
}

/// Splits code into its basic blocks, in code order.
pub(crate) fn segments(code: &CodeBlock) -> Vec<Segment> {
    let ops = &code.ops;
    let mut segments: Vec<Segment> = Vec::new();
    let mut fresh = true;
    for (pc, op) in ops.iter().enumerate() {
        if fresh || op.is_enter() {
            if let Some(last) = segments.last_mut() {
                last.end = pc as u32;
            }
            segments.push(Segment { start: pc as u32, end: 0, falls: None, jumps: None, heads_loop: false });
        }
        fresh = op.ends_block() || op.fall_through_fuel().is_some();
    }
    if let Some(last) = segments.last_mut() {
        last.end = ops.len() as u32;
    }
    for i in 0..segments.len() {
        let last = &ops[segments[i].end as usize - 1];
        let behind = i + 1;
        let jumps = last.target().and_then(|to| segments.binary_search_by_key(&to, |s| s.start).ok());
        segments[i].falls = (!last.ends_block() && behind < segments.len()).then_some(behind as u32);
        segments[i].jumps = jumps.map(|at| at as u32);
        if let Some(head) = jumps.filter(|at| *at <= i) {
            segments[head].heads_loop = true;
        }
    }
    segments
}

/// Budget of instructions that the fixed points over some code may walk.
///
/// A sweep in code order settles forward edges at once, so code without loops needs one sweep, compiled loops need
/// two or three, and one more per nesting level at worst. Only code written to be slow comes near the bound.
pub(crate) struct Work {
    left: usize,
}

impl Work {
    /// Returns the budget for code of `count` instructions.
    pub fn for_ops(count: usize) -> Work {
        Work { left: count.saturating_mul(32).saturating_add(100_000) }
    }

    /// Pays for one sweep over `code`; false if the budget is used up.
    pub fn sweep(&mut self, code: &CodeBlock) -> bool {
        match self.left.checked_sub(code.ops.len()) {
            Some(left) => {
                self.left = left;
                true
            }
            None => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn segments_follow_jumps() {
        let ops = vec![
            Op::Enter { fuel: 1 },
            Op::JumpIf { test: 0, fuel: 1, to: 4 },
            Op::Jump { to: 99 },
            Op::LoadNil { dst: 1 },
            Op::Enter { fuel: 1 },
            Op::Again { count: 1, dst: 1, src: 1, to: 0 },
        ];
        let found = segments(&CodeBlock { regs: 2, params: 0, ops, spans: vec![] });
        let shape: Vec<_> = found.iter().map(|s| (s.range(), s.falls, s.jumps)).collect();
        assert_eq!(
            shape,
            [(0..2, Some(1), Some(3)), (2..3, None, None), (3..4, Some(3), None), (4..6, None, Some(0))]
        );
    }
}
