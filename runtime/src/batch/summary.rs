//! How far a batch is, and what came of it.

use std::io::{self, ErrorKind};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// How far a batch is, to be read while it runs.
#[derive(Default, Debug)]
pub struct Progress {
    results: AtomicU64,
    failures: AtomicU64,
}

impl Progress {
    /// Records that gave a result.
    pub fn results(&self) -> u64 {
        self.results.load(Ordering::Relaxed)
    }

    /// Records that failed.
    pub fn failures(&self) -> u64 {
        self.failures.load(Ordering::Relaxed)
    }
}

/// What came of a batch.
#[derive(Debug)]
#[must_use]
pub struct Summary {
    /// Records that were run and given out: results and failures together.
    pub records: u64,
    /// Records that gave a result.
    pub results: u64,
    /// Records that failed.
    pub failures: u64,
    /// How long it took.
    pub elapsed: Duration,
    /// Why it ended.
    pub ending: Ending,
}

/// Why a batch ended.
#[derive(Debug)]
pub enum Ending {
    /// There were no more records, or as many as were wanted.
    Complete,
    /// A record failed, and the batch was to stop at the first that does.
    Failed,
    /// [`Batch::cancel`](crate::Batch::cancel) was set.
    Cancelled,
    /// Whoever read the output went away.
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

    /// Of a batch that nothing but its input could end; `whole` if all that was read was taken.
    pub(super) fn of_read(whole: bool, read: Option<&io::Result<()>>) -> Ending {
        match read {
            Some(Ok(())) if whole => Ending::Complete,
            Some(Err(error)) if whole => Ending::Unreadable(io::Error::new(error.kind(), error.to_string())),
            _ => Ending::Cancelled,
        }
    }
}

/// What was given out so far.
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
