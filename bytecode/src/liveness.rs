//! Liveness of registers, which gives the roots of a frame: the registers that may still be read.
//!
//! The collector needs it for every frame on the stack, so it is computed once per code block and stored in as few
//! words as the frame needs.

use crate::artifact::CodeBlock;
use crate::flow::{Segment, Work, segments};
use crate::isa::Op;
use crate::regset::RegSet;

/// For each instruction of a code block, the registers that may still be read from there on.
///
/// ```
/// use ptc_bytecode::{CodeBlock, Liveness, Op};
/// let ops = vec![
///     Op::Enter { fuel: 5 },
///     Op::Move { dst: 3, src: 1 },
///     Op::CallDef { base: 2, n: 1, def: 0 },
///     Op::Return { src: 2 },
/// ];
/// let live = Liveness::of(&CodeBlock { regs: 4, params: 1, ops, spans: vec![] });
/// assert!(live.live_before(0).contains(1));
/// assert!(live.live_before(2).contains(3));
/// assert!(live.live_before(3).contains(2));
/// // While the call runs, nothing of this frame is needed but the result to come.
/// assert!(live.live_after(2).is_empty());
/// ```
#[derive(Clone, Debug)]
pub struct Liveness {
    /// Words per set; most frames need one. The sets before and after each instruction follow each other in turn.
    stride: usize,
    words: Vec<u64>,
}

impl Liveness {
    /// Computes the sets for `code`. If its jumps are too tangled for linear time, which only happens on purpose,
    /// every register counts as read.
    pub fn of(code: &CodeBlock) -> Liveness {
        let segments = segments(code);
        let mut heads = vec![RegSet::default(); segments.len()];
        let mut work = Work::for_ops(code.ops.len());
        while sweep(&code.ops, &segments, &mut heads) {
            if !work.sweep(code) {
                heads.fill(RegSet::below(code.regs));
                break;
            }
        }
        let stride = usize::from(code.regs.min(256)).div_ceil(64);
        let mut live = Liveness { stride, words: vec![0; code.ops.len() * 2 * stride] };
        for segment in &segments {
            walk(&code.ops, segment, &heads, |pc, before, after| live.set(pc, before, after));
        }
        live
    }

    /// Returns the registers that may be read by the instruction at `pc` or later, before being written.
    pub fn live_before(&self, pc: usize) -> RegSet {
        self.get(pc * 2)
    }

    /// Returns the registers whose present value is needed after the instruction at `pc`: those that may be read
    /// later, except those it writes. For a frame that waits for a call to return, these are the roots, since the
    /// result will replace `base`.
    pub fn live_after(&self, pc: usize) -> RegSet {
        self.get(pc * 2 + 1)
    }

    fn get(&self, index: usize) -> RegSet {
        let from = index * self.stride;
        RegSet::from_words(self.words.get(from..from + self.stride).unwrap_or(&[]))
    }

    fn set(&mut self, pc: usize, before: RegSet, after: RegSet) {
        let from = pc * 2 * self.stride;
        let (here, behind) = self.words[from..from + 2 * self.stride].split_at_mut(self.stride);
        here.copy_from_slice(&before.words()[..self.stride]);
        behind.copy_from_slice(&after.words()[..self.stride]);
    }
}

/// Walks all segments from the last; true if the sets at a backward jump's target grew, so another sweep is needed.
/// Sets only grow, so this terminates.
fn sweep(ops: &[Op], segments: &[Segment], heads: &mut [RegSet]) -> bool {
    let mut news = false;
    for index in (0..segments.len()).rev() {
        let mut head = RegSet::default();
        walk(ops, &segments[index], heads, |_, before, _| head = before);
        news |= heads[index] != head && segments[index].heads_loop;
        heads[index] = head;
    }
    news
}

/// Calls `visit` with the sets before and after each instruction of a segment, from the last.
fn walk(ops: &[Op], segment: &Segment, heads: &[RegSet], mut visit: impl FnMut(usize, RegSet, RegSet)) {
    let head = |at: Option<u32>| at.map_or(RegSet::default(), |at| heads[at as usize]);
    // In an attempt, any instruction may be the last one: what is read after giving up stays.
    let rescue = head(segment.rescue);
    let mut next = head(segment.falls);
    // A jump away does not write the last instruction's output: a finished iteration has no element to give, so the
    // register keeps its value.
    let mut jumped = head(segment.jumps);
    for pc in segment.range().rev() {
        let written = ops[pc].write_set();
        // A `Try` that jumps puts the exception where its result would have been.
        let jumped_to = if matches!(ops[pc], Op::Try { .. }) { jumped.without(written) } else { jumped };
        let after = next.without(written).union(jumped_to).union(rescue);
        let before = after.union(ops[pc].read_set());
        visit(pc, before, after);
        (next, jumped) = (before, RegSet::default());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn regs(set: RegSet) -> Vec<u8> {
        set.iter().collect()
    }

    #[test]
    fn a_loop_keeps_what_its_next_round_reads() {
        let ops = vec![
            Op::Enter { fuel: 3 },
            Op::IterStart { iter: 3, coll: 1 },
            Op::LoadInt { dst: 5, value: 0 },
            Op::Enter { fuel: 2 },                            // 3
            Op::IterNext { dst: 6, iter: 3, fuel: 2, to: 7 }, // 4
            Op::Add { dst: 5, a: 5, b: 2 },                   // 5
            Op::Jump { to: 3 },                               // 6
            Op::Enter { fuel: 1 },                            // 7
            Op::Return { src: 5 },
        ];
        let live = Liveness::of(&CodeBlock { regs: 7, params: 2, ops, spans: vec![] });
        assert_eq!(regs(live.live_before(0)), [1, 2]);
        assert_eq!(regs(live.live_before(3)), [2, 3, 4, 5]);
        assert_eq!(regs(live.live_after(5)), [2, 3, 4], "the sum is about to be replaced");
        assert_eq!(regs(live.live_before(6)), [2, 3, 4, 5], "an unused element is dead");
        assert_eq!(regs(live.live_before(7)), [5]);
        assert_eq!(regs(live.live_before(999)), []);
    }

    #[test]
    fn a_function_lives_until_its_last_capture_is_read() {
        let ops = vec![
            Op::Enter { fuel: 9 },
            Op::CallDef { base: 1, n: 0, def: 0 },
            Op::Capture { dst: 1, index: 0 },
            Op::Return { src: 1 },
        ];
        let live = Liveness::of(&CodeBlock { regs: 2, params: 0, ops, spans: vec![] });
        assert_eq!(regs(live.live_after(1)), [0]);
        assert_eq!(regs(live.live_before(3)), [1]);
    }

    #[test]
    fn an_iteration_that_is_over_leaves_its_register() {
        let ops = vec![
            Op::Enter { fuel: 2 },
            Op::IterNext { dst: 1, iter: 2, fuel: 1, to: 3 },
            Op::Return { src: 1 },
            Op::Enter { fuel: 1 },
            Op::Return { src: 1 },
        ];
        let live = Liveness::of(&CodeBlock { regs: 300, params: 3, ops, spans: vec![] });
        assert_eq!(regs(live.live_before(0)), [1, 2, 3]);
    }

    #[test]
    fn an_attempt_keeps_what_is_read_after_giving_up() {
        let ops = vec![
            Op::Enter { fuel: 9 },
            Op::Attempt { fuel: 9, to: 6 },
            Op::Move { dst: 3, src: 1 },
            Op::Conj { dst: 3, coll: 3, item: 2 },
            Op::LoadNil { dst: 2 },
            Op::Return { src: 3 },
            Op::Enter { fuel: 9 },
            Op::Return { src: 1 },
        ];
        let live = Liveness::of(&CodeBlock { regs: 4, params: 2, ops, spans: vec![] });
        assert_eq!(regs(live.live_after(2)), [1, 2]);
        assert_eq!(regs(live.live_before(4)), [1, 3]);
        assert_eq!(regs(live.live_before(6)), [1]);
    }

    #[test]
    fn code_that_was_not_verified_is_survived() {
        let ops =
            vec![Op::Call { base: 250, n: 200 }, Op::Jump { to: 77 }, Op::IterStart { iter: 255, coll: 9 }];
        let live = Liveness::of(&CodeBlock { regs: 2, params: 0, ops, spans: vec![] });
        assert!(live.live_before(1).is_empty());
    }
}
