//! Sources of a batch's records.

use super::rows::{Rows, Tables};
use std::io::{self, Read};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::Scope;

/// The input of a batch; converts from any reader, even one that borrows. A batch that ends early waits for the
/// read in progress; see [`Input::detached`] for readers that may block forever.
pub struct Input<'i>(Source<'i>);

enum Source<'i> {
    Borrowed(Box<dyn Read + Send + 'i>),
    Detached(Box<dyn Read + Send>),
    Tables(Tables<'i>),
    Chain(Chain),
}

/// An input on the thread that reads it.
pub(super) enum Opened<'i> {
    One(One<'i>),
    Chain(Chain),
}

/// An input that is not a chain.
pub(super) enum One<'i> {
    /// JSON lines.
    Text(Box<dyn Read + Send + 'i>),
    /// Blocks of rows.
    Tables(Tables<'i>),
}

/// Inputs one after the other.
pub(super) struct Chain {
    pub inputs: Box<dyn Iterator<Item = io::Result<Input<'static>>> + Send>,
    pub starts: Arc<Starts>,
}

/// The numbers of the first records of chained inputs, as far as they have been read.
///
/// ```
/// use ptc_runtime::{Batch, Input, Runtime, Starts};
/// use std::sync::Arc;
/// let runtime = Runtime::with_core(ptc_preludes::core())?;
/// let batch = Batch::new(&runtime, &runtime.compile("(inc data/row)")?);
/// let (starts, mut failed) = (Arc::<Starts>::default(), Vec::new());
/// let inputs = ["1\n2", "nil\n4\n", "oops"].map(|text| Ok(Input::from(text.as_bytes())));
/// let mut output = Vec::new();
/// let _ = batch.lines(Input::chain(inputs.into_iter(), &starts), &mut output, |line, _| {
///     failed.push(starts.place_of(line));
///     Ok(())
/// });
/// assert_eq!(output, b"2\n3\n5\n");
/// assert_eq!(failed, [(1, 1), (2, 1)]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Default, Debug)]
pub struct Starts(Mutex<Vec<u64>>);

impl Starts {
    /// Returns which of the inputs a record is of, counted from 0, and its number there, counted from 1.
    pub fn place_of(&self, number: u64) -> (usize, u64) {
        let starts = self.numbers();
        let at = starts.partition_point(|start| *start <= number).saturating_sub(1);
        let start = starts.get(at).copied().unwrap_or(1);
        (at, (number + 1).saturating_sub(start))
    }

    pub(super) fn add(&self, number: u64) {
        self.numbers().push(number);
    }

    fn numbers(&self) -> MutexGuard<'_, Vec<u64>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<'i> Input<'i> {
    /// Wraps a reader that may block without end, such as standard input or a socket. If the batch ends while it
    /// blocks, the reading thread is left behind.
    pub fn detached(reader: impl Read + Send + 'static) -> Input<'static> {
        Input(Source::Detached(Box::new(reader)))
    }

    /// Wraps blocks of rows, whose numbers count from 1. An error ends the batch as one of a reader does.
    pub fn rows(blocks: impl Iterator<Item = io::Result<Box<dyn Rows>>> + Send + 'i) -> Input<'i> {
        Input(Source::Tables(Box::new(blocks)))
    }

    /// Chains inputs, each opened when the one before has ended. Records are numbered on through all of them; `starts` tells
    /// which are whose. If the batch ends while an input blocks, the reading thread is left behind.
    pub fn chain(
        inputs: impl Iterator<Item = io::Result<Input<'static>>> + Send + 'static,
        starts: &Arc<Starts>,
    ) -> Input<'static> {
        Input(Source::Chain(Chain { inputs: Box::new(inputs), starts: starts.clone() }))
    }

    /// Opens it on this thread.
    pub(super) fn opened(self) -> Opened<'i> {
        match self.0 {
            Source::Borrowed(reader) => Opened::One(One::Text(reader)),
            Source::Detached(reader) => Opened::One(One::Text(reader)),
            Source::Tables(tables) => Opened::One(One::Tables(tables)),
            Source::Chain(chain) => Opened::Chain(chain),
        }
    }

    /// Runs `work` on the reader, on a separate thread.
    pub(super) fn read_on<'scope>(
        self,
        scope: &'scope Scope<'scope, '_>,
        work: impl FnOnce(Opened<'_>) + Send + 'static,
    ) where
        Self: 'scope,
    {
        match self.0 {
            Source::Borrowed(reader) => drop(scope.spawn(move || work(Opened::One(One::Text(reader))))),
            Source::Detached(reader) => {
                drop(std::thread::spawn(move || work(Opened::One(One::Text(reader)))))
            }
            Source::Tables(tables) => drop(scope.spawn(move || work(Opened::One(One::Tables(tables))))),
            Source::Chain(chain) => drop(std::thread::spawn(move || work(Opened::Chain(chain)))),
        }
    }
}

impl<'i, R: Read + Send + 'i> From<R> for Input<'i> {
    fn from(reader: R) -> Input<'i> {
        Input(Source::Borrowed(Box::new(reader)))
    }
}
