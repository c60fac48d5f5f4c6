//! Sources of a batch's records.

use super::rows::{Rows, Tables};
use std::io::{self, Read};
use std::thread::Scope;

/// The input of a batch; converts from any reader, even one that borrows. A batch that ends early waits for the
/// read in progress; see [`Input::detached`] for readers that may block forever.
pub struct Input<'i>(Source<'i>);

enum Source<'i> {
    Borrowed(Box<dyn Read + Send + 'i>),
    Detached(Box<dyn Read + Send>),
    Tables(Tables<'i>),
}

/// An input on the thread that reads it.
pub(super) enum Opened<'i> {
    /// JSON lines.
    Text(Box<dyn Read + Send + 'i>),
    /// Blocks of rows.
    Tables(Tables<'i>),
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

    /// Runs `work` on the reader, on a separate thread.
    pub(super) fn read_on<'scope>(
        self,
        scope: &'scope Scope<'scope, '_>,
        work: impl FnOnce(Opened<'_>) + Send + 'static,
    ) where
        Self: 'scope,
    {
        match self.0 {
            Source::Borrowed(reader) => drop(scope.spawn(move || work(Opened::Text(reader)))),
            Source::Detached(reader) => drop(std::thread::spawn(move || work(Opened::Text(reader)))),
            Source::Tables(tables) => drop(scope.spawn(move || work(Opened::Tables(tables)))),
        }
    }
}

impl<'i, R: Read + Send + 'i> From<R> for Input<'i> {
    fn from(reader: R) -> Input<'i> {
        Input(Source::Borrowed(Box::new(reader)))
    }
}
