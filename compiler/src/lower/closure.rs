//! Lowering of closures, which copy their captures when they are made.

use super::regs::Place;
use super::{Dest, Lower, MAX_CAPTURES, function};
use crate::resolved::{Lambda, Name};
use ptc_bytecode::Op;

/// Units of work per captured name.
const CAPTURED: usize = 8;

impl<'a> Lower<'_, 'a> {
    pub(super) fn closure(&mut self, lambda: &'a Lambda<'a>, dest: Dest) -> u8 {
        if dest == Dest::Effect {
            return self.regs.peek();
        }
        if !self.module.meter.pay(CAPTURED * lambda.captures.len()) {
            return self.target_reg(dest);
        }
        let code = function(self.module, lambda, self.code.optimize);
        let mark = self.regs.mark();
        let (first, n) = match lambda.captures.len() {
            0 => (0, 0),
            n if n > MAX_CAPTURES => (self.pack(lambda.captures), 1),
            n => (self.captured(lambda.captures), n as u8),
        };
        self.regs.release(mark);
        let dst = self.target_reg(dest);
        self.emit(Op::MakeClosure { dst, first, n, code });
        self.deliver(dest, dst)
    }

    /// Puts captured values in consecutive registers, or finds them there.
    fn captured(&mut self, names: &[Name<'a>]) -> u8 {
        if let Some(first) = self.in_a_row(names) {
            return first;
        }
        // Reading a name needs no other register, so at most `MAX_CAPTURES` are taken here.
        let first = self.regs.peek();
        for name in names {
            let reg = self.regs.alloc();
            self.name(*name, Dest::Into(reg));
        }
        first
    }

    fn in_a_row(&self, names: &[Name<'a>]) -> Option<u8> {
        let register = |name: &Name<'a>| match name {
            Name::Local(local) => match self.place(*local) {
                Place::Reg(reg) => Some(reg),
                _ => None,
            },
            Name::This => Some(0),
            _ => None,
        };
        let first = register(names.first()?)?;
        let is_next = |(i, name): (usize, &Name<'a>)| {
            register(name).is_some_and(|reg| usize::from(reg) == usize::from(first) + i)
        };
        names.iter().enumerate().all(is_next).then_some(first)
    }

    /// Packs captures into one vector, if there are too many for registers.
    fn pack(&mut self, names: &[Name<'a>]) -> u8 {
        let builder = self.regs.alloc();
        self.emit(Op::NewBuilder { dst: builder });
        for name in names {
            let mark = self.regs.mark();
            let src = self.name(*name, Dest::Any);
            self.emit(Op::Push { builder, src });
            self.regs.release(mark);
        }
        self.emit(Op::BuildVector { dst: builder, builder });
        builder
    }
}
