//! Veils: marks of values that came from firewalled fields.
//!
//! A name that begins with `_` is firewalled. In a run with the firewall up, a value that enters a map under such a
//! name is wrapped in a veil, and stays wrapped wherever it goes. Natives and instructions look through the veil and
//! wrap their results; printing never does. So the mark travels with the value, not with its text.
//!
//! nil, booleans and functions are never veiled: a comparison reveals one bit anyway, and so jumps and calls never meet
//! a veil. Keys of maps and members of sets are not veiled themselves either, since lookups compare them as they are: a
//! collection that was given a veiled key is veiled as a whole.

use crate::fault::Stop;
use crate::heap::Heap;
use crate::value::hash::RefMap;
use crate::value::{Ref, Value, is_firewalled};

/// Steps for searching an object for veils, and for copying one.
const LOOK_STEPS: usize = 4;

/// Number of cells of one object that are searched before they are charged.
const LOOK_EVERY: usize = 4096;

impl Heap {
    /// Sets the firewall: from here on, values that enter maps under firewalled names are veiled.
    pub fn set_firewall(&mut self, up: bool) {
        self.firewall = up;
        self.guarded = up || self.veils;
    }

    /// True if the firewall is up.
    pub fn firewall(&self) -> bool {
        self.firewall
    }

    /// True if any value of this run may be veiled.
    #[inline(always)]
    pub fn has_veils(&self) -> bool {
        self.veils
    }

    /// Records that there may be veils from here on.
    pub(crate) fn meet_veils(&mut self, met: bool) {
        self.veils |= met;
        self.guarded |= met;
    }

    /// Returns the value behind a veil; any other as it is.
    #[inline]
    pub fn unveil(&self, v: Value) -> Value {
        match v {
            Value::Veiled(r) => self.field(r, 0),
            _ => v,
        }
    }

    /// Veils a value; nil, booleans, functions and veiled values stay as they are.
    pub fn veil(&mut self, v: Value) -> Result<Value, Stop> {
        if !can_be_veiled(v) {
            return Ok(v);
        }
        self.room(2, 0)?;
        self.meet_veils(true);
        Ok(Value::Veiled(self.push_object(Value::VeilHead, &[v])))
    }

    /// True if this key's values are hidden from models.
    pub(crate) fn is_firewalled_key(&self, key: Value) -> bool {
        match key {
            Value::Str(r) | Value::Keyword(r) => is_firewalled(self.str(r)),
            _ => false,
        }
    }

    /// Returns an entry in the form a map may hold, and true if the map must be veiled for its key.
    pub(crate) fn guard_entry(&mut self, key: Value, value: Value) -> Result<(Value, Value, bool), Stop> {
        let (is_secret, key) = (matches!(key, Value::Veiled(_)), self.unveil(key));
        let value = match self.firewall && self.is_firewalled_key(key) {
            true => self.veil(value)?,
            false => value,
        };
        Ok((key, value, is_secret))
    }

    /// Returns keys and values in turn in the form a map may hold, and true if the map must be veiled. None if all
    /// may stay.
    pub(crate) fn guard_entries(&mut self, items: &[Value]) -> Result<Option<(Vec<Value>, bool)>, Stop> {
        let is_guarded = |pair: &[Value]| {
            matches!(pair[0], Value::Veiled(_)) || (self.firewall && self.is_firewalled_key(pair[0]))
        };
        if !items.chunks_exact(2).any(is_guarded) {
            return Ok(None);
        }
        self.room(items.len() + 2, 0)?;
        let mut guarded = Vec::with_capacity(items.len());
        let mut is_secret = false;
        for pair in items.chunks_exact(2) {
            let (key, value, secret) = self.guard_entry(pair[0], pair[1])?;
            guarded.extend([key, value]);
            is_secret |= secret;
        }
        Ok(Some((guarded, is_secret)))
    }

    /// Returns members in the form a set may hold, if any of them is veiled; the set must be veiled then.
    pub(crate) fn guard_members(&self, items: &[Value]) -> Option<Vec<Value>> {
        let is_veiled = |item: &Value| matches!(item, Value::Veiled(_));
        items.iter().any(is_veiled).then(|| items.iter().map(|item| self.unveil(*item)).collect())
    }

    /// Returns the elements of a veiled value, each behind its own veil.
    pub(crate) fn veiled_items(&mut self, veil: Ref) -> Result<Vec<Value>, Stop> {
        let items = self.to_vec(self.field(veil, 0))?;
        self.room(2 * items.len() + 1, 0)?;
        items.into_iter().map(|item| self.veil(item)).collect()
    }

    /// Removes every veil in a value, at any depth; None if there is none. Functions and their captures stay as
    /// they are: calling them meets the veils again.
    pub fn unveil_deep(&mut self, v: Value) -> Result<Option<Value>, Stop> {
        let mut copy = Unveiling { order: Vec::new(), places: RefMap::default(), cells: 0, has_veils: false };
        copy.meet(self, v);
        let mut next = 0;
        while let Some(r) = copy.order.get(next).copied() {
            next += 1;
            self.charge(LOOK_STEPS);
            self.look()?;
            let cells = self.walked(r);
            for start in (0..cells).step_by(LOOK_EVERY) {
                let end = cells.min(start + LOOK_EVERY);
                // A flat vector is one object, however long.
                self.charge(end - start);
                self.look()?;
                for i in start..end {
                    copy.meet(self, self.walked_cell(r, i));
                }
            }
        }
        if !copy.has_veils {
            return Ok(None);
        }
        self.room(copy.cells, 0)?;
        self.charge(copy.cells);
        self.look()?;
        copy.write(self);
        Ok(Some(copy.clear(self, v, self.own.cells.len() - copy.cells)))
    }

    /// Returns the number of cells after a head that are searched. A slice counts by its own length, not that of
    /// the whole.
    pub(super) fn walked(&self, r: Ref) -> usize {
        match self.head(r) {
            Value::SliceHead(_) => self.vec_len(r),
            head => crate::collect::payload(head),
        }
    }

    pub(super) fn walked_cell(&self, r: Ref, i: usize) -> Value {
        match self.head(r) {
            Value::SliceHead(_) => self.vec_at(r, i, Value::Nil),
            _ => self.field(r, i),
        }
    }
}

/// True if a value can be veiled: not nil, booleans, functions, or cells that are no values.
fn can_be_veiled(v: Value) -> bool {
    matches!(
        v,
        Value::Int(_)
            | Value::Float(_)
            | Value::Day(_)
            | Value::Instant(_)
            | Value::Duration(_)
            | Value::Str(_)
            | Value::Keyword(_)
            | Value::Symbol(_)
            | Value::Regex(_)
            | Value::Big(_)
            | Value::Vector(_)
            | Value::Map(_)
            | Value::Set(_)
            | Value::Range(_)
    )
}

/// A copy of a value without its veils. It does not recurse, and shared parts stay shared.
struct Unveiling {
    /// Objects to be copied, in the order they were met.
    order: Vec<Ref>,
    /// Offset of the copy of each, from the first.
    places: RefMap<Ref, u32>,
    cells: usize,
    has_veils: bool,
}

impl Unveiling {
    fn meet(&mut self, heap: &Heap, cell: Value) {
        self.has_veils |= matches!(cell, Value::Veiled(_));
        let cell = heap.unveil(cell);
        if let Value::Vector(r)
        | Value::Map(r)
        | Value::Set(r)
        | Value::Keys(r)
        | Value::TailRef(r)
        | Value::IndexRef(r) = cell
            && heap.space(r.space()).veils_or_own(r.space() == 0)
            && !self.places.contains_key(&r)
        {
            self.places.insert(r, self.cells as u32);
            self.cells += 1 + heap.walked(r);
            self.order.push(r);
        }
    }

    /// Returns a cell of the copy, which begins at `start`.
    fn clear(&self, heap: &Heap, cell: Value, start: usize) -> Value {
        let mut cell = heap.unveil(cell);
        if let Some(r) = cell.reference_mut()
            && let Some(place) = self.places.get(r)
        {
            *r = Ref::own(start + *place as usize);
        }
        cell
    }

    fn write(&self, heap: &mut Heap) {
        let start = heap.own.cells.len();
        for r in &self.order {
            let head = match heap.head(*r) {
                Value::SliceHead(_) => Value::FlatHead { len: heap.vec_len(*r) as u64 },
                head => head,
            };
            heap.push_head(head);
            for i in 0..heap.walked(*r) {
                let cell = self.clear(heap, heap.walked_cell(*r, i), start);
                heap.own.cells.push(cell);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::work::Work;

    fn print(heap: &Heap, v: Value) -> String {
        let mut out = String::new();
        heap.print(v, &mut out, 10_000).unwrap();
        out
    }

    #[test]
    fn some_values_are_never_veiled_and_none_twice() {
        let mut heap = Heap::unbounded();
        for plain in [Value::Nil, Value::True, Value::False, Value::builtin(1)] {
            assert!(heap.veil(plain).unwrap().same(plain));
        }
        assert!(!heap.has_veils());
        let veiled = heap.veil(Value::Int(7)).unwrap();
        assert!(heap.veil(veiled).unwrap().same(veiled) && heap.has_veils());
        assert!(matches!(heap.unveil(veiled), Value::Int(7)));
        assert_eq!(print(&heap, veiled), "<Firewalled>");
    }

    #[test]
    fn maps_veil_what_has_such_a_name_and_are_veiled_for_their_keys() {
        let mut heap = Heap::unbounded();
        heap.set_firewall(true);
        let (name, open) = (heap.new_keyword("_pin").unwrap(), heap.new_keyword("pin").unwrap());
        let map = heap.new_map(&[name, Value::Int(7), open, Value::Int(8)]).unwrap();
        assert_eq!(print(&heap, map), "{:_pin <Firewalled> :pin 8}");
        let key = heap.veil(Value::Int(3)).unwrap();
        let Value::Map(r) = map else { panic!() };
        assert!(matches!(heap.map_assoc(r, key, Value::Nil).unwrap(), Value::Veiled(_)));
        assert!(matches!(heap.new_set(&[Value::Int(1), key]).unwrap(), Value::Veiled(_)));
        // Lookups and comparisons look through veils.
        let set = heap.new_set(&[Value::Int(3)]).unwrap().reference().unwrap();
        assert!(heap.set_get(set, key).is_some() && heap.exact(key, Value::Int(3)));
        let (a, b) = (heap.new_vec(&[key]).unwrap(), heap.new_vec(&[Value::Int(3)]).unwrap());
        assert!(heap.equal(a, b, &mut Work::unlimited()).unwrap());
        assert_eq!(heap.key_hash(a, 1), heap.key_hash(b, 1));
    }

    #[test]
    fn veils_are_lifted_at_any_depth_and_survive_collections() {
        let mut heap = Heap::unbounded();
        let secret = heap.new_str("secret").unwrap();
        let veiled = heap.veil(secret).unwrap();
        let items: Vec<Value> = (0..100).map(|i| if i == 50 { veiled } else { Value::Int(i) }).collect();
        let long = heap.new_vec(&items).unwrap();
        let part = heap.slice(long, 49, 52).unwrap();
        let name = heap.new_keyword("k").unwrap();
        let map = heap.new_map(&[name, part]).unwrap();
        let mut roots = [heap.new_vec(&[map, part, Value::Nil]).unwrap()];
        let mut collector = heap.collect();
        collector.roots(&mut roots);
        collector.finish();
        assert_eq!(print(&heap, roots[0]), "[{:k [49 <Firewalled> 51]} [49 <Firewalled> 51] nil]");
        let clear = heap.unveil_deep(roots[0]).unwrap().unwrap();
        assert_eq!(print(&heap, clear), "[{:k [49 \"secret\" 51]} [49 \"secret\" 51] nil]");
        assert!(heap.unveil_deep(clear).unwrap().is_none());
        let datum = heap.to_datum(roots[0], 10_000).unwrap();
        assert_eq!(datum.veiled().len(), 2);
        let back = heap.from_datum(&datum).unwrap();
        assert_eq!(print(&heap, back), print(&heap, roots[0]));
    }
}
