//! Lowering of builtins that are one instruction for certain argument counts.

use super::{Dest, Lower};
use crate::resolved::{Constant, Kind, Node};
use ptc_bytecode::{Inline, Op};

impl<'a> Lower<'_, 'a> {
    /// Writes the instruction for a direct call; None if this many arguments need the real builtin.
    pub(super) fn inline(&mut self, inline: Inline, args: &'a [Node<'a>], dest: Dest) -> Option<u8> {
        let reg = match (inline, args) {
            (Inline::Add | Inline::Sub | Inline::Mul | Inline::Div, [_, _, ..]) => {
                return self.arithmetic(inline, args, dest);
            }
            (Inline::Inc, [a]) => self.add_int(a, 1, 3, dest),
            (Inline::Dec, [a]) => self.add_int(a, -1, 4, dest),
            (Inline::Get, [coll, Node { kind: Kind::Const(key), .. }])
                if matches!(key, Constant::Keyword(_) | Constant::Str(_)) =>
            {
                self.get_key(coll, *key, dest)
            }
            (
                Inline::Quot
                | Inline::Rem
                | Inline::Mod
                | Inline::Eq
                | Inline::NotEq
                | Inline::Less
                | Inline::LessEq
                | Inline::Greater
                | Inline::GreaterEq
                | Inline::Nth
                | Inline::Get
                | Inline::Conj
                | Inline::ParallelMap,
                [a, b],
            ) => self.binary(inline, a, b, dest),
            (Inline::Not, [a]) => self.unary(a, dest, |dst, a| Op::Not { dst, a }),
            (Inline::IsNil, [a]) => self.unary(a, dest, |dst, a| Op::IsNil { dst, a }),
            (Inline::Count, [a]) => self.unary(a, dest, |dst, coll| Op::Count { dst, coll }),
            (Inline::First, [a]) => self.unary(a, dest, |dst, coll| Op::First { dst, coll }),
            (Inline::BuildVector, [a]) => {
                self.unary(a, dest, |dst, builder| Op::BuildVector { dst, builder })
            }
            (Inline::BuildMap, [a]) => self.unary(a, dest, |dst, builder| Op::BuildMap { dst, builder }),
            (Inline::BuildSet, [a]) => self.unary(a, dest, |dst, builder| Op::BuildSet { dst, builder }),
            (Inline::ParallelCalls, [a]) => {
                self.unary(a, dest, |dst, items| Op::ParallelCalls { dst, items })
            }
            (Inline::Assoc, [coll, key, value]) => self.assoc(coll, key, value, args, dest),
            (Inline::NewBuilder, []) => self.load(dest, |dst| Op::NewBuilder { dst }),
            (Inline::Push, [builder, item]) => {
                let mark = self.regs.mark();
                let (builder, src) = self.operands(builder, item);
                self.emit(Op::Push { builder, src });
                self.regs.release(mark);
                self.constant(Constant::Nil, dest)
            }
            (Inline::Apply, [_, _, ..]) if args.len() <= 100 => {
                let n = args.len() as u8 - 1;
                self.call_with(0, args.iter(), dest, |base| Op::Apply { base, n })
            }
            _ => return None,
        };
        Some(reg)
    }

    pub(super) fn unary(&mut self, a: &Node<'a>, dest: Dest, op: impl FnOnce(u8, u8) -> Op) -> u8 {
        let mark = self.regs.mark();
        let a = self.expr(a, Dest::Any);
        self.regs.release(mark);
        let dst = self.target_reg(dest);
        self.emit(op(dst, a));
        self.deliver(dest, dst)
    }

    /// Writes a lookup of a constant key in `coll`.
    pub(super) fn get_key(&mut self, coll: &Node<'a>, key: Constant<'a>, dest: Dest) -> u8 {
        let key = self.const_id(key);
        self.unary(coll, dest, |dst, coll| Op::GetKey { dst, coll, key })
    }

    fn add_int(&mut self, a: &Node<'a>, imm: i32, said: u8, dest: Dest) -> u8 {
        self.unary(a, dest, |dst, a| Op::AddInt { dst, a, said, imm })
    }

    fn binary(&mut self, inline: Inline, a: &Node<'a>, b: &Node<'a>, dest: Dest) -> u8 {
        let mark = self.regs.mark();
        let (a, b) = self.operands(a, b);
        self.regs.release(mark);
        let dst = self.target_reg(dest);
        self.emit_binary(inline, dst, a, b);
        self.deliver(dest, dst)
    }

    fn emit_binary(&mut self, inline: Inline, dst: u8, a: u8, b: u8) {
        let op = match inline {
            Inline::Add => Op::Add { dst, a, b },
            Inline::Sub => Op::Sub { dst, a, b },
            Inline::Mul => Op::Mul { dst, a, b },
            Inline::Div => Op::Div { dst, a, b },
            Inline::Quot => Op::Quot { dst, a, b },
            Inline::Rem => Op::Rem { dst, a, b },
            Inline::Mod => Op::Mod { dst, a, b },
            Inline::Less => Op::Less { dst, a, b },
            Inline::Greater => Op::Less { dst, a: b, b: a },
            Inline::LessEq => Op::LessEq { dst, a, b },
            Inline::GreaterEq => Op::LessEq { dst, a: b, b: a },
            Inline::Nth => Op::Nth { dst, coll: a, index: b },
            Inline::Get => Op::Get { dst, coll: a, key: b },
            Inline::Conj => Op::Conj { dst, coll: a, item: b },
            Inline::ParallelMap => Op::ParallelMap { dst, f: a, items: b },
            _ => Op::Eq { dst, a, b },
        };
        self.emit(op);
        if inline == Inline::NotEq {
            self.emit(Op::Not { dst, a: dst });
        }
    }

    /// Writes `+ - * /` of two or more operands, from the left. Further operands must be simple: the operation on
    /// the first two may fault, and that must not come before the effects of the others.
    fn arithmetic(&mut self, inline: Inline, args: &'a [Node<'a>], dest: Dest) -> Option<u8> {
        let [first, second, rest @ ..] = args else { return None };
        if !rest.iter().all(|node| self.is_simple(node)) {
            return None;
        }
        let Some((last, middle)) = rest.split_last() else {
            return Some(self.arithmetic_step(inline, first, second, dest));
        };
        let mark = self.regs.mark();
        let sum = self.arithmetic_step(inline, first, second, Dest::Any);
        for node in middle {
            self.fold_in(inline, sum, node, sum);
        }
        // The sum is read by the last step at the latest, so it may use the result's register.
        let result = match dest {
            Dest::Into(reg) => reg,
            _ => sum,
        };
        self.fold_in(inline, sum, last, result);
        self.regs.release(mark);
        if dest == Dest::Any {
            self.regs.reserve(sum);
        }
        Some(self.deliver(dest, result))
    }

    fn arithmetic_step(&mut self, inline: Inline, a: &Node<'a>, b: &Node<'a>, dest: Dest) -> u8 {
        match (small_addend(inline, b), small_addend(Inline::Add, a)) {
            (Some(imm), _) => self.add_int(a, imm, said(inline), dest),
            (None, Some(imm)) if inline == Inline::Add => self.add_int(b, imm, 1, dest),
            _ => self.binary(inline, a, b, dest),
        }
    }

    fn fold_in(&mut self, inline: Inline, sum: u8, node: &Node<'a>, dst: u8) {
        if let Some(imm) = small_addend(inline, node) {
            return self.emit(Op::AddInt { dst, a: sum, said: said(inline), imm });
        }
        let mark = self.regs.mark();
        let b = self.expr(node, Dest::Any);
        self.regs.release(mark);
        self.emit_binary(inline, dst, sum, b);
    }

    fn assoc(
        &mut self,
        coll: &Node<'a>,
        key: &Node<'a>,
        value: &Node<'a>,
        all: &'a [Node<'a>],
        dest: Dest,
    ) -> u8 {
        let mark = self.regs.mark();
        let (coll, key) = if self.regs.can_hold(3) {
            let coll = self.expr(coll, Dest::Any);
            (coll, self.run([key, value].into_iter()))
        } else {
            let first = self.run(all.iter());
            (first, first + 1)
        };
        self.regs.release(mark);
        let dst = self.target_reg(dest);
        self.emit(Op::Assoc { dst, coll, key });
        self.deliver(dest, dst)
    }
}

/// Returns the `said` operand by which `AddInt` distinguishes `(+ a imm)` from `(- a imm)`.
fn said(inline: Inline) -> u8 {
    if inline == Inline::Sub { 2 } else { 0 }
}

/// Returns the number that `+` or `-` of this literal adds, if it fits the instruction.
pub(super) fn small_addend(inline: Inline, node: &Node<'_>) -> Option<i32> {
    let Kind::Const(Constant::Int(n)) = node.kind else { return None };
    match inline {
        Inline::Add => i32::try_from(n).ok(),
        // Subtracting 0 from -0.0 differs from adding 0.
        Inline::Sub if n != 0 => i32::try_from(n.checked_neg()?).ok(),
        _ => None,
    }
}
