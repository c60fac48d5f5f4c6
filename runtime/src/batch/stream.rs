//! Streams of records in and results out, shared by the ways to run one program and several.

use super::cut::{Cut, Open, cutter};
use super::gate::{Gate, Held};
use super::input::{Input, One};
use super::lines::{Lines, Paced};
use super::pace::Pace;
use super::pipeline::{Feed, Give, Stop, queue};
use super::rows::{Block, Pieces, Record};
use super::stats::Cost;
use super::{Batch, Ending, Summary, summary::Tally};
use crate::run::Failure;
use ptc_bytecode::Code;
use ptc_vm::Fault;
use std::io::{self, Write};
use std::ops::ControlFlow;
use std::sync::{Arc, OnceLock};
use std::thread::Scope;
use std::time::Instant;

/// Size of the output a worker delivers at once, in bytes.
const PART_BYTES: usize = 256 << 10;
const PART_RECORDS: usize = 4096;
/// Maximum input held per worker in bytes, unless one line is longer.
const HELD_BYTES: usize = 4 << 20;

/// Results and failures.
pub(super) struct Written<P, F> {
    pub made: P,
    /// Number of records with a result.
    pub results: u64,
    pub failed: u64,
    /// Failures: one or more for each failed record.
    pub failures: Vec<F>,
}

impl<P: Default, F> Default for Written<P, F> {
    fn default() -> Written<P, F> {
        Written { made: P::default(), results: 0, failed: 0, failures: Vec::new() }
    }
}

/// Results of some records.
pub(super) trait Part: Default + Send + 'static {
    /// Returns their approximate size in memory.
    fn bytes(&self) -> usize;

    /// Drops what a record that failed has left behind everything that was there when it was `bytes` large.
    fn cut(&mut self, bytes: usize);
}

impl Part for String {
    fn bytes(&self) -> usize {
        self.len()
    }

    fn cut(&mut self, bytes: usize) {
        self.truncate(bytes);
    }
}

/// Target of results and failures.
pub(super) trait Output<P, F> {
    /// Writes some; calls `count` once the results are delivered.
    fn put(&mut self, written: Written<P, F>, count: impl FnOnce()) -> io::Result<()>;

    /// Lets everything that was written be seen.
    fn flush(&mut self) -> io::Result<()>;
}

/// Output of lines, and a function for failures.
pub(super) struct Text<W, F>(pub W, pub F);

impl<W: Write, F, E: FnMut(F) -> io::Result<()>> Output<String, F> for Text<W, E> {
    fn put(&mut self, written: Written<String, F>, count: impl FnOnce()) -> io::Result<()> {
        self.0.write_all(written.made.as_bytes())?;
        count();
        written.failures.into_iter().try_for_each(&mut self.1)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

/// Maker of cutters whose blocks are as large as the pace says.
struct ByPace {
    pace: Arc<Pace>,
    max_line: usize,
}

impl Open for ByPace {
    fn open<'o>(&self, input: One<'o>, first: u64) -> Box<dyn Cut + 'o> {
        let pace = self.pace.clone();
        match input {
            One::Text(text) => Box::new(Paced { lines: Lines::new(text, self.max_line, first), pace }),
            One::Tables(tables) => Box::new(Pieces::new(tables, Some(pace), first)),
        }
    }
}

impl<Work> Batch<Work> {
    /// Runs `record` on every record, with a state that `worker` makes for each thread; it returns the fuel of the record. A
    /// line that is too long counts as a failure.
    pub(super) fn stream<S, P: Part, F: Send + 'static>(
        &self,
        input: Input<'_>,
        output: impl Output<P, F>,
        worker: impl Fn() -> S + Sync,
        record: impl Fn(&mut S, u64, Record<'_>, &mut Written<P, F>) -> u64 + Sync,
        too_long: impl Fn(u64, Failure) -> F + Sync,
    ) -> Summary
    where
        Work: Sync,
    {
        let started = Instant::now();
        let stop = Stop::new(&self.cancel);
        let pace = Arc::new(Pace::default());
        let (feed, queue) = queue::<(Block, Held), Written<P, F>>(self.threads, self.ordered);
        let mut tally = Tally::new(&self.progress);
        let mut ending = None;
        let output = std::cell::RefCell::new(output);
        let open = ByPace { pace: pace.clone(), max_line: self.max_line_bytes };
        let (read, whole) = std::thread::scope(|scope| {
            let read = self.reader(scope, input, feed, &stop, open);
            let whole = queue.drain(
                &stop,
                worker,
                |state, (block, _held), give| {
                    let record = |number, one: Record<'_>, written: &mut Written<P, F>| {
                        record(state, number, one, written)
                    };
                    self.block(&block, &stop, &pace, give, record, &too_long);
                },
                |written: Written<P, F>| {
                    let (results, failures) = (written.results, written.failed);
                    let any = failures > 0;
                    let put = output.borrow_mut().put(written, || tally.count(results, failures));
                    match put {
                        Err(error) => ending = Some(Ending::of_write(error)),
                        Ok(()) if any && self.fail_fast => ending = Some(Ending::Failed),
                        Ok(()) => return ControlFlow::Continue(()),
                    }
                    ControlFlow::Break(())
                },
                // Nothing more is ready, so flush for readers that wait for a result.
                || match output.borrow_mut().flush() {
                    Ok(()) => ControlFlow::Continue(()),
                    Err(_) => ControlFlow::Break(()),
                },
            );
            (read, whole)
        });
        let flushed = output.borrow_mut().flush();
        let ending = ending.unwrap_or_else(|| match flushed {
            Err(error) => Ending::of_write(error),
            Ok(()) => Ending::of_read(whole, read.get()),
        });
        tally.summary(started, ending)
    }

    /// Starts the thread that reads the blocks of the input; its result tells how the input ended.
    pub(super) fn reader<'scope, M: Send + 'static>(
        &self,
        scope: &'scope Scope<'scope, '_>,
        input: Input<'scope>,
        feed: Feed<(Block, Held), M>,
        stop: &Stop,
        open: impl Open + Send + 'static,
    ) -> Arc<OnceLock<io::Result<()>>> {
        let read = Arc::new(OnceLock::new());
        let held = HELD_BYTES.saturating_mul(self.threads);
        let mut left = self.take;
        let (told, stop, measured) = (read.clone(), stop.clone(), self.measured.clone());
        input.read_on(scope, move |input| {
            let mut cutter = cutter(input, open);
            let gate = Arc::<Gate>::default();
            let ended = loop {
                if left == 0 {
                    break Ok(());
                }
                match cutter.next() {
                    Err(error) => break Err(error),
                    Ok(None) => break Ok(()),
                    Ok(Some(_)) if stop.is_set() => return,
                    Ok(Some(mut block)) => {
                        if left < u64::MAX {
                            left -= block.cut(left);
                        }
                        if let Some(measured) = &measured {
                            measured.add_bytes(block.bytes());
                        }
                        let inside = gate.enter(block.bytes(), held, &stop);
                        if !feed.send((block, inside)) {
                            return;
                        }
                    }
                }
            };
            let _ = told.set(ended);
        });
        read
    }

    /// Runs the records of one block and delivers the results, in parts if they are long.
    fn block<P: Part, F>(
        &self,
        block: &Block,
        stop: &Stop,
        pace: &Pace,
        give: &Give<'_, Written<P, F>>,
        mut record: impl FnMut(u64, Record<'_>, &mut Written<P, F>) -> u64,
        too_long: &impl Fn(u64, Failure) -> F,
    ) {
        let started = Instant::now();
        let mut written = Written::default();
        if let Some(number) = block.too_long() {
            written.failed = 1;
            written.failures.push(too_long(number, self.too_long()));
        }
        let (mut count, mut costs) = (0, Vec::new());
        for (number, one) in block.records() {
            if stop.is_set() {
                give.more(written);
                return;
            }
            count += 1;
            let began = self.measured.as_ref().map(|_| Instant::now());
            let fuel = record(number, one, &mut written);
            if let Some(began) = began {
                costs.push(Cost { number, fuel, took: began.elapsed() });
            }
            if self.fail_fast && written.failed > 0 {
                break;
            }
            let full = written.made.bytes() >= PART_BYTES || written.failures.len() >= PART_RECORDS;
            if full && !give.more(std::mem::take(&mut written)) {
                return;
            }
        }
        pace.saw(count, started.elapsed());
        if let Some(measured) = &self.measured {
            measured.add(costs);
        }
        give.last(written);
    }

    pub(super) fn too_long(&self) -> Failure {
        let message = format!("the line is longer than {} bytes", self.max_line_bytes);
        let fault =
            Fault::new(Code::InvalidData, message).hint("write one record per line, or allow longer lines");
        Failure::compile(vec![fault.to_diagnostic()], "")
    }
}
