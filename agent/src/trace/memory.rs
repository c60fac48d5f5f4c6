//! Traces in memory: the latest events, as many as fit.

use super::line::to_line;
use super::{Event, Subscriber};
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Default maximum bytes of all events, measured as lines of a file.
const MAX_BYTES: usize = 8 << 20;

/// Sink that keeps the latest events, up to 8 MiB of them, and drops older ones. Clones share their memory.
///
/// ```
/// use ptc_agent::trace::{AgentLabel, Kind, MemorySink, Tracer};
/// let memory = MemorySink::new();
/// let tracer = Tracer::new().with(memory.clone());
/// tracer.mission(AgentLabel::new(None, "c0ffee12"), None).emit(Kind::RunStart, |_| ());
/// let kinds: Vec<Kind> = memory.events().iter().map(|event| event.kind).collect();
/// assert_eq!(kinds, [Kind::TraceStart, Kind::RunStart, Kind::TraceStop]);
/// ```
#[derive(Clone)]
pub struct MemorySink(Arc<Mutex<Ring>>);

struct Ring {
    lines: VecDeque<(usize, Event)>,
    bytes: usize,
    most: usize,
    forgotten: u64,
}

impl Default for MemorySink {
    fn default() -> MemorySink {
        MemorySink::with_bytes(MAX_BYTES)
    }
}

impl MemorySink {
    /// Returns an empty sink for 8 MiB.
    pub fn new() -> MemorySink {
        MemorySink::default()
    }

    /// Returns an empty sink for this many bytes.
    pub fn with_bytes(most: usize) -> MemorySink {
        MemorySink(Arc::new(Mutex::new(Ring { lines: VecDeque::new(), bytes: 0, most, forgotten: 0 })))
    }

    fn ring(&self) -> MutexGuard<'_, Ring> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the kept events, oldest first.
    pub fn events(&self) -> Vec<Event> {
        self.ring().lines.iter().map(|(_, event)| event.clone()).collect()
    }

    /// Returns the kept events as lines of a file, oldest first.
    pub fn lines(&self) -> Vec<String> {
        self.ring().lines.iter().map(|(_, event)| to_line(event)).collect()
    }

    /// Returns the number of dropped events.
    pub fn forgotten(&self) -> u64 {
        self.ring().forgotten
    }

    /// Drops all events.
    pub fn clear(&self) {
        let mut ring = self.ring();
        ring.lines.clear();
        ring.bytes = 0;
    }
}

impl Subscriber for MemorySink {
    fn event(&self, event: &Event) {
        let line = to_line(event);
        let bytes = line.len();
        // Kept as a file would hold it, so that no event in memory is larger than its line.
        let Ok(event) = super::line::from_line(&line) else { return };
        let mut ring = self.ring();
        ring.bytes += bytes;
        ring.lines.push_back((bytes, event));
        while ring.bytes > ring.most {
            let Some((bytes, _)) = ring.lines.pop_front() else { break };
            ring.bytes -= bytes;
            ring.forgotten += 1;
        }
    }
}
