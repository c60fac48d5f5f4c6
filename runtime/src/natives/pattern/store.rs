//! Cache of compiled patterns: one for the process, bounded by bytes.
//!
//! The cache is invisible to programs: a pattern costs the same whether it is found here or compiled.

use super::Engine;
use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, LazyLock, PoisonError, RwLock};

/// Maximum bytes of compiled patterns, and of the tables that searches fill.
pub const MOST_BYTES: usize = 32 << 20;

/// Minimum bytes counted for an entry, so that many small ones are bounded too.
const LEAST_BYTES: usize = 1 << 10;

/// Bytes of all live patterns and tables.
static HELD: AtomicUsize = AtomicUsize::new(0);

/// Counter of added patterns, which tells the least recently used ones.
static NOW: AtomicU64 = AtomicU64::new(0);

/// A share of the bytes held, released when it is dropped.
#[derive(Debug)]
pub struct Held(usize);

impl Held {
    /// Counts this many bytes.
    pub fn new(bytes: usize) -> Held {
        let bytes = bytes.max(LEAST_BYTES);
        HELD.fetch_add(bytes, Ordering::Relaxed);
        Held(bytes)
    }

    /// Changes the number of bytes counted.
    pub fn change(&mut self, bytes: usize) {
        if bytes.max(LEAST_BYTES) != self.0 {
            *self = Held::new(bytes);
        }
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        HELD.fetch_sub(self.0, Ordering::Relaxed);
    }
}

struct Entry {
    engine: Arc<Engine>,
    used: AtomicU64,
}

type Entries = RwLock<HashMap<Box<str>, Entry>>;

/// Cached patterns: for a part of a text, and for all of it.
static ENTRIES: LazyLock<[Entries; 2]> = LazyLock::new(Default::default);

/// Returns the cached engine of a pattern.
pub fn find(source: &str, whole: bool) -> Option<Arc<Engine>> {
    let entries = ENTRIES[usize::from(whole)].read().unwrap_or_else(PoisonError::into_inner);
    let entry = entries.get(source)?;
    entry.used.store(NOW.load(Ordering::Relaxed), Ordering::Relaxed);
    Some(entry.engine.clone())
}

/// Caches an engine, and drops the least recently used ones if there are too many.
pub fn keep(source: &str, whole: bool, engine: &Arc<Engine>) {
    let used = (NOW.fetch_add(1, Ordering::Relaxed) + 1).into();
    let entry = Entry { engine: engine.clone(), used };
    let mut entries = ENTRIES[usize::from(whole)].write().unwrap_or_else(PoisonError::into_inner);
    let replaced = entries.insert(source.into(), entry);
    drop(entries);
    drop(replaced);
    trim();
}

/// Drops the least recently used engines, while more is held than allowed.
pub fn trim() {
    while HELD.load(Ordering::Relaxed) > MOST_BYTES {
        let forgotten: usize = ENTRIES.iter().map(forget_older_half).sum();
        // All other bytes are in use.
        if forgotten == 0 {
            return;
        }
    }
}

/// Drops the older half: one at a time, a full cache would scan all its entries for each new pattern.
fn forget_older_half(entries: &Entries) -> usize {
    let mut entries = entries.write().unwrap_or_else(PoisonError::into_inner);
    let mut ages: Vec<u64> = entries.values().map(|entry| entry.used.load(Ordering::Relaxed)).collect();
    if ages.is_empty() {
        return 0;
    }
    let middle = ages.len() / 2;
    let median = *ages.select_nth_unstable(middle).1;
    let before = entries.len();
    entries.retain(|_, entry| entry.used.load(Ordering::Relaxed) > median);
    before - entries.len()
}

/// Returns the bytes of all live patterns and tables.
#[cfg(test)]
pub fn held() -> usize {
    HELD.load(Ordering::Relaxed)
}
