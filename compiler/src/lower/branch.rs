//! Lowering of tests: conditional jumps that avoid computing the value of the test if possible.

use super::{Dest, LOWERED_NODE, Lower};
use crate::emit::LabelId;
use crate::opt::{self, Fused};
use crate::resolved::{Constant, Kind, Name, Node};
use ptc_bytecode::Op;

impl<'a> Lower<'_, 'a> {
    /// Jumps to `to` if the test is nil or false; no register stays taken.
    pub(super) fn branch_unless(&mut self, test: &Node<'a>, to: LabelId) {
        self.branch(test, to, false);
    }

    /// Jumps to `to` unless the test is nil or false.
    pub(super) fn branch_if(&mut self, test: &Node<'a>, to: LabelId) {
        self.branch(test, to, true);
    }

    /// Jumps to `to` if the truth of the test is `wanted`.
    fn branch(&mut self, test: &Node<'a>, to: LabelId, wanted: bool) {
        if !self.module.meter.pay(LOWERED_NODE) || !self.code.is_reachable() {
            return;
        }
        let outer = self.code.at(test.span);
        match test.kind {
            Kind::And(items) => self.branch_many(items, to, wanted, false),
            Kind::Or(items) => self.branch_many(items, to, wanted, true),
            Kind::Call(callee, [inner]) if named(callee) == Some("not") => self.branch(inner, to, !wanted),
            // A jump on nil is the opposite of `some?`, and equal to `nil?`.
            Kind::Call(callee, [inner]) if named(callee) == Some(if wanted { "nil?" } else { "some?" }) => {
                let mark = self.regs.mark();
                let src = self.expr(inner, Dest::Any);
                self.regs.release(mark);
                self.code.jump(Op::JumpIfNil { src, fuel: 0, to: 0 }, to);
            }
            Kind::Call(callee, [inner]) if !wanted && named(callee) == Some("reduced?") => {
                let mark = self.regs.mark();
                let src = self.expr(inner, Dest::Any);
                self.regs.release(mark);
                self.code.jump(Op::JumpUnlessReduced { src, fuel: 0, to: 0 }, to);
            }
            _ => self.branch_on_value(test, to, wanted),
        }
        self.code.at(outer);
    }

    /// Jumps on `and` (decided by a false) or `or` (decided by a true).
    fn branch_many(&mut self, items: &'a [Node<'a>], to: LabelId, wanted: bool, decides: bool) {
        let Some((last, before)) = items.split_last() else { return };
        if decides == wanted {
            for node in items {
                self.branch(node, to, wanted);
            }
            return;
        }
        let over = self.code.label();
        for node in before {
            self.branch(node, over.id(), decides);
        }
        self.branch(last, to, wanted);
        self.code.bind(over);
    }

    fn branch_on_value(&mut self, test: &Node<'a>, to: LabelId, wanted: bool) {
        let mark = self.regs.mark();
        if self.code.optimize {
            if let Some(value) = opt::known_truth(test, self.module.meter) {
                return self.branch_known(test, to, wanted, value);
            }
            if !wanted && let Some(fused) = opt::fuse(test) {
                self.branch_fused(fused, to);
                return self.regs.release(mark);
            }
        }
        let reg = self.expr(test, Dest::Any);
        self.regs.release(mark);
        self.code.jump(jump_on(reg, wanted), to);
    }

    /// Handles a known test: the jump is either certain or omitted. The price stays.
    fn branch_known(&mut self, test: &Node<'a>, to: LabelId, wanted: bool, value: bool) {
        let mark = self.regs.mark();
        self.code.mute();
        let reg = self.expr(test, Dest::Any);
        self.code.unmute();
        self.regs.release(mark);
        self.code.charge(jump_on(reg, wanted).cost());
        if value == wanted {
            self.code.jump_paid(Op::Jump { to: 0 }, to);
        } else {
            self.code.go_on();
        }
    }

    /// Writes a comparison and a jump as one instruction, at the price of both.
    fn branch_fused(&mut self, fused: Fused<'a>, to: LabelId) {
        // With few registers left, operands are paid for differently, so the plain code is used.
        let small = fused.small.filter(|_| self.regs.can_hold(2));
        let op = match small {
            Some((operand, imm)) => {
                let is_loaded = self.pinned(&Constant::Int(i64::from(imm))).is_none();
                let price = if is_loaded { Op::LoadInt { dst: 0, value: 0 }.cost() } else { 0 };
                // Paid for where it would be loaded: the other operand may end the block.
                let is_first = std::ptr::eq(operand, fused.b);
                if is_first {
                    self.code.charge(price);
                }
                let a = self.expr(operand, Dest::Any);
                if !is_first {
                    self.code.charge(price);
                }
                fused.with_int(a, imm)
            }
            None => {
                let (a, b) = self.operands(fused.a, fused.b);
                fused.with_regs(a, b)
            }
        };
        self.code.charge(Op::Less { dst: 0, a: 0, b: 0 }.cost() + jump_on(0, false).cost());
        self.code.jump_paid(op, to);
    }
}

fn jump_on(test: u8, wanted: bool) -> Op {
    if wanted { Op::JumpIf { test, fuel: 0, to: 0 } } else { Op::JumpUnless { test, fuel: 0, to: 0 } }
}

fn named(callee: &Node<'_>) -> Option<&'static str> {
    match callee.kind {
        Kind::Name(Name::Builtin(id)) => id.row().map(|row| row.name),
        _ => None,
    }
}
