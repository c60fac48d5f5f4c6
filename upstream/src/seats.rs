//! Places for the calls of one server at one time.

use crate::fault::{Fault, Reason};
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// Places for the calls of a server: its `max_concurrency`. Whoever wants one waits in a fair queue.
#[derive(Clone, Debug)]
pub struct Seats {
    places: Arc<Semaphore>,
    count: usize,
}

/// A place. Dropped, it is free again.
#[derive(Debug)]
pub(crate) struct Seat {
    _permit: Option<OwnedSemaphorePermit>,
}

impl Seats {
    /// So many places, one at least.
    pub fn new(max_concurrency: usize) -> Seats {
        let count = max_concurrency.clamp(1, Semaphore::MAX_PERMITS);
        Seats { places: Arc::new(Semaphore::new(count)), count }
    }

    /// Waits for a place, within `timeout` and until `deadline`. A call that gets none was not sent.
    pub(crate) async fn take(
        &self,
        server: &str,
        timeout: Duration,
        deadline: Instant,
    ) -> Result<Seat, Fault> {
        let began = Instant::now();
        let until = deadline.min(began + timeout);
        // The places are never closed, so there is a permit whenever the wait ends.
        match tokio::time::timeout_at(until.into(), self.places.clone().acquire_owned()).await {
            Ok(permit) => Ok(Seat { _permit: permit.ok() }),
            Err(_) => {
                let waited = until.saturating_duration_since(began).as_millis();
                let why = format!(
                    "upstream '{server}' is busy: the call waited {waited} ms for one of its {} places \
                     (max_concurrency) and was not sent",
                    self.count
                );
                Err(Fault::new(Reason::Timeout, why))
            }
        }
    }
}
