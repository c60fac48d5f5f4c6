//! Results of tools that only read, kept for a while.

use crate::client::Reply;
use serde_json::{Map, Value};
use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Maximum size of all results of one server, in bytes.
const BYTES: usize = 32 << 20;

/// Maximum number of results.
const RESULTS: usize = 2_000;

/// Results of one server.
#[derive(Debug, Default)]
pub(crate) struct Cache(Mutex<Kept>);

#[derive(Debug, Default)]
struct Kept {
    results: HashMap<String, (Instant, Reply)>,
    bytes: usize,
}

/// Returns the name of a result: equal calls have the same.
pub(crate) fn key(tool: &str, args: &Map<String, Value>) -> String {
    let mut sorted: Vec<(&String, &Value)> = args.iter().collect();
    sorted.sort_unstable_by_key(|(name, _)| *name);
    let args: Vec<String> = sorted.into_iter().map(|(name, value)| format!("{name:?}:{value}")).collect();
    format!("{tool:?}({})", args.join(","))
}

impl Cache {
    /// Returns a result that is not too old.
    pub fn get(&self, key: &str, now: Instant) -> Option<Reply> {
        let kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        kept.results.get(key).filter(|(until, _)| now < *until).map(|(_, reply)| reply.clone())
    }

    /// Keeps a result. Makes room by dropping those that are too old, and then those that will be soonest.
    pub fn put(&self, key: String, reply: Reply, now: Instant, keep: Duration) {
        let size = |key: &str, reply: &Reply| key.len() + reply.result.get().len();
        let own = size(&key, &reply);
        if own > BYTES / 4 {
            return;
        }
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let Kept { results, bytes } = &mut *kept;
        if let Some((_, before)) = results.remove(&key) {
            *bytes -= size(&key, &before);
        }
        if *bytes + own > BYTES || results.len() >= RESULTS {
            let mut all: Vec<(Instant, String)> =
                results.iter().map(|(key, (until, _))| (*until, key.clone())).collect();
            all.sort_unstable();
            for (until, old) in all {
                if until > now && *bytes + own <= BYTES / 2 && results.len() < RESULTS / 2 {
                    break;
                }
                if let Some((_, before)) = results.remove(&old) {
                    *bytes -= size(&old, &before);
                }
            }
        }
        *bytes += own;
        results.insert(key, (now + keep, reply));
    }

    /// Drops all results, since a tool that may write was called.
    pub fn clear(&self) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Kept::default();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn args(value: Value) -> Map<String, Value> {
        value.as_object().cloned().unwrap_or_default()
    }

    #[test]
    fn results_are_kept_for_a_while() {
        let (cache, now) = (Cache::default(), Instant::now());
        let keep = Duration::from_secs(5);
        assert_eq!(key("t", &args(json!({"b": 1, "a": "x"}))), key("t", &args(json!({"a": "x", "b": 1}))));
        assert_ne!(key("t", &args(json!({"a": "1"}))), key("t", &args(json!({"a": 1}))));
        let own = key("t", &args(json!({"a": 1})));
        cache.put(own.clone(), Reply::new(&json!({"n": 1})), now, keep);
        assert!(cache.get(&own, now + Duration::from_secs(4)).is_some());
        assert!(cache.get(&own, now + keep).is_none());
        cache.clear();
        assert!(cache.get(&own, now).is_none());
    }

    #[test]
    fn there_is_a_limit() {
        let (cache, now) = (Cache::default(), Instant::now());
        let reply = Reply::new(&json!("x".repeat(1 << 20)));
        for n in 0..100 {
            cache.put(n.to_string(), reply.clone(), now, Duration::from_secs(60 + n));
        }
        let kept = cache.0.lock().unwrap();
        assert!(kept.bytes <= BYTES && kept.results.len() >= 10, "{} {}", kept.bytes, kept.results.len());
        assert!(kept.results.contains_key("99"));
    }
}
