//! Schedule of computing: a program gets one time slice in a slot of the server, then the next program in the
//! queue. Programs that wait for servers, a model or a person have no slot. The memory of all programs,
//! computing or not, comes from one pool.

use super::slots::{Slot, Slots};
use crate::sessions::Owner;
use ptc_runtime::{Pool, Schedule, SliceFuture, Work};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Time that a program computes before it yields to the next one.
const SLICE: Duration = Duration::from_millis(10);

/// Schedule of one program.
pub(super) struct FairSchedule {
    slots: Slots,
    owner: Owner,
    /// Slot that the program waited for before it started.
    first: Mutex<Option<Slot>>,
    line: Mutex<TimeInLine>,
    pool: Arc<Pool>,
}

/// Time spent in the queue so far, and the start of the current wait.
#[derive(Default)]
struct TimeInLine {
    before: Duration,
    since: Option<Instant>,
}

impl FairSchedule {
    pub fn new(slots: &Slots, owner: &Owner, first: Slot, pool: &Arc<Pool>) -> FairSchedule {
        let (slots, owner, pool) = (slots.clone(), owner.clone(), pool.clone());
        let (first, line) = (Mutex::new(Some(first)), Mutex::default());
        FairSchedule { slots, owner, first, line, pool }
    }

    fn line(&self) -> MutexGuard<'_, TimeInLine> {
        self.line.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn next_slot(&self) -> Slot {
        self.line().since = Some(Instant::now());
        let _in_line = InLine(self);
        self.slots.next_of_begun(&self.owner).await
    }
}

/// Ends the time in the queue on drop, also if the wait was abandoned.
struct InLine<'s>(&'s FairSchedule);

impl Drop for InLine<'_> {
    fn drop(&mut self) {
        let mut line = self.0.line();
        let waited = line.since.take().map_or(Duration::ZERO, |since| since.elapsed());
        line.before += waited;
    }
}

impl Schedule for FairSchedule {
    fn run(&self, work: Work) -> SliceFuture<'_> {
        let first = self.first.lock().unwrap_or_else(PoisonError::into_inner).take();
        Box::pin(async move {
            let slot = match first {
                Some(slot) => slot,
                None => self.next_slot().await,
            };
            let span = tracing::Span::current();
            tokio::task::spawn_blocking(move || {
                let computed = span.in_scope(work);
                // Dropped before `computed`: a client that has the reply may need the slot at once, or stop the
                // subscriber of the span.
                drop((slot, span));
                drop(computed);
            });
        })
    }

    fn slice(&self) -> Duration {
        SLICE
    }

    fn is_awaited(&self) -> bool {
        self.slots.is_awaited(&self.owner)
    }

    fn waited(&self) -> Duration {
        let line = self.line();
        line.before + line.since.map_or(Duration::ZERO, |since| since.elapsed())
    }

    fn pool(&self) -> Option<&Arc<Pool>> {
        Some(&self.pool)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use futures_util::FutureExt;
    use std::pin::pin;

    #[test]
    fn time_in_line_is_told_while_it_passes_and_after() {
        let (slots, owner) = (Slots::new(1, 10), Owner::new("a"));
        let slot = || slots.next(&owner).unwrap().now_or_never().unwrap().unwrap();
        let schedule = FairSchedule::new(&slots, &owner, slot(), &Pool::new(1 << 20));
        assert_eq!(schedule.waited(), Duration::ZERO);

        let pause = Duration::from_millis(20);
        let mut turn = Box::pin(schedule.next_slot());
        assert!(pin!(&mut turn).now_or_never().is_none());
        std::thread::sleep(pause);
        let in_line = schedule.waited();
        assert!(in_line >= pause);
        drop(schedule.first.lock().unwrap().take());
        let _place = turn.now_or_never().unwrap();
        let waited = schedule.waited();
        assert!(waited >= in_line);
        std::thread::sleep(pause);
        assert_eq!(schedule.waited(), waited, "its own time is not in it");
    }
}
