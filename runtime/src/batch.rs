//! Runs of programs over many records, on all cores, in memory that does not grow with the input: one program
//! ([`Batch::new`]), several at once ([`Batch::rules`]), or a fold into one value ([`Batch::reduce`]).

mod cut;
mod gate;
mod input;
mod lines;
mod pace;
mod pipeline;
mod projection;
mod reduce;
mod rows;
mod rules;
mod single;
mod stats;
mod stream;
mod summary;
#[cfg(test)]
mod tests;

use crate::evaluator::Evaluator;
use crate::host::{Grants, Runtime};
use crate::program::Program;
use crate::run::Failure;
use crate::tally::{Tally, Watching};
use crate::watch::Cancel;
pub use input::{Input, Starts};
use ptc_bytecode::Diagnostic;
use ptc_compiler::Projection;
pub use reduce::Reducer;
pub use rows::Rows;
pub use rules::Rules;
use stats::Measured;
pub use stats::{Cost, Stats};
use std::num::NonZeroUsize;
use std::sync::Arc;
pub use summary::{Ending, Progress, Summary};

/// Runs programs over many records: JSON lines, or [rows](Input::rows) of tables, with `lines`, Rust values with [`Batch::map`]. Every record is a run
/// of its own, with its own budget; a failed record does not disturb the others. Memory is bounded whatever the
/// size of the input.
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
pub struct Batch<Work = Program> {
    runtime: Runtime,
    work: Work,
    grants: Grants,
    name: String,
    fields: bool,
    threads: usize,
    ordered: bool,
    fail_fast: bool,
    skip_nil: bool,
    take: u64,
    max_line_bytes: usize,
    cancel: Cancel,
    progress: Arc<Progress>,
    measured: Option<Arc<Measured>>,
    tally: Arc<Tally>,
    watching: Arc<Watching>,
}

impl Batch {
    /// Makes a batch for a program without data besides the records. Tools of the runtime are called from several
    /// threads.
    pub fn new(runtime: &Runtime, program: &Program) -> Batch {
        Batch::of(runtime, program.clone(), Watching::of([program]))
    }

    /// Returns the program.
    pub fn program(&self) -> &Program {
        &self.work
    }

    /// Returns warnings about fields that the program reads but no record had, once the batch has ended: most often
    /// they are misspelt.
    ///
    /// ```
    /// use ptc_runtime::{Batch, Runtime};
    /// let runtime = Runtime::with_core(ptc_preludes::core())?;
    /// let batch = Batch::new(&runtime, &runtime.compile("(:totl data/row)")?);
    /// let input: &[u8] = b"{\"total\": 1}\n{\"total\": 2}\n";
    /// let _ = batch.lines(input, &mut Vec::new(), |_, _| Ok(()));
    /// assert_eq!(batch.warnings()[0].hint.as_deref(), Some("did you mean `:total`?"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn warnings(&self) -> Vec<Diagnostic> {
        self.tally.warnings(&self.work)
    }
}

impl<Work> Batch<Work> {
    fn of(runtime: &Runtime, work: Work, watching: Watching) -> Batch<Work> {
        Batch {
            runtime: runtime.clone(),
            work,
            grants: Grants::new(),
            name: "row".to_string(),
            fields: false,
            threads: std::thread::available_parallelism().map_or(1, NonZeroUsize::get),
            ordered: true,
            fail_fast: false,
            skip_nil: false,
            take: u64::MAX,
            max_line_bytes: 64 << 20,
            cancel: Cancel::new(),
            progress: Arc::default(),
            measured: None,
            tally: Arc::default(),
            watching: Arc::new(watching),
        }
    }

    /// Grants data to every record. Cancelling these grants also ends the batch.
    #[must_use]
    pub fn grants(mut self, grants: Grants) -> Self {
        if let Some(cancel) = &grants.cancel {
            self.cancel = cancel.clone();
        }
        self.grants = grants;
        self
    }

    /// Sets the data name of the record: `data/<name>`; the default is `data/row`.
    #[must_use]
    pub fn name(mut self, name: &str) -> Self {
        self.name = name.to_string();
        self
    }

    /// Sets whether the members of a record are `data/<member>` too; a record that is not an object then fails.
    /// Data of [`Batch::grants`] takes precedence over a member of the same name.
    ///
    /// ```
    /// use ptc_runtime::{Batch, Runtime};
    /// let runtime = Runtime::with_core(ptc_preludes::core())?;
    /// let program = runtime.compile("(* data/price data/amount)")?;
    /// let mut output = Vec::new();
    /// let input: &[u8] = br#"{"price": 3, "amount": 4}"#;
    /// let _ = Batch::new(&runtime, &program).fields(true).lines(input, &mut output, |_, _| Ok(()));
    /// assert_eq!(output, b"12\n");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn fields(mut self, fields: bool) -> Self {
        self.fields = fields;
        self
    }

    /// Sets the number of records that run at the same time; the default is one per core.
    #[must_use]
    pub fn threads(mut self, threads: usize) -> Self {
        self.threads = threads.max(1);
        self
    }

    /// Sets whether [`Batch::lines`] leaves out records whose result is nil, so that a program can filter; the default
    /// is false.
    ///
    /// ```
    /// use ptc_runtime::{Batch, Runtime};
    /// let runtime = Runtime::with_core(ptc_preludes::core())?;
    /// let program = runtime.compile("(when (odd? data/row) data/row)")?;
    /// let mut output = Vec::new();
    /// let _ = Batch::new(&runtime, &program).skip_nil(true).lines(&b"1\n2\n3\n"[..], &mut output, |_, _| Ok(()));
    /// assert_eq!(output, b"1\n3\n");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn skip_nil(mut self, skip_nil: bool) -> Self {
        self.skip_nil = skip_nil;
        self
    }

    /// Sets whether results come in the order of their records; the default is true.
    #[must_use]
    pub fn ordered(mut self, ordered: bool) -> Self {
        self.ordered = ordered;
        self
    }

    /// Sets whether to stop at the first record that fails. With ordered results, everything before it is
    /// delivered, and nothing after it.
    #[must_use]
    pub fn fail_fast(mut self, fail_fast: bool) -> Self {
        self.fail_fast = fail_fast;
        self
    }

    /// Limits the batch to the first `records` records.
    #[must_use]
    pub fn take(mut self, records: u64) -> Self {
        self.take = records;
        self
    }

    /// Sets the maximum length of a line, 64 MiB by default. A longer line fails, and is not kept in memory.
    #[must_use]
    pub fn max_line_bytes(mut self, bytes: usize) -> Self {
        self.max_line_bytes = bytes;
        self
    }

    /// Lets the host end the batch: running records finish, and no others begin. With ordered results, the
    /// delivered ones are an unbroken prefix of all.
    #[must_use]
    pub fn cancel(mut self, cancel: &Cancel) -> Self {
        self.cancel = cancel.clone();
        self
    }

    /// Returns the progress of the batch, for another thread to read.
    pub fn progress(&self) -> Arc<Progress> {
        self.progress.clone()
    }

    /// Returns the number of records that run at the same time, and whether results keep their order.
    pub fn plan(&self) -> (usize, bool) {
        (self.threads, self.ordered)
    }

    /// Sets whether [`Batch::stats`] are kept, for batches over lines and rows; the default is false.
    #[must_use]
    pub fn measured(mut self, is_measured: bool) -> Self {
        self.measured = is_measured.then(Arc::default);
        self
    }

    /// Returns what the records cost so far; nothing unless they are [measured](Batch::measured).
    pub fn stats(&self) -> Stats {
        self.measured.as_ref().map(|measured| measured.stats()).unwrap_or_default()
    }

    fn evaluator(&self, program: &Program, projection: &Projection) -> Evaluator {
        let evaluator =
            Evaluator::new(&self.runtime, program).grants(self.grants.clone()).fields(self.fields);
        evaluator.projecting(projection).tallied(&self.tally, &self.watching)
    }
}

/// Runs one record and turns a panic into a failure: a bug of ours in one record is no reason to lose all the others.
fn guarded<T>(program: &Program, run: impl FnOnce() -> Result<T, Failure>) -> Result<T, Failure> {
    let ran = std::panic::catch_unwind(std::panic::AssertUnwindSafe(run));
    ran.unwrap_or_else(|_| {
        let fault = ptc_vm::Fault::new(ptc_bytecode::Code::Internal, "the run panicked");
        Err(Failure::of(fault, None, program.clone()))
    })
}
