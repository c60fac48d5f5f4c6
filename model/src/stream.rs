//! Replies in pieces.

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
    /// End of a reply, with its token counts and cost.
    Done(Option<Tokens>),
    /// The reply broke off and is requested again: its pieces so far must be discarded. Only
    /// [restartable](ChunkSink::restartable) sinks get this.
    Restart,
}

/// Receiver of the pieces of replies. If it panics on a piece, that piece is lost and the reply continues.
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
    /// Sends pieces to this function. A reply that has sent a piece is not retried.
    pub fn new(to: impl Fn(Chunk) + Send + Sync + 'static) -> ChunkSink {
        ChunkSink::with(Box::new(to), false)
    }

    /// Sends pieces to this function, which must forget those of a broken-off reply at [`Chunk::Restart`].
    pub fn restartable(to: impl Fn(Chunk) + Send + Sync + 'static) -> ChunkSink {
        ChunkSink::with(Box::new(to), true)
    }

    fn with(to: Box<dyn Fn(Chunk) + Send + Sync>, may_restart: bool) -> ChunkSink {
        let (sent, failed) = (AtomicU64::new(0), AtomicU64::new(0));
        ChunkSink(Arc::new(Inner { to, sent, failed, may_restart }))
    }

    /// Returns whether a reply that has sent a piece may be retried.
    pub(crate) fn may_restart(&self) -> bool {
        self.0.may_restart
    }

    /// Sends a piece.
    pub fn send(&self, chunk: Chunk) {
        let count = match catch_unwind(AssertUnwindSafe(|| (self.0.to)(chunk))) {
            Ok(()) => &self.0.sent,
            Err(_) => &self.0.failed,
        };
        count.fetch_add(1, Ordering::Relaxed);
    }

    /// Returns the number of pieces received.
    pub fn sent(&self) -> u64 {
        self.0.sent.load(Ordering::Relaxed)
    }

    /// Returns the number of pieces lost to panics of the function.
    pub fn failed(&self) -> u64 {
        self.0.failed.load(Ordering::Relaxed)
    }

    /// Returns the number of pieces sent, received or lost.
    pub(crate) fn tried(&self) -> u64 {
        self.sent().saturating_add(self.failed())
    }
}

impl fmt::Debug for ChunkSink {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ChunkSink").field("sent", &self.sent()).field("failed", &self.failed()).finish()
    }
}
