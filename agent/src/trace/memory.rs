//! Traces in memory: the last events, as many as fit.

use super::line::to_line;
use super::{Event, Subscriber};
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// How many bytes events may have together, measured as lines of a file.
const MAX_BYTES: usize = 8 << 20;

/// Keeps the last events, up to 8 MiB of them; older ones go. Clones are the same memory.
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
    /// Empty, for 8 MiB.
    pub fn new() -> MemorySink {
        MemorySink::default()
    }

    /// Empty, for this many bytes.
    pub fn with_bytes(most: usize) -> MemorySink {
        MemorySink(Arc::new(Mutex::new(Ring { lines: VecDeque::new(), bytes: 0, most, forgotten: 0 })))
    }

    fn ring(&self) -> MutexGuard<'_, Ring> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The events there are, oldest first.
    pub fn events(&self) -> Vec<Event> {
        self.ring().lines.iter().map(|(_, event)| event.clone()).collect()
    }

    /// The same as lines of a file.
    pub fn lines(&self) -> Vec<String> {
        self.ring().lines.iter().map(|(_, event)| to_line(event)).collect()
    }

    /// How many events had to go.
    pub fn forgotten(&self) -> u64 {
        self.ring().forgotten
    }

    /// Forgets everything.
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
        // What a file would hold: nothing in memory is larger than its line.
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
