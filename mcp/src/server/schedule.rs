//! When programs compute: a slice of time in one of the server's places, then the next in line. A program that waits for
//! servers, a model or a person has no place; what it holds meanwhile counts against one limit for all.

use super::places::{Place, Places};
use crate::sessions::Owner;
use ptc_runtime::{Code, Fault, Rest, Schedule, SliceFuture, Work};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// How long a program computes before it lets the next one.
const SLICE: Duration = Duration::from_millis(10);

/// The schedule of one program.
pub(super) struct FairSchedule {
    places: Places,
    owner: Owner,
    /// The place that it waited for before it began.
    first: Mutex<Option<Place>>,
    line: Mutex<TimeInLine>,
    resting: Resting,
}

/// How long it waited for places, and since when it does now.
#[derive(Default)]
struct TimeInLine {
    before: Duration,
    since: Option<Instant>,
}

impl FairSchedule {
    pub fn new(places: &Places, owner: &Owner, first: Place, resting: &Resting) -> FairSchedule {
        let (places, owner, resting) = (places.clone(), owner.clone(), resting.clone());
        let (first, line) = (Mutex::new(Some(first)), Mutex::default());
        FairSchedule { places, owner, first, line, resting }
    }

    /// How long it has waited for its turns: time that is not its own.
    pub fn waited(&self) -> Duration {
        let line = self.line();
        line.before + line.since.map_or(Duration::ZERO, |since| since.elapsed())
    }

    fn line(&self) -> MutexGuard<'_, TimeInLine> {
        self.line.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn next_place(&self) -> Place {
        self.line().since = Some(Instant::now());
        let place = self.places.next_of_begun(&self.owner).await;
        let mut line = self.line();
        let waited = line.since.take().map_or(Duration::ZERO, |since| since.elapsed());
        line.before += waited;
        place
    }
}

impl Schedule for FairSchedule {
    fn run(&self, work: Work) -> SliceFuture<'_> {
        let first = self.first.lock().unwrap_or_else(PoisonError::into_inner).take();
        Box::pin(async move {
            let place = match first {
                Some(place) => place,
                None => self.next_place().await,
            };
            let span = tracing::Span::current();
            tokio::task::spawn_blocking(move || {
                let _place = place;
                span.in_scope(work);
            });
        })
    }

    fn slice(&self) -> Duration {
        SLICE
    }

    fn is_awaited(&self) -> bool {
        self.places.is_awaited(&self.owner)
    }

    fn rest(&self, bytes: u64) -> Result<Rest, Fault> {
        match self.resting.reserve(bytes) {
            Some(reserved) => Ok(Box::new(reserved)),
            None => {
                let message = format!(
                    "the server has no room for a program that waits with {bytes} bytes: all that wait may hold {} (--max-waiting-bytes)",
                    self.resting.0.most
                );
                let fault = Fault::new(Code::MemoryExceeded, message);
                Err(fault
                    .hint("hold less while a tool is called: keep a few fields of what was fetched before"))
            }
        }
    }
}

/// The memory of programs that wait: one account for all. Cheap to clone.
#[derive(Clone)]
pub(super) struct Resting(Arc<Account>);

struct Account {
    most: u64,
    held: AtomicU64,
}

/// Bytes of the account. Dropped, they are free again.
pub(super) struct Reserved {
    account: Resting,
    bytes: u64,
}

impl Resting {
    pub fn new(most: u64) -> Resting {
        Resting(Arc::new(Account { most, held: AtomicU64::new(0) }))
    }

    /// So many bytes, if there is room for them.
    pub fn reserve(&self, bytes: u64) -> Option<Reserved> {
        let Account { most, held } = &*self.0;
        let add = |held: u64| held.checked_add(bytes).filter(|sum| sum <= most);
        held.fetch_update(Ordering::AcqRel, Ordering::Acquire, add).ok()?;
        Some(Reserved { account: self.clone(), bytes })
    }
}

impl Drop for Reserved {
    fn drop(&mut self) {
        self.account.0.held.fetch_sub(self.bytes, Ordering::AcqRel);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn those_who_wait_share_one_account() {
        let resting = Resting::new(100);
        let first = resting.reserve(60).unwrap();
        assert!(resting.reserve(41).is_none());
        let second = resting.reserve(40).unwrap();
        assert!(resting.reserve(1).is_none());
        drop(first);
        assert!(resting.reserve(u64::MAX).is_none());
        drop(resting.reserve(60).unwrap());
        drop(second);
        assert!(resting.reserve(100).is_some());
    }
}
