//! Equality, of values (`=`) and of keys.
//!
//! Comparing does not recurse, and a pair of objects that is met again is not compared again, so shared data costs as
//! much as its memory, not as its unfolded size.

use crate::fault::Fault;
use crate::heap::Heap;
use crate::value::hash::{RefMap, RefSet, SHORT_KEY, is_collection, is_opaque};
use crate::value::{Ref, Value};
use crate::work::Work;

/// Number of pairs compared before pairs are remembered; most comparisons end sooner.
pub(super) const UNREMEMBERED: usize = 256;

/// Maximum depth of hash collisions: keys inside keys are compared by recursion where their hashes collide. Beyond
/// it, only identical keys are equal.
const MAX_DEPTH: u32 = 64;

impl Heap {
    /// Compares by the language's `=`: 1 equals 1.0 at any depth, NaN equals nothing.
    #[inline]
    pub fn equal(&self, a: Value, b: Value, work: &mut Work) -> Result<bool, Fault> {
        self.charge_leaves(a, b);
        match self.equal_leaf(a, b, true) {
            Some(equal) => Ok(equal),
            None => Comparison::new(self, work).run(a, b, true),
        }
    }

    /// Compares keys like `=`, except that 1 and 1.0 differ.
    #[inline]
    pub fn exact(&self, a: Value, b: Value) -> bool {
        match self.equal_leaf(a, b, false) {
            Some(equal) => equal,
            None => self.exact_deep(a, b),
        }
    }

    /// Compares like [`Heap::exact`], counting the work: for keys compared one after the other without another bound.
    #[inline]
    pub fn exact_within(&self, a: Value, b: Value, work: &mut Work) -> Result<bool, Fault> {
        self.charge_leaves(a, b);
        match self.equal_leaf(a, b, false) {
            Some(equal) => Ok(equal),
            None => {
                work.step(STARTING)?;
                Comparison::new(self, work).run(a, b, false)
            }
        }
    }

    #[inline(never)]
    fn exact_deep(&self, a: Value, b: Value) -> bool {
        if let Some(equal) = self.exact_short(a, b) {
            return equal;
        }
        // Bounded by remembering pairs; without a limit it never fails.
        Comparison::new(self, &mut Work::unlimited()).run(a, b, false).unwrap_or(false)
    }

    /// Compares two short vectors of equal length that contain no collections; None for any other keys.
    #[inline]
    fn exact_short(&self, a: Value, b: Value) -> Option<bool> {
        let (Value::Vector(a), Value::Vector(b)) = (a, b) else { return None };
        let xs = self.flat_items(a).filter(|xs| xs.len() <= SHORT_KEY)?;
        for (x, y) in xs.iter().zip(self.flat_items(b)?) {
            if !self.equal_leaf(self.import(a.space(), *x), self.import(b.space(), *y), false)? {
                return Some(false);
            }
        }
        Some(true)
    }

    /// Charges for comparing texts and large integers, by their sizes: an early difference or a shared object makes
    /// it no cheaper.
    #[inline]
    fn charge_leaves(&self, a: Value, b: Value) {
        match (a, b) {
            (Value::Str(a), Value::Str(b))
            | (Value::Keyword(a), Value::Keyword(b))
            | (Value::Symbol(a), Value::Symbol(b))
            | (Value::Regex(a), Value::Regex(b)) => {
                if let Some(steps) = self.equality_price(a, b) {
                    self.charge(steps);
                }
            }
            (Value::Big(a), Value::Big(b)) => {
                self.charge(self.big_limbs(a).len().min(self.big_limbs(b).len()))
            }
            (Value::Veiled(_), _) | (_, Value::Veiled(_)) => {
                self.charge_leaves(self.unveil(a), self.unveil(b));
            }
            _ => {}
        }
    }

    /// Compares two values if that needs no look into collections. `loose` lets 1 equal 1.0.
    #[inline]
    fn equal_leaf(&self, a: Value, b: Value, loose: bool) -> Option<bool> {
        Some(match (a, b) {
            (Value::Int(a), Value::Int(b)) => a == b,
            (Value::Str(a), Value::Str(b))
            | (Value::Keyword(a), Value::Keyword(b))
            | (Value::Symbol(a), Value::Symbol(b))
            | (Value::Var(a), Value::Var(b))
            | (Value::Tool(a), Value::Tool(b)) => self.same_text(a, b),
            // As in Clojure, a pattern equals itself only; as a key, its source counts.
            (Value::Regex(a), Value::Regex(b)) => a == b || (!loose && self.same_text(a, b)),
            (Value::Float(a), Value::Float(b)) => a.get() == b.get(),
            (Value::Big(a), Value::Big(b)) => self.same_big(a, b),
            (Value::Int(_) | Value::Big(_), Value::Float(_))
            | (Value::Float(_), Value::Int(_) | Value::Big(_)) => {
                loose && self.compare_numbers(a, b) == Some(std::cmp::Ordering::Equal)
            }
            (Value::Vector(x), Value::Vector(y)) if x == y => true,
            // Ranges may be too long to walk.
            (Value::Range(x), Value::Range(y)) => self.compare_ranges(x, y).is_eq(),
            (Value::Vector(_) | Value::Range(_), Value::Vector(_) | Value::Range(_)) => {
                if self.seq_len(a) != self.seq_len(b) {
                    return Some(false);
                }
                return None;
            }
            (Value::Map(x), Value::Map(y)) => {
                if x == y || self.map_len(x) != self.map_len(y) {
                    return Some(x == y);
                }
                return None;
            }
            (Value::Set(x), Value::Set(y)) => {
                if x == y || self.set_len(x) != self.set_len(y) {
                    return Some(x == y);
                }
                return None;
            }
            // A veil makes no difference to equality.
            (Value::Veiled(_), _) | (_, Value::Veiled(_)) => {
                return self.equal_leaf(self.unveil(a), self.unveil(b), loose);
            }
            _ => a.same(b),
        })
    }
}

/// Two collections of the same kind and length, compared up to some place.
enum Frame {
    Items { a: Value, b: Value, next: usize, loose: bool },
    Entries { a: Ref, b: Ref, cursor: usize, loose: bool },
    Members { a: Ref, b: Ref, cursor: usize },
    Pair { a: Value, b: Value, loose: bool },
}

/// Steps for a comparison that goes into collections, besides those of its parts: it keeps its place in a stack.
const STARTING: u64 = 16;

/// Steps for entering two collections, besides one for each pair in them.
const ENTERING: u64 = 2;

/// Steps for remembering a pair.
pub(super) const REMEMBERING: u64 = 16;

type Pair = (Ref, Ref, bool);

struct Comparison<'a> {
    heap: &'a Heap,
    work: &'a mut Work,
    frames: Vec<Frame>,
    pairs: usize,
    /// Pairs being compared or found equal, and the order they were added in.
    equal: RefSet<Pair>,
    trail: Vec<Pair>,
    unequal: RefSet<Pair>,
    /// Hashes of collections that are keys, and of the collections in them.
    hashes: RefMap<Ref, u64>,
    depth: u32,
}

impl<'a> Comparison<'a> {
    fn new(heap: &'a Heap, work: &'a mut Work) -> Self {
        Comparison {
            heap,
            work,
            frames: Vec::new(),
            pairs: 0,
            equal: RefSet::default(),
            trail: Vec::new(),
            unequal: RefSet::default(),
            hashes: RefMap::default(),
            depth: 0,
        }
    }

    fn run(&mut self, a: Value, b: Value, loose: bool) -> Result<bool, Fault> {
        let (floor, trail) = (self.frames.len(), self.trail.len());
        self.frames.push(Frame::Pair { a, b, loose });
        while self.frames.len() > floor {
            if !self.step()? {
                // Equalities assumed on the way are no longer known.
                self.frames.truncate(floor);
                for pair in self.trail.drain(trail..) {
                    self.equal.remove(&pair);
                }
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Charges for two leaves, except keys that a table compares: whether it does depends on their hashes.
    #[inline]
    fn charge_leaves(&self, a: Value, b: Value) {
        if self.work.limit < u64::MAX {
            self.heap.charge_leaves(a, b);
        }
    }

    /// Continues the innermost frame; false once something differs.
    fn step(&mut self) -> Result<bool, Fault> {
        match self.frames.pop() {
            None => Ok(true),
            Some(Frame::Pair { a, b, loose }) => {
                self.work.walk(self.heap)?;
                Ok(self.pair(a, b, loose))
            }
            Some(Frame::Items { a, b, next, loose }) => self.items(a, b, next, loose),
            Some(Frame::Entries { a, b, cursor, loose }) => self.entries(a, b, cursor, loose),
            Some(Frame::Members { a, b, cursor }) => self.members(a, b, cursor),
        }
    }

    /// Compares leaves at once, and leaves collections of equal length as a frame.
    fn pair(&mut self, a: Value, b: Value, loose: bool) -> bool {
        let (a, b) = (self.heap.unveil(a), self.heap.unveil(b));
        self.charge_leaves(a, b);
        if let Some(equal) = self.heap.equal_leaf(a, b, loose) {
            return equal;
        }
        if let (Some(x), Some(y)) = (a.reference(), b.reference()) {
            self.pairs += 1;
            if self.pairs > UNREMEMBERED {
                if self.unequal.contains(&(x, y, loose)) {
                    return false;
                }
                if !self.equal.insert((x, y, loose)) {
                    return true;
                }
                self.trail.push((x, y, loose));
                let _ = self.work.step(REMEMBERING);
            }
        }
        // Exceeding the limit is found at the next step.
        let _ = self.work.step(ENTERING);
        self.frames.push(match (a, b) {
            (Value::Map(a), Value::Map(b)) => Frame::Entries { a, b, cursor: 0, loose },
            (Value::Set(a), Value::Set(b)) => Frame::Members { a, b, cursor: 0 },
            _ => Frame::Items { a, b, next: 0, loose },
        });
        true
    }

    fn items(&mut self, a: Value, b: Value, mut next: usize, loose: bool) -> Result<bool, Fault> {
        let len = self.heap.seq_len(a);
        while next < len {
            self.work.walk(self.heap)?;
            let (Some(x), Some(y)) = (self.heap.seq_get(a, next), self.heap.seq_get(b, next)) else {
                return Ok(false);
            };
            next += 1;
            self.charge_leaves(x, y);
            match self.heap.equal_leaf(x, y, loose) {
                Some(true) => {}
                Some(false) => return Ok(false),
                None => {
                    // Continues here afterwards, unless it was the last item, so that chains stay short.
                    if next < len {
                        self.frames.push(Frame::Items { a, b, next, loose });
                    }
                    return Ok(self.pair(x, y, loose));
                }
            }
        }
        Ok(true)
    }

    fn entries(&mut self, a: Ref, b: Ref, mut cursor: usize, loose: bool) -> Result<bool, Fault> {
        while let Some((key, x, next)) = self.heap.map_next(a, cursor) {
            self.work.walk(self.heap)?;
            cursor = next;
            let found = if !is_collection(key) {
                self.count_opaque(key, self.heap.map_len(b))?;
                self.work.step(self.heap.scalar_steps(key))?;
                self.heap.map_get_leaf(b, key)
            } else {
                let hash = self.heap.deep_hash(key, self.work, &mut self.hashes)?;
                let mut candidates = self.heap.map_candidates(b, key, hash as u32);
                candidates.retain(|(other, _)| self.has_hash(*other, hash));
                match self.choose(key, candidates.iter().map(|(k, _)| *k))? {
                    Choice::None => None,
                    Choice::Sure(i) => Some(candidates[i].1),
                    Choice::If(i) => {
                        let (other, y) = candidates[i];
                        self.frames.push(Frame::Entries { a, b, cursor, loose });
                        self.frames.push(Frame::Pair { a: x, b: y, loose });
                        return Ok(self.pair(key, other, false));
                    }
                }
            };
            let Some(y) = found else { return Ok(false) };
            self.charge_leaves(x, y);
            match self.heap.equal_leaf(x, y, loose) {
                Some(true) => {}
                Some(false) => return Ok(false),
                None => {
                    self.frames.push(Frame::Entries { a, b, cursor, loose });
                    return Ok(self.pair(x, y, loose));
                }
            }
        }
        Ok(true)
    }

    fn members(&mut self, a: Ref, b: Ref, mut cursor: usize) -> Result<bool, Fault> {
        while let Some((item, next)) = self.heap.set_next(a, cursor) {
            self.work.walk(self.heap)?;
            cursor = next;
            if !is_collection(item) {
                self.count_opaque(item, self.heap.set_len(b))?;
                self.work.step(self.heap.scalar_steps(item))?;
                if !self.heap.set_has_leaf(b, item) {
                    return Ok(false);
                }
                continue;
            }
            let hash = self.heap.deep_hash(item, self.work, &mut self.hashes)?;
            let mut candidates = self.heap.set_candidates(b, item, hash as u32);
            candidates.retain(|other| self.has_hash(*other, hash));
            match self.choose(item, candidates.iter().copied())? {
                Choice::None => return Ok(false),
                Choice::Sure(_) => {}
                Choice::If(i) => {
                    self.frames.push(Frame::Members { a, b, cursor });
                    return Ok(self.pair(item, candidates[i], false));
                }
            }
        }
        Ok(true)
    }

    /// True if a collection has this whole hash: keys that only share the half stored in tables are not compared,
    /// so that the cost of a comparison does not depend on the secret.
    fn has_hash(&mut self, other: Value, hash: u64) -> bool {
        // Bounded by remembering hashes; without a limit it never fails.
        self.heap.deep_hash(other, &mut Work::unlimited(), &mut self.hashes).is_ok_and(|found| found == hash)
    }

    /// Counts the work of finding a key that shares its hash with others.
    fn count_opaque(&mut self, key: Value, among: usize) -> Result<(), Fault> {
        if is_opaque(key) { self.work.step(among as u64) } else { Ok(()) }
    }

    /// Returns which of the keys with the same hash is `key`. A single one need not be compared now: if it differs,
    /// so do the maps, and finding that out later needs no recursion.
    fn choose(
        &mut self,
        key: Value,
        candidates: impl ExactSizeIterator<Item = Value>,
    ) -> Result<Choice, Fault> {
        match candidates.len() {
            0 => return Ok(Choice::None),
            1 => return Ok(Choice::If(0)),
            _ => {}
        }
        for (i, other) in candidates.enumerate() {
            if key.same(other) {
                return Ok(Choice::Sure(i));
            }
            if self.depth >= MAX_DEPTH {
                continue;
            }
            self.depth += 1;
            let equal = self.run(key, other, false);
            self.depth -= 1;
            if equal? {
                return Ok(Choice::Sure(i));
            }
            if let (Some(x), Some(y)) = (key.reference(), other.reference()) {
                self.unequal.insert((x, y, false));
            }
        }
        Ok(Choice::None)
    }
}

enum Choice {
    None,
    Sure(usize),
    If(usize),
}
