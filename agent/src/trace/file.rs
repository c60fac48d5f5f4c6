//! Traces in files: one JSON line per event.

use super::line::{MAX_LINE, to_line};
use super::{Event, Kind, Subscriber, TraceId};
use ptc_runtime::files;
use std::collections::HashMap;
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, TryRecvError, TrySendError, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Maximum events, and maximum bytes of them, that wait for the disk.
const MAX_WAITING: usize = 1000;
const MAX_WAITING_BYTES: usize = 64 << 20;
/// Maximum number of open files.
const MAX_OPEN: usize = 64;
/// Maximum wait of a run for a slow disk, and of the end for the remaining events.
const PATIENCE: Duration = Duration::from_millis(100);
const LAST_PATIENCE: Duration = Duration::from_secs(10);

/// Writer of traces to files, on a thread of its own. The first mission goes to the named file; further missions and
/// child agents get separate files next to it, `NAME-<trace id>.jsonl`.
///
/// Write errors never fail a run: [`finish`](JsonLines::finish) reports them. Clones write to the same files.
///
/// ```
/// use ptc_agent::trace::{AgentLabel, JsonLines, Kind, Tracer};
/// # let dir = std::env::temp_dir().join(format!("ptc-doc-trace-{}", std::process::id()));
/// # std::fs::create_dir_all(&dir)?;
/// # let path = dir.join("run.jsonl");
/// let log = JsonLines::create(&path)?;
/// let tracer = Tracer::new().with(log.clone());
/// let mission = tracer.mission(AgentLabel::new(Some("triage"), "c0ffee12"), None);
/// mission.emit(Kind::RunStart, |event| event.put("prompt", "Count"));
/// drop(mission);
/// let written = log.finish();
/// assert_eq!((written.events, written.dropped, written.error), (3, 0, None));
/// assert!(std::fs::read_to_string(&path)?.contains(r#""event":"run.start""#));
/// # std::fs::remove_dir_all(&dir)?;
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Clone)]
pub struct JsonLines(Arc<Shared>);

struct Shared {
    /// Channel to the writer; None after the end.
    to: Mutex<Option<SyncSender<Line>>>,
    done: Mutex<Option<Receiver<()>>>,
    counts: Arc<Counts>,
}

#[derive(Default)]
struct Counts {
    waiting_bytes: AtomicUsize,
    written: AtomicU64,
    dropped: AtomicU64,
    /// Flag: the disk was too slow, so runs do not wait for it until it has caught up.
    slow: AtomicBool,
    error: Mutex<Option<String>>,
    files: Mutex<Vec<PathBuf>>,
}

struct Line {
    trace: TraceId,
    text: String,
    last: bool,
}

/// Report on the writing of traces.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct WriteReport {
    /// Files, in the order in which they were begun.
    pub files: Vec<PathBuf>,
    /// Number of events written.
    pub events: u64,
    /// Number of events dropped.
    pub dropped: u64,
    /// First error.
    pub error: Option<String>,
}

impl JsonLines {
    /// Writes to this file, which is truncated, and to files next to it. Traces are private to their user: new files
    /// are readable by nobody else.
    pub fn create(path: impl AsRef<Path>) -> io::Result<JsonLines> {
        let path = path.as_ref();
        let file = files::private().write(true).create(true).truncate(true).open(path)?;
        Ok(JsonLines::start(Names::Beside(path.to_path_buf()), Some(file)))
    }

    /// Writes each trace to a file of its own in this folder, creating the folder as needed: `<trace id>.jsonl`.
    pub fn in_folder(folder: impl AsRef<Path>) -> io::Result<JsonLines> {
        files::make_private_folder(folder.as_ref())?;
        Ok(JsonLines::start(Names::In(folder.as_ref().to_path_buf()), None))
    }

    fn start(names: Names, first: Option<File>) -> JsonLines {
        let (to, from) = sync_channel::<Line>(MAX_WAITING);
        let (tell, done) = sync_channel(1);
        let counts = Arc::new(Counts::default());
        let mut writer =
            Writer { names, first, open: HashMap::new(), known: HashMap::new(), counts: counts.clone() };
        let work = move || {
            writer.run(&from);
            let _ = tell.send(());
        };
        let started = std::thread::Builder::new().name("ptc-trace".to_string()).spawn(work);
        if let Err(error) = &started {
            counts.failed(&format!("cannot start a thread for the trace: {error}"));
        }
        let to = started.is_ok().then_some(to);
        JsonLines(Arc::new(Shared { to: Mutex::new(to), done: Mutex::new(Some(done)), counts }))
    }

    /// Waits until everything is written, and reports on it. Later events are dropped.
    pub fn finish(&self) -> WriteReport {
        self.0.close();
        let counts = &self.0.counts;
        WriteReport {
            files: lock(&counts.files).clone(),
            events: counts.written.load(Ordering::Relaxed),
            dropped: counts.dropped.load(Ordering::Relaxed),
            error: lock(&counts.error).clone(),
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Subscriber for JsonLines {
    fn event(&self, event: &Event) {
        let Some(to) = lock(&self.0.to).clone() else {
            self.0.counts.dropped.fetch_add(1, Ordering::Relaxed);
            return;
        };
        let text = to_line(event);
        self.0.counts.send(&to, Line { trace: event.trace_id, text, last: event.kind == Kind::TraceStop });
    }
}

impl Counts {
    fn send(&self, to: &SyncSender<Line>, mut line: Line) {
        let bytes = line.text.len();
        let mut until: Option<Instant> = None;
        loop {
            let fits = self.waiting_bytes.load(Ordering::Relaxed) + bytes <= MAX_WAITING_BYTES;
            if fits {
                self.waiting_bytes.fetch_add(bytes, Ordering::Relaxed);
                match to.try_send(line) {
                    Ok(()) => return self.slow.store(false, Ordering::Relaxed),
                    Err(TrySendError::Disconnected(_)) => break,
                    Err(TrySendError::Full(back)) => {
                        self.waiting_bytes.fetch_sub(bytes, Ordering::Relaxed);
                        line = back;
                    }
                }
            }
            let until = *until.get_or_insert_with(|| Instant::now() + PATIENCE);
            if self.slow.load(Ordering::Relaxed) || Instant::now() >= until {
                self.slow.store(true, Ordering::Relaxed);
                break;
            }
            std::thread::sleep(Duration::from_millis(1));
        }
        self.dropped.fetch_add(1, Ordering::Relaxed);
    }

    fn failed(&self, error: &str) {
        lock(&self.error).get_or_insert_with(|| error.to_string());
    }
}

impl Shared {
    fn close(&self) {
        lock(&self.to).take();
        // A hanging disk must not keep the process alive.
        if let Some(done) = lock(&self.done).take()
            && done.recv_timeout(LAST_PATIENCE) == Err(RecvTimeoutError::Timeout)
        {
            self.counts.failed("the rest of the trace could not be written in time");
        }
    }
}

impl Drop for Shared {
    fn drop(&mut self) {
        self.close();
    }
}

/// Naming of files.
enum Names {
    /// The first trace has this name, others have names next to it.
    Beside(PathBuf),
    /// Each trace has its id for a name, in this folder.
    In(PathBuf),
}

/// Returns the file of a further trace: `run-<trace id>.jsonl` next to `run.jsonl`. Given one of those further files,
/// returns a name of the same series.
pub(super) fn beside(path: &Path, trace: TraceId) -> PathBuf {
    let stem = path.file_stem().unwrap_or_default().to_string_lossy();
    let stem = match stem.rsplit_once('-') {
        Some((stem, id)) if id.parse::<TraceId>().is_ok() => stem,
        _ => &stem,
    };
    path.with_file_name(format!("{stem}-{trace}.jsonl"))
}

struct Writer {
    names: Names,
    /// File of the first trace.
    first: Option<File>,
    open: HashMap<TraceId, BufWriter<File>>,
    known: HashMap<TraceId, PathBuf>,
    counts: Arc<Counts>,
}

impl Writer {
    fn run(&mut self, from: &Receiver<Line>) {
        loop {
            let line = match from.try_recv() {
                Ok(line) => line,
                Err(TryRecvError::Disconnected) => break,
                Err(TryRecvError::Empty) => {
                    // The file may be read meanwhile, so it should not lag behind an idle writer.
                    self.flush();
                    match from.recv() {
                        Ok(line) => line,
                        Err(_) => break,
                    }
                }
            };
            let bytes = line.text.len();
            match self.write(&line) {
                Ok(()) => self.counts.written.fetch_add(1, Ordering::Relaxed),
                Err(error) => {
                    self.counts.failed(&error);
                    self.counts.dropped.fetch_add(1, Ordering::Relaxed)
                }
            };
            self.counts.waiting_bytes.fetch_sub(bytes, Ordering::Relaxed);
        }
        self.flush();
    }

    fn write(&mut self, line: &Line) -> Result<(), String> {
        debug_assert!(line.text.len() <= 2 * MAX_LINE);
        if !self.open.contains_key(&line.trace) {
            self.open(line.trace)?;
        }
        let Some(file) = self.open.get_mut(&line.trace) else { return Ok(()) };
        let wrote = file.write_all(line.text.as_bytes()).and_then(|()| file.write_all(b"\n"));
        let wrote = wrote.and_then(|()| if line.last { file.flush() } else { Ok(()) });
        if line.last {
            self.open.remove(&line.trace);
        }
        wrote.map_err(|error| format!("the trace cannot be written: {error}"))
    }

    fn open(&mut self, trace: TraceId) -> Result<(), String> {
        if self.open.len() >= MAX_OPEN
            && let Some(other) = self.open.keys().next().copied()
            && let Some(mut file) = self.open.remove(&other)
        {
            file.flush().map_err(|error| format!("the trace cannot be written: {error}"))?;
        }
        let (path, file) = match (&self.names, self.first.take()) {
            (Names::Beside(path), Some(file)) => (path.clone(), Ok(file)),
            (names, _) => {
                let path = self.known.get(&trace).cloned().unwrap_or_else(|| match names {
                    Names::Beside(path) => beside(path, trace),
                    Names::In(folder) => folder.join(format!("{trace}.jsonl")),
                });
                let file = files::private().create(true).append(true).open(&path);
                (path, file)
            }
        };
        let file = file.map_err(|error| format!("cannot write {}: {error}", path.display()))?;
        self.open.insert(trace, BufWriter::new(file));
        if self.known.insert(trace, path.clone()).is_none() {
            lock(&self.counts.files).push(path);
        }
        Ok(())
    }

    fn flush(&mut self) {
        for file in self.open.values_mut() {
            if let Err(error) = file.flush() {
                self.counts.failed(&format!("the trace cannot be written: {error}"));
            }
        }
    }
}
