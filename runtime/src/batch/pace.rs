//! Pacing: the number of records per job.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// Target time for one job: long enough that handing it over costs nothing, short enough that all workers end at
/// the same time.
const JOB: Duration = Duration::from_millis(2);
/// Maximum records of one job.
const MOST_RECORDS: u64 = 4096;

/// Measured time per record, so that slow records are spread over all threads and fast ones go by the thousand.
#[derive(Default)]
pub(super) struct Pace(AtomicU64);

impl Pace {
    /// Returns the number of records per job.
    pub fn records(&self) -> usize {
        match self.0.load(Ordering::Relaxed) {
            // Nothing has been measured yet.
            0 => 1,
            nanos => (JOB.as_nanos() as u64 / nanos).clamp(1, MOST_RECORDS) as usize,
        }
    }

    pub fn saw(&self, records: u64, took: Duration) {
        let nanos = u64::try_from(took.as_nanos()).unwrap_or(u64::MAX);
        if let Some(nanos) = nanos.checked_div(records) {
            let before = self.0.load(Ordering::Relaxed);
            let mixed = if before == 0 { nanos } else { before / 2 + nanos / 2 };
            self.0.store(mixed.max(1), Ordering::Relaxed);
        }
    }
}
