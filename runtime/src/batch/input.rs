//! Sources of a batch's lines.

use std::io::Read;
use std::thread::Scope;

/// The input of a batch; converts from any reader, even one that borrows. A batch that ends early waits for the
/// read in progress; see [`Input::detached`] for readers that may block forever.
pub struct Input<'i>(Source<'i>);

enum Source<'i> {
    Borrowed(Box<dyn Read + Send + 'i>),
    Detached(Box<dyn Read + Send>),
}

impl Input<'_> {
    /// Wraps a reader that may block without end, such as standard input or a socket. If the batch ends while it
    /// blocks, the reading thread is left behind.
    pub fn detached(reader: impl Read + Send + 'static) -> Input<'static> {
        Input(Source::Detached(Box::new(reader)))
    }

    /// Runs `work` on the reader, on a separate thread.
    pub(super) fn read_on<'scope>(
        self,
        scope: &'scope Scope<'scope, '_>,
        work: impl FnOnce(Box<dyn Read + Send + '_>) + Send + 'static,
    ) where
        Self: 'scope,
    {
        match self.0 {
            Source::Borrowed(reader) => drop(scope.spawn(move || work(reader))),
            Source::Detached(reader) => drop(std::thread::spawn(move || work(reader))),
        }
    }
}

impl<'i, R: Read + Send + 'i> From<R> for Input<'i> {
    fn from(reader: R) -> Input<'i> {
        Input(Source::Borrowed(Box::new(reader)))
    }
}
