//! Unwinding from a fault to the `try` that catches it.

use crate::fault::Fault;
use crate::machine::{Frame, State, Vm, WINDOW};
use crate::value::Value;
use ptc_bytecode::Op;

impl Vm {
    /// Continues where the innermost `try` catches this fault; if none may, the run ends.
    pub(crate) fn unwind(&mut self, fault: Fault) -> Result<(), Fault> {
        if self.give_up(&fault) {
            return Ok(());
        }
        let thrown = self.thrown.take();
        let catcher = match fault.is_catchable() {
            true => {
                self.frames.iter().enumerate().rev().find_map(|(i, frame)| Some((i, self.catcher(frame)?)))
            }
            false => None,
        };
        let Some((depth, (base, to))) = catcher else {
            let fault = match thrown {
                Some(Value::Exception(exception)) => self.heap.uncaught(exception),
                _ => fault,
            };
            return Err(self.end_with(fault));
        };
        // Finding the place in the program may take many steps, through code that is not its own.
        let below = self.frames.iter().rev().take_while(|frame| frame.module != self.entry).count();
        self.heap.charge(below);
        let fault = self.explain(fault).at(self.user_span());
        // The instruction's work is paid for, although it failed.
        self.heap.pay_last(&mut self.budget);
        self.leave_frames(depth);
        let exception = match thrown {
            Some(exception) => exception,
            None => {
                self.with_room(|vm| vm.heap.exception_of(&fault)).map_err(|fault| self.end_with(fault))?
            }
        };
        self.stack[self.current.base as usize + base as usize] = exception;
        self.current.pc = to;
        self.state = State::Ready;
        Ok(())
    }

    /// Returns the register for an exception and the place to continue, if this frame waits in a `try`.
    fn catcher(&self, frame: &Frame) -> Option<(u8, u32)> {
        let block = self.modules.get(frame.module as usize)?.module.block(frame.block);
        match block.ops.get(frame.pc as usize)? {
            Op::Try { base, to, .. } => Some((*base, *to)),
            _ => None,
        }
    }

    /// Returns to a waiting frame.
    fn leave_frames(&mut self, depth: usize) {
        let mut wide = self.wide.len();
        for frame in self.frames[depth + 1..].iter().chain([&self.current]) {
            let regs = self.modules[frame.module as usize].module.block(frame.block).regs as usize;
            wide = wide.saturating_sub(regs.saturating_sub(WINDOW));
        }
        self.wide.truncate(wide);
        self.current = self.frames[depth];
        self.frames.truncate(depth);
    }
}
