//! Lowering of constants and collection literals.

use super::{Dest, Lower};
use crate::opt::{self, Folded};
use crate::resolved::{Constant, Kind, Node};
use ptc_bytecode::{BuiltinId, Op};

/// Maximum items of a literal computed in registers; more go through a builder.
const MAX_ITEMS: usize = 64;

impl<'a> Lower<'_, 'a> {
    pub(super) fn constant(&mut self, constant: Constant<'a>, dest: Dest) -> u8 {
        if dest == Dest::Effect {
            return self.regs.peek();
        }
        if dest == Dest::Any
            && let Some(reg) = self.pinned(&constant)
        {
            return reg;
        }
        let dst = self.target_reg(dest);
        let op = match constant {
            Constant::Nil => Op::LoadNil { dst },
            Constant::Bool(value) => Op::LoadBool { dst, value },
            Constant::Int(n) => match i32::try_from(n) {
                Ok(value) => Op::LoadInt { dst, value },
                Err(_) => Op::Const { dst, id: self.const_id(constant) },
            },
            _ => Op::Const { dst, id: self.const_id(constant) },
        };
        self.emit(op);
        self.deliver(dest, dst)
    }

    /// Returns the index of a constant; none is made for muted code.
    pub(super) fn const_id(&mut self, constant: Constant<'a>) -> u32 {
        if self.code.is_muted() { 0 } else { self.module.constant(constant) }
    }

    pub(super) fn import_id(&mut self, id: BuiltinId) -> u32 {
        if self.code.is_muted() { 0 } else { self.module.import(id) }
    }

    /// Writes a known value in place of the code that computes it, at the price of that code.
    pub(super) fn folded(
        &mut self,
        value: Folded<'a>,
        dest: Dest,
        lower: impl FnOnce(&mut Self, Dest) -> u8,
    ) -> u8 {
        let mark = self.regs.mark();
        self.code.mute();
        lower(self, if dest == Dest::Return { Dest::Any } else { dest });
        self.code.unmute();
        self.regs.release(mark);
        let reg = self.target_reg(dest);
        self.code.set_prepaid(true);
        match value {
            Folded::Scalar(constant) => {
                self.constant(constant, Dest::Into(reg));
            }
            Folded::Data(datum) => {
                if !self.code.is_muted() {
                    let id = self.module.data(datum);
                    self.emit(Op::Const { dst: reg, id });
                }
            }
        }
        self.code.set_prepaid(false);
        self.deliver(dest, reg)
    }

    pub(super) fn vector(&mut self, node: &Node<'a>, items: &'a [Node<'a>], dest: Dest) -> u8 {
        self.collection(node, dest, |this, dest| {
            if items.len() > MAX_ITEMS {
                return this.built(items, dest, |dst, builder| Op::BuildVector { dst, builder });
            }
            let n = items.len() as u8;
            this.gathered(items.iter(), dest, |dst, first| Op::NewVector { dst, first, n })
        })
    }

    pub(super) fn set(&mut self, node: &Node<'a>, items: &'a [Node<'a>], dest: Dest) -> u8 {
        self.collection(node, dest, |this, dest| {
            if items.len() > MAX_ITEMS {
                return this.built(items, dest, |dst, builder| Op::BuildSet { dst, builder });
            }
            let n = items.len() as u8;
            this.gathered(items.iter(), dest, |dst, first| Op::NewSet { dst, first, n })
        })
    }

    pub(super) fn map(&mut self, node: &Node<'a>, items: &'a [Node<'a>], dest: Dest) -> u8 {
        self.collection(node, dest, |this, dest| {
            let pairs = items.len() / 2;
            if (1..=MAX_ITEMS).contains(&pairs)
                && let Some(id) = this.record_keys(items)
            {
                let n = pairs as u8;
                let values = items.iter().skip(1).step_by(2);
                return this.gathered(values, dest, |dst, first| Op::NewRecord { dst, first, n, id });
            }
            if items.len() > MAX_ITEMS {
                return this.built(items, dest, |dst, builder| Op::BuildMap { dst, builder });
            }
            let n = items.len() as u8;
            this.gathered(items.iter(), dest, |dst, first| Op::NewMap { dst, first, n })
        })
    }

    /// Lowers a collection literal, or the equal constant.
    fn collection(&mut self, node: &Node<'a>, dest: Dest, lower: impl FnOnce(&mut Self, Dest) -> u8) -> u8 {
        // This cannot be switched off like an optimisation: identical objects compare for free. Muted code costs
        // the same either way, and its data is not needed.
        if !self.code.is_muted()
            && let Some(datum) = opt::constant_collection(node, self.module.meter)
        {
            return self.folded(Folded::Data(datum), dest, lower);
        }
        lower(self, dest)
    }

    /// Returns the constant with the keys of a map literal, if all are scalars. The reader refuses literals that
    /// repeat a key, so they are distinct; floats are excluded, since NaN differs from itself.
    fn record_keys(&mut self, items: &'a [Node<'a>]) -> Option<u32> {
        let key = |node: &Node<'a>| match node.kind {
            Kind::Const(
                key @ (Constant::Nil
                | Constant::Bool(_)
                | Constant::Int(_)
                | Constant::Str(_)
                | Constant::Keyword(_)),
            ) => Some(key),
            _ => None,
        };
        let keys: Option<smallvec::SmallVec<[Constant<'a>; 16]>> = items.iter().step_by(2).map(key).collect();
        let keys = keys?;
        Some(if self.code.is_muted() { 0 } else { self.module.record(&keys) })
    }

    /// Computes items in consecutive registers, then writes one instruction over them.
    fn gathered<'n>(
        &mut self,
        items: impl Iterator<Item = &'n Node<'a>> + Clone,
        dest: Dest,
        op: impl FnOnce(u8, u8) -> Op,
    ) -> u8
    where
        'a: 'n,
    {
        let mark = self.regs.mark();
        let first = self.run(items);
        self.regs.release(mark);
        let dst = self.target_reg(dest);
        self.emit(op(dst, first));
        self.deliver(dest, dst)
    }

    /// Computes items through a builder, then turns it into a collection.
    fn built(&mut self, items: &'a [Node<'a>], dest: Dest, op: impl FnOnce(u8, u8) -> Op) -> u8 {
        let mark = self.regs.mark();
        let builder = self.build(items.iter());
        self.regs.release(mark);
        let dst = self.target_reg(dest);
        self.emit(op(dst, builder));
        self.deliver(dest, dst)
    }

    /// Pushes items into a new builder, whose register stays taken.
    pub(super) fn build<'n>(&mut self, items: impl Iterator<Item = &'n Node<'a>>) -> u8
    where
        'a: 'n,
    {
        if self.regs.can_hold(1) {
            let builder = self.regs.alloc();
            self.emit(Op::NewBuilder { dst: builder });
            for item in items {
                let mark = self.regs.mark();
                let src = self.expr(item, Dest::Any);
                self.emit(Op::Push { builder, src });
                self.regs.release(mark);
            }
            return builder;
        }
        // Between pushes the builder waits in a wide slot, so that nesting takes no registers.
        let slot = self.regs.alloc_wide();
        let mark = self.regs.mark();
        let builder = self.regs.alloc();
        self.emit(Op::NewBuilder { dst: builder });
        self.emit(Op::StoreWide { slot, src: builder });
        self.regs.release(mark);
        for item in items {
            let src = self.expr(item, Dest::Any);
            let builder = self.regs.alloc();
            self.emit(Op::LoadWide { dst: builder, slot });
            self.emit(Op::Push { builder, src });
            self.emit(Op::StoreWide { slot, src: builder });
            self.regs.release(mark);
        }
        let builder = self.regs.alloc();
        self.emit(Op::LoadWide { dst: builder, slot });
        builder
    }
}
