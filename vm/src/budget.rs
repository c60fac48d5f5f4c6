//! Budget of a run: fuel, counted exactly, and the host's clock and cancel flag, checked once per slice of fuel.

use crate::fault::{Fault, Stop};
use crate::watch::Watch;
use crate::work::Work;
use ptc_bytecode::Code;
use std::sync::Arc;

/// Fuel spent between two checks of the clock; some tens of microseconds.
const SLICE: u64 = 20_000;

/// Steps of a data-walking operation per unit of fuel.
pub(crate) const STEPS: u64 = 8;

/// Maximum debt, which leaves room to pay on: no fuel covers it anyway.
const MOST_OWED: i64 = 1 << 62;

/// Live counters of one run.
#[derive(Clone)]
pub struct Budget {
    /// Fuel left in this slice. Negative for work done that the reserve has to pay for.
    left: i64,
    /// Fuel left beyond this slice.
    reserve: u64,
    limit: u64,
    watch: Option<Arc<dyn Watch>>,
}

impl Budget {
    /// Makes a budget of `fuel`.
    pub fn new(fuel: u64, watch: Option<Arc<dyn Watch>>) -> Budget {
        Budget { left: 0, reserve: fuel, limit: fuel, watch }
    }

    /// Restores the initial state.
    pub(crate) fn restart(&mut self) {
        (self.left, self.reserve) = (0, self.limit);
    }

    /// Pays `cost`.
    #[inline(always)]
    pub fn pay(&mut self, cost: u32) -> Result<(), Fault> {
        self.left -= i64::from(cost);
        if self.left < 0 { self.refill() } else { Ok(()) }
    }

    /// Pays for a run of instructions about to begin, unless the run's slice of time is over: then nothing is paid.
    #[inline(always)]
    pub(crate) fn enter(&mut self, cost: u32) -> Result<(), Stop> {
        self.left -= i64::from(cost);
        if self.left < 0 { self.enter_slowly(cost) } else { Ok(()) }
    }

    #[cold]
    fn enter_slowly(&mut self, cost: u32) -> Result<(), Stop> {
        self.refill()?;
        if self.watch.as_ref().is_some_and(|watch| watch.is_slice_over()) {
            // It is paid when the run goes on, without passing here again: a pause never follows a pause.
            self.left += i64::from(cost);
            return Err(Stop::pause());
        }
        Ok(())
    }

    /// True if `cost` can be paid without the reserve.
    #[inline(always)]
    pub(crate) fn has_in_slice(&self, cost: u32) -> bool {
        self.left >= i64::from(cost)
    }

    /// Pays for `items` pieces of work.
    #[inline]
    pub fn pay_items(&mut self, items: usize) -> Result<(), Fault> {
        let items = i64::try_from(items).unwrap_or(i64::MAX / 2);
        self.left = self.left.saturating_sub(items);
        if self.left < 0 { self.refill() } else { Ok(()) }
    }

    /// Takes the next slice from the reserve, or faults if it does not cover the fuel spent.
    #[cold]
    fn refill(&mut self) -> Result<(), Fault> {
        let owed = self.left.unsigned_abs();
        if owed > self.reserve {
            self.reserve = 0;
            self.left = 0;
            return Err(fuel_fault(self.limit));
        }
        let slice = SLICE.min(self.reserve - owed);
        self.reserve -= owed + slice;
        self.left = slice as i64;
        match self.watch.as_ref().and_then(|watch| watch.check()) {
            Some(fault) => Err(fault),
            None => Ok(()),
        }
    }

    /// Adds a debt for steps already done, which the next payment pays.
    pub(crate) fn owe(&mut self, steps: u64) {
        let units = (steps / STEPS) as i64;
        self.left = self.left.saturating_sub(units).max(-MOST_OWED);
    }

    /// Makes the next payment check the clock.
    pub(crate) fn check_soon(&mut self) {
        if self.left > 0 {
            self.reserve += self.left as u64;
            self.left = 0;
        }
    }

    /// Faults if there are debts that fuel does not cover.
    pub(crate) fn pay_debts(&mut self) -> Result<(), Fault> {
        self.pay(0)
    }

    /// Returns the fuel not yet spent.
    pub fn remaining(&self) -> u64 {
        self.reserve.saturating_add_signed(self.left)
    }

    /// Returns the fuel spent so far.
    pub fn spent(&self) -> u64 {
        self.limit - self.remaining()
    }

    /// Returns the limit it started with.
    pub fn limit(&self) -> u64 {
        self.limit
    }

    /// Returns the host's watch on the run.
    pub fn watch(&self) -> Option<Arc<dyn Watch>> {
        self.watch.clone()
    }

    /// Returns a mark to reset to when an operation that already paid must be run again.
    pub(crate) fn mark(&self) -> (i64, u64) {
        (self.left, self.reserve)
    }

    /// Resets to a mark: collecting garbage costs no fuel.
    pub(crate) fn reset(&mut self, mark: (i64, u64)) {
        (self.left, self.reserve) = mark;
    }

    /// Sets the fuel left, for a branch or a loaded snapshot.
    pub(crate) fn set_remaining(&mut self, fuel: u64) {
        self.left = 0;
        self.reserve = fuel.min(self.limit);
    }

    /// Makes a counter for an operation that walks data; [`Budget::settle`] pays for the steps it counted.
    pub fn work(&self) -> Work {
        Work::new(self.payable_steps())
    }

    /// Returns the maximum steps the remaining fuel pays for: steps short of a whole unit are free.
    pub(crate) fn payable_steps(&self) -> u64 {
        self.remaining().saturating_mul(STEPS).saturating_add(STEPS - 1)
    }

    /// Pays for finished work, eight steps to a unit of fuel.
    pub fn settle(&mut self, work: &Work) -> Result<(), Fault> {
        self.pay_items((work.steps / STEPS) as usize)
    }
}

/// Makes the fault of a run out of fuel.
pub(crate) fn fuel_fault(limit: u64) -> Fault {
    Fault::new(
        Code::FuelExceeded,
        format!("the program did more work than {limit} units of fuel (limits.fuel)"),
    )
    .hint("narrow the data first, or ask the host to raise limits.fuel")
}
