//! Hashes of text and keys, which depend on the secret of the process.
//!
//! Only tables store them: no program sees a hash, and no snapshot holds one. Equal keys have equal hashes, and a
//! difference at any depth changes the hash, so a lookup walks the whole key. The walk has the same price every time: a
//! cached hash would make fuel depend on collections and reloads in between.

use std::collections::{HashMap, HashSet};

use ptc_bytecode::KeyedState;
use smallvec::SmallVec;

use crate::fault::Fault;
use crate::heap::{Heap, LONG_TEXT};
use crate::value::{Ref, Value};
use crate::work::Work;

/// A map with references as keys.
pub(crate) type RefMap<K, V> = HashMap<K, V, KeyedState>;
/// A set of references.
pub(crate) type RefSet<K> = HashSet<K, KeyedState>;

/// Tags for the type of a hashed value, so that the same bits under another type hash differently.
mod kind {
    pub const INT: u64 = 1;
    pub const NIL: u64 = 2;
    pub const BOOL: u64 = 3;
    pub const FLOAT: u64 = 4;
    pub const DAY: u64 = 5;
    pub const INSTANT: u64 = 6;
    pub const DURATION: u64 = 7;
    pub const BUILTIN: u64 = 8;
    pub const SYMBOL: u64 = 9;
    pub const VAR: u64 = 10;
    pub const TOOL: u64 = 11;
    pub const REGEX: u64 = 12;
    pub const BIG: u64 = 13;
    pub const SEQ: u64 = 14;
    pub const LONG_RANGE: u64 = 15;
    pub const MAP: u64 = 16;
    pub const SET: u64 = 17;
    pub const FUNCTION: u64 = 18;
    pub const OTHER: u64 = 19;
}

/// Steps charged for hashing a part of a collection, or the same amount of text.
pub(crate) const PART_STEPS: u64 = 8;
const HASH_BYTES: usize = 32;

/// Number of parts hashed before hashes are remembered.
const UNREMEMBERED: u64 = 256;

/// Steps for remembering the hash of a collection, in parts.
const REMEMBERING: u64 = 2;

/// Maximum length of a vector that is hashed or compared as a key without a walk: most vectors that are keys are pairs.
pub(crate) const SHORT_KEY: usize = 8;

/// Maximum length of a vector, so that no vector equals a longer range.
const LONGEST_VECTOR: usize = u32::MAX as usize;

/// Computes the hash of a keyword from that of its name, so that looking a keyword up as a string hashes nothing.
#[inline]
pub(crate) fn keyword_hash(text_hash: u32) -> u32 {
    text_hash.rotate_left(13) ^ 0x9e37_79b9
}

/// True if a value may equal nothing but itself, so that any number of such keys share a hash: the collector moves
/// functions, so their address cannot be hashed, and NaN does not even equal itself.
#[inline]
pub(crate) fn is_opaque(v: Value) -> bool {
    match v {
        Value::Float(x) => x.get().is_nan(),
        Value::Closure(_) | Value::Endless(_) | Value::Builder(_) | Value::State(_) | Value::Exception(_) => {
            true
        }
        _ => false,
    }
}

/// True for a collection, which takes a walk to hash or to compare.
#[inline]
pub(crate) fn is_collection(v: Value) -> bool {
    matches!(v, Value::Vector(_) | Value::Range(_) | Value::Map(_) | Value::Set(_))
}

impl Heap {
    /// Computes the hash of a key that is looked up among `among` others; equal for keys that are
    /// [`exact`](Heap::exact).
    ///
    /// While a program runs, collections and long texts are charged by their size, and functions by the number of
    /// keys they may have to be compared with. After charging more than the run can pay for, hashes are wrong:
    /// [`Heap::look`] then faults, and must be called before a table is changed.
    #[inline]
    pub fn key_hash(&self, v: Value, among: usize) -> u32 {
        match v {
            Value::Str(r) => self.hash_of_text(r),
            Value::Keyword(r) => keyword_hash(self.hash_of_text(r)),
            Value::Int(n) => self.secret.number(kind::INT, n as u64) as u32,
            _ => self.other_hash(v, among),
        }
    }

    #[inline(never)]
    fn other_hash(&self, v: Value, among: usize) -> u32 {
        if let Value::Veiled(_) = v {
            return self.key_hash(self.unveil(v), among);
        }
        if let Some(hash) = self.short_hash(v) {
            return hash;
        }
        let mut work = self.hashing_work();
        // Shared parts are hashed once, so a key costs as much as its memory, not as its unfolded size.
        let mut known = RefMap::default();
        let mut walk = Walk {
            heap: self,
            work: &mut work,
            known: &mut known,
            unremembered: UNREMEMBERED,
            is_opaque: false,
        };
        let hash = walk.hash(v);
        let is_opaque = walk.is_opaque;
        let steps = work.steps.saturating_add(if is_opaque { among as u64 } else { 0 });
        if steps > 0 {
            self.charge(usize::try_from(steps.saturating_mul(PART_STEPS)).unwrap_or(usize::MAX));
        }
        match hash {
            Ok(hash) => hash as u32,
            Err(_) => {
                // The next look finds the reason: time is up, or the charges exceed the fuel.
                self.look_soon();
                0
            }
        }
    }

    /// Computes what [`Walk`] computes for a short vector of scalars, at the same price; None for any other key.
    #[inline]
    fn short_hash(&self, v: Value) -> Option<u32> {
        let Value::Vector(r) = v else { return None };
        let items = self.flat_items(r).filter(|items| items.len() <= SHORT_KEY)?;
        if self.hashing_work().limit < items.len() as u64 {
            return None;
        }
        let mut state = 0;
        for item in items {
            let item = self.import(r.space(), *item);
            let part = match item {
                Value::Int(_)
                | Value::Nil
                | Value::True
                | Value::False
                | Value::Day(_)
                | Value::Instant(_) => self.scalar(item),
                Value::Float(x) if !x.get().is_nan() => self.scalar(item),
                Value::Str(text) | Value::Keyword(text) if self.text_bytes(text).len() <= LONG_TEXT => {
                    self.scalar(item)
                }
                _ => return None,
            };
            state = self.secret.pair(part, state);
        }
        self.owe(items.len());
        self.charge(items.len() * PART_STEPS as usize);
        Some(self.secret.number(kind::SEQ, self.secret.pair(state, items.len() as u64)) as u32)
    }

    /// Charges for a key compared one by one with the few keys of a small map or set, as much as for hashing it:
    /// the cost of a key does not depend on where it is looked up.
    #[inline]
    pub(crate) fn charge_key(&self, key: Value, among: usize) {
        match key {
            Value::Str(r) | Value::Keyword(r) => self.charge_text_key(self.text_head(r).1),
            Value::Big(_) | Value::Symbol(_) | Value::Regex(_) => {
                self.charge(self.scalar_steps(key) as usize * PART_STEPS as usize);
            }
            _ if is_collection(key) && self.charges() => {
                self.other_hash(key, among);
            }
            _ => {}
        }
    }

    /// Computes the hash of a text. Long ones have a price.
    #[inline]
    pub(crate) fn hash_of_text(&self, r: Ref) -> u32 {
        self.hash_of_bytes(self.text_bytes(r))
    }

    /// Computes the hash of a text with these bytes.
    #[inline]
    pub(crate) fn hash_of_bytes(&self, text: &[u8]) -> u32 {
        self.charge_text_key(text.len());
        self.secret.text(text) as u32
    }

    #[inline]
    pub(crate) fn charge_text_key(&self, bytes: usize) {
        if bytes > LONG_TEXT {
            self.charge(bytes / HASH_BYTES * PART_STEPS as usize);
        }
    }

    /// Computes the hash of a value that is no collection, like [`Heap::key_hash`], at no charge: for comparing
    /// collections, which counts its own steps.
    pub(crate) fn leaf_hash(&self, v: Value) -> u32 {
        match v {
            Value::Str(r) => self.secret.text(self.text_bytes(r)) as u32,
            Value::Keyword(r) => keyword_hash(self.secret.text(self.text_bytes(r)) as u32),
            Value::Veiled(_) => self.leaf_hash(self.unveil(v)),
            _ => self.scalar(v) as u32,
        }
    }

    /// Computes the full hash of a collection, of which [`Heap::key_hash`] is the lower half. `known` remembers the
    /// hashes of all inner collections, so that comparing keys inside keys hashes each once.
    pub(crate) fn deep_hash(
        &self,
        v: Value,
        work: &mut Work,
        known: &mut RefMap<Ref, u64>,
    ) -> Result<u64, Fault> {
        Walk { heap: self, work, known, unremembered: 0, is_opaque: false }.hash(v)
    }

    /// Computes the hash of a part that is no collection.
    fn scalar(&self, v: Value) -> u64 {
        let secret = self.secret;
        let text = |kind: u64, r: Ref| secret.number(kind, secret.text(self.text_bytes(r)));
        match v {
            Value::Int(n) => secret.number(kind::INT, n as u64),
            Value::Str(r) => secret.text(self.text_bytes(r)),
            Value::Keyword(r) => secret.text(self.text_bytes(r)).rotate_left(32) ^ 0x9e37_79b9_7f4a_7c15,
            Value::Nil => secret.number(kind::NIL, 0),
            Value::False => secret.number(kind::BOOL, 0),
            Value::True => secret.number(kind::BOOL, 1),
            // 0.0 and -0.0 are the same key.
            Value::Float(x) => secret.number(kind::FLOAT, if x.get() == 0.0 { 0 } else { x.get().to_bits() }),
            Value::Day(n) => secret.number(kind::DAY, n as u64),
            Value::Instant(n) => secret.number(kind::INSTANT, n as u64),
            Value::Duration(n) => secret.number(kind::DURATION, n as u64),
            Value::Builtin(n) => secret.number(kind::BUILTIN, n),
            Value::Symbol(r) => text(kind::SYMBOL, r),
            Value::Var(r) => text(kind::VAR, r),
            Value::Tool(r) => text(kind::TOOL, r),
            Value::Regex(r) => text(kind::REGEX, r),
            Value::Big(r) => {
                let (negative, limbs) = (self.big_is_negative(r), self.big_limbs(r));
                limbs.iter().fold(secret.number(kind::BIG, u64::from(negative)), |hash, limb| match limb {
                    Value::Int(n) => secret.pair(*n as u64, hash),
                    _ => hash,
                })
            }
            // Not by address: the collector moves closures. Not by module: numbers differ by run.
            Value::Closure(r) => secret.number(kind::FUNCTION, u64::from(self.closure_code(r).1)),
            _ => secret.number(kind::OTHER, 0),
        }
    }

    /// Returns the steps for hashing a part that is no collection, besides the one for finding it.
    pub(crate) fn scalar_steps(&self, v: Value) -> u64 {
        let bytes = match v {
            Value::Str(r) | Value::Keyword(r) | Value::Symbol(r) | Value::Var(r) | Value::Tool(r) => {
                self.text_bytes(r).len()
            }
            Value::Regex(r) => self.text_bytes(r).len(),
            Value::Big(r) => self.big_limbs(r).len() * size_of::<u64>(),
            _ => 0,
        };
        if bytes > LONG_TEXT { (bytes / HASH_BYTES) as u64 } else { 0 }
    }
}

/// A walk over a whole value. It does not recurse, since data may be nested deeper than a Rust stack.
struct Walk<'a, 'w> {
    heap: &'a Heap,
    work: &'w mut Work,
    /// Hashes of collections met before.
    known: &'w mut RefMap<Ref, u64>,
    /// Steps after which hashes are remembered: most keys are smaller, and remembering takes longer than hashing.
    unremembered: u64,
    is_opaque: bool,
}

/// A collection that is hashed up to some place.
enum Frame {
    Items { seq: Value, next: usize, state: u64 },
    Entries { map: Ref, cursor: usize, key: Option<u64>, value: Option<Value>, sum: u64 },
    Members { set: Ref, cursor: usize, sum: u64 },
}

impl Walk<'_, '_> {
    fn hash(&mut self, v: Value) -> Result<u64, Fault> {
        let mut frames: SmallVec<[Frame; 4]> = SmallVec::new();
        let mut done = self.part(v, &mut frames)?;
        while let Some(frame) = frames.last_mut() {
            if let Some(hash) = done {
                self.absorb(frame, hash);
            }
            done = match self.next(frame) {
                Some(part) => {
                    self.work.walk(self.heap)?;
                    self.part(part, &mut frames)?
                }
                None => {
                    let hash = self.finish(frame);
                    frames.pop();
                    Some(hash)
                }
            };
        }
        Ok(done.unwrap_or_default())
    }

    /// Returns the hash of a part if it is a leaf or known; otherwise the part becomes the innermost frame.
    fn part(&mut self, v: Value, frames: &mut SmallVec<[Frame; 4]>) -> Result<Option<u64>, Fault> {
        let v = self.heap.unveil(v);
        if !is_collection(v) {
            self.is_opaque |= is_opaque(v);
            let steps = self.heap.scalar_steps(v);
            if steps > 0 {
                self.work.step(steps)?;
            }
            return Ok(Some(self.heap.scalar(v)));
        }
        if self.work.steps >= self.unremembered
            && let Some(r) = v.reference()
            && let Some(hash) = self.known.get(&r)
        {
            return Ok(Some(*hash));
        }
        if self.work.steps >= self.unremembered {
            self.work.step(REMEMBERING)?;
        }
        frames.push(match v {
            Value::Map(map) => Frame::Entries { map, cursor: 0, key: None, value: None, sum: 0 },
            Value::Set(set) => Frame::Members { set, cursor: 0, sum: 0 },
            Value::Range(r) if self.heap.seq_len(v) > LONGEST_VECTOR => {
                let (start, step, len) = self.heap.range_parts(r);
                let secret = self.heap.secret;
                let ends = secret.pair(start as u64, secret.pair(step as u64, len));
                return Ok(Some(secret.number(kind::LONG_RANGE, ends)));
            }
            _ => Frame::Items { seq: v, next: 0, state: 0 },
        });
        Ok(None)
    }

    /// Returns the next part of a collection.
    fn next(&self, frame: &mut Frame) -> Option<Value> {
        match frame {
            Frame::Items { seq, next, .. } => {
                *next += 1;
                self.heap.seq_get(*seq, *next - 1)
            }
            Frame::Entries { map, cursor, value, .. } => {
                if let Some(value) = value.take() {
                    return Some(value);
                }
                let (key, its_value, next) = self.heap.map_next(*map, *cursor)?;
                (*cursor, *value) = (next, Some(its_value));
                Some(key)
            }
            Frame::Members { set, cursor, .. } => {
                let (member, next) = self.heap.set_next(*set, *cursor)?;
                *cursor = next;
                Some(member)
            }
        }
    }

    /// Absorbs the hash of a part: items in order, entries and members in any order.
    fn absorb(&self, frame: &mut Frame, hash: u64) {
        let secret = self.heap.secret;
        match frame {
            Frame::Items { state, .. } => *state = secret.pair(hash, *state),
            Frame::Entries { key, sum, .. } => match key.take() {
                None => *key = Some(hash),
                Some(key) => *sum = sum.wrapping_add(secret.pair(key, hash)),
            },
            Frame::Members { sum, .. } => *sum = sum.wrapping_add(secret.number(kind::SET, hash)),
        }
    }

    /// Returns the hash of a collection whose parts are all absorbed.
    fn finish(&mut self, frame: &Frame) -> u64 {
        let heap = self.heap;
        let (r, kind, len, parts) = match *frame {
            Frame::Items { seq, state, .. } => (seq.reference(), kind::SEQ, heap.seq_len(seq), state),
            Frame::Entries { map, sum, .. } => (Some(map), kind::MAP, heap.map_len(map), sum),
            Frame::Members { set, sum, .. } => (Some(set), kind::SET, heap.set_len(set), sum),
        };
        let hash = heap.secret.number(kind, heap.secret.pair(parts, len as u64));
        if self.work.steps >= self.unremembered
            && let Some(r) = r
        {
            self.known.insert(r, hash);
        }
        hash
    }
}

#[cfg(test)]
mod tests;
