//! Price of writing a value out, known before anything is written.
//!
//! The price depends on the value alone: text, JSON and owned data of it cost the same. A walk over the value computes
//! it, in which shared parts count as often as they are met. The walk itself visits a large shared part only once.

use crate::budget::STEPS;
use crate::fault::Fault;
use crate::heap::Heap;
use crate::value::{Ref, RefMap, RefSet, Value};

/// Bytes of text per unit.
const TEXT_BYTES: u64 = 8;

/// Units for the digits of one limb, about twenty digits. Measured so that a unit takes as long here as for other
/// parts, some 20 ns.
const LIMB_UNITS: usize = 40;

/// Pairs of limbs per unit: computing the digits of long integers is quadratic in their length.
const LIMB_PAIRS: usize = 48;

/// Units for finding an element of a sorted collection.
const SORTED_UNITS: u64 = 3;

/// A collection being walked, with the position of its next part.
enum Frame {
    Items(Ref, usize),
    Entries(Ref, usize),
    Members(Ref, usize),
    One(Value),
    /// A collection was walked; holds the units counted before it.
    Done(Ref, u64),
    /// The content of a place was walked.
    Leave(Ref),
}

/// Price below which a collection is walked again each time it is met: most values share none, and remembering
/// takes longer than that.
const REMEMBERED: u64 = 64;

/// Maximum length of a vector that is first checked for leaves alone.
const SMALL: usize = 16;

/// Maximum parts of a value for which [`Heap::is_flat`] is true: a record, its keys and its values.
pub const FLAT_PARTS: u64 = 2 * SMALL as u64 + 1;

impl Heap {
    /// Computes the units for writing a value in any format; None if they exceed `most`. Faults if the run is
    /// cancelled meanwhile.
    pub fn text_price(&self, v: Value, most: u64) -> Result<Option<u64>, Fault> {
        let v = self.unveil(v);
        if let Some(units) = self.leaf_price(v).or_else(|| self.small_price(v)) {
            return Ok(Some(units).filter(|units| *units <= most));
        }
        let (known, inside) = (RefMap::default(), RefSet::default());
        let mut walk = Walk { heap: self, units: 0, frames: Vec::new(), known, inside };
        walk.value(v);
        while let Some(frame) = walk.frames.pop() {
            if walk.units > most {
                return Ok(None);
            }
            self.owe(1);
            self.look()?;
            walk.go_on(frame, most);
        }
        Ok(Some(walk.units).filter(|units| *units <= most))
    }

    /// True for a record or a short vector whose parts are leaves: its price is a unit for each of at most
    /// [`FLAT_PARTS`] parts, and the length of its text.
    pub fn is_flat(&self, v: Value) -> bool {
        let flat = |cells: &[Value]| cells.iter().all(|cell| is_light(*cell));
        match v {
            Value::Map(r) => self.record(r).is_some_and(|(keys, values)| {
                let len = self.map_len(r);
                flat(&values[..len]) && flat(self.raw(self.rebase_ref(r.space(), keys), 0, len))
            }),
            Value::Vector(r) => {
                let items = self.vec_chunk(r, 0).0;
                items.len() <= SMALL && items.len() == self.vec_len(r) && flat(items)
            }
            leaf => is_light(leaf),
        }
    }

    /// Returns the price of a value that is no collection.
    #[inline]
    fn leaf_price(&self, v: Value) -> Option<u64> {
        Some(match v {
            Value::Vector(_) | Value::Map(_) | Value::Set(_) | Value::State(_) => return None,
            // All of its items are small integers.
            Value::Range(_) => (self.seq_len(v) as u64).saturating_add(1),
            Value::Str(r)
            | Value::Keyword(r)
            | Value::Symbol(r)
            | Value::Var(r)
            | Value::Tool(r)
            | Value::Regex(r) => 1 + self.text_bytes_len(r) as u64 / TEXT_BYTES,
            Value::Big(r) => self.digits_price(r).saturating_add(1),
            // Veiled values are written as well.
            Value::Veiled(_) => return self.leaf_price(self.unveil(v)),
            _ => 1,
        })
    }

    /// Returns the price of a record or a short vector of leaves, as most results are: it needs no frames.
    fn small_price(&self, v: Value) -> Option<u64> {
        match v {
            Value::Map(r) => {
                let (keys, values) = self.record(r)?;
                let (keys, len) = (self.rebase_ref(r.space(), keys), self.map_len(r));
                let keys = self.leaves_price(self.raw(keys, 0, len), keys.space())?;
                Some(keys.saturating_add(self.leaves_price(&values[..len], r.space())?).saturating_add(1))
            }
            Value::Vector(r) => {
                let (items, space) = self.vec_chunk(r, 0);
                let is_whole = items.len() <= SMALL && items.len() == self.vec_len(r);
                Some(is_whole.then(|| self.leaves_price(items, space))??.saturating_add(1))
            }
            _ => None,
        }
    }

    /// Returns the price of cells of a space, if all are leaves.
    #[inline]
    fn leaves_price(&self, cells: &[Value], space: u32) -> Option<u64> {
        let mut price = 0_u64;
        for cell in cells {
            price = price.saturating_add(match *cell {
                Value::Int(_) | Value::Float(_) | Value::Nil | Value::True | Value::False => 1,
                cell => self.leaf_price(self.import(space, cell))?,
            });
        }
        Some(price)
    }

    /// Returns the units for writing the digits of a large integer.
    pub(crate) fn digits_price(&self, r: Ref) -> u64 {
        digits_price(self.big_len(r)) as u64
    }

    /// Charges for converting an integer of that many limbs to digits, or back.
    pub fn charge_digits(&self, limbs: usize) {
        self.charge(digits_price(limbs).saturating_mul(STEPS as usize));
    }
}

/// True if writing a value is proportional to the length of its text.
#[inline]
fn is_light(v: Value) -> bool {
    !matches!(
        v,
        Value::Vector(_)
            | Value::Map(_)
            | Value::Set(_)
            | Value::Range(_)
            | Value::Big(_)
            | Value::Veiled(_)
            | Value::State(_)
    )
}

fn digits_price(limbs: usize) -> usize {
    limbs.saturating_mul(LIMB_UNITS).saturating_add(limbs.saturating_mul(limbs) / LIMB_PAIRS)
}

struct Walk<'h> {
    heap: &'h Heap,
    units: u64,
    frames: Vec<Frame>,
    /// Prices of collections that have been walked.
    known: RefMap<Ref, u64>,
    /// Places being walked, to detect content that refers back to them.
    inside: RefSet<Ref>,
}

impl Walk<'_> {
    /// Pays for a leaf, or leaves a collection to be walked.
    #[inline]
    fn value(&mut self, v: Value) {
        let v = self.heap.unveil(v);
        if let Some(price) = self.heap.leaf_price(v).or_else(|| self.heap.small_price(v)) {
            return self.pay(price);
        }
        let before = self.units;
        self.pay(1);
        let (r, frame) = match v {
            Value::Vector(r) => (r, Frame::Items(r, 0)),
            Value::Map(r) => {
                self.pay(self.finding_price(r, self.heap.map_len(r)));
                (r, Frame::Entries(r, 0))
            }
            Value::Set(r) => {
                self.pay(self.finding_price(r, self.heap.set_len(r)));
                (r, Frame::Members(r, 0))
            }
            Value::State(r) if self.inside.insert(r) => {
                return self.frames.extend([Frame::Leave(r), Frame::One(self.heap.state(r))]);
            }
            _ => return,
        };
        match self.known.get(&r) {
            Some(price) => self.units = before.saturating_add(*price),
            None => self.frames.extend([Frame::Done(r, before), frame]),
        }
    }

    /// Returns the units for finding the elements of a map or a set: in a sorted one, each is looked up from the
    /// top of the tree.
    fn finding_price(&self, r: Ref, len: usize) -> u64 {
        if self.heap.sorted_order(r).is_some() { (len as u64).saturating_mul(SORTED_UNITS) } else { 0 }
    }

    fn pay(&mut self, units: u64) {
        self.units = self.units.saturating_add(units);
    }

    fn go_on(&mut self, frame: Frame, most: u64) {
        match frame {
            Frame::Items(r, mut next) => loop {
                let (chunk, space) = self.heap.vec_chunk(r, next);
                if chunk.is_empty() {
                    return;
                }
                self.heap.owe(chunk.len());
                for cell in chunk {
                    next += 1;
                    let depth = self.frames.len();
                    self.value(self.heap.import(space, *cell));
                    if self.frames.len() > depth {
                        // Inner collections come first, so that at most as many frames wait as the value is deep.
                        self.frames.insert(depth, Frame::Items(r, next));
                        return;
                    }
                    if self.units > most {
                        return;
                    }
                }
            },
            Frame::Entries(r, cursor) => {
                if let Some((key, value, cursor)) = self.heap.map_next(r, cursor) {
                    self.frames.extend([Frame::Entries(r, cursor), Frame::One(value)]);
                    self.value(key);
                }
            }
            Frame::Members(r, cursor) => {
                if let Some((item, cursor)) = self.heap.set_next(r, cursor) {
                    self.frames.push(Frame::Members(r, cursor));
                    self.value(item);
                }
            }
            Frame::One(value) => self.value(value),
            Frame::Leave(r) => drop(self.inside.remove(&r)),
            Frame::Done(r, before) => {
                let price = self.units - before;
                if price >= REMEMBERED {
                    self.known.insert(r, price);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use num_bigint::BigInt;

    #[test]
    fn every_part_counts_as_often_as_it_is_met() {
        let mut heap = Heap::unbounded();
        let (key, text) = (heap.new_keyword("a").unwrap(), heap.new_str(&"x".repeat(80)).unwrap());
        let map = heap.new_map(&[key, text, text, Value::Nil]).unwrap();
        assert_eq!(heap.text_price(map, 1_000).unwrap(), Some(1 + 1 + 11 + 11 + 1));
        let set = heap.new_set(&[map, Value::True]).unwrap();
        let range = heap.new_range(0, 10, 1).unwrap();
        let all = heap.new_vec(&[set, range, set]).unwrap();
        let price = 1 + 2 * (1 + 25 + 1) + (1 + 10);
        assert_eq!(heap.text_price(all, price).unwrap(), Some(price));
        assert_eq!(heap.text_price(all, price - 1).unwrap(), None);
    }

    #[test]
    fn elements_of_sorted_collections_have_to_be_found() {
        let mut heap = Heap::unbounded();
        let items: Vec<Value> = (0..40).map(Value::Int).collect();
        let plain = heap.new_map(&items).unwrap();
        let sorted = heap.new_sorted_map(&items, false).unwrap();
        assert_eq!(heap.text_price(plain, 1_000).unwrap(), Some(1 + 40));
        let both = heap.new_vec(&[sorted, sorted]).unwrap();
        assert_eq!(heap.text_price(both, 1_000).unwrap(), Some(1 + 2 * (1 + 40 + 3 * 20)));
    }

    #[test]
    fn what_unfolds_is_given_up_in_time() {
        let mut heap = Heap::unbounded();
        let mut value = Value::Int(1);
        for _ in 0..200 {
            value = heap.new_vec(&[value, value]).unwrap();
        }
        assert_eq!(heap.text_price(value, 100_000).unwrap(), None);
        let shared = heap.new_vec(&[value; 3]).unwrap();
        assert_eq!(heap.text_price(shared, u64::MAX).unwrap(), Some(u64::MAX), "there is no larger number");
        // Shared parts are walked once, so the price is found at once.
        let mut value = Value::Int(1);
        for _ in 0..50 {
            value = heap.new_vec(&[value, value]).unwrap();
        }
        assert_eq!(heap.text_price(value, u64::MAX).unwrap(), Some((1 << 51) - 1));
        for start in [0, i64::MIN] {
            let endless = heap.new_range(start, i64::MAX, 1).unwrap();
            assert_eq!(heap.text_price(endless, u64::MAX / 4).unwrap(), None);
        }
    }

    #[test]
    fn digits_cost_more_than_their_number() {
        let mut heap = Heap::unbounded();
        let price = |heap: &mut Heap, bits: u32| {
            let n = heap.new_integer(&(BigInt::from(1) << bits)).unwrap();
            heap.text_price(n, u64::MAX).unwrap().unwrap()
        };
        assert_eq!(price(&mut heap, 64), 1 + 2 * 40);
        assert!(price(&mut heap, 400_000) > 20 * price(&mut heap, 40_000));
    }
}
