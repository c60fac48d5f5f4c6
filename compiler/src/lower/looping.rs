//! Lowering of bindings and loops.

use super::reads::locals_read;
use super::regs::Place;
use super::{Dest, Lower, Target};
use crate::resolved::{Constant, Kind, LocalId, Name, Node};
use ptc_bytecode::{Inline, Op, Span};

impl<'a> Lower<'_, 'a> {
    pub(super) fn let_form(
        &mut self,
        bindings: &'a [(LocalId, Node<'a>)],
        body: &'a [Node<'a>],
        dest: Dest,
        span: Span,
    ) -> u8 {
        self.scope(dest, |this, dest| {
            for (local, value) in bindings {
                this.bind(*local, value, true);
            }
            this.body(body, dest, span);
        })
    }

    /// Runs `write` in a new scope. The result must outlive the locals, so its register is taken first; when locals
    /// no longer take registers, it needs no protection.
    pub(super) fn scope(&mut self, dest: Dest, write: impl FnOnce(&mut Self, Dest)) -> u8 {
        let dest = if dest == Dest::Any { Dest::Into(self.regs.peek()) } else { dest };
        let outer = self.regs.mark();
        let Dest::Into(reg) = dest else {
            write(self, dest);
            self.regs.release(outer);
            return self.regs.peek();
        };
        if self.regs.has_local() {
            self.regs.reserve(reg);
        }
        write(self, dest);
        self.regs.release(outer);
        self.regs.reserve(reg);
        reg
    }

    /// Computes a value into a new local.
    fn bind(&mut self, local: LocalId, value: &Node<'a>, may_share: bool) {
        self.frame.finite[local.0 as usize] = may_share && !self.is_assigned(local) && self.is_finite(value);
        // A local that only renames another shares its register: neither changes while both are in scope, unless
        // one is assigned.
        if may_share
            && let Kind::Name(Name::Local(other)) = value.kind
            && !self.is_assigned(local)
            && !self.is_assigned(other)
            && self.place(other) != Place::Nowhere
        {
            self.frame.places[local.0 as usize] = self.place(other);
            return;
        }
        let place = self.regs.alloc_local();
        self.store(place, value);
        self.frame.places[local.0 as usize] = place;
    }

    fn store(&mut self, place: Place, value: &Node<'a>) {
        match place {
            Place::Reg(reg) => {
                self.expr(value, Dest::Into(reg));
            }
            Place::Wide(slot) => {
                let mark = self.regs.mark();
                let src = self.expr(value, Dest::Any);
                self.at(value.span, |this| this.emit(Op::StoreWide { slot, src }));
                self.regs.release(mark);
            }
            Place::Nowhere => self.effect(value),
        }
    }

    fn is_assigned(&self, local: LocalId) -> bool {
        self.frame.locals.get(local.0 as usize).is_none_or(|local| local.assigned)
    }

    pub(super) fn loop_form(
        &mut self,
        bindings: &'a [(LocalId, Node<'a>)],
        body: &'a [Node<'a>],
        dest: Dest,
        span: Span,
    ) -> u8 {
        self.scope(dest, |this, dest| {
            for (local, value) in bindings {
                this.bind(*local, value, false);
            }
            let places = bindings.iter().map(|(local, _)| this.place(*local)).collect();
            let outer = this.pin(body);
            this.open_target(places);
            this.body(body, dest, span);
            this.targets.pop();
            this.unpin(outer);
        })
    }

    /// Starts counting jumps and marks their target.
    pub(super) fn open_target(&mut self, places: Vec<Place>) {
        let count = self.regs.alloc_local();
        let reg = match count {
            Place::Reg(reg) => reg,
            _ => self.regs.peek(),
        };
        self.emit(Op::LoadInt { dst: reg, value: 0 });
        let head = self.code.head();
        if let Place::Wide(slot) = count {
            // Every jump leaves the count in this register; from here on it is free again.
            self.regs.reserve(reg);
            self.emit(Op::StoreWide { slot, src: reg });
            self.regs.give_back(reg);
        }
        self.targets.push(Target { head, count, count_reg: reg, places });
    }

    /// Computes the new values, then assigns them, then jumps. A value is computed straight into its local if no
    /// later value reads the old one.
    pub(super) fn recur(&mut self, values: &'a [Node<'a>], dest: Dest) -> u8 {
        let Some(target) = self.targets.pop() else { return self.target_reg(dest) };
        let mark = self.regs.mark();
        let reads: Vec<u128> = values.iter().map(|value| self.places_read(value, &target.places)).collect();
        let mut waiting: Vec<(Place, Place)> = Vec::new();
        for (i, (value, place)) in values.iter().zip(&target.places).enumerate() {
            if self.place_of(value) == Some(*place) {
                continue;
            }
            let bit = 1_u128.checked_shl(i as u32).unwrap_or(0);
            let read_later = bit == 0 || reads[i + 1..].iter().any(|mask| mask & bit != 0);
            let reads_itself = bit == 0 || reads[i] & bit != 0;
            // The jump copies the result of a call for nothing.
            if !read_later && (!reads_itself || writes_last(value) && !is_call(value)) {
                self.store(*place, value);
                continue;
            }
            let temp = if self.regs.can_hold(1) {
                Place::Reg(self.regs.alloc())
            } else {
                Place::Wide(self.regs.alloc_wide())
            };
            self.store(temp, value);
            waiting.push((*place, temp));
        }
        // The last copy is part of the jump.
        let last = match waiting.pop() {
            Some((Place::Reg(dst), Place::Reg(src))) => Some((dst, src)),
            other => {
                waiting.extend(other);
                None
            }
        };
        for (place, temp) in waiting {
            self.copy(place, temp);
        }
        let count = match target.count {
            Place::Reg(reg) => reg,
            Place::Wide(slot) => {
                self.emit(Op::LoadWide { dst: target.count_reg, slot });
                target.count_reg
            }
            Place::Nowhere => 0,
        };
        let (dst, src) = last.unwrap_or((count, count));
        self.code.jump(Op::Again { count, dst, src, to: 0 }, target.head);
        self.targets.push(target);
        self.regs.release(mark);
        self.target_reg(dest)
    }

    /// Returns the places of `targets` that a value reads, as bits.
    fn places_read(&self, value: &Node<'a>, targets: &[Place]) -> u128 {
        let mut mask = 0;
        // Targets beyond the bits always count as read.
        let targets = &targets[..targets.len().min(u128::BITS as usize)];
        let mut read = 0;
        let visited = locals_read(value, &mut |local| {
            read += 1;
            let place = self.place(local);
            if let Some(i) = targets.iter().position(|target| *target == place) {
                mask |= 1_u128.checked_shl(i as u32).unwrap_or(0);
            }
        });
        // Unpaid code is never used.
        let _ = self.module.meter.pay(visited + read * targets.len() / 4);
        mask
    }

    fn place_of(&self, node: &Node<'a>) -> Option<Place> {
        match node.kind {
            Kind::Name(Name::Local(local)) => Some(self.place(local)),
            _ => None,
        }
    }

    fn copy(&mut self, to: Place, from: Place) {
        match (to, from) {
            (Place::Reg(dst), Place::Reg(src)) => self.emit(Op::Move { dst, src }),
            (Place::Reg(dst), Place::Wide(slot)) => self.emit(Op::LoadWide { dst, slot }),
            (Place::Wide(slot), Place::Reg(src)) => self.emit(Op::StoreWide { slot, src }),
            (Place::Wide(slot), Place::Wide(other)) => {
                let mark = self.regs.mark();
                let reg = self.regs.alloc();
                self.emit(Op::LoadWide { dst: reg, slot: other });
                self.emit(Op::StoreWide { slot, src: reg });
                self.regs.release(mark);
            }
            (Place::Nowhere, _) | (_, Place::Nowhere) => {}
        }
    }

    /// Runs the body with the local bound to each element in turn; nil.
    pub(super) fn each(&mut self, local: LocalId, coll: &Node<'a>, body: &'a [Node<'a>], dest: Dest) -> u8 {
        self.scope(dest, |this, dest| {
            if this.regs.has_local() {
                this.each_in_registers(local, coll, body);
            } else {
                this.each_in_slots(local, coll, body);
            }
            this.constant(Constant::Nil, dest);
        })
    }

    fn each_in_registers(&mut self, local: LocalId, coll: &Node<'a>, body: &'a [Node<'a>]) {
        let iter = self.regs.alloc();
        self.regs.skip(1);
        let inner = self.regs.mark();
        let coll = self.expr(coll, Dest::Any);
        self.emit(Op::IterStart { iter, coll });
        self.regs.release(inner);
        let outer = self.pin(body);
        let item = self.regs.alloc();
        self.frame.places[local.0 as usize] = Place::Reg(item);
        let end = self.code.label();
        self.code.jump(Op::IterNext { dst: item, iter, fuel: 0, to: 0 }, end.id());
        let head = self.code.head();
        self.each_body(body, end.id());
        self.unpin(outer);
        self.code.jump(Op::IterBack { dst: item, iter, fuel: 0, to: 0 }, head);
        self.code.bind(end);
    }

    /// Runs the loop with the iterator in wide slots while the body runs, if registers are short.
    fn each_in_slots(&mut self, local: LocalId, coll: &Node<'a>, body: &'a [Node<'a>]) {
        let slots = [self.regs.alloc_wide(), self.regs.alloc_wide()];
        let item = self.regs.alloc_wide();
        self.frame.places[local.0 as usize] = Place::Wide(item);
        let inner = self.regs.mark();
        let coll = self.expr(coll, Dest::Any);
        let iter = self.regs.alloc();
        let behind = self.regs.alloc();
        self.emit(Op::IterStart { iter, coll });
        let store = |this: &mut Self| {
            this.emit(Op::StoreWide { slot: slots[0], src: iter });
            this.emit(Op::StoreWide { slot: slots[1], src: behind });
        };
        store(self);
        let end = self.code.label();
        let head = self.code.head();
        self.emit(Op::LoadWide { dst: iter, slot: slots[0] });
        self.emit(Op::LoadWide { dst: behind, slot: slots[1] });
        let dst = self.regs.alloc();
        self.code.jump(Op::IterNext { dst, iter, fuel: 0, to: 0 }, end.id());
        self.emit(Op::StoreWide { slot: item, src: dst });
        store(self);
        self.regs.release(inner);
        self.each_body(body, end.id());
        self.code.jump(Op::Jump { to: 0 }, head);
        self.code.bind(end);
    }

    fn each_body(&mut self, body: &'a [Node<'a>], end: crate::emit::LabelId) {
        self.breaks.push(end);
        for node in body {
            self.effect(node);
        }
        self.breaks.pop();
    }

    pub(super) fn break_each(&mut self, dest: Dest) -> u8 {
        if let Some(end) = self.breaks.last() {
            self.code.jump(Op::Jump { to: 0 }, *end);
        }
        self.target_reg(dest)
    }

    pub(super) fn assign(&mut self, local: LocalId, value: &Node<'a>, dest: Dest) -> u8 {
        let place = self.place(local);
        let mut reads_itself = false;
        let visited = locals_read(value, &mut |read| reads_itself |= self.place(read) == place);
        let _ = self.module.meter.pay(visited);
        if reads_itself && !writes_last(value) {
            let mark = self.regs.mark();
            let src = self.expr(value, Dest::Any);
            if Place::Reg(src) != place {
                self.copy(place, Place::Reg(src));
            }
            self.regs.release(mark);
        } else {
            self.store(place, value);
        }
        self.constant(Constant::Nil, dest)
    }
}

/// True if the value is the result of a call, which comes from where the function leaves it.
fn is_call(node: &Node<'_>) -> bool {
    match node.kind {
        Kind::Call(Node { kind: Kind::Name(Name::Builtin(id)), .. }, args) => {
            !id.row().and_then(|row| row.inline).is_some_and(|inline| is_one_instruction(inline, args.len()))
        }
        Kind::Call(Node { kind: Kind::Name(_), .. }, _) => true,
        _ => false,
    }
}

/// True if the last instruction, on every path, writes the value, and no instruction before it writes to where the value
/// goes: so the value may replace one of its operands.
pub(super) fn writes_last(node: &Node<'_>) -> bool {
    match node.kind {
        Kind::Const(_) | Kind::Name(_) | Kind::Vector(_) | Kind::Map(_) | Kind::Set(_) => true,
        Kind::Cond(items) => results(items).all(writes_last),
        Kind::Do([.., last]) | Kind::Let(_, [.., last]) => writes_last(last),
        Kind::Call(Node { kind: Kind::Name(Name::Builtin(id)), .. }, args) => {
            id.row().and_then(|row| row.inline).is_some_and(|inline| is_one_instruction(inline, args.len()))
        }
        // The result of a call comes from elsewhere.
        Kind::Call(Node { kind: Kind::Name(_), .. }, _) => true,
        _ => false,
    }
}

/// Returns what a choice may give, without its tests.
pub(super) fn results<'n, 'a>(items: &'n [Node<'a>]) -> impl Iterator<Item = &'n Node<'a>> {
    let last = items.len().saturating_sub(1);
    items.iter().enumerate().filter(move |(i, _)| i % 2 == 1 || *i == last).map(|(_, result)| result)
}

fn is_one_instruction(inline: Inline, args: usize) -> bool {
    match args {
        1 => matches!(
            inline,
            Inline::Inc
                | Inline::Dec
                | Inline::Not
                | Inline::IsNil
                | Inline::Count
                | Inline::First
                | Inline::BuildVector
                | Inline::BuildMap
                | Inline::BuildSet
        ),
        2 => !matches!(inline, Inline::Apply | Inline::Push | Inline::Assoc),
        3 => inline == Inline::Assoc,
        _ => false,
    }
}
