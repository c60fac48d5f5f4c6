//! Answers of tools, kept for the rest of a run. Without limits nothing is ever dropped; with them, what was not
//! asked for the longest goes first.

use crate::definition::ToolCacheLimit;
use ptc_contract::keys::CacheKey;
use ptc_runtime::Frozen;
use std::collections::{BTreeMap, HashMap};

/// The answers of one run.
pub(crate) struct Cache {
    limit: ToolCacheLimit,
    kept: HashMap<CacheKey, CacheEntry>,
    bytes: u64,
    /// Counts what was asked: the clock of last uses.
    clock: u64,
}

struct CacheEntry {
    value: Frozen,
    bytes: u64,
    used: u64,
}

impl Cache {
    pub fn new(limit: Option<ToolCacheLimit>, known: &BTreeMap<CacheKey, Frozen>) -> Cache {
        let mut cache = Cache { limit: limit.unwrap_or_default(), kept: HashMap::new(), bytes: 0, clock: 0 };
        for (key, value) in known {
            cache.insert(key.clone(), value.clone(), None);
        }
        cache
    }

    /// The answer to a call that was made before.
    pub fn get(&mut self, key: &CacheKey) -> Option<Frozen> {
        self.clock += 1;
        let kept = self.kept.get_mut(key)?;
        kept.used = self.clock;
        Some(kept.value.clone())
    }

    /// Keeps an answer, unless it is larger than its tool or the cache allows. Whether it was kept.
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

    /// Everything that is kept.
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
