//! Memory budgets shared by many clients, none of whom can take all of it.

use ptc_runtime::Pool;
use std::collections::HashMap;
use std::hash::Hash;
use std::sync::{Arc, Mutex, PoisonError, Weak};

/// A pool with a share for each user, identified by `K`.
pub struct Shares<K> {
    whole: Arc<Pool>,
    known: Mutex<HashMap<K, Weak<Pool>>>,
}

impl<K: Clone + Eq + Hash> Shares<K> {
    pub fn new(most: u64) -> Shares<K> {
        Shares { whole: Pool::new(most), known: Mutex::default() }
    }

    /// Returns the bytes in use, and the total.
    pub fn used(&self) -> (u64, u64) {
        (self.whole.used(), self.whole.most())
    }

    /// Returns the maximum of one share, in bytes.
    pub fn most_of_one(&self) -> u64 {
        self.whole.share().most()
    }

    /// Returns a user's share, which exists as long as it is held.
    pub fn of(&self, owner: &K) -> Arc<Pool> {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(share) = known.get(owner).and_then(Weak::upgrade) {
            return share;
        }
        // Removing unused entries when the table is full keeps it below twice the number of held shares.
        if known.len() == known.capacity() {
            known.retain(|_, share| share.strong_count() > 0);
        }
        let share = self.whole.share();
        known.insert(owner.clone(), Arc::downgrade(&share));
        share
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_owner_has_one_share_and_leaves_something_to_the_next() {
        let shares = Shares::new(9 << 20);
        let mut held = shares.of(&"greedy").reserve();
        assert!(held.set(6 << 20));
        assert!(!shares.of(&"greedy").reserve().set(64 << 10), "its share is used up, wherever it asks");
        assert!(shares.of(&"other").reserve().set(512 << 10));
        drop(held);
        assert!(shares.of(&"other").reserve().set(6 << 20));
    }

    #[test]
    fn owners_that_hold_nothing_are_forgotten() {
        let shares = Shares::new(1 << 20);
        for owner in 0..10_000 {
            assert!(shares.of(&owner).reserve().set(1));
        }
        assert!(shares.known.lock().unwrap().len() < 100);
    }
}
