//! Progress and summary of a batch.

use std::io::{self, ErrorKind};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// Progress of a batch, to be read while it runs.
#[derive(Default, Debug)]
pub struct Progress {
    results: AtomicU64,
    failures: AtomicU64,
}

impl Progress {
    /// Returns the number of records that gave a result.
    pub fn results(&self) -> u64 {
        self.results.load(Ordering::Relaxed)
    }

    /// Returns the number of records that failed.
    pub fn failures(&self) -> u64 {
        self.failures.load(Ordering::Relaxed)
    }
}

/// Summary of a batch that has ended.
#[derive(Debug)]
#[must_use]
pub struct Summary {
    /// Number of records run and delivered: results and failures together.
    pub records: u64,
    /// Number of records that gave a result.
    pub results: u64,
    /// Number of records that failed.
    pub failures: u64,
    /// Total time of the batch.
    pub elapsed: Duration,
    /// Reason it ended.
    pub ending: Ending,
}

/// The reason a batch ended.
#[derive(Debug)]
pub enum Ending {
    /// No records were left, or [`Batch::take`](crate::Batch::take) was reached.
    Complete,
    /// A record failed under [`Batch::fail_fast`](crate::Batch::fail_fast).
    Failed,
    /// [`Batch::cancel`](crate::Batch::cancel) was set.
    Cancelled,
    /// The reader of the output is gone.
    Closed,
    /// The input could not be read.
    Unreadable(io::Error),
    /// The output, or a failure, could not be written.
    Unwritable(io::Error),
}

impl Ending {
    pub(super) fn of_write(error: io::Error) -> Ending {
        if error.kind() == ErrorKind::BrokenPipe { Ending::Closed } else { Ending::Unwritable(error) }
    }

    /// Returns the ending of a batch that only its input could end; `whole` if everything read was taken.
    pub(super) fn of_read(whole: bool, read: Option<&io::Result<()>>) -> Ending {
        match read {
            Some(Ok(())) if whole => Ending::Complete,
            Some(Err(error)) if whole => Ending::Unreadable(io::Error::new(error.kind(), error.to_string())),
            _ => Ending::Cancelled,
        }
    }
}

/// Counts of the records delivered so far.
pub(super) struct Tally<'a> {
    results: u64,
    failures: u64,
    progress: &'a Progress,
}

impl<'a> Tally<'a> {
    pub fn new(progress: &'a Progress) -> Tally<'a> {
        progress.results.store(0, Ordering::Relaxed);
        progress.failures.store(0, Ordering::Relaxed);
        Tally { results: 0, failures: 0, progress }
    }

    pub fn count(&mut self, results: u64, failures: u64) {
        self.results += results;
        self.failures += failures;
        self.progress.results.store(self.results, Ordering::Relaxed);
        self.progress.failures.store(self.failures, Ordering::Relaxed);
    }

    pub fn summary(self, started: Instant, ending: Ending) -> Summary {
        let Tally { results, failures, .. } = self;
        Summary { records: results + failures, results, failures, elapsed: started.elapsed(), ending }
    }
}
