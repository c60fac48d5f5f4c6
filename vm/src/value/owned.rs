//! Changing collections in place.
//!
//! A register *owns* a collection when nothing else refers to it: `assoc`, `conj` and their kin made it, and the value was
//! only moved since. The handle in the register says so ([`Value::OwnVector`] and its like), and an instruction that reads
//! such a register for the last time (`AssocLast`, natives that ask [`Call::own_first`](crate::Call::own_first)) may write
//! to the object. Whatever else takes the value, copies it or puts it anywhere, first makes the handle an ordinary one:
//! owned handles are never inside objects, and never in two registers that are both still read.
//!
//! What is owned costs the same as what is not. So the decisions that have a price (when a long flat vector becomes one
//! that changes cheaply, when a table of a map is built anew) are made as for values that are never changed in place.
//!
//! A long vector that is changed in place is an *array*: all items together, with room to grow. Going from a trie to an
//! array copies all items, which costs nothing in fuel, so it has to be earned: each change earns some cells. When
//! somebody changes an array that is not owned, it becomes a trie again where it stands, once; that copy is paid when the
//! array is made. So the work of both is bounded by the number of changes, whatever the program does.

use crate::fault::Stop;
use crate::heap::Heap;
use crate::value::index::{Hashed, Probe, SMALL, map_cells};
use crate::value::trie::trie_cells;
use crate::value::vector::FLAT_MAX;
use crate::value::{Ref, Two, Value};

/// Cells that one change earns.
const EARNED: usize = 4;

/// So few cells may be copied at any time.
const FREE_COPY: usize = 64;

impl Heap {
    /// Returns true if collections may be changed in place: not behind the firewall, where every change asks for veils.
    #[inline]
    pub fn may_own(&self) -> bool {
        self.in_place && !self.guarded
    }

    /// Counts a change that may be made in place; called once for each, after it was paid for.
    #[inline]
    pub fn earn(&mut self) {
        self.owns = true;
        self.credit += EARNED;
    }

    fn may_copy(&self, cells: usize) -> bool {
        // For the way back, too.
        cells <= FREE_COPY || self.credit >= 2 * cells
    }

    fn spend(&mut self, cells: usize) {
        if cells > FREE_COPY {
            self.credit = self.credit.saturating_sub(2 * cells);
            self.owe(cells);
        }
    }

    /// A vector that can be changed as values are that nobody owns: an array becomes a trie.
    #[inline]
    pub(crate) fn settled(&mut self, r: Ref) -> Result<Ref, Stop> {
        match self.head(r) {
            Value::ArrayHead(counts) => self.as_trie(r, counts.get().0 as usize),
            _ => Ok(r),
        }
    }

    #[inline(never)]
    fn as_trie(&mut self, r: Ref, len: usize) -> Result<Ref, Stop> {
        self.room(trie_cells(len), 0)?;
        // Entries that were removed stay what they are.
        let trie = self.build_trie(len, |heap, i| heap.vec_at(r, i, Value::Nil));
        let at = r.at() as usize;
        if r.space() != 0 || len <= FLAT_MAX {
            // In a frozen space the array stays one, and the next change copies it again: time that fuel does not count.
            self.owe(len);
            return Ok(trie);
        }
        // The array becomes a trie where it stands, so every value that refers to it sees the trie.
        let from = trie.at() as usize;
        self.own.cells.copy_within(from..from + 3, at);
        Ok(r)
    }

    /// A hashed collection whose entries can be changed as those nobody owns.
    pub(crate) fn settled_entries(&mut self, mut map: Hashed) -> Result<Hashed, Stop> {
        map.entries = self.settled(map.entries)?;
        Ok(map)
    }

    /// An array of the items of a vector, with room for `more`, and for `cells` besides.
    fn make_array(&mut self, r: Ref, more: usize, cells: usize) -> Result<Ref, Stop> {
        let len = self.vec_len(r);
        let cap = if more == 0 { len.max(2) } else { len + len / 2 + more };
        self.room(1 + cap + cells, 0)?;
        self.spend(len);
        let new = self.push_head(Value::ArrayHead(Two::new(len as u32, cap as u32)));
        self.push_items(r, 0, len);
        self.own.cells.resize(new.at() as usize + 1 + cap, Value::Nil);
        Ok(new)
    }

    /// Length and capacity of an array of the own arena.
    #[inline]
    fn array_parts(&self, r: Ref) -> Option<(usize, usize)> {
        match self.own.cells.get(r.at() as usize) {
            Some(Value::ArrayHead(counts)) if r.space() == 0 => {
                let (len, cap) = counts.get();
                Some((len as usize, cap as usize))
            }
            _ => None,
        }
    }

    /// Cells [`Heap::array_push`] needs at most for `n` items.
    fn array_push_cells(&self, r: Ref, n: usize) -> usize {
        match self.array_parts(r) {
            Some((len, cap)) if len + n > cap => 1 + grown(len, n),
            _ => 0,
        }
    }

    /// Appends to an array that nothing else refers to; gives the array, which may have moved. Room is there.
    fn array_push(&mut self, r: Ref, items: &[Value]) -> Ref {
        let Some((len, cap)) = self.array_parts(r) else { return r };
        let (mut at, mut end) = (r.at() as usize, cap);
        if len + items.len() > cap {
            end = grown(len, items.len());
            if at + 1 + cap == self.own.cells.len() {
                self.own.cells.resize(at + 1 + end, Value::Nil);
            } else {
                let new = self.own.cells.len();
                self.own.cells.push(Value::Nil);
                self.own.cells.extend_from_within(at + 1..at + 1 + len);
                self.own.cells.resize(new + 1 + end, Value::Nil);
                at = new;
            }
        }
        self.own.cells[at] = Value::ArrayHead(Two::new((len + items.len()) as u32, end as u32));
        self.own.cells[at + 1 + len..at + 1 + len + items.len()].copy_from_slice(items);
        Ref::own(at)
    }

    /// Returns true if a collection that is owned can take `n` changes one after the other without asking for room in between: an
    /// operation of several steps that has changed its argument cannot be run again.
    pub fn has_room_for(&self, v: Value, n: usize) -> bool {
        let Some(r) = v.reference().filter(|_| v.is_owned() && n > 1) else { return true };
        let cells = match (v, self.array_parts(r)) {
            (_, Some((len, cap))) if len + n <= cap => 0,
            (Value::OwnVector(_), parts) => {
                let len = parts.map_or(FLAT_MAX, |(len, _)| len);
                n.min(FLAT_MAX) * (FLAT_MAX + 2) + 2 * (1 + grown(len, n))
            }
            _ => {
                let (len, one) = match self.hashed(r) {
                    Some(map) => (map.used, self.hashed_add_cells(&map)),
                    None => (SMALL, 2 * (3 + SMALL)),
                };
                one.saturating_mul(n).saturating_add(4 * map_cells(2 * (len + n)))
            }
        };
        self.room(cells, 0).is_ok()
    }

    /// `(conj s item)` of a native, which has paid, for a set that it does not use afterwards.
    pub fn set_add(&mut self, s: Value, item: Value) -> Result<Value, Stop> {
        match s {
            Value::OwnSet(_) | Value::Set(_) if self.may_own() => {
                self.earn();
                self.set_conj_last(s, item.shared())
            }
            Value::OwnSet(r) | Value::Set(r) => self.set_conj(r, item),
            _ => Ok(s),
        }
    }

    /// `(assoc m key value)` of a native, which has paid, for a map that it does not use afterwards.
    pub fn map_put(&mut self, m: Value, key: Value, value: Value) -> Result<Value, Stop> {
        match m {
            Value::OwnMap(_) | Value::Map(_) if self.may_own() => {
                self.earn();
                self.map_assoc_last(m, key, value.shared())
            }
            Value::OwnMap(r) | Value::Map(r) => self.map_assoc(r, key, value),
            _ => Ok(m),
        }
    }

    /// `(dissoc m key)` for a map that is not used afterwards.
    pub fn map_remove(&mut self, m: Value, key: Value) -> Result<Value, Stop> {
        match m {
            Value::OwnMap(_) | Value::Map(_) if self.may_own() => {
                self.earn();
                self.map_dissoc_last(m, key)
            }
            Value::OwnMap(r) | Value::Map(r) => self.map_dissoc(r, key),
            _ => Ok(m),
        }
    }

    /// `(disj s item)` for a set that is not used afterwards.
    pub fn set_remove(&mut self, s: Value, item: Value) -> Result<Value, Stop> {
        match s {
            Value::OwnSet(_) | Value::Set(_) if self.may_own() => {
                self.earn();
                self.set_disj_last(s, item)
            }
            Value::OwnSet(r) | Value::Set(r) => self.set_disj(r, item),
            _ => Ok(s),
        }
    }

    /// `(conj v item)` of a native, which has paid, for a vector that it does not use afterwards.
    pub fn vec_append(&mut self, v: Value, item: Value) -> Result<Value, Stop> {
        match v {
            Value::OwnVector(_) | Value::Vector(_) if self.may_own() => {
                self.earn();
                self.vec_conj_last(v, item.shared())
            }
            Value::OwnVector(r) | Value::Vector(r) => self.vec_conj(r, item),
            _ => Ok(v),
        }
    }

    /// `(pop v)` for a vector that is not used afterwards; nil when it is empty.
    pub fn vec_shorten(&mut self, v: Value) -> Result<Value, Stop> {
        let found = match v {
            Value::OwnVector(_) | Value::Vector(_) if self.may_own() => {
                self.earn();
                self.vec_pop_last(v)?
            }
            Value::OwnVector(r) | Value::Vector(r) => self.vec_pop(r)?,
            _ => None,
        };
        Ok(found.unwrap_or(Value::Nil))
    }

    /// `(conj v item)` for a vector that is not used afterwards.
    pub(crate) fn vec_conj_last(&mut self, v: Value, item: Value) -> Result<Value, Stop> {
        let (Some(r), own) = (v.reference(), v.is_owned()) else { return Ok(v) };
        match self.head(r) {
            Value::ArrayHead(_) if own => {
                self.room(self.array_push_cells(r, 1), 0)?;
                Ok(Value::OwnVector(self.array_push(r, &[item])))
            }
            Value::FlatHead { len } if own && (len as usize) < FLAT_MAX && self.ends_at(r, len as usize) => {
                self.room(1, 0)?;
                self.own.cells[r.at() as usize] = Value::FlatHead { len: len + 1 };
                self.own.cells.push(item);
                Ok(v)
            }
            Value::FlatHead { len } if len as usize >= FLAT_MAX => {
                self.charge(len as usize + 1);
                self.look()?;
                let new = self.make_array(r, 1, 0)?;
                Ok(Value::OwnVector(self.array_push(new, &[item])))
            }
            Value::TrieHead(parts) | Value::ArrayHead(parts) if self.may_copy(parts.get().0 as usize) => {
                let new = self.make_array(r, 1, 0)?;
                Ok(Value::OwnVector(self.array_push(new, &[item])))
            }
            // A new flat vector.
            Value::FlatHead { .. } => self.vec_conj(r, item).map(Value::claimed),
            _ => self.vec_conj(r, item),
        }
    }

    /// Returns true if nothing is behind an object of the own arena with so many cells.
    fn ends_at(&self, r: Ref, cells: usize) -> bool {
        r.space() == 0 && r.at() as usize + 1 + cells == self.own.cells.len()
    }

    /// `(assoc v i item)` for a vector that is not used afterwards; None beyond its end.
    pub(crate) fn vec_assoc_last(&mut self, v: Value, i: usize, item: Value) -> Result<Option<Value>, Stop> {
        let (Some(r), own) = (v.reference(), v.is_owned()) else { return Ok(None) };
        if own
            && r.space() == 0
            && let at = r.at() as usize
            && let Some(len) = match self.own.cells.get(at) {
                Some(Value::ArrayHead(counts)) => Some(counts.get().0 as usize),
                Some(Value::FlatHead { len }) => Some(*len as usize),
                _ => None,
            }
            && i < len
        {
            self.own.cells[at + 1 + i] = item;
            return Ok(Some(v));
        }
        let len = self.vec_len(r);
        if i >= len {
            return if i == len { self.vec_conj_last(v, item).map(Some) } else { Ok(None) };
        }
        let new = match self.head(r) {
            Value::TrieHead(_) | Value::ArrayHead(_) if self.may_copy(len) => self.make_array(r, 0, 0)?,
            Value::TrieHead(_) | Value::ArrayHead(_) => return self.vec_assoc(r, i, item),
            // A new flat vector.
            _ if len <= FLAT_MAX => return Ok(self.vec_assoc(r, i, item)?.map(Value::claimed)),
            _ => {
                self.charge(len);
                self.look()?;
                self.make_array(r, 0, 0)?
            }
        };
        self.own.cells[new.at() as usize + 1 + i] = item;
        Ok(Some(Value::OwnVector(new)))
    }

    /// `(pop v)` for a vector that is not used afterwards; None when it is empty.
    pub(crate) fn vec_pop_last(&mut self, v: Value) -> Result<Option<Value>, Stop> {
        let (Some(r), own) = (v.reference(), v.is_owned()) else { return Ok(None) };
        let at = r.at() as usize;
        match self.head(r) {
            Value::FlatHead { len } if own && len > 1 => {
                self.own.cells[at] = Value::FlatHead { len: len - 1 };
                self.own.cells[at + len as usize] = Value::Nil;
                Ok(Some(v))
            }
            Value::TrieHead(parts) | Value::ArrayHead(parts)
                if let len = parts.get().0 as usize
                    && len > 1
                    && (own && self.array_parts(r).is_some() || self.may_copy(len)) =>
            {
                let r = match own && self.array_parts(r).is_some() {
                    true => r,
                    false => self.make_array(r, 0, 0)?,
                };
                let at = r.at() as usize;
                let Some((len, cap)) = self.array_parts(r) else { return self.vec_pop(r) };
                self.own.cells[at] = Value::ArrayHead(Two::new(len as u32 - 1, cap as u32));
                self.own.cells[at + len] = Value::Nil;
                Ok(Some(Value::OwnVector(r)))
            }
            _ => self.vec_pop(r),
        }
    }

    /// A hashed collection that may be written to, with its entries in an array and so much more room: the one given if
    /// it is owned, else a copy if that was earned.
    fn opened(&mut self, v: Value, map: &Hashed, cells: usize) -> Result<Option<(Value, Hashed)>, Stop> {
        let (Some(r), own) = (v.reference().filter(|r| r.space() == 0), v.is_owned()) else {
            return self.opened_copy(v, map, cells);
        };
        if own && self.array_parts(map.entries).is_some() {
            self.room(cells, 0)?;
            return Ok(Some((Value::owned_as(v, r), *map)));
        }
        self.opened_copy(v, map, cells)
    }

    fn opened_copy(&mut self, v: Value, map: &Hashed, cells: usize) -> Result<Option<(Value, Hashed)>, Stop> {
        if !self.may_copy(self.vec_len(map.entries)) {
            return Ok(None);
        }
        let entries = self.make_array(map.entries, 2, cells + 8)?;
        let mut map = *map;
        map.entries = entries;
        let r = self.push_hashed(&map);
        Ok(Some((Value::owned_as(v, r), map)))
    }

    /// Adds an entry to a hashed collection, whose key has this hash and is not there.
    fn hashed_add_last(&mut self, v: Value, map: &Hashed, items: &[Value], hash: u32) -> Result<Value, Stop> {
        let cells = self.hashed_add_cells(map) + self.array_push_cells(map.entries, items.len());
        let Some((new, mut map)) = self.opened(v, map, cells)? else {
            let map = self.settled_entries(*map)?;
            self.room(self.hashed_add_cells(&map), 0)?;
            let r = self.hashed_add(&map, items, hash);
            return Ok(Value::owned_as(v, r).shared());
        };
        self.index_entry(&mut map, hash);
        map.entries = self.array_push(map.entries, items);
        (map.used, map.len) = (map.used + 1, map.len + 1);
        self.write_hashed(new, &map);
        Ok(new)
    }

    /// Writes cells of an entry of a hashed collection; `removed` when that removes it.
    fn hashed_set_last(
        &mut self,
        v: Value,
        map: &Hashed,
        at: usize,
        items: &[Value],
        removed: bool,
    ) -> Result<Value, Stop> {
        let Some((new, mut map)) = self.opened(v, map, 0)? else {
            let map = self.settled_entries(*map)?;
            self.room(self.hashed_set_cells(), 0)?;
            let r = self.hashed_set(&map, at, items, removed);
            return Ok(Value::owned_as(v, r).shared());
        };
        let place = map.entries.at() as usize + 1 + at;
        self.own.cells[place..place + items.len()].copy_from_slice(items);
        if removed {
            map.len -= 1;
            self.write_hashed(new, &map);
        }
        Ok(new)
    }

    /// `(assoc m key value)` for a map that is not used afterwards.
    pub(crate) fn map_assoc_last(&mut self, m: Value, key: Value, value: Value) -> Result<Value, Stop> {
        let (Some(r), own) = (m.reference(), m.is_owned()) else { return Ok(m) };
        if let Some(map) = self.hashed(r) {
            let hash = self.key_hash(key, map.used);
            let place = self.hashed_find(&map, 2, Probe::Known(key, hash));
            self.look()?;
            return match place {
                Some(place) => self.hashed_set_last(m, &map, place * 2 + 1, &[value], false),
                None => self.hashed_add_last(m, &map, &[key, value], hash),
            };
        }
        if self.sorted_order(r).is_some() {
            return self.plain_assoc(r, key, value);
        }
        let place = self.map_find(r, key);
        self.look()?;
        if let Some(place) = place.filter(|_| own && r.space() == 0) {
            self.own.cells[r.at() as usize + 2 + place] = value;
            return Ok(m);
        }
        let new = self.record_assoc(r, place, key, value)?;
        self.open_new(new.claimed())
    }

    /// A hashed collection that has just been built, with its entries in an array.
    fn open_new(&mut self, v: Value) -> Result<Value, Stop> {
        let Some(map) = v.reference().and_then(|r| self.hashed(r)) else { return Ok(v) };
        // Building it was as much work.
        self.credit += 2 * self.vec_len(map.entries);
        Ok(self.opened(v, &map, 0)?.map_or(v, |(new, _)| new))
    }

    /// `(dissoc m key)` for a map that is not used afterwards.
    fn map_dissoc_last(&mut self, m: Value, key: Value) -> Result<Value, Stop> {
        let Some(r) = m.reference() else { return Ok(m) };
        let Some(place) = self.map_find(r, key) else { return Ok(m) };
        match self.hashed(r) {
            Some(map) if (map.len - 1) * 2 >= map.used => {
                self.hashed_set_last(m, &map, place * 2, &[Value::Gone, Value::Nil], true)
            }
            _ if self.sorted_order(r).is_some() => self.dissoc_at(r, key, place),
            _ => {
                let new = self.dissoc_at(r, key, place)?;
                self.open_new(new.claimed())
            }
        }
    }

    /// `(conj s item)` for a set that is not used afterwards.
    pub(crate) fn set_conj_last(&mut self, s: Value, item: Value) -> Result<Value, Stop> {
        let Some(r) = s.reference() else { return Ok(s) };
        if let Some(set) = self.hashed(r) {
            let hash = self.key_hash(item, set.used);
            let place = self.hashed_find(&set, 1, Probe::Known(item, hash));
            self.look()?;
            return match place {
                Some(_) => Ok(s),
                None => self.hashed_add_last(s, &set, &[item], hash),
            };
        }
        match self.set_conj(r, item)? {
            same @ Value::Set(found) if found == r || self.sorted_order(found).is_some() => {
                Ok(if found == r { s } else { same })
            }
            new => self.open_new(new.claimed()),
        }
    }

    /// `(disj s item)` for a set that is not used afterwards.
    fn set_disj_last(&mut self, s: Value, item: Value) -> Result<Value, Stop> {
        let Some(r) = s.reference() else { return Ok(s) };
        let Some(place) = self.set_find(r, item) else { return Ok(s) };
        match self.hashed(r) {
            Some(set) if (set.len - 1) * 2 >= set.used => {
                self.hashed_set_last(s, &set, place, &[Value::Gone], true)
            }
            _ if self.sorted_order(r).is_some() => self.disj_at(r, place),
            _ => {
                let new = self.disj_at(r, place)?;
                self.open_new(new.claimed())
            }
        }
    }
}

impl Value {
    /// An owned handle of the kind that `v` is.
    fn owned_as(v: Value, r: Ref) -> Value {
        match v {
            Value::Set(_) | Value::OwnSet(_) => Value::OwnSet(r),
            _ => Value::OwnMap(r),
        }
    }
}

/// The capacity of an array of `len` items that `n` more do not fit.
fn grown(len: usize, n: usize) -> usize {
    (2 * len).max(len + n).max(8)
}

const _: () = assert!(SMALL < FLAT_MAX && FREE_COPY >= FLAT_MAX);

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// What happens to the value that is passed on.
    #[derive(Debug, Clone)]
    enum Step {
        Put(i64, i64),
        Remove(i64),
        Conj(i64),
        Pop,
        /// Somebody keeps it, and it is passed on.
        Keep,
        /// Somebody keeps it and changes what was kept, too.
        Fork(i64),
        /// An earlier value is passed on instead.
        Back(usize),
        Collect,
    }

    fn steps() -> impl Strategy<Value = Vec<Step>> {
        let step = prop_oneof![
            10 => (0i64..80, any::<i64>()).prop_map(|(k, v)| Step::Put(k, v)),
            4 => (0i64..80).prop_map(Step::Remove),
            10 => (0i64..200).prop_map(Step::Conj),
            2 => Just(Step::Pop),
            2 => Just(Step::Keep),
            1 => (0i64..80).prop_map(Step::Fork),
            1 => (0usize..100).prop_map(Step::Back),
            1 => Just(Step::Collect),
        ];
        prop::collection::vec(step, 0..400)
    }

    /// A collection as the tests know it: items, or keys and values in turn.
    trait Model {
        fn change(heap: &mut Heap, v: Value, step: &Step, model: &mut Vec<(i64, i64)>) -> Value;
        fn persistent(heap: &mut Heap, v: Value, key: i64, model: &mut Vec<(i64, i64)>) -> Value;
        fn read(heap: &Heap, v: Value) -> Vec<(i64, i64)>;
    }

    fn number(v: Value) -> i64 {
        match v {
            Value::Int(n) => n,
            other => panic!("{other:?}"),
        }
    }

    struct Vectors;

    impl Model for Vectors {
        fn change(heap: &mut Heap, v: Value, step: &Step, model: &mut Vec<(i64, i64)>) -> Value {
            match *step {
                Step::Put(k, n) => match heap.vec_assoc_last(v, k as usize, Value::Int(n)).unwrap() {
                    Some(new) => {
                        match model.get_mut(k as usize) {
                            Some(known) => *known = (n, 0),
                            None => model.push((n, 0)),
                        }
                        new
                    }
                    None => {
                        assert!(k as usize > model.len());
                        v
                    }
                },
                Step::Conj(n) => {
                    model.push((n, 0));
                    heap.vec_conj_last(v, Value::Int(n)).unwrap()
                }
                Step::Pop => match heap.vec_pop_last(v).unwrap() {
                    Some(new) => {
                        model.pop();
                        new
                    }
                    None => v,
                },
                _ => v,
            }
        }

        fn persistent(heap: &mut Heap, v: Value, key: i64, model: &mut Vec<(i64, i64)>) -> Value {
            model.push((key, 0));
            heap.vec_conj(v.reference().unwrap(), Value::Int(key)).unwrap()
        }

        fn read(heap: &Heap, v: Value) -> Vec<(i64, i64)> {
            let r = v.reference().unwrap();
            let by_index: Vec<i64> =
                (0..heap.vec_len(r)).map(|i| number(heap.vec_get(r, i).unwrap())).collect();
            let together: Vec<i64> = heap.vec_items(r).into_iter().map(number).collect();
            assert_eq!(by_index, together);
            by_index.into_iter().map(|n| (n, 0)).collect()
        }
    }

    fn put(model: &mut Vec<(i64, i64)>, key: i64, value: i64) {
        match model.iter_mut().find(|(known, _)| *known == key) {
            Some((_, known)) => *known = value,
            None => model.push((key, value)),
        }
    }

    struct Maps;

    impl Model for Maps {
        fn change(heap: &mut Heap, v: Value, step: &Step, model: &mut Vec<(i64, i64)>) -> Value {
            match *step {
                Step::Put(k, _) | Step::Conj(k) => {
                    let n = if let Step::Put(_, n) = *step { n } else { k };
                    put(model, k, n);
                    heap.map_assoc_last(v, Value::Int(k), Value::Int(n)).unwrap()
                }
                Step::Remove(k) => {
                    model.retain(|(known, _)| *known != k);
                    heap.map_dissoc_last(v, Value::Int(k)).unwrap()
                }
                _ => v,
            }
        }

        fn persistent(heap: &mut Heap, v: Value, key: i64, model: &mut Vec<(i64, i64)>) -> Value {
            put(model, key, -1);
            heap.map_assoc(v.reference().unwrap(), Value::Int(key), Value::Int(-1)).unwrap()
        }

        fn read(heap: &Heap, v: Value) -> Vec<(i64, i64)> {
            let r = v.reference().unwrap();
            let items = heap.map_items(r);
            let pairs: Vec<_> =
                items.chunks_exact(2).map(|pair| (number(pair[0]), number(pair[1]))).collect();
            for (key, value) in &pairs {
                assert_eq!(heap.map_get(r, Value::Int(*key)).map(number), Some(*value));
            }
            assert_eq!(heap.map_len(r), pairs.len());
            pairs
        }
    }

    struct Sets;

    impl Model for Sets {
        fn change(heap: &mut Heap, v: Value, step: &Step, model: &mut Vec<(i64, i64)>) -> Value {
            match *step {
                Step::Put(k, _) | Step::Conj(k) => {
                    put(model, k, 0);
                    heap.set_conj_last(v, Value::Int(k)).unwrap()
                }
                Step::Remove(k) => {
                    model.retain(|(known, _)| *known != k);
                    heap.set_disj_last(v, Value::Int(k)).unwrap()
                }
                _ => v,
            }
        }

        fn persistent(heap: &mut Heap, v: Value, key: i64, model: &mut Vec<(i64, i64)>) -> Value {
            put(model, key, 0);
            heap.set_conj(v.reference().unwrap(), Value::Int(key)).unwrap()
        }

        fn read(heap: &Heap, v: Value) -> Vec<(i64, i64)> {
            let r = v.reference().unwrap();
            let items: Vec<i64> = heap.set_items(r).into_iter().map(number).collect();
            assert!(items.iter().all(|item| heap.set_get(r, Value::Int(*item)).is_some()));
            items.into_iter().map(|n| (n, 0)).collect()
        }
    }

    /// Passes a value on from step to step, and holds on to every value that anybody kept.
    fn play<M: Model>(empty: impl Fn(&Heap) -> Value, steps: &[Step]) {
        let mut heap = Heap::with_limit(50_000_000);
        let mut current = (empty(&heap), Vec::new());
        let mut kept: Vec<(Value, Vec<(i64, i64)>)> = Vec::new();
        for step in steps {
            heap.earn();
            match step {
                Step::Keep => {
                    current.0 = current.0.shared();
                    kept.push(current.clone());
                }
                Step::Fork(key) => {
                    current.0 = current.0.shared();
                    let (v, mut model) = current.clone();
                    kept.push((v, model.clone()));
                    let forked = M::persistent(&mut heap, v, *key, &mut model);
                    kept.push((forked, model));
                }
                Step::Back(at) if !kept.is_empty() => current = kept[at % kept.len()].clone(),
                Step::Back(_) => {}
                Step::Collect => {
                    let mut collector = heap.collect();
                    collector.root(&mut current.0);
                    kept.iter_mut().for_each(|(v, _)| collector.root(v));
                    collector.finish();
                }
                step => current.0 = M::change(&mut heap, current.0, step, &mut current.1),
            }
            assert_eq!(M::read(&heap, current.0), current.1, "{step:?}");
        }
        for (v, model) in kept {
            assert_eq!(M::read(&heap, v), model);
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(400))]

        #[test]
        fn vectors_that_anybody_holds_never_change(steps in steps()) {
            play::<Vectors>(|heap| heap.empty_vec(), &steps);
        }

        #[test]
        fn maps_that_anybody_holds_never_change(steps in steps()) {
            play::<Maps>(|heap| heap.empty_map(), &steps);
        }

        #[test]
        fn sets_that_anybody_holds_never_change(steps in steps()) {
            play::<Sets>(|heap| heap.empty_set(), &steps);
        }
    }

    #[test]
    fn a_long_vector_is_copied_once() {
        let mut heap = Heap::unbounded();
        let items: Vec<Value> = (0..10_000).map(Value::Int).collect();
        let start = heap.new_vec(&items).unwrap();
        let mut v = start;
        for i in 0..10_000 {
            heap.earn();
            v = heap.vec_assoc_last(v, i, Value::Nil).unwrap().unwrap();
        }
        assert!(v.is_owned() && heap.live_cells() < 20_100, "{}", heap.live_cells());
        assert!(matches!(heap.vec_get(start.reference().unwrap(), 9_999), Some(Value::Int(9_999))));
    }

    #[test]
    fn copies_are_earned() {
        // Somebody keeps each version: the work stays as small as that of tries.
        let mut heap = Heap::unbounded();
        let items: Vec<Value> = (0..10_000).map(Value::Int).collect();
        let mut v = heap.new_vec(&items).unwrap();
        for i in 0..10_000 {
            heap.earn();
            v = heap.vec_assoc_last(v, i, Value::Nil).unwrap().unwrap().shared();
        }
        assert!(heap.live_cells() < 10_000 * 150, "{}", heap.live_cells());
    }
}
