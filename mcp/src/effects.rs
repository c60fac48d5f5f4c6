//! Counts of effects, for metrics: a ledger that counts what it is asked and told.

use ptc_runtime::effects::{
    Begun, EffectId, Entry, Filter, Forget, Intent, Ledger, LedgerFuture, Outcome, State, Verdict,
};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// What is counted: what the ledger said of calls, and what came of those that were sent.
const WHAT: [&str; 10] =
    ["sent", "known", "settled", "unknown", "diverged", "unusable", "done", "failed", "refused", "lost"];

/// Counts of effects since the start of the server.
#[derive(Debug, Default)]
pub struct EffectCounts([AtomicU64; WHAT.len()]);

impl EffectCounts {
    fn count(&self, what: &str) {
        if let Some(at) = WHAT.iter().position(|known| *known == what) {
            self.0[at].fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Returns the counts by name.
    pub fn all(&self) -> Vec<(&'static str, u64)> {
        WHAT.into_iter().zip(self.0.iter().map(|count| count.load(Ordering::Relaxed))).collect()
    }
}

/// A ledger with counts.
#[derive(Debug)]
pub(crate) struct Counted {
    pub ledger: Arc<dyn Ledger>,
    pub counts: Arc<EffectCounts>,
}

impl Ledger for Counted {
    fn begin(&self, intent: Intent) -> LedgerFuture<'_, Begun> {
        let begun = self.ledger.begin(intent);
        Box::pin(async move {
            let begun = begun.await;
            self.counts.count(begun.as_ref().map_or("unusable", Begun::name));
            begun
        })
    }

    fn end<'a>(&'a self, id: &'a EffectId, attempt: u32, outcome: Outcome) -> LedgerFuture<'a, ()> {
        self.counts.count(match outcome.state() {
            State::Unknown => "lost",
            state => state.name(),
        });
        self.ledger.end(id, attempt, outcome)
    }

    fn abandon(&self, id: &EffectId, why: &str) {
        self.counts.count("lost");
        self.ledger.abandon(id, why);
    }

    fn settle<'a>(&'a self, id: &'a EffectId, verdict: Verdict) -> LedgerFuture<'a, Entry> {
        self.ledger.settle(id, verdict)
    }

    fn get<'a>(&'a self, id: &'a EffectId) -> LedgerFuture<'a, Option<Entry>> {
        self.ledger.get(id)
    }

    fn list(&self, filter: Filter) -> LedgerFuture<'_, Vec<Entry>> {
        self.ledger.list(filter)
    }

    fn forget(&self, what: Forget) -> LedgerFuture<'_, u64> {
        self.ledger.forget(what)
    }

    fn keyed_hash(&self, bytes: &[u8]) -> String {
        self.ledger.keyed_hash(bytes)
    }
}
