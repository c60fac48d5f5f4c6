//! Attempts: instructions that do the work of others in another order, as a fused pipeline does, and are given up when the
//! order would show.
//!
//! A fault, and the end of the fuel, would come at another place than in the usual order, perhaps instead of another fault.
//! So the fuel that the attempt spent is given back, and the run continues with the usual instructions, which fault in
//! their own order. Nothing else remains of the attempt: the compiler puts only work without effects into one, and the collector and
//! changes in place keep what the usual instructions read (`ptc_bytecode::Liveness`).
//!
//! Work that was given back was still done. No attempt begins while more fuel has been given back than spent, so a run never does
//! more than twice the work its fuel pays for. Branches count for themselves.

use crate::budget::Budget;
use crate::fault::Fault;
use crate::machine::{Frame, State, Vm};
use ptc_bytecode::{Code, Op};

/// An attempt that has begun. It is over when its frame left its instructions, which nothing records.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Attempt {
    /// Number of callers of its frame.
    pub depth: usize,
    /// Its frame, at the instruction that began it.
    pub frame: Frame,
    /// Index of the instruction to continue with.
    pub to: u32,
    /// Fuel left when it began.
    pub fuel: u64,
}

/// The attempts of a run.
#[derive(Default, Debug)]
pub(crate) struct Attempts {
    /// Those that may go on, by depth: at most one for each frame.
    begun: Vec<Attempt>,
    /// Fuel given back so far.
    refunded: u64,
}

impl Attempts {
    /// Returns the attempts of a run in which none begins: a test mode that shows whether they make a difference.
    pub(crate) fn none() -> Attempts {
        Attempts { begun: Vec::new(), refunded: u64::MAX }
    }

    /// Returns the state that a loaded run continues with.
    pub(crate) fn of(begun: Vec<Attempt>, refunded: u64) -> Attempts {
        Attempts { begun, refunded }
    }

    /// True if no attempt is to begin.
    pub(crate) fn are_none(&self) -> bool {
        self.refunded == u64::MAX
    }

    /// Restores the initial state.
    pub(crate) fn restart(&mut self) {
        self.begun.clear();
        if !self.are_none() {
            self.refunded = 0;
        }
    }

    /// Begins the attempt at the current instruction of a frame; false if none may begin, and then its price is given back.
    #[inline(never)]
    pub(crate) fn begin(&mut self, depth: usize, frame: &Frame, to: u32, budget: &mut Budget) -> bool {
        while self.begun.pop_if(|known| known.depth >= depth).is_some() {}
        // With its own price, which the usual instructions pay again: a fault before it must have paid in both ways.
        let fuel = budget.remaining().saturating_add(u64::from(Op::Attempt { fuel: 0, to }.cost()));
        let begins = self.refunded <= budget.spent();
        if begins {
            self.begun.push(Attempt { depth, frame: *frame, to, fuel });
        } else {
            budget.set_remaining(fuel);
        }
        begins
    }

    /// Returns the fuel given back so far.
    pub(crate) fn refunded(&self) -> u64 {
        self.refunded
    }
}

impl Attempt {
    /// True if a frame is inside this attempt.
    pub(crate) fn holds(&self, frame: &Frame) -> bool {
        let is_same = frame.runs_same(&self.frame) && frame.base == self.frame.base;
        is_same && self.frame.pc <= frame.pc && frame.pc < self.to
    }
}

impl Vm {
    /// Gives up the innermost attempt that this fault happened in, if the usual instructions are to say what happens.
    pub(crate) fn give_up(&mut self, fault: &Fault) -> bool {
        let is_ordinary = !fault.code().is_run_limit() && fault.code() != Code::Cancelled;
        if !is_ordinary && fault.code() != Code::FuelExceeded {
            return false;
        }
        self.abandon()
    }

    /// Gives up the innermost attempt that the run is in; false if it is in none.
    pub(crate) fn abandon(&mut self) -> bool {
        // Those of frames that have returned, each of which is dropped once.
        let depth = self.frames.len();
        while self.attempts.begun.pop_if(|known| known.depth > depth).is_some() {}
        let Some(attempt) = self.active_attempt() else { return false };
        while self.attempts.begun.pop_if(|known| known.depth >= attempt.depth).is_some() {}
        // Debts of the instruction that stopped are given back with the rest.
        self.heap.take_due();
        let spent = attempt.fuel.saturating_sub(self.budget.remaining());
        self.attempts.refunded = self.attempts.refunded.saturating_add(spent);
        self.budget.set_remaining(attempt.fuel);
        self.heap.begin_work(&self.budget);
        self.thrown = None;
        self.current.pc = attempt.to;
        self.state = State::Ready;
        true
    }

    /// Returns the attempt that the current frame is inside. An attempt is given up before it calls a function, so no other
    /// frame is inside one: a look at the last suffices, however many frames have made attempts.
    pub(crate) fn active_attempt(&self) -> Option<Attempt> {
        let depth = self.frames.len();
        let last = self.attempts.begun.iter().rev().find(|attempt| attempt.depth <= depth)?;
        (last.depth == depth && last.holds(&self.current)).then_some(*last)
    }

    /// Returns the attempt that the instruction at `pc` of a frame begins, if it is one.
    pub(crate) fn attempt_at(&self, depth: usize, frame: Frame, pc: u32, fuel: u64) -> Option<Attempt> {
        let block = self.modules.get(frame.module as usize)?.module.block(frame.block);
        match block.ops.get(pc as usize)? {
            Op::Attempt { to, .. } => Some(Attempt { depth, frame: Frame { pc, ..frame }, to: *to, fuel }),
            _ => None,
        }
    }
}
