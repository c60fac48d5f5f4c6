//! A fold over many records: parts of the input are folded in parallel, then their values are combined.
//!
//! The parts and the order of combining depend on the input alone, so the value is the same for any number of threads.
//! Values travel as owned data: sharing with the records of a part would keep them all in memory.

use super::cut::{Cut, Open};
use super::gate::Held;
use super::input::{Input, One};
use super::lines::Parts;
use super::pipeline::{Stop, queue};
use super::rows::{Block, Pieces, Record};
use super::stats::Cost;
use super::{Batch, Ending, Summary, guarded, summary::Tally};
use crate::evaluator::Evaluator;
use crate::host::{Grants, Runtime};
use crate::program::Program;
use crate::run::{Failure, Outcome};
use crate::tally::Watching;
use ptc_bytecode::{Code, Diagnostic};
use ptc_compiler::Projection;
use ptc_vm::{Fault, Frozen};
use std::io;
use std::ops::ControlFlow;
use std::time::Instant;

/// Names of the data that the programs read, long so as not to clash with granted data.
const ROWS: &str = "reduce-rows";
const VALUE: &str = "reduce-value";
const OTHER: &str = "reduce-other";

/// The programs of a fold: the work of [`Batch::reduce`].
#[derive(Clone)]
pub struct Reducer {
    /// Program that folds the records of a part from `init`.
    fold: Program,
    /// Program that folds more records into a value.
    go_on: Program,
    combine: Program,
    finish: Program,
    /// Program for the value of no records.
    empty: Program,
}

impl Reducer {
    /// Returns the program that folds records.
    pub(super) fn program(&self) -> &Program {
        &self.fold
    }
}

/// Maker of cutters whose blocks depend on the input alone.
struct ByContent {
    max_line: usize,
}

impl Open for ByContent {
    fn open<'o>(&self, input: One<'o>, first: u64) -> Box<dyn Cut + 'o> {
        match input {
            One::Text(text) => Box::new(Parts::new(text, self.max_line, first)),
            // How the host cuts its table depends on the table alone, too.
            One::Tables(tables) => Box::new(Pieces::new(tables, None, first)),
        }
    }
}

impl Batch<Reducer> {
    /// Makes a fold. The program defines `init`, the initial value, `(step value record)`, `(combine value value)`,
    /// and optionally `(finish value)` for the end. Parts of the input are folded with `step`, each from `init`,
    /// and combined in order; the value equals that of folding all records in sequence if part boundaries do not
    /// matter.
    ///
    /// ```
    /// use ptc_runtime::{Batch, Runtime};
    /// let runtime = Runtime::with_core(ptc_preludes::core())?;
    /// let program = "(def init {:n 0 :sum 0})
    ///                (defn step [total row] (merge-with + total {:n 1 :sum (:amount row)}))
    ///                (defn combine [a b] (merge-with + a b))
    ///                (defn finish [total] (/ (:sum total) (:n total)))";
    /// let input: &[u8] = b"{\"amount\": 40}\n{\"amount\": null}\n{\"amount\": 120}";
    ///
    /// let mut failed = Vec::new();
    /// let (mean, summary) = Batch::reduce(&runtime, program)?.fold(input, |line, failure| {
    ///     failed.push((line, failure.reason()));
    ///     Ok(())
    /// });
    /// assert_eq!(mean?.map(|mean| mean.get::<f64>()).transpose()?, Some(80.0));
    /// assert_eq!(failed, [(2, "type_error")]);
    /// assert_eq!((summary.results, summary.failures), (2, 1));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn reduce(runtime: &Runtime, source: &str) -> Result<Batch<Reducer>, Failure> {
        runtime.compile(source)?;
        // The calls come after the program, so that source positions in it stay valid.
        let with = |call: String| runtime.compile(&format!("{source}\n{call}"));
        let defined = |name: &str| with(name.to_string());
        for name in ["init", "step", "combine"] {
            defined(name).map_err(|_| missing(name, source))?;
        }
        let finish = if defined("finish").is_ok() { "finish" } else { "identity" };
        let reducer = Reducer {
            fold: with(format!("(reduce step init data/{ROWS})"))?,
            go_on: with(format!("(reduce step data/{VALUE} data/{ROWS})"))?,
            combine: with(format!("(combine data/{VALUE} data/{OTHER})"))?,
            finish: with(format!("({finish} data/{VALUE})"))?,
            empty: with(format!("({finish} init)"))?,
        };
        // Only this program needs watching; continuing from a value runs the same code.
        let watching = Watching::of([&reducer.fold]);
        Ok(Batch::of(runtime, reducer, watching))
    }

    /// Returns warnings about fields that the program reads but no record had, once the batch has ended, like
    /// [`Batch::warnings`].
    ///
    /// ```
    /// use ptc_runtime::{Batch, Runtime};
    /// let runtime = Runtime::with_core(ptc_preludes::core())?;
    /// let program = "(def init 0)
    ///                (defn step [n row] (if (= (:staet row) \"open\") (inc n) n))
    ///                (defn combine [a b] (+ a b))";
    /// let batch = Batch::reduce(&runtime, program)?;
    /// let input: &[u8] = b"{\"state\": \"open\"}\n{\"state\": \"paid\"}\n";
    /// let _ = batch.fold(input, |_, _| Ok(()));
    /// assert_eq!(batch.warnings()[0].hint.as_deref(), Some("did you mean `:state`?"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn warnings(&self) -> Vec<Diagnostic> {
        self.tally.warnings(&self.work.fold)
    }

    /// Folds the records, one JSON text per line. `failed` receives the line number, from 1, of every record that
    /// could not be folded; the value is then that of the others. There is no value if the batch did not reach the
    /// end of the input.
    ///
    /// A part has the budget of one run. If a record fails, the records before it are folded again, and then those after
    /// it. If the budget is not enough, the part is folded in halves, and so on down to single records.
    pub fn fold<'i>(
        &self,
        input: impl Into<Input<'i>>,
        mut failed: impl FnMut(u64, Failure) -> io::Result<()>,
    ) -> (Result<Option<Outcome>, Failure>, Summary) {
        let started = Instant::now();
        let stop = Stop::new(&self.cancel);
        // The order of the parts matters, whatever `ordered` says.
        let (feed, queue) = queue::<(Block, Held), Part>(self.threads, true);
        let (input, open) = (input.into(), ByContent { max_line: self.max_line_bytes });
        let projection = &self.projection();
        let mut tally = Tally::new(&self.progress);
        let mut ending = None;
        let mut tree = Tree::default();
        let mut broken = None;
        let (read, whole) = std::thread::scope(|scope| {
            let read = self.reader(scope, input, feed, &stop, open);
            let whole = queue.drain(
                &stop,
                || Worker { batch: self, stop: &stop, projection, evaluator: None },
                |worker, (block, _held), give| {
                    let began = Instant::now();
                    let part = worker.part(&block);
                    if let Some(measured) = &self.measured
                        && let Some((number, _)) = block.records().next()
                    {
                        measured.add([Cost { number, fuel: part.fuel, took: began.elapsed() }]);
                    }
                    give.last(part);
                },
                |part| {
                    let any = !part.failures.is_empty();
                    tally.count(part.results, part.failures.len() as u64);
                    let told =
                        part.failures.into_iter().try_for_each(|(line, failure)| failed(line, failure));
                    let combined = match part.value {
                        Some(value) => tree.add(value, &mut |a, b| self.combine(a, b)),
                        None => Ok(()),
                    };
                    match (told, combined) {
                        (Err(error), _) => ending = Some(Ending::of_write(error)),
                        (_, Err(failure)) => {
                            broken = Some(failure);
                            ending = Some(Ending::Failed);
                        }
                        _ if any && self.fail_fast => ending = Some(Ending::Failed),
                        _ => return ControlFlow::Continue(()),
                    }
                    ControlFlow::Break(())
                },
                || ControlFlow::Continue(()),
            );
            (read, whole)
        });
        let ending = ending.unwrap_or_else(|| Ending::of_read(whole, read.get()));
        let value = match (broken, &ending) {
            (Some(failure), _) => Err(failure),
            (None, Ending::Complete) => self.value(tree).map(Some),
            _ => Ok(None),
        };
        (value, tally.summary(started, ending))
    }

    fn combine(&self, value: Frozen, other: Frozen) -> Result<Frozen, Failure> {
        let grants = self.grants.clone().frozen(VALUE, value).frozen(OTHER, other);
        owned(&self.work.combine, &self.once(&self.work.combine, &grants)?)
    }

    fn value(&self, tree: Tree) -> Result<Outcome, Failure> {
        match tree.end(&mut |a, b| self.combine(a, b))? {
            None => self.once(&self.work.empty, &self.grants),
            Some(value) => self.once(&self.work.finish, &self.grants.clone().frozen(VALUE, value)),
        }
    }

    fn once(&self, program: &Program, grants: &Grants) -> Result<Outcome, Failure> {
        guarded(program, || self.runtime.start_with(program, grants)?.finish())
    }
}

fn missing(name: &str, source: &str) -> Failure {
    let shape = match name {
        "init" => "(def init 0)",
        "step" => "(defn step [value record] (+ value (:amount record)))",
        _ => "(defn combine [value other] (+ value other))",
    };
    let message =
        format!("a program for reducing defines `init`, `step` and `combine`, but not `{name}` here");
    let fault = Fault::new(Code::UnboundVar, message).hint(format!("for example `{shape}`"));
    Failure::compile(vec![fault.to_diagnostic()], source)
}

/// Copies the value of an outcome, so that it keeps no other data alive.
fn owned(program: &Program, outcome: &Outcome) -> Result<Frozen, Failure> {
    let frozen = outcome.datum().and_then(|datum| Frozen::from_datum(&datum));
    frozen.map_err(|fault| Failure::of(fault, None, program.clone()))
}

/// Returns which of the rows a fold failed at, as its trace says; None if it does not say. It may be wrong, for a program
/// that folds something else: then some rows are folded more often, but no row is lost.
fn failed_at(failure: &Failure) -> Option<usize> {
    let trace = failure.diagnostic().trace.as_ref()?;
    let outermost = trace.outer.last().or(trace.inner.last());
    let index = outermost.map_or(trace.index, |call| call.index)?;
    usize::try_from(index).ok()
}

/// The result of a part of the input.
struct Part {
    value: Option<Frozen>,
    results: u64,
    failures: Vec<(u64, Failure)>,
    /// Fuel of all folds over it.
    fuel: u64,
}

struct Worker<'a> {
    batch: &'a Batch<Reducer>,
    stop: &'a Stop,
    projection: &'a Projection,
    evaluator: Option<Evaluator>,
}

impl Worker<'_> {
    fn part(&mut self, block: &Block) -> Part {
        let mut part = Part { value: None, results: 0, failures: Vec::new(), fuel: 0 };
        if let Some(number) = block.too_long() {
            part.failures.push((number, self.batch.too_long()));
        }
        let (numbers, rows): (Vec<u64>, Vec<Record<'_>>) = block.records().unzip();
        self.fold(&numbers, &rows, &mut part);
        part
    }

    /// Folds these rows on top of the value so far. If that fails, folds them again in smaller pieces, so that only the rows
    /// that fail on their own are left out.
    fn fold(&mut self, numbers: &[u64], rows: &[Record<'_>], part: &mut Part) {
        // Pieces of `rows` that are still to be folded, the first at the end.
        let mut waiting = Vec::new();
        waiting.push(0..rows.len());
        while let Some(piece) = waiting.pop() {
            let stopped = self.stop.is_set() || (self.batch.fail_fast && !part.failures.is_empty());
            if piece.is_empty() || stopped {
                continue;
            }
            match self.rows(&rows[piece.clone()], part.value.as_ref(), &mut part.fuel) {
                Ok(value) => {
                    part.value = Some(value);
                    part.results += piece.len() as u64;
                }
                Err(failure) if piece.len() == 1 => part.failures.push((numbers[piece.start], failure)),
                Err(failure) => match failed_at(&failure).filter(|at| *at < piece.len()) {
                    Some(at) => {
                        let at = piece.start + at;
                        waiting.extend([at + 1..piece.end, at..at + 1, piece.start..at]);
                    }
                    None => {
                        let half = piece.start + piece.len() / 2;
                        waiting.extend([half..piece.end, piece.start..half]);
                    }
                },
            }
        }
    }

    fn rows(
        &mut self,
        rows: &[Record<'_>],
        value: Option<&Frozen>,
        fuel: &mut u64,
    ) -> Result<Frozen, Failure> {
        let mut taken = |program: &Program, outcome: &Outcome| {
            *fuel = fuel.saturating_add(outcome.fuel);
            owned(program, outcome)
        };
        let batch = self.batch;
        let Reducer { fold, go_on, .. } = &batch.work;
        let Some(value) = value else {
            // Taken out, so that an evaluator that panicked is not used again.
            let mut evaluator =
                self.evaluator.take().unwrap_or_else(|| self.made(fold, batch.grants.clone()));
            let kept = &mut self.evaluator;
            return guarded(fold, || {
                let value =
                    Record::run_all(rows, &mut evaluator, ROWS).and_then(|outcome| taken(fold, outcome));
                *kept = Some(evaluator);
                value
            });
        };
        let grants = batch.grants.clone().frozen(VALUE, value.clone());
        guarded(go_on, || taken(go_on, Record::run_all(rows, &mut self.made(go_on, grants), ROWS)?))
    }

    fn made(&self, program: &Program, grants: Grants) -> Evaluator {
        let evaluator = Evaluator::new(&self.batch.runtime, program).grants(grants);
        let evaluator = evaluator.projecting(self.projection);
        evaluator.tallied(&self.batch.tally, &self.batch.watching)
    }
}

/// Values of parts, combined in pairs like the carries of a binary counter: few are kept at a time, and each is
/// combined with one of similar size.
#[derive(Default)]
struct Tree(Vec<(u32, Frozen)>);

type Combine<'a> = &'a mut dyn FnMut(Frozen, Frozen) -> Result<Frozen, Failure>;

impl Tree {
    fn add(&mut self, value: Frozen, combine: Combine) -> Result<(), Failure> {
        let (mut rank, mut value) = (0, value);
        while let Some((_, before)) = self.0.pop_if(|(known, _)| *known == rank) {
            value = combine(before, value)?;
            rank += 1;
        }
        self.0.push((rank, value));
        Ok(())
    }

    fn end(self, combine: Combine) -> Result<Option<Frozen>, Failure> {
        let mut values = self.0.into_iter().rev().map(|(_, value)| value);
        let Some(last) = values.next() else { return Ok(None) };
        values.try_fold(last, |value, before| combine(before, value)).map(Some)
    }
}
