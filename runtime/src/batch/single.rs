//! Runs of one program over many records.

use super::input::Input;
use super::pace::Pace;
use super::pipeline::{Give, Stop, queue};
use super::rows::Record;
use super::stream::{Output, Part, Text, Written};
use super::{Batch, Ending, Summary, guarded, summary::Tally};
use crate::evaluator::Evaluator;
use crate::run::{Failure, Outcome};
use futures_util::{StreamExt, stream};
use ptc_compiler::Projection;
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::io::{self, Write};
use std::ops::ControlFlow;
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Instant;

impl Batch {
    /// Reads one JSON text per line and writes one result per line. `failed` receives the line number, from 1, of
    /// every record without a result. Blank lines are skipped but counted.
    ///
    /// A separate thread reads the input. If it may block without end, pass [`Input::detached`].
    pub fn lines<'i>(
        &self,
        input: impl Into<Input<'i>>,
        output: impl Write,
        mut failed: impl FnMut(u64, Failure) -> io::Result<()>,
    ) -> Summary {
        let output = Text(output, |(number, failure)| failed(number, failure));
        self.each(input.into(), output, |text: &mut String, _, outcome: &Outcome| {
            let start = text.len();
            outcome.append_json(text).map_err(|fault| Failure::of(fault, None, self.work.clone()))?;
            match self.skip_nil && &text[start..] == "null" {
                true => text.truncate(start),
                false => text.push('\n'),
            }
            Ok(())
        })
    }

    /// Reads records as [`Batch::lines`] does, and gives the result of each to `each` on the calling thread, with its
    /// number, which counts from 1. The function `get` takes it from the outcome, on the thread that ran the program. An
    /// error of `each` ends the batch as one of an output does.
    ///
    /// ```
    /// use ptc_runtime::{Batch, Runtime};
    /// let runtime = Runtime::with_core(ptc_preludes::core())?;
    /// let program = runtime.compile("(* data/row data/row)")?;
    /// let mut squares = Vec::new();
    /// let get = |outcome: &ptc_runtime::Outcome| outcome.get::<i64>();
    /// let summary = Batch::new(&runtime, &program).values(&b"3\nnull\n4\n"[..], get, |number, square| {
    ///     squares.push((number, square.ok()));
    ///     Ok(())
    /// });
    /// assert_eq!(squares, [(1, Some(9)), (2, None), (3, Some(16))]);
    /// assert_eq!((summary.results, summary.failures), (2, 1));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn values<'i, T: Send + 'static>(
        &self,
        input: impl Into<Input<'i>>,
        get: impl Fn(&Outcome) -> Result<T, Failure> + Sync,
        each: impl FnMut(u64, Result<T, Failure>) -> io::Result<()>,
    ) -> Summary {
        self.each(input.into(), Each(each), |made: &mut Values<T>, number, outcome: &Outcome| {
            made.0.push((number, get(outcome)?));
            Ok(())
        })
    }

    /// Runs the program over every record; `add` adds its result to a part, or leaves the part as it was.
    fn each<P: Part>(
        &self,
        input: Input<'_>,
        output: impl Output<P, (u64, Failure)>,
        add: impl Fn(&mut P, u64, &Outcome) -> Result<(), Failure> + Sync,
    ) -> Summary {
        let record = |worker: &mut Worker<'_>, number, one: Record<'_>, written: &mut Written<P, _>| {
            let made = &mut written.made;
            let before = made.bytes();
            let mut fuel = 0;
            let taken = |outcome: &Outcome| {
                fuel = outcome.fuel;
                add(made, number, outcome)
            };
            let ran = worker.record(|evaluator, name| one.run(evaluator, name), taken);
            match ran {
                Ok(()) => written.results += 1,
                Err(failure) => {
                    // A panic leaves half a line.
                    written.made.cut(before);
                    written.failed += 1;
                    fuel = fuel.max(failure.fuel);
                    written.failures.push((number, failure));
                }
            }
            fuel
        };
        let too_long = |number, failure| (number, failure);
        let projection = self.projection();
        self.stream(input, output, || Worker::new(self, &projection), record, too_long)
    }

    /// Runs the program over Rust values. `each` receives the number of the record, from 0, and its result, on the
    /// calling thread; breaking ends the batch.
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
        let whole = Projection::whole();
        let is_whole = std::thread::scope(|scope| {
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
                || Worker::new(self, &whole),
                |worker, (first, job), give| worker.values(first, job, stop, pace, give),
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
        let complete = if is_whole && read.get().is_some() { Ending::Complete } else { Ending::Cancelled };
        tally.summary(started, ending.unwrap_or(complete))
    }
}

impl Batch {
    /// Runs the program over Rust values as [`Batch::map`] does, without blocking the polling thread: up to
    /// [`Batch::threads`] records are in progress at a time, and those that wait for async tools hold no thread.
    /// Values may borrow; dropping the future ends the batch.
    ///
    /// ```
    /// use ptc_runtime::{Batch, Runtime};
    /// use std::ops::ControlFlow;
    /// # pollster::block_on(async {
    /// let runtime = Runtime::with_core(ptc_preludes::core())?;
    /// let program = runtime.compile("(count data/row)")?;
    /// let (text, mut lengths) = (String::from("a bee sees"), Vec::new());
    /// let each = |_, length: Result<usize, _>| {
    ///     lengths.extend(length);
    ///     ControlFlow::Continue(())
    /// };
    /// let summary = Batch::new(&runtime, &program).map_async(text.split(' '), each).await;
    /// assert_eq!((summary.results, lengths), (3, vec![1, 3, 4]));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// # }).unwrap();
    /// ```
    pub async fn map_async<T: Serialize, R: DeserializeOwned>(
        &self,
        records: impl IntoIterator<Item = T>,
        mut each: impl FnMut(u64, Result<R, Failure>) -> ControlFlow<()>,
    ) -> Summary {
        let started = Instant::now();
        let mut tally = Tally::new(&self.progress);
        // Evaluators that wait for their next record.
        let idle = Mutex::new(Vec::new());
        let is_cancelled = || self.cancel.is_cancelled();
        let records = (0..self.take).zip(records).take_while(|_| !is_cancelled());
        let runs = stream::iter(records).map(|(index, record)| {
            let idle = &idle;
            async move {
                let waiting = lock(idle).pop();
                let mut evaluator =
                    waiting.unwrap_or_else(|| self.evaluator(&self.work, &Projection::whole()));
                let result = evaluator.serde_async(&self.name, &record).await;
                let result = result.and_then(|outcome| outcome.get());
                lock(idle).push(evaluator);
                (index, result)
            }
        });
        let mut results = match self.ordered {
            true => runs.buffered(self.threads).left_stream(),
            false => runs.buffer_unordered(self.threads).right_stream(),
        };
        while let Some((index, result)) = results.next().await {
            let is_last = result.is_err() && self.fail_fast;
            tally.count(u64::from(result.is_ok()), u64::from(result.is_err()));
            if each(index, result).is_break() {
                return tally.summary(started, Ending::Closed);
            }
            if is_last {
                return tally.summary(started, Ending::Failed);
            }
        }
        tally.summary(started, if is_cancelled() { Ending::Cancelled } else { Ending::Complete })
    }
}

/// Results with the numbers of their records.
struct Values<T>(Vec<(u64, T)>);

impl<T> Default for Values<T> {
    fn default() -> Values<T> {
        Values(Vec::new())
    }
}

impl<T: Send + 'static> Part for Values<T> {
    fn bytes(&self) -> usize {
        // The size of the other parts of a value is unknown; a record of some columns is about this long.
        self.0.len() * (size_of::<T>() + 64)
    }

    fn cut(&mut self, _: usize) {
        // A value is added at once or not at all.
    }
}

/// Output that gives each result to a function.
struct Each<E>(E);

impl<T: Send + 'static, E: FnMut(u64, Result<T, Failure>) -> io::Result<()>> Output<Values<T>, (u64, Failure)>
    for Each<E>
{
    fn put(&mut self, written: Written<Values<T>, (u64, Failure)>, count: impl FnOnce()) -> io::Result<()> {
        count();
        let mut failures = written.failures.into_iter().peekable();
        for (number, value) in written.made.0 {
            while let Some((earlier, failure)) = failures.next_if(|(failed, _)| *failed < number) {
                self.0(earlier, Err(failure))?;
            }
            self.0(number, Ok(value))?;
        }
        failures.try_for_each(|(number, failure)| self.0(number, Err(failure)))
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// State of one thread.
struct Worker<'a> {
    batch: &'a Batch,
    projection: &'a Projection,
    evaluator: Evaluator,
}

impl<'a> Worker<'a> {
    fn new(batch: &'a Batch, projection: &'a Projection) -> Worker<'a> {
        Worker { batch, projection, evaluator: batch.evaluator(&batch.work, projection) }
    }

    fn values<T: Serialize, R: DeserializeOwned>(
        &mut self,
        first: u64,
        job: Vec<T>,
        stop: &Stop,
        pace: &Pace,
        give: &Give<'_, Vec<(u64, Result<R, Failure>)>>,
    ) {
        let started = Instant::now();
        let mut made = Vec::with_capacity(job.len());
        let count = job.len() as u64;
        for (index, value) in (first..).zip(job) {
            if stop.is_set() {
                give.more(made);
                return;
            }
            let result = self.record(|evaluator, name| evaluator.serde(name, &value), Outcome::get);
            let failed = result.is_err();
            made.push((index, result));
            if failed && self.batch.fail_fast {
                break;
            }
        }
        pace.saw(count, started.elapsed());
        give.last(made);
    }

    /// Runs one record.
    fn record<T>(
        &mut self,
        run: impl for<'e> FnOnce(&'e mut Evaluator, &str) -> Result<&'e Outcome, Failure>,
        get: impl FnOnce(&Outcome) -> Result<T, Failure>,
    ) -> Result<T, Failure> {
        let (program, evaluator) = (&self.batch.work, &mut self.evaluator);
        let mut panicked = true;
        let ran = guarded(program, || {
            let ran = run(evaluator, &self.batch.name).and_then(get);
            panicked = false;
            ran
        });
        if panicked {
            self.evaluator = self.batch.evaluator(program, self.projection);
        }
        ran
    }
}
