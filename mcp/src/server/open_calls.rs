//! Open programs: those that have come and not ended, whether they compute or wait. Their number is bounded, by owner.

use crate::sessions::Owner;
use crate::shares::Shares;
use ptc_runtime::{Pool, Reservation};

/// The right to be open, given back when it is dropped.
pub(super) struct OpenCall {
    _taken: Reservation,
}

/// All of them. One owner may have so many, and all together half as many more: whoever fills their part leaves
/// something to the next.
pub(super) struct OpenCalls(Shares<Owner>);

impl OpenCalls {
    pub fn new(most: u64) -> OpenCalls {
        let all = most.saturating_add(most.div_ceil(2));
        OpenCalls(Shares::new(all.saturating_mul(Pool::STEP)))
    }

    /// One more of this owner; None if there are as many as may be.
    pub fn of(&self, owner: &Owner) -> Option<OpenCall> {
        let mut taken = self.0.of(owner).reserve();
        // The least that can be taken out of a pool is a step.
        taken.set(1).then_some(OpenCall { _taken: taken })
    }

    /// Whether an owner who has none could not have one either.
    pub fn is_full(&self) -> bool {
        let (used, most) = self.0.used();
        used + Pool::STEP > most
    }

    /// How many there are.
    pub fn count(&self) -> usize {
        usize::try_from(self.0.used().0 / Pool::STEP).unwrap_or(usize::MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_owner_has_as_many_as_said_and_others_still_have_some() {
        let (greedy, other) = (Owner::new("greedy"), Owner::new("other"));
        for most in [1, 2, 3, 10, 10_000] {
            let calls = OpenCalls::new(most);
            let held: Vec<OpenCall> = std::iter::from_fn(|| calls.of(&greedy)).collect();
            assert_eq!(held.len() as u64, most);
            assert!(most < 3 || calls.of(&other).is_some());
            drop(held);
            assert!(calls.of(&greedy).is_some());
        }
    }
}
