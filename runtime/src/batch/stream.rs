//! Streams of lines in and lines out, shared by [`Batch::lines`] for one program and for several.

use super::gate::{Gate, Held};
use super::input::Input;
use super::lines::{Chunk, Lines};
use super::pace::Pace;
use super::pipeline::{Feed, Give, Stop, queue};
use super::{Batch, Ending, Summary, summary::Tally};
use crate::run::Failure;
use ptc_bytecode::Code;
use ptc_vm::Fault;
use std::io::{self, Read, Write};
use std::ops::ControlFlow;
use std::sync::{Arc, OnceLock};
use std::thread::Scope;
use std::time::Instant;

/// Size of the output a worker delivers at once, in bytes.
const PART_BYTES: usize = 256 << 10;
const PART_RECORDS: usize = 4096;
/// Maximum input held per worker in bytes, unless one line is longer.
const HELD_BYTES: usize = 4 << 20;

/// Source of the next chunk of the input, until there is none.
pub(super) type Chunks<'i> = Box<dyn FnMut() -> io::Result<Option<Chunk>> + 'i>;

/// Result lines and failures.
pub(super) struct Written<F> {
    pub text: Vec<u8>,
    /// Number of records with a result.
    pub results: u64,
    pub failed: u64,
    /// Failures: one or more for each failed record.
    pub failures: Vec<F>,
}

impl<F> Default for Written<F> {
    fn default() -> Written<F> {
        Written { text: Vec::new(), results: 0, failed: 0, failures: Vec::new() }
    }
}

impl<Work> Batch<Work> {
    /// Runs `record` on every line, with a state that `worker` makes for each thread. A line that is too long
    /// counts as a failure.
    pub(super) fn stream<S, F: Send + 'static>(
        &self,
        input: Input<'_>,
        mut output: impl Write,
        worker: impl Fn() -> S + Sync,
        record: impl Fn(&mut S, u64, &[u8], &mut Written<F>) + Sync,
        too_long: impl Fn(u64, Failure) -> F + Sync,
        mut failed: impl FnMut(F) -> io::Result<()>,
    ) -> Summary
    where
        Work: Sync,
    {
        let started = Instant::now();
        let stop = Stop::new(&self.cancel);
        let pace = Arc::new(Pace::default());
        let (feed, queue) = queue::<(Chunk, Held), Written<F>>(self.threads, self.ordered);
        let mut tally = Tally::new(&self.progress);
        let mut ending = None;
        let output = std::cell::RefCell::new(&mut output);
        let (pace_of_lines, max_line) = (pace.clone(), self.max_line_bytes);
        let (read, whole) = std::thread::scope(|scope| {
            let read = self.reader(scope, input, feed, &stop, move |input| {
                let mut lines = Lines::new(input, max_line);
                Box::new(move || lines.next(pace_of_lines.records()))
            });
            let whole = queue.drain(
                &stop,
                worker,
                |state, (chunk, _held), give| {
                    let record =
                        |number, line: &[u8], written: &mut Written<F>| record(state, number, line, written);
                    self.chunk(&chunk, &stop, &pace, give, record, &too_long);
                },
                |written: Written<F>| {
                    let any = written.failed > 0;
                    let put = output.borrow_mut().write_all(&written.text).and_then(|()| {
                        tally.count(written.results, written.failed);
                        written.failures.into_iter().try_for_each(&mut failed)
                    });
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

    /// Starts the thread that reads the chunks that `cut` makes of the input; its result tells how the input ended.
    pub(super) fn reader<'scope, M: Send + 'static>(
        &self,
        scope: &'scope Scope<'scope, '_>,
        input: Input<'scope>,
        feed: Feed<(Chunk, Held), M>,
        stop: &Stop,
        cut: impl FnOnce(Box<dyn Read + Send + '_>) -> Chunks<'_> + Send + 'static,
    ) -> Arc<OnceLock<io::Result<()>>> {
        let read = Arc::new(OnceLock::new());
        let held = HELD_BYTES.saturating_mul(self.threads);
        let mut left = self.take;
        let (told, stop) = (read.clone(), stop.clone());
        input.read_on(scope, move |input| {
            let mut next = cut(input);
            let gate = Arc::<Gate>::default();
            let ended = loop {
                if left == 0 {
                    break Ok(());
                }
                match next() {
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
            let _ = told.set(ended);
        });
        read
    }

    /// Runs the lines of one chunk and delivers the results, in parts if they are long.
    fn chunk<F>(
        &self,
        chunk: &Chunk,
        stop: &Stop,
        pace: &Pace,
        give: &Give<'_, Written<F>>,
        mut record: impl FnMut(u64, &[u8], &mut Written<F>),
        too_long: &impl Fn(u64, Failure) -> F,
    ) {
        let started = Instant::now();
        let mut written = Written::default();
        if chunk.too_long {
            written.failed = 1;
            written.failures.push(too_long(chunk.first, self.too_long()));
        }
        let mut count = 0;
        for (number, line) in chunk.lines() {
            if stop.is_set() {
                give.more(written);
                return;
            }
            count += 1;
            record(number, line, &mut written);
            if self.fail_fast && written.failed > 0 {
                break;
            }
            let full = written.text.len() >= PART_BYTES || written.failures.len() >= PART_RECORDS;
            if full && !give.more(std::mem::take(&mut written)) {
                return;
            }
        }
        pace.saw(count, started.elapsed());
        give.last(written);
    }

    pub(super) fn too_long(&self) -> Failure {
        let message = format!("the line is longer than {} bytes", self.max_line_bytes);
        let fault =
            Fault::new(Code::InvalidData, message).hint("write one record per line, or allow longer lines");
        Failure::compile(vec![fault.to_diagnostic()], "")
    }
}
