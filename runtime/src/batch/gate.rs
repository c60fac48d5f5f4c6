//! Gate that bounds the bytes of input held at a time, so that long lines do not add up.

use super::pipeline::Stop;
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Duration;

#[derive(Default)]
pub(super) struct Gate {
    held: Mutex<usize>,
    less: Condvar,
}

impl Gate {
    /// Waits until `bytes` more fit into `most`; an empty gate lets anything in.
    pub fn enter(self: &Arc<Gate>, bytes: usize, most: usize, stop: &Stop) -> Held {
        let mut held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        while *held > 0 && held.saturating_add(bytes) > most && !stop.is_set() {
            let waited = self.less.wait_timeout(held, Duration::from_millis(20));
            held = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
        *held = held.saturating_add(bytes);
        Held { gate: self.clone(), bytes }
    }
}

/// Bytes inside the gate; dropping this releases them.
pub(super) struct Held {
    gate: Arc<Gate>,
    bytes: usize,
}

impl Drop for Held {
    fn drop(&mut self) {
        let mut held = self.gate.held.lock().unwrap_or_else(PoisonError::into_inner);
        *held = held.saturating_sub(self.bytes);
        self.gate.less.notify_all();
    }
}
