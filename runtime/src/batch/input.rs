//! Where the lines of a batch come from.

use std::io::Read;
use std::thread::Scope;

/// The input of a batch: any reader is one, also one that borrows. When a batch ends early, it waits for the read
/// that is under way; see [`Input::detached`] for readers that may keep it waiting for ever.
pub struct Input<'i>(Source<'i>);

enum Source<'i> {
    Borrowed(Box<dyn Read + Send + 'i>),
    Detached(Box<dyn Read + Send>),
}

impl Input<'_> {
    /// A reader that may wait without end, such as standard input or a socket. If the batch ends while it waits for more,
    /// the thread that reads is left behind.
    pub fn detached(reader: impl Read + Send + 'static) -> Input<'static> {
        Input(Source::Detached(Box::new(reader)))
    }

    /// Runs `work` on the reader, on a thread of its own.
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
