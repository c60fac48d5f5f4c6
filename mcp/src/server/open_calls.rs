//! Open programs: started and not ended, whether they compute or wait. Their number is limited by owner.

use crate::sessions::Owner;
use crate::shares::Shares;
use ptc_runtime::{Pool, Reservation};

/// Permit for one open program, returned when dropped.
pub(super) struct OpenCall {
    _taken: Reservation,
}

/// Permits for all open programs. One owner may have `most`, and all together half as many more, so that an
/// owner who uses up their share leaves some for others.
pub(super) struct OpenCalls(Shares<Owner>);

impl OpenCalls {
    pub fn new(most: u64) -> OpenCalls {
        let all = most.saturating_add(most.div_ceil(2));
        OpenCalls(Shares::new(all.saturating_mul(Pool::STEP)))
    }

    /// Takes a permit for an owner; None if the limit is reached.
    pub fn of(&self, owner: &Owner) -> Option<OpenCall> {
        let mut taken = self.0.of(owner).reserve();
        // A step is the least amount that can be taken from a pool.
        taken.set(1).then_some(OpenCall { _taken: taken })
    }

    /// Returns whether even an owner without open programs could not get a permit.
    pub fn is_full(&self) -> bool {
        let (used, most) = self.0.used();
        used + Pool::STEP > most
    }

    /// Returns the number of open programs.
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
