//! Replies piece by piece.

use crate::Tokens;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// A piece of a reply.
#[derive(Clone, PartialEq, Debug)]
pub enum Chunk {
    /// More text.
    Delta(String),
    /// The end of a reply, and what it cost.
    Done(Option<Tokens>),
    /// The reply broke off and is asked for again: its pieces so far are void. Only sinks that are
    /// [restartable](ChunkSink::restartable) get it.
    Restart,
}

/// Where pieces go. One that panics is not asked again about that piece, and the reply goes on.
///
/// ```
/// use ptc_model::{Chunk, ChunkSink};
/// let sink = ChunkSink::new(|chunk| if chunk == Chunk::Done(None) { panic!("full") });
/// sink.send(Chunk::Delta("hi".to_string()));
/// sink.send(Chunk::Done(None));
/// assert_eq!((sink.sent(), sink.failed()), (1, 1));
/// ```
#[derive(Clone)]
pub struct ChunkSink(Arc<Inner>);

struct Inner {
    to: Box<dyn Fn(Chunk) + Send + Sync>,
    sent: AtomicU64,
    failed: AtomicU64,
    may_restart: bool,
}

impl ChunkSink {
    /// Pieces go to this function. A reply of which one was sent is not asked for again.
    pub fn new(to: impl Fn(Chunk) + Send + Sync + 'static) -> ChunkSink {
        ChunkSink::with(Box::new(to), false)
    }

    /// Pieces go to this function, which can forget those of a reply that broke off: [`Chunk::Restart`] says when.
    pub fn restartable(to: impl Fn(Chunk) + Send + Sync + 'static) -> ChunkSink {
        ChunkSink::with(Box::new(to), true)
    }

    fn with(to: Box<dyn Fn(Chunk) + Send + Sync>, may_restart: bool) -> ChunkSink {
        let (sent, failed) = (AtomicU64::new(0), AtomicU64::new(0));
        ChunkSink(Arc::new(Inner { to, sent, failed, may_restart }))
    }

    /// True if a reply may be asked for again after a piece of it went out.
    pub(crate) fn may_restart(&self) -> bool {
        self.0.may_restart
    }

    /// One more piece.
    pub fn send(&self, chunk: Chunk) {
        let count = match catch_unwind(AssertUnwindSafe(|| (self.0.to)(chunk))) {
            Ok(()) => &self.0.sent,
            Err(_) => &self.0.failed,
        };
        count.fetch_add(1, Ordering::Relaxed);
    }

    /// How many pieces arrived.
    pub fn sent(&self) -> u64 {
        self.0.sent.load(Ordering::Relaxed)
    }

    /// How many pieces were lost because the function panicked.
    pub fn failed(&self) -> u64 {
        self.0.failed.load(Ordering::Relaxed)
    }

    /// How many pieces went out, whether they arrived or not.
    pub(crate) fn tried(&self) -> u64 {
        self.sent().saturating_add(self.failed())
    }
}

impl fmt::Debug for ChunkSink {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ChunkSink").field("sent", &self.sent()).field("failed", &self.failed()).finish()
    }
}
