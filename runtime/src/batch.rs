//! One program over many records, on all cores, in memory that does not grow with the input.

mod gate;
mod lines;
mod pipeline;
#[cfg(test)]
mod tests;

use crate::evaluator::Evaluator;
use crate::host::{Grants, Runtime};
use crate::program::Program;
use crate::run::{Failure, Outcome};
use crate::tools::Tools;
use crate::watch::Cancel;
use gate::{Gate, Held};
use lines::{Chunk, Lines};
use pipeline::{Give, Stop, queue};
use ptc_bytecode::Code;
use ptc_vm::Fault;
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::io::{self, ErrorKind, Read, Write};
use std::num::NonZeroUsize;
use std::ops::ControlFlow;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

/// How long a worker should be busy with one job: long enough that handing it over costs nothing,
/// short enough that all workers end at the same time.
const JOB: Duration = Duration::from_millis(2);
/// The most records of one job.
const MOST_RECORDS: u64 = 4096;
/// What a worker gives away at once.
const PART_BYTES: usize = 256 << 10;
const PART_RECORDS: usize = 4096;
/// Input held per worker, unless one line is longer.
const HELD_BYTES: usize = 4 << 20;

/// Runs one program over many records: JSON lines with [`Batch::lines`], Rust values with
/// [`Batch::map`]. Every record is a run of its own, with its own budget; one that fails does not
/// disturb the others. Memory is bounded whatever the size of the input.
///
/// ```
/// use ptc_runtime::{Batch, Runtime};
/// let runtime = Runtime::with_core(ptc_preludes::core())?;
/// let program = runtime.compile("{:id (:id data/row) :total (* (:price data/row) (:amount data/row))}")?;
/// let input: &[u8] = br#"{"id": 1, "price": 3, "amount": 4}
/// {"id": 2, "price": 3}
/// {"id": 3, "price": 1, "amount": 9}"#;
///
/// let mut output = Vec::new();
/// let mut failed = Vec::new();
/// let summary = Batch::new(&runtime, &program).lines(input, &mut output, |line, failure| {
///     failed.push((line, failure.reason()));
///     Ok(())
/// });
/// assert_eq!(output, b"{\"id\":1,\"total\":12}\n{\"id\":3,\"total\":9}\n");
/// assert_eq!(failed, [(2, "type_error")]);
/// assert_eq!((summary.records, summary.results, summary.failures), (3, 2, 1));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct Batch {
    runtime: Runtime,
    program: Program,
    grants: Grants,
    tools: Tools,
    name: String,
    threads: usize,
    ordered: bool,
    fail_fast: bool,
    take: u64,
    max_line_bytes: usize,
    cancel: Cancel,
    progress: Arc<Progress>,
}

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
    /// [`Batch::cancel`] was set.
    Cancelled,
    /// Whoever read the output went away.
    Closed,
    /// The input could not be read.
    Unreadable(io::Error),
    /// The output, or a failure, could not be written.
    Unwritable(io::Error),
}

impl Batch {
    /// For a program without tools and without data besides the records.
    pub fn new(runtime: &Runtime, program: &Program) -> Batch {
        Batch {
            runtime: runtime.clone(),
            program: program.clone(),
            grants: Grants::new(),
            tools: Tools::new(),
            name: "row".to_string(),
            threads: std::thread::available_parallelism().map_or(1, NonZeroUsize::get),
            ordered: true,
            fail_fast: false,
            take: u64::MAX,
            max_line_bytes: 64 << 20,
            cancel: Cancel::new(),
            progress: Arc::default(),
        }
    }

    /// Data every record sees.
    #[must_use]
    pub fn grants(mut self, grants: Grants) -> Batch {
        self.grants = grants;
        self
    }

    /// Tools every record may call. They are called from several threads.
    #[must_use]
    pub fn tools(mut self, tools: Tools) -> Batch {
        self.tools = tools;
        self
    }

    /// The record is `data/<name>`; without this, `data/row`.
    #[must_use]
    pub fn name(mut self, name: &str) -> Batch {
        self.name = name.to_string();
        self
    }

    /// How many records run at the same time; without this, one for each core.
    #[must_use]
    pub fn threads(mut self, threads: usize) -> Batch {
        self.threads = threads.max(1);
        self
    }

    /// Whether results come in the order of their records, as they do without this.
    #[must_use]
    pub fn ordered(mut self, ordered: bool) -> Batch {
        self.ordered = ordered;
        self
    }

    /// Whether to stop at the first record that fails. In order, everything before it is given out,
    /// and nothing after it.
    #[must_use]
    pub fn fail_fast(mut self, fail_fast: bool) -> Batch {
        self.fail_fast = fail_fast;
        self
    }

    /// Only the first so many records.
    #[must_use]
    pub fn take(mut self, records: u64) -> Batch {
        self.take = records;
        self
    }

    /// A longer line fails, and is not kept in memory; 64 MiB without this.
    #[must_use]
    pub fn max_line_bytes(mut self, bytes: usize) -> Batch {
        self.max_line_bytes = bytes;
        self
    }

    /// Ends the batch from outside: records that run are finished, no others are begun. In order,
    /// what was given out is then an unbroken start of the whole.
    #[must_use]
    pub fn cancel(mut self, cancel: &Cancel) -> Batch {
        self.cancel = cancel.clone();
        self
    }

    /// How far the batch is, for another thread to look at.
    pub fn progress(&self) -> Arc<Progress> {
        self.progress.clone()
    }

    /// One JSON text per line in, one per line out. `failed` is told the number of the line, from 1,
    /// of every record without a result. Blank lines are passed over, but counted.
    ///
    /// The input is read by a thread of its own, which is left behind if the batch ends while it
    /// waits for more.
    pub fn lines(
        &self,
        input: impl Read + Send + 'static,
        mut output: impl Write,
        mut failed: impl FnMut(u64, Failure) -> io::Result<()>,
    ) -> Summary {
        let started = Instant::now();
        let stop = Stop::new(&self.cancel);
        let pace = Arc::new(Pace::default());
        let read = Arc::new(OnceLock::new());
        let (feed, queue) = queue::<(Chunk, Held), Written>(self.threads, self.ordered);
        let reader = {
            let (stop, pace, read, batch) = (stop.clone(), pace.clone(), read.clone(), self.clone());
            move || {
                let held = HELD_BYTES.saturating_mul(batch.threads);
                let gate = Arc::<Gate>::default();
                let mut lines = Lines::new(input, batch.max_line_bytes);
                let mut left = batch.take;
                let ended = loop {
                    if left == 0 {
                        break Ok(());
                    }
                    match lines.next(pace.records()) {
                        Err(error) => break Err(error),
                        Ok(None) => break Ok(()),
                        Ok(Some(_)) if stop.is_set() => return,
                        Ok(Some(mut chunk)) => {
                            if left < u64::MAX {
                                left -= chunk.cut(left);
                            }
                            let inside = gate.enter(chunk.bytes.len(), held, &stop);
                            if !feed.send((chunk, inside)) {
                                return;
                            }
                        }
                    }
                };
                let _ = read.set(ended);
            }
        };
        let mut tally = Tally::new(&self.progress);
        let mut ending = None;
        std::thread::spawn(reader);
        let output = std::cell::RefCell::new(&mut output);
        let whole = queue.drain(
            &stop,
            || Worker::new(self, &stop),
            |worker, (chunk, _held), give| worker.chunk(&chunk, &pace, give),
            |written: Written| {
                let failures = written.failures.len() as u64;
                let put = output.borrow_mut().write_all(&written.text).and_then(|()| {
                    tally.count(written.results, failures);
                    written.failures.into_iter().try_for_each(|(line, failure)| failed(line, failure))
                });
                match put {
                    Err(error) => ending = Some(Ending::of_write(error)),
                    Ok(()) if failures > 0 && self.fail_fast => ending = Some(Ending::Failed),
                    Ok(()) => return ControlFlow::Continue(()),
                }
                ControlFlow::Break(())
            },
            // Nothing more is ready: whoever waits for an answer gets it.
            || match output.borrow_mut().flush() {
                Ok(()) => ControlFlow::Continue(()),
                Err(_) => ControlFlow::Break(()),
            },
        );
        let flushed = output.borrow_mut().flush();
        let ending = ending.unwrap_or_else(|| match (flushed, read.get()) {
            (Err(error), _) => Ending::of_write(error),
            (Ok(()), Some(Ok(()))) if whole => Ending::Complete,
            (Ok(()), Some(Err(error))) if whole => {
                Ending::Unreadable(io::Error::new(error.kind(), error.to_string()))
            }
            (Ok(()), _) => Ending::Cancelled,
        });
        tally.summary(started, ending)
    }

    /// Runs the program over Rust values. `each` is given the number of the record, from 0, and what
    /// came of it, on the thread that called; to break off ends the batch.
    ///
    /// ```
    /// use ptc_runtime::{Batch, Runtime};
    /// use std::ops::ControlFlow;
    /// let runtime = Runtime::with_core(ptc_preludes::core())?;
    /// let program = runtime.compile("(* data/row data/row)")?;
    /// let mut squares = Vec::new();
    /// let summary = Batch::new(&runtime, &program).map(0..1000_i64, |_, square: Result<i64, _>| {
    ///     squares.push(square.unwrap_or(0));
    ///     ControlFlow::Continue(())
    /// });
    /// assert_eq!(summary.results, 1000);
    /// assert!(squares.iter().zip(0..).all(|(square, n)| *square == n * n));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn map<T: Serialize + Send, R: DeserializeOwned + Send>(
        &self,
        records: impl IntoIterator<Item = T, IntoIter: Send>,
        mut each: impl FnMut(u64, Result<R, Failure>) -> ControlFlow<()>,
    ) -> Summary {
        let started = Instant::now();
        let stop = Stop::new(&self.cancel);
        let pace = Pace::default();
        let read = OnceLock::new();
        let (feed, queue) =
            queue::<(u64, Vec<T>), Vec<(u64, Result<R, Failure>)>>(self.threads, self.ordered);
        let mut records = records.into_iter();
        let mut tally = Tally::new(&self.progress);
        let mut ending = None;
        let whole = std::thread::scope(|scope| {
            let (stop, pace, read) = (&stop, &pace, &read);
            scope.spawn(move || {
                let mut first = 0;
                loop {
                    let most = (pace.records() as u64).min(self.take - first);
                    let job: Vec<T> = records.by_ref().take(most as usize).collect();
                    if job.is_empty() {
                        let _ = read.set(());
                        return;
                    }
                    let count = job.len() as u64;
                    if stop.is_set() || !feed.send((first, job)) {
                        return;
                    }
                    first += count;
                }
            });
            queue.drain(
                stop,
                || Worker::new(self, stop),
                |worker, (first, job), give| worker.values(first, job, pace, give),
                |made| {
                    for (index, result) in made {
                        tally.count(u64::from(result.is_ok()), u64::from(result.is_err()));
                        let failed = result.is_err() && self.fail_fast;
                        if each(index, result).is_break() {
                            ending = Some(Ending::Closed);
                        } else if failed {
                            ending = Some(Ending::Failed);
                        }
                        if ending.is_some() {
                            return ControlFlow::Break(());
                        }
                    }
                    ControlFlow::Continue(())
                },
                || ControlFlow::Continue(()),
            )
        });
        let complete = if whole && read.get().is_some() { Ending::Complete } else { Ending::Cancelled };
        tally.summary(started, ending.unwrap_or(complete))
    }
}

impl Ending {
    fn of_write(error: io::Error) -> Ending {
        if error.kind() == ErrorKind::BrokenPipe { Ending::Closed } else { Ending::Unwritable(error) }
    }
}

/// What was given out so far.
struct Tally<'a> {
    results: u64,
    failures: u64,
    progress: &'a Progress,
}

impl<'a> Tally<'a> {
    fn new(progress: &'a Progress) -> Tally<'a> {
        progress.results.store(0, Ordering::Relaxed);
        progress.failures.store(0, Ordering::Relaxed);
        Tally { results: 0, failures: 0, progress }
    }

    fn count(&mut self, results: u64, failures: u64) {
        self.results += results;
        self.failures += failures;
        self.progress.results.store(self.results, Ordering::Relaxed);
        self.progress.failures.store(self.failures, Ordering::Relaxed);
    }

    fn summary(self, started: Instant, ending: Ending) -> Summary {
        let Tally { results, failures, .. } = self;
        Summary { records: results + failures, results, failures, elapsed: started.elapsed(), ending }
    }
}

/// How long a record takes, so that slow ones are spread over all threads and fast ones go by the
/// thousand.
#[derive(Default)]
struct Pace(AtomicU64);

impl Pace {
    /// How many records make a job.
    fn records(&self) -> usize {
        match self.0.load(Ordering::Relaxed) {
            // Nothing is known yet.
            0 => 1,
            nanos => (JOB.as_nanos() as u64 / nanos).clamp(1, MOST_RECORDS) as usize,
        }
    }

    fn saw(&self, records: u64, took: Duration) {
        let nanos = u64::try_from(took.as_nanos()).unwrap_or(u64::MAX);
        if let Some(nanos) = nanos.checked_div(records) {
            let before = self.0.load(Ordering::Relaxed);
            let mixed = if before == 0 { nanos } else { before / 2 + nanos / 2 };
            self.0.store(mixed.max(1), Ordering::Relaxed);
        }
    }
}

/// Results as lines, and what failed.
#[derive(Default)]
struct Written {
    text: Vec<u8>,
    results: u64,
    failures: Vec<(u64, Failure)>,
}

/// What one thread has.
struct Worker<'a> {
    batch: &'a Batch,
    stop: &'a Stop,
    evaluator: Evaluator,
}

impl<'a> Worker<'a> {
    fn new(batch: &'a Batch, stop: &'a Stop) -> Worker<'a> {
        Worker { batch, stop, evaluator: batch.evaluator() }
    }

    fn chunk(&mut self, chunk: &Chunk, pace: &Pace, give: &Give<'_, Written>) {
        let started = Instant::now();
        let mut written = Written::default();
        if chunk.too_long {
            written.failures.push((chunk.first, self.batch.too_long()));
        }
        let mut count = 0;
        for (number, line) in chunk.lines() {
            if self.stop.is_set() {
                give.more(written);
                return;
            }
            count += 1;
            match self.record(|evaluator, name| evaluator.json(name, line), Outcome::json) {
                Ok(json) => {
                    written.text.extend_from_slice(json.as_bytes());
                    written.text.push(b'\n');
                    written.results += 1;
                }
                Err(failure) => {
                    written.failures.push((number, failure));
                    if self.batch.fail_fast {
                        break;
                    }
                }
            }
            let full = written.text.len() >= PART_BYTES || written.failures.len() >= PART_RECORDS;
            if full && !give.more(std::mem::take(&mut written)) {
                return;
            }
        }
        pace.saw(count, started.elapsed());
        give.last(written);
    }

    fn values<T: Serialize, R: DeserializeOwned>(
        &mut self,
        first: u64,
        job: Vec<T>,
        pace: &Pace,
        give: &Give<'_, Vec<(u64, Result<R, Failure>)>>,
    ) {
        let started = Instant::now();
        let mut made = Vec::with_capacity(job.len());
        let count = job.len() as u64;
        for (index, value) in (first..).zip(job) {
            if self.stop.is_set() {
                give.more(made);
                return;
            }
            let get = |outcome: &Outcome| {
                outcome.get().map_err(|error| {
                    Fault::new(Code::TypeError, format!("the result is not as wanted: {error}"))
                })
            };
            let result = self.record(|evaluator, name| evaluator.serde(name, &value), get);
            let failed = result.is_err();
            made.push((index, result));
            if failed && self.batch.fail_fast {
                break;
            }
        }
        pace.saw(count, started.elapsed());
        give.last(made);
    }

    /// Runs one record. A bug of ours in one is no reason to lose all the others.
    fn record<T>(
        &mut self,
        run: impl for<'e> FnOnce(&'e mut Evaluator, &str) -> Result<&'e Outcome, Failure>,
        get: impl FnOnce(&Outcome) -> Result<T, Fault>,
    ) -> Result<T, Failure> {
        let program = &self.batch.program;
        let evaluator = &mut self.evaluator;
        let ran = catch_unwind(AssertUnwindSafe(|| {
            let outcome = run(evaluator, &self.batch.name)?;
            get(outcome).map_err(|fault| Failure::of(fault, None, program.clone()))
        }));
        ran.unwrap_or_else(|_| {
            self.evaluator = self.batch.evaluator();
            Err(Failure::of(Fault::new(Code::Internal, "the run panicked"), None, program.clone()))
        })
    }
}

impl Batch {
    fn evaluator(&self) -> Evaluator {
        Evaluator::with(&self.runtime, &self.program, self.grants.clone(), self.tools.clone())
    }

    fn too_long(&self) -> Failure {
        let message = format!("the line is longer than {} bytes", self.max_line_bytes);
        let fault =
            Fault::new(Code::InvalidData, message).hint("write one record per line, or allow longer lines");
        Failure::of(fault, None, self.program.clone())
    }
}
