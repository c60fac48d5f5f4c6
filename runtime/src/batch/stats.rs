//! Statistics of a batch: what its records cost.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// Number of slow records that are kept.
const SLOWEST: usize = 10;

/// Costs of the records of a batch so far, of those that failed too. A fold runs over parts of its input instead of records.
///
/// ```
/// use ptc_runtime::{Batch, Runtime};
/// let runtime = Runtime::with_core(ptc_preludes::core())?;
/// let batch = Batch::new(&runtime, &runtime.compile("(reduce + (range data/row))")?).measured(true);
/// let _ = batch.lines(&b"10\n10\n1000\n"[..], &mut Vec::new(), |_, _| Ok(()));
/// let stats = batch.stats();
/// assert_eq!((stats.records(), stats.bytes), (3, 11));
/// assert!(5 * stats.fuel(0.5) < stats.fuel(1.0));
/// assert_eq!(stats.slowest().len(), 3);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Default, Debug)]
pub struct Stats {
    /// Bytes of input: text, or decoded columns.
    pub bytes: u64,
    fuel: Histogram,
    slowest: Vec<Cost>,
}

/// The cost of one record.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Cost {
    /// Number of the record; of the first one, for a part of a fold.
    pub number: u64,
    /// Fuel of its runs.
    pub fuel: u64,
    /// Time to read it, run it and write its result.
    pub took: Duration,
}

impl Stats {
    /// Returns the number of records, or of parts of a fold.
    pub fn records(&self) -> u64 {
        self.fuel.count
    }

    /// Returns the fuel that this share of the records did not exceed, from 0 to 1, within 2 %.
    pub fn fuel(&self, share: f64) -> u64 {
        self.fuel.at(share)
    }

    /// Returns the fuel of all records.
    pub fn total_fuel(&self) -> u128 {
        self.fuel.sum
    }

    /// Returns the slowest records, the slowest at the start.
    pub fn slowest(&self) -> &[Cost] {
        &self.slowest
    }

    fn add(&mut self, cost: Cost) {
        self.fuel.add(cost.fuel);
        let at = self.slowest.partition_point(|known| known.took >= cost.took);
        if at < SLOWEST {
            self.slowest.truncate(SLOWEST - 1);
            self.slowest.insert(at, cost);
        }
    }
}

/// Statistics that all threads of a batch add to.
#[derive(Default)]
pub(super) struct Measured(Mutex<Stats>);

impl Measured {
    pub fn add(&self, costs: impl IntoIterator<Item = Cost>) {
        let mut stats = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        costs.into_iter().for_each(|cost| stats.add(cost));
    }

    pub fn add_bytes(&self, bytes: usize) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).bytes += bytes as u64;
    }

    pub fn stats(&self) -> Stats {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// Counts of numbers by their size: exact below 64, and by their 6 leading bits above.
#[derive(Clone, Default, Debug)]
struct Histogram {
    buckets: Vec<u64>,
    count: u64,
    sum: u128,
    max: u64,
}

/// Bits that tell numbers of the same length apart.
const BITS: u32 = 6;

impl Histogram {
    fn add(&mut self, n: u64) {
        let shift = (u64::BITS - n.leading_zeros()).saturating_sub(BITS + 1);
        let at = ((shift as usize) << BITS) + (n >> shift) as usize;
        if at >= self.buckets.len() {
            self.buckets.resize(at + 1, 0);
        }
        self.buckets[at] += 1;
        self.count += 1;
        self.sum += u128::from(n);
        self.max = self.max.max(n);
    }

    /// Returns the number that this share of all does not exceed.
    fn at(&self, share: f64) -> u64 {
        let wanted = (share.clamp(0.0, 1.0) * self.count as f64).ceil().max(1.0) as u64;
        let mut seen = 0;
        for (at, count) in self.buckets.iter().enumerate() {
            seen += count;
            if seen >= wanted {
                // The largest number of the bucket.
                let shift = (at >> BITS).saturating_sub(1) as u32;
                let leading = (at - ((shift as usize) << BITS)) as u128;
                let last = ((leading + 1) << shift) - 1;
                return u64::try_from(last).unwrap_or(u64::MAX).min(self.max);
            }
        }
        self.max
    }
}

#[cfg(test)]
mod tests {
    use super::Histogram;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn percentiles_are_close(mut numbers in prop::collection::vec((0_u32..64, any::<u64>()), 1..200), share in 0.0_f64..1.0) {
            let mut numbers: Vec<u64> = numbers.drain(..).map(|(shift, n)| n >> shift).collect();
            let mut histogram = Histogram::default();
            numbers.iter().for_each(|n| histogram.add(*n));
            numbers.sort_unstable();
            let at = ((share * numbers.len() as f64).ceil() as usize).max(1) - 1;
            let (exact, found) = (numbers[at], histogram.at(share));
            prop_assert!(found >= exact && found as f64 <= exact as f64 * 1.02, "{found} for {exact}");
            prop_assert_eq!(histogram.at(1.0), *numbers.last().unwrap());
        }
    }
}
