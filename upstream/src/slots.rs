//! Slots that limit the concurrent calls of one server.

use crate::fault::{Fault, Reason};
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// Slots for concurrent calls of a server (`max_concurrency`). Callers wait in a fair queue.
#[derive(Clone, Debug)]
pub struct Slots {
    semaphore: Arc<Semaphore>,
    count: usize,
}

/// One slot, freed when dropped.
#[derive(Debug)]
pub(crate) struct Slot {
    _permit: Option<OwnedSemaphorePermit>,
}

impl Slots {
    /// Creates this many slots, at least one.
    pub fn new(max_concurrency: usize) -> Slots {
        let count = max_concurrency.clamp(1, Semaphore::MAX_PERMITS);
        Slots { semaphore: Arc::new(Semaphore::new(count)), count }
    }

    /// Waits for a slot, within `timeout` and until `deadline`. A call that gets none was not sent.
    pub(crate) async fn take(
        &self,
        server: &str,
        timeout: Duration,
        deadline: Instant,
    ) -> Result<Slot, Fault> {
        let began = Instant::now();
        let until = deadline.min(began + timeout);
        // The semaphore is never closed, so there is a permit whenever the wait ends.
        match tokio::time::timeout_at(until.into(), self.semaphore.clone().acquire_owned()).await {
            Ok(permit) => Ok(Slot { _permit: permit.ok() }),
            Err(_) => {
                let waited = until.saturating_duration_since(began).as_millis();
                let why = format!(
                    "upstream '{server}' is busy: the call waited {waited} ms for one of its {} slots \
                     (max_concurrency) and was not sent",
                    self.count
                );
                Err(Fault::new(Reason::Timeout, why))
            }
        }
    }
}
