//! The basic blocks of a code block, shared by the verifier and liveness.
//!
//! Jumps land on an `Enter`, so a basic block starts at an `Enter`, after a conditional jump, or (unreachable) after
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
    /// Segment where the run continues after a fault in this one, if it is part of an attempt.
    pub rescue: Option<u32>,
    /// True if an instruction at or after its head jumps back to the head.
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
            segments.push(Segment {
                start: pc as u32,
                end: 0,
                falls: None,
                jumps: None,
                rescue: None,
                heads_loop: false,
            });
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
    for range in attempts(ops) {
        let to = segments.binary_search_by_key(&(range.end as u32), |s| s.start).ok().map(|at| at as u32);
        let first = segments.partition_point(|s| (s.start as usize) < range.start);
        for segment in segments[first..].iter_mut().take_while(|s| (s.start as usize) < range.end) {
            segment.rescue = to;
        }
    }
    segments
}

/// Returns the instructions of each attempt, without the one that begins it, in code order. Attempts do not overlap: of those
/// that do, which the verifier refuses, the first counts.
pub(crate) fn attempts(ops: &[Op]) -> impl Iterator<Item = std::ops::Range<usize>> {
    let mut end = 0;
    ops.iter().enumerate().filter_map(move |(pc, op)| match *op {
        Op::Attempt { to, .. } if pc >= end && to as usize > pc => {
            end = to as usize;
            Some(pc + 1..end)
        }
        _ => None,
    })
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
    fn segments_of_an_attempt_lead_to_where_it_is_given_up() {
        let ops = vec![
            Op::Enter { fuel: 1 },
            Op::Attempt { fuel: 1, to: 5 },
            Op::LoadNil { dst: 1 },
            Op::Enter { fuel: 1 },
            Op::Jump { to: 6 },
            Op::Enter { fuel: 1 },
            Op::Enter { fuel: 1 },
            Op::Return { src: 1 },
        ];
        let found = segments(&CodeBlock { regs: 2, params: 0, ops, spans: vec![] });
        let shape: Vec<_> = found.iter().map(|s| (s.range(), s.jumps, s.rescue)).collect();
        assert_eq!(
            shape,
            [
                (0..2, Some(3), None),
                (2..3, None, Some(3)),
                (3..5, Some(4), Some(3)),
                (5..6, None, None),
                (6..8, None, None)
            ]
        );
    }

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
