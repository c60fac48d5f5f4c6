//! Sets of registers: one bit for each of the 256 a frame sees.

/// A set of registers.
///
/// ```
/// use ptc_bytecode::RegSet;
/// let mut set = RegSet::default();
/// set.insert(3);
/// set.insert_run(254, 9); // registers past the window do not exist
/// assert!(set.contains(3) && set.contains(255) && !set.contains(4));
/// assert_eq!(set.iter().collect::<Vec<_>>(), [3, 254, 255]);
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Default)]
pub struct RegSet([u64; RegSet::WORDS]);

impl RegSet {
    pub(crate) const WORDS: usize = 4;
    /// Every register.
    pub const ALL: RegSet = RegSet([u64::MAX; RegSet::WORDS]);

    /// Returns the registers below `end`.
    pub fn below(end: u16) -> RegSet {
        let mut set = RegSet::default();
        set.insert_run(0, end);
        set
    }

    /// True if `reg` is in the set.
    #[inline]
    pub fn contains(&self, reg: u8) -> bool {
        self.0[(reg >> 6) as usize] >> (reg & 63) & 1 == 1
    }

    /// True if the set is empty.
    pub fn is_empty(&self) -> bool {
        self.0 == [0; RegSet::WORDS]
    }

    /// Adds `reg`.
    #[inline]
    pub fn insert(&mut self, reg: u8) {
        self.0[(reg >> 6) as usize] |= 1 << (reg & 63);
    }

    /// Adds `count` registers from `first` on.
    #[inline]
    pub fn insert_run(&mut self, first: u8, count: u16) {
        if count == 1 {
            return self.insert(first);
        }
        for (word, mask) in self.0.iter_mut().zip(run_masks(first, count)) {
            *word |= mask;
        }
    }

    /// Removes `count` registers from `first` on.
    #[inline]
    pub fn remove_run(&mut self, first: u8, count: u16) {
        for (word, mask) in self.0.iter_mut().zip(run_masks(first, count)) {
            *word &= !mask;
        }
    }

    /// Returns the lowest of `count` registers from `first` on that is not in the set.
    #[inline]
    pub(crate) fn first_missing(&self, first: u8, count: u16) -> Option<u8> {
        if count == 1 {
            return (!self.contains(first)).then_some(first);
        }
        let end = (u16::from(first) + count).min(256);
        (u16::from(first)..end).map(|reg| reg as u8).find(|reg| !self.contains(*reg))
    }

    /// Iterates over the registers in the set, rising.
    pub fn iter(&self) -> impl Iterator<Item = u8> + '_ {
        (0..=255u8).filter(|reg| self.contains(*reg))
    }

    /// Returns the registers in either set.
    #[inline]
    pub fn union(self, other: RegSet) -> RegSet {
        self.zip(other, |a, b| a | b)
    }

    /// Returns the registers in both sets.
    #[inline]
    pub fn intersection(self, other: RegSet) -> RegSet {
        self.zip(other, |a, b| a & b)
    }

    /// Returns the registers in this set and not in `other`.
    #[inline]
    pub fn without(self, other: RegSet) -> RegSet {
        self.zip(other, |a, b| a & !b)
    }

    #[inline]
    fn zip(self, other: RegSet, join: impl Fn(u64, u64) -> u64) -> RegSet {
        RegSet(std::array::from_fn(|i| join(self.0[i], other.0[i])))
    }

    pub(crate) fn words(&self) -> &[u64; RegSet::WORDS] {
        &self.0
    }

    /// Makes a set from its lowest words; missing ones are empty.
    pub(crate) fn from_words(words: &[u64]) -> RegSet {
        RegSet(std::array::from_fn(|i| words.get(i).copied().unwrap_or(0)))
    }
}

impl std::fmt::Debug for RegSet {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_set().entries(self.iter()).finish()
    }
}

/// Returns the bits of each word that the run covers.
#[inline]
fn run_masks(first: u8, count: u16) -> [u64; RegSet::WORDS] {
    let (from, to) = (u32::from(first), (u32::from(first) + u32::from(count)).min(256));
    std::array::from_fn(|i| {
        let low = i as u32 * 64;
        let bits_below = |end: u32| match end.saturating_sub(low) {
            n @ 0..64 => (1u64 << n) - 1,
            _ => u64::MAX,
        };
        bits_below(to) & !bits_below(from)
    })
}

#[cfg(test)]
mod tests {
    use super::RegSet;

    #[test]
    fn runs_cross_words() {
        let mut set = RegSet::default();
        set.insert_run(60, 10);
        assert_eq!(set.iter().collect::<Vec<_>>(), (60..70).collect::<Vec<_>>());
        set.remove_run(62, 256);
        assert_eq!(set.iter().collect::<Vec<_>>(), [60, 61]);
        set.insert_run(7, 0);
        assert_eq!(set.first_missing(60, 4), Some(62));
        assert_eq!(RegSet::below(256), RegSet::ALL);
        assert!(RegSet::below(0).is_empty());
        assert_eq!(RegSet::from_words(set.words()), set);
    }
}
