//! Lowering of expressions: names, operands, runs of registers; other forms have files of their own.

use super::regs::Place;
use super::{Dest, LOWERED_NODE, Lower};
use crate::resolved::{Constant, Kind, Name, Node};
use ptc_bytecode::{Op, Span};

impl<'a> Lower<'_, 'a> {
    /// Lowers one expression and returns the register of its value (meaningless for `Effect` and `Return`). With
    /// `Dest::Any` at most that one register stays taken.
    pub(super) fn expr(&mut self, node: &Node<'a>, dest: Dest) -> u8 {
        if !self.module.meter.pay(LOWERED_NODE) || !self.code.is_reachable() {
            // No code is written here, but callers need a register.
            return self.target_reg(dest);
        }
        let outer = self.code.at(node.span);
        let reg = match node.kind {
            Kind::Const(constant) => self.constant(constant, dest),
            Kind::Name(name) => self.name(name, dest),
            Kind::Call(callee, args) => self.call(node, callee, args, dest),
            Kind::Vector(items) => self.vector(node, items, dest),
            Kind::Map(items) => self.map(node, items, dest),
            Kind::Set(items) => self.set(node, items, dest),
            Kind::Cond(items) => self.cond(items, dest),
            Kind::And(items) => self.and_or(items, dest, false),
            Kind::Or(items) => self.and_or(items, dest, true),
            Kind::Do(items) => self.body(items, dest, node.span),
            Kind::Let(bindings, body) => self.let_form(bindings, body, dest, node.span),
            Kind::Loop(bindings, body) => self.loop_form(bindings, body, dest, node.span),
            Kind::Recur(values) => self.recur(values, dest),
            Kind::Fn(lambda) => self.closure(lambda, dest),
            Kind::Define(def, once, value) => self.define(def, once, value, dest),
            Kind::Finish(value) => self.leave(value, dest, |src| Op::Finish { src }),
            Kind::Fail(value) => self.leave(value, dest, |src| Op::Fail { src }),
            Kind::Throw(value) => self.leave(value, dest, |src| Op::Throw { src }),
            Kind::Try([body, handler]) => self.try_form(body, handler, dest),
            Kind::Exit(value) => self.leave(value, dest, |src| Op::Return { src }),
            Kind::Deliver(value) => self.leave(value, dest, |src| Op::Deliver { src }),
            Kind::Each(local, coll, body) => self.each(local, coll, body, dest),
            Kind::Break => self.break_each(dest),
            Kind::Assign(local, value) => self.assign(local, value, dest),
        };
        self.code.at(outer);
        reg
    }

    /// Lowers all in order; the value of the last, nil if there is none.
    pub(super) fn body(&mut self, nodes: &[Node<'a>], dest: Dest, span: Span) -> u8 {
        let Some((last, before)) = nodes.split_last() else {
            return self.at(span, |this| this.constant(Constant::Nil, dest));
        };
        for node in before {
            self.effect(node);
        }
        self.expr(last, dest)
    }

    /// Lowers for effect; no register stays taken.
    pub(super) fn effect(&mut self, node: &Node<'a>) {
        let mark = self.regs.mark();
        self.expr(node, Dest::Effect);
        self.regs.release(mark);
    }

    /// Lowers a name used as a value.
    pub(super) fn name(&mut self, name: Name<'a>, dest: Dest) -> u8 {
        match name {
            Name::Local(local) => match self.place(local) {
                Place::Reg(reg) => return self.deliver(dest, reg),
                Place::Wide(slot) => {
                    return self.load(dest, |dst| Op::LoadWide { dst, slot });
                }
                Place::Nowhere => return self.constant(Constant::Nil, dest),
            },
            Name::This => return self.deliver(dest, 0),
            Name::Capture(index) if !self.around.is_empty() => return self.outer_name(index, dest),
            Name::Capture(index) if self.packed => return self.packed_capture(index, dest),
            Name::DefOrNil(def) => return self.def_or_nil(def, dest),
            Name::Fixed(index) => return self.fixed(index, dest),
            _ => {}
        }
        match name {
            Name::Capture(index) => self.load(dest, |dst| Op::Capture { dst, index: index as u16 }),
            Name::Def(def) => self.load_checked(dest, |dst| Op::GetDef { dst, def: def.0 }),
            Name::Var(def) => self.load(dest, |dst| Op::LoadVar { dst, def: def.0 }),
            Name::Builtin(id) => {
                let import = self.module.import(id);
                self.load(dest, |dst| Op::LoadBuiltin { dst, import })
            }
            Name::Tool(tool) => self.load(dest, |dst| Op::LoadTool { dst, tool: tool.0 }),
            Name::Data(key) => {
                let key = self.const_id(Constant::Str(key));
                self.load_checked(dest, |dst| Op::GetData { dst, key })
            }
            Name::History(nth) => self.load(dest, |dst| Op::GetHistory { dst, nth }),
            Name::Sibling(index) => {
                let code = self.module.siblings.get(index as usize).copied().unwrap_or_default();
                self.load(dest, |dst| Op::MakeClosure { dst, first: 0, n: 0, code })
            }
            Name::Local(_) | Name::This | Name::DefOrNil(_) | Name::Fixed(_) => {
                self.constant(Constant::Nil, dest)
            }
        }
    }

    /// Lowers a constant of the namespace: its value, or the call that makes it while the value is not known.
    fn fixed(&mut self, index: u32, dest: Dest) -> u8 {
        match self.module.known.get(index as usize).copied().flatten() {
            Some(id) => self.load(dest, |dst| Op::Const { dst, id }),
            None => {
                let span = self.code.at(Span::default());
                self.code.at(span);
                let maker = Node { span, kind: Kind::Name(Name::Sibling(index)) };
                self.call_with(0, std::iter::once(&maker), dest, |base| Op::Call { base, n: 0 })
            }
        }
    }

    /// Writes an instruction without operands; omitted if only effects matter.
    pub(super) fn load(&mut self, dest: Dest, op: impl FnOnce(u8) -> Op) -> u8 {
        if dest == Dest::Effect {
            return self.regs.peek();
        }
        self.load_checked(dest, op)
    }

    /// Writes one like [`load`](Self::load) that may fault and so counts as an effect.
    fn load_checked(&mut self, dest: Dest, op: impl FnOnce(u8) -> Op) -> u8 {
        let reg = self.target_reg(dest);
        self.emit(op(reg));
        self.deliver(dest, reg)
    }

    fn packed_capture(&mut self, index: u32, dest: Dest) -> u8 {
        let mark = self.regs.mark();
        let (all, at) = (self.regs.alloc(), self.regs.alloc());
        self.emit(Op::Capture { dst: all, index: 0 });
        self.emit(Op::LoadInt { dst: at, value: index as i32 });
        self.regs.release(mark);
        let reg = self.target_reg(dest);
        self.emit(Op::Nth { dst: reg, coll: all, index: at });
        self.deliver(dest, reg)
    }

    /// True if lowering it later, or twice, makes no difference: it has no effects, cannot fault, and no other code
    /// changes it. Assigned locals do not qualify.
    pub(super) fn is_simple(&self, node: &Node<'a>) -> bool {
        match node.kind {
            Kind::Const(_) => true,
            Kind::Name(Name::Local(local)) => {
                self.frame.locals.get(local.0 as usize).is_some_and(|local| !local.assigned)
            }
            Kind::Name(Name::Capture(_) | Name::This | Name::Builtin(_)) => true,
            _ => false,
        }
    }

    /// Two operands, in order, in whatever registers they end up in.
    pub(super) fn operands(&mut self, a: &Node<'a>, b: &Node<'a>) -> (u8, u8) {
        if self.regs.can_hold(2) {
            let a = self.expr(a, Dest::Any);
            return (a, self.expr(b, Dest::Any));
        }
        if self.is_simple(a) {
            let b = self.expr(b, Dest::Any);
            return (self.expr(a, Dest::Any), b);
        }
        let slot = self.stash(a);
        let b = self.expr(b, Dest::Any);
        let a = self.regs.alloc();
        self.emit(Op::LoadWide { dst: a, slot });
        (a, b)
    }

    /// Computes a value into a wide slot, without keeping a register.
    pub(super) fn stash(&mut self, node: &Node<'a>) -> u16 {
        let slot = self.regs.alloc_wide();
        let mark = self.regs.mark();
        let src = self.expr(node, Dest::Any);
        self.emit(Op::StoreWide { slot, src });
        self.regs.release(mark);
        slot
    }

    /// Computes values into consecutive registers, which stay taken; returns the first.
    pub(super) fn run<'n>(&mut self, nodes: impl Iterator<Item = &'n Node<'a>> + Clone) -> u8
    where
        'a: 'n,
    {
        self.run_behind(0, nodes)
    }

    /// Computes values like [`run`](Self::run), leaving `lead` registers free at the front; returns the first of those.
    pub(super) fn run_behind<'n>(
        &mut self,
        lead: usize,
        nodes: impl Iterator<Item = &'n Node<'a>> + Clone,
    ) -> u8
    where
        'a: 'n,
    {
        let first = self.regs.peek();
        let n = nodes.clone().count();
        if self.regs.can_hold(lead + n) {
            self.regs.skip(lead);
            for node in nodes {
                let reg = self.regs.alloc();
                self.expr(node, Dest::Into(reg));
            }
            return first;
        }
        // Each is put aside, so that the next one has room.
        let slots: Vec<Option<u16>> =
            nodes.clone().map(|node| (!self.is_simple(node)).then(|| self.stash(node))).collect();
        self.regs.skip(lead);
        for (node, slot) in nodes.zip(slots) {
            let dst = self.regs.alloc();
            match slot {
                Some(slot) => self.emit(Op::LoadWide { dst, slot }),
                None => {
                    self.expr(node, Dest::Into(dst));
                }
            }
        }
        first
    }
}
