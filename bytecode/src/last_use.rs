//! Where registers are read for the last time.
//!
//! An instruction that reads a collection for the last time may change it in place, if nothing else refers to it. Whether
//! anything does is known when the program runs (`vm/src/value/owned.rs`); which reads are the last ones is found here,
//! when code is linked, from the same liveness that tells the collector its roots. What an artifact says about it counts
//! for nothing, so no file can claim it falsely.

use crate::artifact::CodeBlock;
use crate::isa::Op;
use crate::liveness::Liveness;

/// Names the instructions of a code block that read a collection for the last time, and no others. `looks` says of an
/// import whether it is a builtin that only looks at its first argument: neither the argument nor anything that shares
/// memory with it is in its result.
pub fn mark_last_uses(code: &mut CodeBlock, live: &Liveness, looks: impl Fn(u32) -> bool) {
    for pc in 0..code.ops.len() {
        let plain = plain(code.ops[pc]);
        let ends = |reg: u8| !live.live_after(pc).contains(reg);
        code.ops[pc] = match plain {
            Op::Move { dst, src } if ends(src) || is_look(code, pc, &looks) => Op::MoveLast { dst, src },
            Op::Again { count, dst, src, to } if dst == src || ends(src) => {
                Op::AgainLast { count, dst, src, to }
            }
            Op::Assoc { dst, coll, key } if ends(coll) && coll != key && coll != key.wrapping_add(1) => {
                Op::AssocLast { dst, coll, key }
            }
            Op::Conj { dst, coll, item } if ends(coll) && coll != item => Op::ConjLast { dst, coll, item },
            other => other,
        };
    }
}

/// Returns the instruction that says nothing about last uses.
fn plain(op: Op) -> Op {
    match op {
        Op::MoveLast { dst, src } => Op::Move { dst, src },
        Op::AgainLast { count, dst, src, to } => Op::Again { count, dst, src, to },
        Op::AssocLast { dst, coll, key } => Op::Assoc { dst, coll, key },
        Op::ConjLast { dst, coll, item } => Op::Conj { dst, coll, item },
        other => other,
    }
}

/// Returns true if a move makes the callee or the first argument of a call that only looks at it, and nothing before the call
/// reads or writes either register: then both may hold the same value that one of them owns.
fn is_look(code: &CodeBlock, pc: usize, looks: &impl Fn(u32) -> bool) -> bool {
    let Op::Move { dst, src } = plain(code.ops[pc]) else { return false };
    for op in &code.ops[pc + 1..] {
        match *op {
            Op::CallBuiltin { base, n, import } => {
                return n > 0 && base.checked_add(1) == Some(dst) && src < base && looks(import);
            }
            // A function is never owned, and a collection that is called gives one of its elements.
            Op::Call { base, n: 1 } => return base == dst && src < base,
            _ => {}
        }
        let touched = op.read_set().union(op.write_set());
        let goes_on = !op.is_enter() && !op.ends_block() && op.target().is_none();
        if !goes_on || op.calls() || touched.contains(src) || touched.contains(dst) {
            return false;
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    fn marked(regs: u16, ops: Vec<Op>) -> Vec<Op> {
        let mut code = CodeBlock { regs, params: 2, ops, spans: vec![] };
        let live = Liveness::of(&code);
        mark_last_uses(&mut code, &live, |import| import == 1);
        code.ops
    }

    #[test]
    fn the_last_read_is_marked_and_no_other() {
        let ops = marked(
            8,
            vec![
                Op::Enter { fuel: 9 },
                Op::Move { dst: 3, src: 1 },
                Op::LoadInt { dst: 4, value: 1 },
                Op::LoadInt { dst: 5, value: 1 },
                Op::Assoc { dst: 6, coll: 3, key: 4 },
                Op::Assoc { dst: 1, coll: 1, key: 4 },
                Op::Conj { dst: 7, coll: 6, item: 6 },
                Op::Move { dst: 2, src: 7 },
                Op::Conj { dst: 7, coll: 2, item: 1 },
                Op::Return { src: 7 },
            ],
        );
        assert_eq!(ops[1], Op::Move { dst: 3, src: 1 }, "it is read again");
        assert_eq!(ops[4], Op::AssocLast { dst: 6, coll: 3, key: 4 });
        assert_eq!(ops[5], Op::AssocLast { dst: 1, coll: 1, key: 4 }, "replaced by the result");
        assert_eq!(ops[6], Op::Conj { dst: 7, coll: 6, item: 6 }, "the collection is also the item");
        assert_eq!(ops[7], Op::MoveLast { dst: 2, src: 7 });
        assert_eq!(ops[8], Op::ConjLast { dst: 7, coll: 2, item: 1 });
        assert_eq!(marked(8, ops.clone()), ops);
    }

    #[test]
    fn claims_of_an_artifact_count_for_nothing() {
        let ops = marked(
            6,
            vec![
                Op::Enter { fuel: 9 },
                Op::MoveLast { dst: 3, src: 1 },
                Op::LoadInt { dst: 4, value: 1 },
                Op::LoadInt { dst: 5, value: 1 },
                Op::AssocLast { dst: 2, coll: 1, key: 4 },
                Op::ConjLast { dst: 2, coll: 2, item: 1 },
                Op::AgainLast { count: 4, dst: 3, src: 1, to: 0 },
            ],
        );
        assert_eq!(ops[1], Op::MoveLast { dst: 3, src: 1 }.to_plain());
        assert_eq!(ops[4], Op::Assoc { dst: 2, coll: 1, key: 4 });
        assert_eq!(ops[5], Op::ConjLast { dst: 2, coll: 2, item: 1 });
        assert_eq!(ops[6], Op::Again { count: 4, dst: 3, src: 1, to: 0 }, "the head of the loop reads it");
    }

    #[test]
    fn a_look_leaves_the_owner_alone() {
        let call = |import, between: Op| {
            marked(
                9,
                vec![
                    Op::Enter { fuel: 9 },
                    Op::Move { dst: 5, src: 1 },
                    between,
                    Op::CallBuiltin { base: 4, n: 2, import },
                    Op::Conj { dst: 1, coll: 1, item: 4 },
                    Op::Return { src: 1 },
                ],
            )[1]
        };
        let (last, copy) = (Op::MoveLast { dst: 5, src: 1 }, Op::Move { dst: 5, src: 1 });
        assert_eq!(call(1, Op::LoadInt { dst: 6, value: 1 }), last);
        assert_eq!(call(0, Op::LoadInt { dst: 6, value: 1 }), copy, "any other builtin");
        assert_eq!(call(1, Op::Move { dst: 6, src: 1 }), copy, "the default is the collection");
        assert_eq!(call(1, Op::Conj { dst: 6, coll: 1, item: 2 }), copy);
        assert_eq!(call(1, Op::CallDef { base: 6, n: 0, def: 0 }), copy, "anything may happen in a call");
    }

    impl Op {
        fn to_plain(self) -> Op {
            plain(self)
        }
    }
}
