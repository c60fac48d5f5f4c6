//! Shortcuts for recording traces.

use super::{JsonLines, MemorySink, Tracer, WriteReport};
use std::io;
use std::path::Path;

/// A trace that is being written to a file.
pub struct Recording {
    log: JsonLines,
    tracer: Tracer,
}

/// Starts writing a trace to this file.
///
/// ```
/// use ptc_agent::trace::{self, AgentLabel, Kind};
/// # let dir = std::env::temp_dir().join(format!("ptc-doc-start-{}", std::process::id()));
/// # std::fs::create_dir_all(&dir)?;
/// # let path = dir.join("run.jsonl");
/// let recording = trace::start(&path)?;
/// recording.tracer().mission(AgentLabel::new(None, "c0ffee12"), None).emit(Kind::RunStart, |_| ());
/// assert_eq!(recording.stop().files, [path]);
/// # std::fs::remove_dir_all(&dir)?;
/// # Ok::<(), std::io::Error>(())
/// ```
pub fn start(path: impl AsRef<Path>) -> io::Result<Recording> {
    let log = JsonLines::create(path)?;
    let tracer = Tracer::new().with(log.clone());
    Ok(Recording { log, tracer })
}

impl Recording {
    /// Returns the tracer to pass to missions.
    pub fn tracer(&self) -> Tracer {
        self.tracer.clone()
    }

    /// Waits until everything is written. Missions that still run are no longer traced.
    pub fn stop(self) -> WriteReport {
        self.log.finish()
    }
}

/// Writes a trace of the missions in a function.
///
/// ```
/// use ptc_agent::trace::{self, AgentLabel, Kind};
/// # let dir = std::env::temp_dir().join(format!("ptc-doc-with-{}", std::process::id()));
/// # std::fs::create_dir_all(&dir)?;
/// # let path = dir.join("run.jsonl");
/// let (answer, written) = trace::with_trace(&path, |tracer| {
///     let mission = tracer.mission(AgentLabel::new(None, "c0ffee12"), None);
///     mission.emit(Kind::RunStart, |_| ());
///     42
/// })?;
/// assert_eq!((answer, written.events), (42, 3));
/// # std::fs::remove_dir_all(&dir)?;
/// # Ok::<(), std::io::Error>(())
/// ```
pub fn with_trace<T>(path: impl AsRef<Path>, f: impl FnOnce(Tracer) -> T) -> io::Result<(T, WriteReport)> {
    let recording = start(path)?;
    let value = f(recording.tracer());
    Ok((value, recording.stop()))
}

/// Returns a tracer whose events stay in memory.
///
/// ```
/// let (tracer, memory) = ptc_agent::trace::start_memory_sink();
/// assert!(tracer.is_on() && memory.events().is_empty());
/// ```
pub fn start_memory_sink() -> (Tracer, MemorySink) {
    let memory = MemorySink::new();
    (Tracer::new().with(memory.clone()), memory)
}
