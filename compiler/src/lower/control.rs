//! Lowering of choices, definitions, and exits.

use super::{Dest, Lower};
use crate::resolved::{Constant, DefRef, Kind, Name, Node};
use ptc_bytecode::Op;

impl<'a> Lower<'_, 'a> {
    /// Lowers tests and results in turn, then the default.
    pub(super) fn cond(&mut self, items: &'a [Node<'a>], dest: Dest) -> u8 {
        let dest = self.shared(dest);
        if let [test, then, otherwise] = items {
            return self.if_form(test, then, otherwise, dest);
        }
        let end = self.code.label();
        let mut rest = items;
        while let [test, result, more @ ..] = rest {
            let next = self.code.label();
            self.branch_unless(test, next.id());
            self.branch_value(result, dest);
            self.code.jump(Op::Jump { to: 0 }, end.id());
            self.code.bind(next);
            rest = more;
        }
        if let [default] = rest {
            self.branch_value(default, dest);
        }
        self.code.bind(end);
        self.settle(dest)
    }

    fn if_form(&mut self, test: &Node<'a>, then: &Node<'a>, otherwise: &Node<'a>, dest: Dest) -> u8 {
        if let Some(tested) = operand_of("not", test) {
            return self.if_form(tested, otherwise, then, dest);
        }
        if let Some(tested) = operand_of("nil?", test) {
            // There is a jump for nil, but none for its opposite: the branches are swapped.
            return self.if_some(dest, tested, otherwise, then);
        }
        let (next, end) = (self.code.label(), self.code.label());
        self.branch_unless(test, next.id());
        self.branch_value(then, dest);
        self.code.jump(Op::Jump { to: 0 }, end.id());
        self.code.bind(next);
        self.branch_value(otherwise, dest);
        self.code.bind(end);
        self.settle(dest)
    }

    /// Lowers a choice: `some` if `tested` is not nil, else `none`.
    fn if_some(&mut self, dest: Dest, tested: &Node<'a>, some: &Node<'a>, none: &Node<'a>) -> u8 {
        let (is_nil, end) = (self.code.label(), self.code.label());
        let mark = self.regs.mark();
        let src = self.expr(tested, Dest::Any);
        self.code.jump(Op::JumpIfNil { src, fuel: 0, to: 0 }, is_nil.id());
        self.regs.release(mark);
        self.branch_value(some, dest);
        self.code.jump(Op::Jump { to: 0 }, end.id());
        self.code.bind(is_nil);
        self.branch_value(none, dest);
        self.code.bind(end);
        self.settle(dest)
    }

    /// Returns the common destination of branches: `Any` becomes the next free register. It is not reserved, since
    /// a branch writes it last.
    fn shared(&self, dest: Dest) -> Dest {
        if dest == Dest::Any { Dest::Into(self.regs.peek()) } else { dest }
    }

    /// Takes the register that [`shared`](Self::shared) chose.
    fn settle(&mut self, dest: Dest) -> u8 {
        match dest {
            Dest::Into(reg) => {
                self.regs.reserve(reg);
                reg
            }
            _ => self.regs.peek(),
        }
    }

    fn branch_value(&mut self, node: &Node<'a>, dest: Dest) {
        let mark = self.regs.mark();
        self.expr(node, dest);
        self.regs.release(mark);
    }

    /// Lowers `and`, or `or` with `is_or`: the first value that decides, else the last.
    pub(super) fn and_or(&mut self, items: &'a [Node<'a>], dest: Dest, is_or: bool) -> u8 {
        let Some((last, before)) = items.split_last() else {
            let none = if is_or { Constant::Nil } else { Constant::Bool(true) };
            return self.constant(none, dest);
        };
        let end = self.code.label();
        if dest == Dest::Effect {
            for node in before {
                if is_or { self.branch_if(node, end.id()) } else { self.branch_unless(node, end.id()) }
            }
            self.effect(last);
            self.code.bind(end);
            return self.regs.peek();
        }
        let is_return = dest == Dest::Return;
        let shared = if is_return { Dest::Into(self.regs.peek()) } else { self.shared(dest) };
        let Dest::Into(reg) = shared else { return self.regs.peek() };
        for node in before {
            self.branch_value(node, shared);
            let op = match is_or {
                true => Op::JumpIf { test: reg, fuel: 0, to: 0 },
                false => Op::JumpUnless { test: reg, fuel: 0, to: 0 },
            };
            self.code.jump(op, end.id());
        }
        self.branch_value(last, if is_return { Dest::Return } else { shared });
        self.code.bind(end);
        if is_return {
            self.emit(Op::Return { src: reg });
        }
        self.settle(shared)
    }

    /// Lowers `(def name value)`; with `once` only if it has no value yet.
    pub(super) fn define(&mut self, def: DefRef, once: bool, value: &Node<'a>, dest: Dest) -> u8 {
        let mark = self.regs.mark();
        let done = self.code.label();
        if once {
            let test = self.regs.peek();
            self.regs.reserve(test);
            self.emit(Op::HasDef { dst: test, def: def.0 });
            self.code.jump(Op::JumpIf { test, fuel: 0, to: 0 }, done.id());
            self.regs.release(mark);
        }
        let src = self.expr(value, Dest::Any);
        self.emit(Op::SetDef { def: def.0, src });
        self.regs.release(mark);
        self.code.bind(done);
        self.name(Name::Var(def), dest)
    }

    /// Reads a definition, or nil if it has no value yet.
    pub(super) fn def_or_nil(&mut self, def: DefRef, dest: Dest) -> u8 {
        if dest == Dest::Effect {
            return self.regs.peek();
        }
        let is_return = dest == Dest::Return;
        let shared = self.shared(if is_return { Dest::Any } else { dest });
        let Dest::Into(dst) = shared else { return self.regs.peek() };
        let (unset, end) = (self.code.label(), self.code.label());
        self.regs.reserve(dst);
        self.emit(Op::HasDef { dst, def: def.0 });
        self.code.jump(Op::JumpUnless { test: dst, fuel: 0, to: 0 }, unset.id());
        self.emit(Op::GetDef { dst, def: def.0 });
        self.code.jump(Op::Jump { to: 0 }, end.id());
        self.code.bind(unset);
        self.emit(Op::LoadNil { dst });
        self.code.bind(end);
        if is_return {
            self.emit(Op::Return { src: dst });
        }
        dst
    }

    /// Lowers `try`. The body is called as a separate function, so that an exception leaves these registers intact.
    pub(super) fn try_form(&mut self, body: &Node<'a>, handler: &Node<'a>, dest: Dest) -> u8 {
        let dest = self.shared(dest);
        let (caught, end) = (self.code.label(), self.code.label());
        let mark = self.regs.mark();
        let base = self.regs.alloc();
        self.expr(body, Dest::Into(base));
        self.code.jump(Op::Try { base, n: 0, to: 0 }, caught.id());
        self.deliver(dest, base);
        self.code.jump(Op::Jump { to: 0 }, end.id());
        self.code.bind(caught);
        let callee = self.regs.alloc();
        self.expr(handler, Dest::Into(callee));
        let exception = self.regs.alloc();
        self.emit(Op::Move { dst: exception, src: base });
        self.emit(Op::Call { base: callee, n: 1 });
        self.regs.release(mark);
        self.deliver(dest, callee);
        self.code.bind(end);
        self.settle(dest)
    }

    /// Computes a value and exits with it; code after it is unreachable.
    pub(super) fn leave(&mut self, value: &Node<'a>, dest: Dest, op: fn(u8) -> Op) -> u8 {
        let mark = self.regs.mark();
        let src = self.expr(value, Dest::Any);
        self.emit(op(src));
        self.regs.release(mark);
        self.target_reg(dest)
    }
}

/// Returns `x`, if the node is `(name x)`.
fn operand_of<'a>(name: &str, node: &Node<'a>) -> Option<&'a Node<'a>> {
    match node.kind {
        Kind::Call(Node { kind: Kind::Name(Name::Builtin(id)), .. }, [operand]) => {
            id.row().filter(|row| row.name == name).map(|_| operand)
        }
        _ => None,
    }
}
