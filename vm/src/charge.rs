//! Charges: work of an instruction that is only known on the way, where nothing can be paid at once.
//!
//! Comparing, hashing, printing and computing are done by functions without a budget at hand, which often cannot fail.
//! They charge the heap, and the machine settles after the instruction. Long work checks in between ([`Heap::look`])
//! whether fuel still covers the charges, and checks the clock.

use crate::budget::Budget;
use crate::fault::Fault;
use crate::heap::Heap;
use crate::value::PART_STEPS;
use crate::work::{Charges, DUE, FREE, Work, too_much_work};
use std::sync::atomic::Ordering;

/// Steps after which the clock is checked: about a millisecond of work.
const UNPAID: u64 = 1 << 17;

impl Heap {
    /// Charges the current instruction for work on its operands. The number must follow from the operands alone,
    /// never from where they are, what they share or how they hash: fuel is the same on every machine.
    #[inline]
    pub fn charge(&self, steps: usize) {
        if steps == 0 {
            return;
        }
        if !self.charges() {
            return self.owe(steps);
        }
        let Charges { unpaid, due, .. } = &self.charges;
        due.store(due.load(Ordering::Relaxed).saturating_add(steps as u64), Ordering::Relaxed);
        unpaid.store(unpaid.load(Ordering::Relaxed).saturating_add(steps as u64) | DUE, Ordering::Relaxed);
    }

    /// Counts work that fuel does not: its time depends on more than the operands, as with keys that collide.
    /// [`Heap::look`] then checks the clock in time.
    #[inline]
    pub fn owe(&self, steps: usize) {
        let unpaid = self.charges.unpaid.load(Ordering::Relaxed).saturating_add(steps as u64);
        self.charges.unpaid.store(unpaid, Ordering::Relaxed);
    }

    /// True while work is charged.
    #[inline]
    pub(crate) fn charges(&self) -> bool {
        self.charges.allowance.load(Ordering::Relaxed) != FREE
    }

    /// Starts charging, up to the rest of a budget.
    pub(crate) fn begin_work(&self, budget: &Budget) {
        self.allow_steps(budget.payable_steps());
    }

    /// Starts charging, up to this many steps.
    pub(crate) fn allow_steps(&self, steps: u64) {
        self.take_due();
        self.charges.allowance.store(steps.min(FREE - 1), Ordering::Relaxed);
    }

    /// Stops charging: the host reads and prints values under limits of its own.
    pub(crate) fn end_work(&self) {
        self.take_due();
        self.charges.allowance.store(FREE, Ordering::Relaxed);
    }

    /// Returns the charged steps and resets them: they count as paid, or as never done.
    pub(crate) fn take_due(&self) -> u64 {
        let Charges { unpaid, due, .. } = &self.charges;
        unpaid.store(unpaid.load(Ordering::Relaxed) & !DUE, Ordering::Relaxed);
        let steps = due.load(Ordering::Relaxed);
        due.store(0, Ordering::Relaxed);
        steps
    }

    /// Moves the charges to the budget. The next payment, at the latest the one that ends the run, faults if fuel
    /// does not cover them and checks the clock if they are many: so an operation that cannot fail stays one, and
    /// the loop needs no exit after each.
    #[inline(always)]
    pub(crate) fn settle(&self, budget: &mut Budget) {
        if !self.is_settled() {
            self.hand_over(budget);
        }
    }

    #[inline(never)]
    fn hand_over(&self, budget: &mut Budget) {
        let unpaid = self.charges.unpaid.load(Ordering::Relaxed) & !DUE;
        budget.owe(self.take_due());
        if unpaid >= UNPAID {
            self.charges.unpaid.store(0, Ordering::Relaxed);
            budget.check_soon();
        }
        self.begin_work(budget);
    }

    /// Moves the charges to the budget at the end of the run.
    pub(crate) fn pay_last(&self, budget: &mut Budget) {
        budget.owe(self.take_due());
    }

    /// True if nothing is charged, and there is no reason to check the clock.
    #[inline(always)]
    fn is_settled(&self) -> bool {
        self.charges.unpaid.load(Ordering::Relaxed) < UNPAID
    }

    /// Faults if fuel cannot cover the charges; also if time is up or the run is cancelled, once enough was done
    /// since the last check.
    #[inline]
    pub fn look(&self) -> Result<(), Fault> {
        if self.is_settled() { Ok(()) } else { self.look_closely() }
    }

    #[inline(never)]
    fn look_closely(&self) -> Result<(), Fault> {
        let Charges { unpaid, due, allowance } = &self.charges;
        if due.load(Ordering::Relaxed) > allowance.load(Ordering::Relaxed) {
            return Err(too_much_work());
        }
        if unpaid.load(Ordering::Relaxed) & !DUE < UNPAID { Ok(()) } else { self.look_at_clock() }
    }

    /// Makes the next look check the clock.
    pub(crate) fn look_soon(&self) {
        self.owe(UNPAID as usize);
    }

    /// Faults if time is up or the run is cancelled.
    #[cold]
    pub(crate) fn look_at_clock(&self) -> Result<(), Fault> {
        let unpaid = &self.charges.unpaid;
        unpaid.store(unpaid.load(Ordering::Relaxed) & DUE, Ordering::Relaxed);
        match self.watch().and_then(|watch| watch.check()) {
            Some(fault) => Err(fault),
            None => Ok(()),
        }
    }

    /// Returns the maximum work left for hashing one key, in parts.
    pub(crate) fn hashing_work(&self) -> Work {
        match self.charges.allowance.load(Ordering::Relaxed) {
            FREE => Work::unlimited(),
            allowance => {
                let left = allowance.saturating_sub(self.charges.due.load(Ordering::Relaxed));
                Work::new(left / PART_STEPS)
            }
        }
    }
}

impl Work {
    /// Counts a step of a walk over `heap`, which may also run out of time if it can fail at all.
    #[inline]
    pub fn walk(&mut self, heap: &Heap) -> Result<(), Fault> {
        heap.owe(1);
        if self.limit == u64::MAX {
            return self.step(1);
        }
        let done = heap.look().and_then(|()| self.step(1));
        // Callers pay after the work is done. Failing work never gets there, so it is charged here.
        done.inspect_err(|_| heap.charge(usize::try_from(self.steps).unwrap_or(usize::MAX)))
    }
}
