//! Meter: fuel for compiling and searching, paid while the work continues.

use super::refused::Refused;
use ptc_vm::{Budget, Call, Heap};

/// Ticks in one unit of fuel. A tick is about half a nanosecond of work.
pub const TICKS: usize = 16;

/// Maximum ticks counted before they are paid: about 40 microseconds of work.
const AT_ONCE: usize = TICKS << 12;

/// Meter that sums up the cost of one native's searches and pays for it in steps, so that fuel and the clock stop a
/// long search on its way.
pub struct Meter<'a> {
    /// Memory of the run.
    pub heap: &'a Heap,
    budget: &'a mut Budget,
    ticks: usize,
}

impl<'a> Meter<'a> {
    /// Makes a meter on the budget of a call.
    pub fn of(call: &'a mut Call<'_>) -> Meter<'a> {
        Meter::new(call.heap, call.budget)
    }

    /// Makes a meter on this budget.
    pub fn new(heap: &'a Heap, budget: &'a mut Budget) -> Meter<'a> {
        Meter { heap, budget, ticks: 0 }
    }

    /// Pays `units` at once, for work that is about to be done and cannot be stopped.
    pub fn pay(&mut self, units: usize) -> Result<(), Refused> {
        Ok(self.budget.pay_items(units)?)
    }

    /// Counts `ticks`, and pays when there are many.
    #[inline]
    pub fn spend(&mut self, ticks: usize) -> Result<(), Refused> {
        self.ticks = self.ticks.saturating_add(ticks);
        if self.ticks < AT_ONCE { Ok(()) } else { self.settle() }
    }

    /// Pays for the ticks counted; a partial unit stays.
    pub fn settle(&mut self) -> Result<(), Refused> {
        let units = self.ticks / TICKS;
        self.ticks %= TICKS;
        self.pay(units)
    }
}
