//! Cache of a run's tool results. Nothing is dropped without limits; with limits, least recently used results go first.
//!
//! Calls in progress are kept, too: equal calls made meanwhile wait for the same result.

use crate::definition::ToolCacheLimit;
use futures_util::FutureExt;
use futures_util::future::{BoxFuture, Shared, WeakShared};
use ptc_contract::keys::CacheKey;
use ptc_runtime::{Frozen, Refusal};
use serde_json::Value;
use std::collections::{BTreeMap, HashMap};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

/// Cache of the answers of one run.
pub(crate) struct Cache {
    limit: ToolCacheLimit,
    kept: HashMap<CacheKey, CacheEntry>,
    bytes: u64,
    /// Counter of lookups: the clock of last uses.
    clock: u64,
    /// Calls under way. Each is held by its waiters, and gone with the last of them.
    flights: HashMap<CacheKey, (u64, WeakFlight)>,
    /// Counter that numbers calls, so that the end of one is not mistaken for that of its successor.
    flown: u64,
}

/// A call under way, held by one of its waiters. Any remaining waiter polls it to its end: the first caller may go.
pub(crate) struct Flight(Shared<BoxFuture<'static, Arc<Landing>>>);

type WeakFlight = WeakShared<BoxFuture<'static, Arc<Landing>>>;

/// Outcome of a call that several callers may have waited for.
pub(crate) struct Landing {
    pub answer: Result<Frozen, Refusal>,
    /// Bytes in the cache, if the result was kept.
    pub retained: Option<usize>,
    pub child_trace_id: Option<String>,
    /// Arguments and result of the host's code, for traces that are replayed.
    pub replay: Option<Value>,
}

/// Source of the answer to a call.
pub(crate) enum Lookup {
    /// A finished call.
    Kept(Frozen),
    /// A call in progress that another caller started.
    OnItsWay(Flight),
    /// A new call.
    New(Flight),
}

impl Flight {
    pub fn new(call: impl Future<Output = Landing> + Send + 'static) -> Flight {
        Flight(call.map(Arc::new).boxed().shared())
    }
}

impl Future for Flight {
    type Output = Arc<Landing>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Arc<Landing>> {
        self.0.poll_unpin(cx)
    }
}

struct CacheEntry {
    value: Frozen,
    bytes: u64,
    used: u64,
}

impl Cache {
    pub fn new(limit: Option<ToolCacheLimit>, known: &BTreeMap<CacheKey, Frozen>) -> Cache {
        let limit = limit.unwrap_or_default();
        let (kept, flights) = (HashMap::new(), HashMap::new());
        let mut cache = Cache { limit, kept, bytes: 0, clock: 0, flights, flown: 0 };
        for (key, value) in known {
            cache.insert(key.clone(), value.clone(), None);
        }
        cache
    }

    /// Looks up the result of a call. `begin` makes the future of a call that is not known yet; it gets the number that
    /// [`Cache::landed`] expects.
    pub fn look_up(&mut self, key: &CacheKey, begin: impl FnOnce(u64) -> Flight) -> Lookup {
        if let Some(known) = self.get(key) {
            return Lookup::Kept(known);
        }
        if let Some(flight) = self.flights.get(key).and_then(|(_, flight)| flight.upgrade()) {
            return Lookup::OnItsWay(Flight(flight));
        }
        self.flown += 1;
        let flight = begin(self.flown);
        if let Some(weak) = flight.0.downgrade() {
            self.flights.insert(key.clone(), (self.flown, weak));
        }
        Lookup::New(flight)
    }

    /// Removes a finished call from those in progress, so that nobody can join it any more.
    pub fn landed(&mut self, key: &CacheKey, id: u64) {
        if self.flights.get(key).is_some_and(|(known, _)| *known == id) {
            self.flights.remove(key);
        }
    }

    /// Returns the result of a finished call.
    fn get(&mut self, key: &CacheKey) -> Option<Frozen> {
        self.clock += 1;
        let kept = self.kept.get_mut(key)?;
        kept.used = self.clock;
        Some(kept.value.clone())
    }

    /// Keeps a result, unless it is larger than its tool or the cache allows. Returns whether it was kept.
    pub fn insert(&mut self, key: CacheKey, value: Frozen, most: Option<u64>) -> bool {
        let bytes = value.bytes() as u64;
        let too_large = |limit: Option<u64>| limit.is_some_and(|limit| bytes > limit);
        if too_large(most) || too_large(self.limit.bytes) || self.limit.entries == Some(0) {
            return false;
        }
        self.clock += 1;
        if let Some(old) = self.kept.insert(key, CacheEntry { value, bytes, used: self.clock }) {
            self.bytes -= old.bytes;
        }
        self.bytes += bytes;
        while self.is_over() {
            let oldest = self.kept.iter().min_by_key(|(_, kept)| kept.used).map(|(key, _)| key.clone());
            let Some(gone) = oldest.and_then(|key| self.kept.remove(&key)) else { break };
            self.bytes -= gone.bytes;
        }
        true
    }

    fn is_over(&self) -> bool {
        self.limit.bytes.is_some_and(|most| self.bytes > most)
            || self.limit.entries.is_some_and(|most| self.kept.len() as u64 > most)
    }

    /// Returns everything kept, most recently used first.
    pub fn newest(&self) -> Vec<(CacheKey, Frozen)> {
        let mut all: Vec<(&CacheKey, &CacheEntry)> = self.kept.iter().collect();
        all.sort_by_key(|(_, kept)| std::cmp::Reverse(kept.used));
        all.into_iter().map(|(key, kept)| (key.clone(), kept.value.clone())).collect()
    }

    /// Returns everything kept.
    pub fn all(&self) -> BTreeMap<CacheKey, Frozen> {
        self.kept.iter().map(|(key, kept)| (key.clone(), kept.value.clone())).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ptc_bytecode::{Datum, Node};
    use ptc_contract::keys::canonical_cache_key;

    fn key(name: &str) -> CacheKey {
        canonical_cache_key(name, &Datum::scalar(Node::Map(0)))
    }

    fn text(bytes: usize) -> Frozen {
        Frozen::from_datum(&Datum::scalar(Node::Str("x".repeat(bytes).into()))).unwrap()
    }

    /// Looks up a call whose answer is the value that the sender sends.
    fn call(cache: &mut Cache, key: &CacheKey) -> (Lookup, tokio::sync::oneshot::Sender<Frozen>) {
        let (answer, wait) = tokio::sync::oneshot::channel();
        let landing = async {
            let answer = wait.await.map_err(|_| ptc_runtime::ToolError::new("gone").into());
            Landing { answer, retained: None, child_trace_id: None, replay: None }
        };
        (cache.look_up(key, |_| Flight::new(landing)), answer)
    }

    #[test]
    fn whoever_is_left_takes_a_call_to_its_end() {
        let mut cache = Cache::new(None, &BTreeMap::new());
        let (first, answer) = call(&mut cache, &key("a"));
        let (second, never) = call(&mut cache, &key("a"));
        assert!(never.is_closed(), "it is the same call");
        let (Lookup::New(mut first), Lookup::OnItsWay(mut second)) = (first, second) else { panic!() };
        assert!((&mut first).now_or_never().is_none() && (&mut second).now_or_never().is_none());
        drop(first);
        answer.send(text(10)).unwrap();
        let landing = second.now_or_never().expect("an answer");
        assert!(landing.answer.is_ok());
    }

    #[test]
    fn a_call_that_nobody_waits_for_is_dropped_and_made_anew() {
        let mut cache = Cache::new(None, &BTreeMap::new());
        let (first, answer) = call(&mut cache, &key("a"));
        drop(first);
        assert!(answer.is_closed(), "what it does is given up");
        let (second, _answer) = call(&mut cache, &key("a"));
        assert!(matches!(second, Lookup::New(_)));
        cache.landed(&key("a"), 1);
        assert_eq!(cache.flights.len(), 1, "the end of the first is not that of the second");
        cache.landed(&key("a"), 2);
        assert!(cache.flights.is_empty());
    }

    #[test]
    fn what_was_not_asked_for_the_longest_goes_first() {
        let limit = ToolCacheLimit { entries: Some(2), bytes: None };
        let mut cache = Cache::new(Some(limit), &BTreeMap::new());
        assert!(cache.insert(key("a"), text(10), None) && cache.insert(key("b"), text(10), None));
        assert!(cache.get(&key("a")).is_some());
        cache.insert(key("c"), text(10), None);
        assert!(cache.get(&key("b")).is_none());
        assert!(cache.get(&key("a")).is_some() && cache.get(&key("c")).is_some());
    }

    #[test]
    fn bytes_are_counted() {
        let limit = ToolCacheLimit { entries: None, bytes: Some(10_000) };
        let mut cache = Cache::new(Some(limit), &BTreeMap::new());
        for i in 0..20 {
            cache.insert(key(&format!("t{i}")), text(2_000), None);
            assert!(cache.bytes <= 10_000);
        }
        assert!(!cache.insert(key("large"), text(20_000), None), "it would drive out everything else");
        assert!(!cache.insert(key("mine"), text(2_000), Some(1_000)), "its tool says so");
        assert!(cache.get(&key("t19")).is_some());
    }
}
