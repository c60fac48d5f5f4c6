//! Memory of branches, added up in the order of their items, as if one thread had run them.

use super::{Fork, Held};
use crate::machine::{State, Vm};

impl Fork {
    /// Returns the memory of each branch that rests or has ended, in order, up to the first that decides without
    /// the others: one that failed, or one that has not run as far as it can.
    fn held_in_order(&self) -> impl Iterator<Item = Held> {
        let last = self.failed.unwrap_or(usize::MAX);
        let (mut running, mut ended) = (self.running.iter().peekable(), self.ended.iter().peekable());
        std::iter::from_fn(move || {
            let is_running = match (running.peek(), ended.peek()) {
                (Some((branch, _)), Some((other, _))) => branch < other,
                (branch, _) => branch.is_some(),
            };
            if is_running {
                let (index, branch) = running.next()?;
                return (*index <= last && !branch.can_advance()).then(|| branch.held_as_branch());
            }
            let (index, branch) = ended.next()?;
            (*index <= last).then(|| Held { bytes: branch.bytes() as u64, ..Held::default() })
        })
    }
}

impl Vm {
    /// Returns the memory of this run with its branches up to the first that exceeds one of these limits; None if
    /// none does. Branches after that one may have run or not, depending on the number of threads, so they do not
    /// count.
    pub(super) fn first_over(&self, max_bytes: u64, max_stack: u64) -> Option<Held> {
        let State::Forked(fork) = &self.state else { return None };
        let lent = fork.lent.as_ref().map_or(0, |space| space.bytes());
        let bytes = (self.heap.used() + lent) as u64;
        let mut held = Held { bytes, ..Held::default() };
        fork.held_in_order().find_map(|branch| {
            held.bytes = held.bytes.saturating_add(branch.bytes);
            held.stack = held.stack.saturating_add(branch.stack);
            (held.bytes > max_bytes || held.stack > max_stack).then_some(held)
        })
    }
}
