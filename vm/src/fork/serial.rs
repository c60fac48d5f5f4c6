//! Limit on replies to branches, checked as if the branches ran one after the other.
//!
//! While a branch runs alone, its memory is that of the parent, of the replies that results of earlier branches refer
//! to, and of the branch itself. That does not depend on when its calls are answered, nor on how many branches run at
//! one time, so neither does the fault. Branches that run ahead only wait if too much is held meanwhile.

use super::Fork;
use crate::fault::Fault;
use crate::lot_table::Peaks;
use crate::machine::{State, Vm, too_much_taken_in};

/// Totals of the ended branches, up to the first that has not ended.
#[derive(Clone, Debug, Default)]
pub(super) struct Before {
    count: usize,
    /// Bytes of replies that their results refer to.
    bytes: u64,
    /// Peaks of the bytes received by all of them, one after the other.
    pub(super) peaks: Peaks,
}

impl Fork {
    /// Adds the branches that have ended by now, until one exceeds `left`; returns the bytes then.
    fn settle_before(&mut self, left: u64) -> Option<u64> {
        loop {
            let Before { count, bytes, peaks } = &mut self.before;
            let ended = self.ended.get(count);
            let own = match (ended, self.running.get(count)) {
                (Some(branch), _) => &branch.peaks,
                (None, Some(branch)) => &branch.peaks,
                (None, None) => return None,
            };
            if let Some(peak) = own.first_over(left.saturating_sub(*bytes)) {
                return Some(bytes.saturating_add(peak));
            }
            let branch = ended.filter(|branch| branch.outcome.is_ok())?;
            own.bytes().iter().for_each(|peak| peaks.note(bytes.saturating_add(*peak)));
            *bytes = bytes.saturating_add(branch.granted());
            *count += 1;
        }
    }
}

impl Vm {
    /// Checks replies to branches against `limits.granted_bytes`, as far as they have run.
    pub(super) fn check_lots(&mut self) -> Result<(), Fault> {
        let (limit, before) = (self.limits.granted_bytes, self.taken_in());
        let State::Forked(fork) = &mut self.state else { return Ok(()) };
        match fork.settle_before(limit.saturating_sub(before)) {
            None => Ok(()),
            Some(more) => {
                let bytes = before.saturating_add(more);
                Err(too_much_taken_in(&format!(
                    "granted data and tool results are {bytes} bytes, including those that the values of \
                     branches of `pmap` refer to, more than limits.granted_bytes = {limit}"
                )))
            }
        }
    }
}
