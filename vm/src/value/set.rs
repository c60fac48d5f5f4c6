//! Sets, which keep insertion order at every size. Up to 16 members they are flat, larger ones hashed.

use crate::fault::Stop;
use crate::heap::Heap;
use crate::value::hash::is_collection;
use crate::value::index::{Probe, SMALL, hashed_cells};
use crate::value::{Ref, Value};

impl Heap {
    /// Returns the number of members.
    #[inline]
    pub fn set_len(&self, r: Ref) -> usize {
        match self.head(r) {
            Value::FewHead { len } => len as usize,
            Value::HashHead(counts) => counts.get().0 as usize,
            Value::SortedHead(_) => self.sorted_len(r),
            _ => 0, // heads are trusted
        }
    }

    fn set_place(&self, r: Ref, item: Value) -> Option<usize> {
        match self.hashed(r) {
            Some(set) => self.hashed_find(&set, 1, Probe::Key(item)),
            None if self.sorted_order(r).is_some() => self.sorted_find(r, Probe::Key(item)).ok(),
            None => {
                self.charge_key(item, self.set_len(r));
                self.few_place(r, item)
            }
        }
    }

    fn few_place(&self, r: Ref, item: Value) -> Option<usize> {
        (0..self.set_len(r)).find(|i| self.exact(self.field(r, *i), item))
    }

    /// True if a value that is no collection is a member, at no charge: for comparing sets, which counts its own steps.
    pub(crate) fn set_has_leaf(&self, r: Ref, item: Value) -> bool {
        match self.hashed(r) {
            Some(set) => self.hashed_find(&set, 1, self.leaf_probe(item)).is_some(),
            None => self.set_place(r, item).is_some(),
        }
    }

    fn set_member(&self, r: Ref, place: usize) -> Value {
        match self.hashed(r) {
            Some(set) => self.hashed_key(&set, 1, place),
            None if self.sorted_order(r).is_some() => {
                self.sorted_entry(r, place).map_or(Value::Nil, |(item, _)| item)
            }
            None => self.field(r, place),
        }
    }

    /// Returns the member equal to `item`.
    pub fn set_get(&self, r: Ref, item: Value) -> Option<Value> {
        self.set_place(r, item).map(|place| self.set_member(r, place))
    }

    /// Returns the members that may be `item`, a collection with this hash.
    pub(crate) fn set_candidates(&self, r: Ref, item: Value, hash: u32) -> Vec<Value> {
        let places = match self.hashed(r) {
            Some(set) => self.hashed_candidates(&set, 1, hash),
            None if self.sorted_order(r).is_some() => {
                self.sorted_find(r, Probe::Known(item, hash)).into_iter().collect()
            }
            None => (0..self.set_len(r)).collect(),
        };
        let members = places.into_iter().map(|place| self.set_member(r, place));
        members.filter(|member| is_collection(*member)).collect()
    }

    /// Adds a member.
    pub fn set_conj(&mut self, r: Ref, item: Value) -> Result<Value, Stop> {
        if let Value::Veiled(_) = item {
            let set = self.set_conj(r, self.unveil(item))?;
            return self.veil(set);
        }
        if let Some(set) = self.hashed(r) {
            let hash = self.key_hash(item, set.used);
            let place = self.hashed_find(&set, 1, Probe::Known(item, hash));
            self.look()?;
            if place.is_some() {
                return Ok(Value::Set(r));
            }
            let set = self.settled_entries(set)?;
            self.room(self.hashed_add_cells(&set), 0)?;
            return Ok(Value::Set(self.hashed_add(&set, &[item], hash)));
        }
        let place = self.set_place(r, item);
        self.look()?;
        if place.is_some() {
            return Ok(Value::Set(r));
        }
        if self.sorted_order(r).is_some() {
            return self.sorted_assoc(r, item, Value::Nil).map(Value::Set);
        }
        let len = self.set_len(r);
        if len >= SMALL {
            self.room(hashed_cells(len + 1, 1), 0)?;
            let mut items = self.set_items(r);
            items.push(item);
            let hashes = self.hashes_of(&items, 1);
            self.look()?;
            return Ok(Value::Set(self.build_hashed(&items, 1, &hashes)));
        }
        self.room(2 + len, 0)?;
        let new = self.push_head(Value::FewHead { len: len as u64 + 1 });
        self.push_fields(r, 0, len);
        self.own.cells.push(item);
        Ok(Value::Set(new))
    }

    /// Removes a member.
    pub fn set_disj(&mut self, r: Ref, item: Value) -> Result<Value, Stop> {
        match self.set_find(r, item) {
            Some(place) => self.disj_at(r, place),
            None => Ok(Value::Set(r)),
        }
    }

    /// Returns the place of a member.
    pub(super) fn set_find(&self, r: Ref, item: Value) -> Option<usize> {
        self.set_place(r, item)
    }

    /// Without the member at `place`: a new set, or the empty one.
    pub(super) fn disj_at(&mut self, r: Ref, place: usize) -> Result<Value, Stop> {
        if let Some(set) = self.hashed(r) {
            if (set.len - 1) * 2 >= set.used {
                let set = self.settled_entries(set)?;
                self.room(self.hashed_set_cells(), 0)?;
                return Ok(Value::Set(self.hashed_set(&set, place, &[Value::Gone], true)));
            }
            let (items, hashes) = self.hashed_without(&set, 1, place);
            if items.len() > SMALL {
                self.room(hashed_cells(items.len(), 1), 0)?;
                return Ok(Value::Set(self.build_hashed(&items, 1, &hashes)));
            }
            return self.push_few(&items);
        }
        if self.sorted_order(r).is_some() {
            return self.sorted_remove(r, place).map(Value::Set);
        }
        let mut items = self.set_items(r);
        items.remove(place);
        self.push_few(&items)
    }

    /// Returns the next member from cursor 0 on, and the cursor after it.
    pub fn set_next(&self, r: Ref, cursor: usize) -> Option<(Value, usize)> {
        match self.head(r) {
            Value::FewHead { len } if cursor < len as usize => Some((self.field(r, cursor), cursor + 1)),
            Value::HashHead(_) => {
                let (entry, item) = self.hashed_next(&self.hashed(r)?, 1, cursor)?;
                Some((item, entry + 1))
            }
            Value::SortedHead(_) => Some((self.sorted_entry(r, cursor)?.0, cursor + 1)),
            _ => None,
        }
    }

    /// Returns all members.
    pub fn set_items(&self, r: Ref) -> Vec<Value> {
        let mut items = Vec::with_capacity(self.set_len(r));
        let mut cursor = 0;
        while let Some((item, next)) = self.set_next(r, cursor) {
            items.push(item);
            cursor = next;
        }
        items
    }

    /// Makes a set of these, each once, in order of first appearance.
    pub fn new_set(&mut self, items: &[Value]) -> Result<Value, Stop> {
        if self.guarded
            && let Some(items) = self.guard_members(items)
        {
            let set = self.plain_set(&items)?;
            return self.veil(set);
        }
        self.plain_set(items)
    }

    fn plain_set(&mut self, items: &[Value]) -> Result<Value, Stop> {
        if items.len() > SMALL {
            self.room(hashed_cells(items.len(), 1), 0)?;
            let mut items = items.to_vec();
            return match self.build_unique(&mut items, 1)? {
                Some(r) => Ok(Value::Set(r)),
                None => self.push_few(&items),
            };
        }
        if items.len() > 1 {
            items.iter().for_each(|item| self.charge_key(*item, items.len()));
            self.look()?;
        }
        let mut unique: Vec<Value> = Vec::with_capacity(items.len());
        for item in items {
            if !unique.iter().any(|known| self.exact(*known, *item)) {
                unique.push(*item);
            }
        }
        self.push_few(&unique)
    }

    fn push_few(&mut self, items: &[Value]) -> Result<Value, Stop> {
        if items.is_empty() {
            return Ok(self.empty_set());
        }
        self.room(1 + items.len(), 0)?;
        Ok(Value::Set(self.push_object(Value::FewHead { len: items.len() as u64 }, items)))
    }
}
