//! Maps, which keep insertion order at every size. Up to 16 entries they are records: a reference to a vector of keys,
//! which all maps of that shape share, and one value for each. Larger ones are hashed, see `index`.

use crate::fault::Stop;
use crate::heap::Heap;
use crate::value::hash::is_collection;
use crate::value::index::{Hashed, Probe, SMALL, hashed_cells};
use crate::value::remember::{ABSENT, FieldName};
use crate::value::{Ref, Value};

impl Heap {
    /// Returns the value a flexible lookup finds, or `default`, for code that reads the same fields of many records.
    #[inline]
    pub fn map_field_or(&mut self, r: Ref, key: Value, default: Value) -> Value {
        let name = match key {
            Value::Keyword(name) => FieldName::keyword(name),
            Value::Str(name) => FieldName::string(name),
            _ => return self.map_flex_or(r, key, default),
        };
        match self.known_field(r, name) {
            Some(Value::Gone) => default,
            Some(cell) => self.import(r.space(), *cell),
            None => self.map_field_slow(r, key, name, default),
        }
    }

    /// Appends the value of a field of each of these maps, as [`Heap::map_field_or`] finds it, up to the first that
    /// is not a record of a known shape.
    pub fn known_fields(&self, items: &[Value], key: Value, out: &mut Vec<Value>) {
        let name = match key {
            Value::Keyword(name) => FieldName::keyword(name),
            Value::Str(name) => FieldName::string(name),
            _ => return,
        };
        // Most often all have one shape and are in one space.
        let mut last = None;
        for item in items {
            let Value::Map(r) = *item else { return };
            let Some((keys, values)) = self.record(r) else { return };
            let place = match last {
                Some((space, shape, place)) if space == r.space() && shape == keys => place,
                _ => match self.known_place(r.space(), keys, name) {
                    Some(place) => place,
                    None => return,
                },
            };
            last = Some((r.space(), keys, place));
            let Some(value) = self.placed(r.space(), values, place) else { return };
            out.push(value);
        }
    }

    /// Returns the shape of a record, relative to its own space, and its values as they are stored.
    #[inline(always)]
    pub(crate) fn record(&self, r: Ref) -> Option<(Ref, &[Value])> {
        let cells = self.space(r.space()).cells.get(r.at() as usize..)?;
        let [Value::RecordHead { .. }, Value::Keys(keys), values @ ..] = cells else { return None };
        Some((*keys, values))
    }

    /// Returns the position of a field in the records of a space that have this shape, if it was looked up before.
    #[inline(always)]
    pub(crate) fn known_place(&self, space: u32, keys: Ref, name: FieldName) -> Option<u32> {
        self.key_cache.get(self.rebase_ref(space, keys), name)
    }

    /// Returns the value at a position of a record, nil if records of its shape have no such field.
    #[inline(always)]
    pub(crate) fn placed(&self, space: u32, values: &[Value], place: u32) -> Option<Value> {
        match values.get(place as usize) {
            Some(cell) => Some(self.import(space, *cell)),
            None if place == ABSENT => Some(Value::Nil),
            None => None,
        }
    }

    /// Returns the cell of a field at its known position: `Gone` if records of this shape have no such field. As it
    /// is stored, since a reference fits a register.
    #[inline(always)]
    pub(crate) fn known_field(&self, r: Ref, name: FieldName) -> Option<&Value> {
        let (keys, values) = self.record(r)?;
        match self.known_place(r.space(), keys, name)? {
            ABSENT => Some(&Value::Gone),
            place => values.get(place as usize),
        }
    }

    #[inline(never)]
    fn map_field_slow(&mut self, r: Ref, key: Value, name: FieldName, default: Value) -> Value {
        let found = self.map_flex(r, key);
        self.note_lookup(r, key, found.is_some());
        // Long names pay for every lookup, so none may be remembered.
        if let Value::RecordHead { .. } = self.head(r)
            && let Some(shape) = self.child(r, 0)
            && !key.reference().is_some_and(|name| self.is_long(name))
        {
            self.key_cache.put(shape, name, found.map_or(ABSENT, |place| place as u32));
        }
        found.map_or(default, |place| self.map_value(r, place))
    }

    /// Returns the number of entries.
    #[inline]
    pub fn map_len(&self, r: Ref) -> usize {
        match self.head(r) {
            Value::RecordHead { len } => len as usize,
            Value::HashHead(counts) => counts.get().0 as usize,
            Value::SortedHead(_) => self.sorted_len(r),
            _ => 0, // heads are trusted
        }
    }

    /// Returns the value of exactly this key.
    #[inline]
    pub fn map_get(&self, r: Ref, key: Value) -> Option<Value> {
        Some(self.map_value(r, self.map_place(r, Probe::Key(key))?))
    }

    /// Returns the value a flexible lookup finds, or `default`.
    #[inline]
    pub(crate) fn map_flex_or(&self, r: Ref, key: Value, default: Value) -> Value {
        match self.map_flex(r, key) {
            Some(place) => self.map_value(r, place),
            None => default,
        }
    }

    /// Returns the value of this key or of its other spelling: keyword for string and back, the string with `_` for
    /// `-`.
    #[inline]
    pub fn map_get_flex(&self, r: Ref, key: Value) -> Option<Value> {
        Some(self.map_value(r, self.map_flex(r, key)?))
    }

    /// Returns the entry a flexible lookup finds, with the key as it is spelt in the map.
    pub fn map_find_flex(&self, r: Ref, key: Value) -> Option<(Value, Value)> {
        let place = self.map_flex(r, key)?;
        Some((self.map_key(r, place), self.map_value(r, place)))
    }

    fn map_flex(&self, r: Ref, key: Value) -> Option<usize> {
        if let Some(place) = self.map_place(r, Probe::Key(key)) {
            return Some(place);
        }
        let (keyword, name) = match key {
            Value::Keyword(name) => (true, name),
            Value::Str(name) => (false, name),
            _ => return None,
        };
        let text = self.str(name);
        // Charges for reading its spelling.
        self.charge_text_key(text.len());
        // Small maps need no hash, and remembered positions must not make a lookup cheaper.
        let hash_of = |text: &str| match self.head(r) {
            Value::HashHead(_) => self.hash_of_bytes(text.as_bytes()),
            _ => 0,
        };
        let hash = hash_of(text);
        let place = self.map_place(r, Probe::Text { keyword: !keyword, text, hash });
        if place.is_some() || !text.contains('-') {
            return place;
        }
        let text = &text.replace('-', "_");
        let hash = hash_of(text);
        // Underscores come from data, whose keys are strings: `:user_id` and `:user-id` are two keywords.
        self.map_place(r, Probe::Text { keyword: false, text, hash }).or_else(|| {
            if keyword { None } else { self.map_place(r, Probe::Text { keyword: true, text, hash }) }
        })
    }

    /// Returns the position in a record or among the entries of a hashed map.
    #[inline]
    fn map_place(&self, r: Ref, probe: Probe<'_>) -> Option<usize> {
        match self.head(r) {
            Value::RecordHead { len: 0 } => None,
            Value::RecordHead { len } => self.keys_find(self.child(r, 0)?, len as usize, probe),
            Value::SortedHead(_) => self.sorted_find(r, probe).ok(),
            _ => self.hashed_find(&self.hashed(r)?, 2, probe),
        }
    }

    #[inline]
    fn keys_find(&self, keys: Ref, len: usize, probe: Probe<'_>) -> Option<usize> {
        let cells = self.raw(keys, 0, len);
        if let Probe::Key(Value::Keyword(key) | Value::Str(key)) = probe {
            self.charge_text_key(self.text_bytes_len(key));
        }
        // Mostly the very same keyword object: a pass without reading any text.
        if let Probe::Key(Value::Keyword(key)) = probe
            && (keys.space() == 0 || key.space() == keys.space())
        {
            // The key as it is written in the space of the keys.
            let local = if keys.space() == 0 { key } else { Ref::new(0, key.at()) };
            let found = cells.iter().position(|cell| matches!(cell, Value::Keyword(r) if *r == local));
            if found.is_some() {
                return found;
            }
        }
        self.keys_search(keys, len, probe)
    }

    #[inline(never)]
    fn keys_search(&self, keys: Ref, len: usize, probe: Probe<'_>) -> Option<usize> {
        let cells = self.raw(keys, 0, len);
        let (keyword, text) = match probe {
            Probe::Key(Value::Keyword(r)) | Probe::Known(Value::Keyword(r), _) => (true, self.str(r)),
            Probe::Key(Value::Str(r)) | Probe::Known(Value::Str(r), _) => (false, self.str(r)),
            Probe::Text { keyword, text, .. } => (keyword, text),
            Probe::Key(key) | Probe::Known(key, _) => {
                if let Probe::Key(_) = probe {
                    self.charge_key(key, len);
                }
                return (0..len).find(|i| self.exact(self.field(keys, *i), key));
            }
        };
        let hits = |r: Ref| self.text_is(self.rebase_ref(keys.space(), r), text);
        cells.iter().position(|cell| match *cell {
            Value::Keyword(r) => keyword && hits(r),
            Value::Str(r) => !keyword && hits(r),
            _ => false,
        })
    }

    fn map_key(&self, r: Ref, place: usize) -> Value {
        let key = match self.hashed(r) {
            Some(map) => Some(self.hashed_key(&map, 2, place)),
            None if self.sorted_order(r).is_some() => self.sorted_entry(r, place).map(|(key, _)| key),
            None => self.map_shape(r).map(|keys| self.field(keys, place)),
        };
        key.unwrap_or(Value::Nil)
    }

    #[inline]
    fn map_value(&self, r: Ref, place: usize) -> Value {
        match self.head(r) {
            Value::RecordHead { .. } => self.field(r, 1 + place),
            Value::SortedHead(_) => self.sorted_entry(r, place).map_or(Value::Nil, |(_, value)| value),
            _ => {
                let value = self.child(r, 0).and_then(|entries| self.vec_get(entries, place * 2 + 1));
                value.unwrap_or(Value::Nil)
            }
        }
    }

    /// Returns the entries whose key may be `key`, a collection with this hash.
    pub(crate) fn map_candidates(&self, r: Ref, key: Value, hash: u32) -> Vec<(Value, Value)> {
        let places = match self.hashed(r) {
            Some(map) => self.hashed_candidates(&map, 2, hash),
            None if self.sorted_order(r).is_some() => {
                self.sorted_find(r, Probe::Known(key, hash)).into_iter().collect()
            }
            None => (0..self.map_len(r)).collect(),
        };
        let entries = places.into_iter().map(|place| (self.map_key(r, place), self.map_value(r, place)));
        entries.filter(|(key, _)| is_collection(*key)).collect()
    }

    /// Returns the value of a key that is no collection, at no charge: for comparing maps, which counts its own steps.
    pub(crate) fn map_get_leaf(&self, r: Ref, key: Value) -> Option<Value> {
        Some(self.map_value(r, self.map_place(r, self.leaf_probe(key))?))
    }

    /// Sets an entry; an existing key keeps its position.
    pub fn map_assoc(&mut self, r: Ref, key: Value, value: Value) -> Result<Value, Stop> {
        if self.guarded {
            return self.guarded_assoc(r, key, value);
        }
        self.plain_assoc(r, key, value)
    }

    #[cold]
    fn guarded_assoc(&mut self, r: Ref, key: Value, value: Value) -> Result<Value, Stop> {
        let (key, value, is_secret) = self.guard_entry(key, value)?;
        let map = self.plain_assoc(r, key, value)?;
        if is_secret { self.veil(map) } else { Ok(map) }
    }

    pub(super) fn plain_assoc(&mut self, r: Ref, key: Value, value: Value) -> Result<Value, Stop> {
        let Value::RecordHead { .. } = self.head(r) else { return self.hashed_assoc(r, key, value) };
        let place = self.map_find(r, key);
        self.look()?;
        self.record_assoc(r, place, key, value)
    }

    /// Returns the place of exactly this key.
    pub(super) fn map_find(&self, r: Ref, key: Value) -> Option<usize> {
        self.map_place(r, Probe::Key(key))
    }

    /// A small map with an entry, whose key is at `place` if it is there: always a new map.
    pub(super) fn record_assoc(
        &mut self,
        r: Ref,
        place: Option<usize>,
        key: Value,
        value: Value,
    ) -> Result<Value, Stop> {
        let len = self.map_len(r);
        match place {
            Some(place) => {
                self.room(2 + len, 0)?;
                let keys = self.field(r, 0);
                let new = self.push_head(Value::RecordHead { len: len as u64 });
                self.own.cells.push(keys);
                self.push_fields(r, 1, len);
                self.own.cells[new.at() as usize + 2 + place] = value;
                Ok(Value::Map(new))
            }
            None if len < SMALL => {
                self.room(2 * (3 + len), 0)?;
                let keys = self.keys_with(r, len, key);
                let new = self.push_head(Value::RecordHead { len: len as u64 + 1 });
                self.own.cells.push(Value::Keys(keys));
                self.push_fields(r, 1, len);
                self.own.cells.push(value);
                Ok(Value::Map(new))
            }
            None => {
                self.room(hashed_cells(len + 1, 2), 0)?;
                let mut items = self.map_items(r);
                items.extend([key, value]);
                let hashes = self.hashes_of(&items, 2);
                self.look()?;
                Ok(Value::Map(self.build_hashed(&items, 2, &hashes)))
            }
        }
    }

    fn hashed_assoc(&mut self, r: Ref, key: Value, value: Value) -> Result<Value, Stop> {
        let Some(map) = self.hashed(r) else {
            self.look()?;
            return self.sorted_assoc(r, key, value).map(Value::Map);
        };
        let hash = self.key_hash(key, map.used);
        let place = self.hashed_find(&map, 2, Probe::Known(key, hash));
        self.look()?;
        let map = self.settled_entries(map)?;
        match place {
            Some(place) => {
                self.room(self.hashed_set_cells(), 0)?;
                Ok(Value::Map(self.hashed_set(&map, place * 2 + 1, &[value], false)))
            }
            None => {
                self.room(self.hashed_add_cells(&map), 0)?;
                Ok(Value::Map(self.hashed_add(&map, &[key, value], hash)))
            }
        }
    }

    /// Pushes `n` payload cells of an object from the `i`-th.
    pub(crate) fn push_fields(&mut self, r: Ref, i: usize, n: usize) {
        if r.space() == 0 {
            let start = r.at() as usize + 1 + i;
            self.own.cells.extend_from_within(start..start + n);
        } else {
            for at in i..i + n {
                let cell = self.field(r, at);
                self.own.cells.push(cell);
            }
        }
    }

    /// Returns the keys of a record and one more. Room for them must be reserved.
    fn keys_with(&mut self, r: Ref, len: usize, key: Value) -> Ref {
        // The empty map represents its keys.
        let from = self.map_shape(r).unwrap_or(r);
        if let Some(to) = self.shapes.get(from, key, false) {
            return to;
        }
        let to = self.push_head(Value::FlatHead { len: len as u64 + 1 });
        self.push_fields(from, 0, len);
        self.own.cells.push(key);
        self.shapes.put(from, key, false, to);
        to
    }

    /// Removes a key.
    pub fn map_dissoc(&mut self, r: Ref, key: Value) -> Result<Value, Stop> {
        match self.map_find(r, key) {
            Some(place) => self.dissoc_at(r, key, place),
            None => Ok(Value::Map(r)),
        }
    }

    /// Without this key, which is at `place`: a new map, or the empty one.
    pub(super) fn dissoc_at(&mut self, r: Ref, key: Value, place: usize) -> Result<Value, Stop> {
        if let Some(map) = self.hashed(r) {
            return self.hashed_dissoc(&map, place);
        }
        if self.sorted_order(r).is_some() {
            return self.sorted_remove(r, place).map(Value::Map);
        }
        let (Some(from), len) = (self.map_shape(r), self.map_len(r)) else { return Ok(Value::Map(r)) };
        if len == 1 {
            return Ok(self.empty_map());
        }
        self.room(2 * (1 + len), 0)?;
        let keys = match self.shapes.get(from, key, true) {
            Some(keys) => keys,
            None => {
                let keys = self.push_head(Value::FlatHead { len: len as u64 - 1 });
                self.push_fields(from, 0, place);
                self.push_fields(from, place + 1, len - place - 1);
                self.shapes.put(from, key, true, keys);
                keys
            }
        };
        let new = self.push_head(Value::RecordHead { len: len as u64 - 1 });
        self.own.cells.push(Value::Keys(keys));
        self.push_fields(r, 1, place);
        self.push_fields(r, 2 + place, len - place - 1);
        Ok(Value::Map(new))
    }

    fn hashed_dissoc(&mut self, map: &Hashed, place: usize) -> Result<Value, Stop> {
        if (map.len - 1) * 2 < map.used {
            // Too many dead entries: rebuild it.
            let (items, hashes) = self.hashed_without(map, 2, place);
            return self.new_distinct_map(&items, &hashes);
        }
        let map = &self.settled_entries(*map)?;
        self.room(self.hashed_set_cells(), 0)?;
        Ok(Value::Map(self.hashed_set(map, place * 2, &[Value::Gone, Value::Nil], true)))
    }

    /// Returns the next entry from cursor 0 on, and the cursor after it.
    pub fn map_next(&self, r: Ref, cursor: usize) -> Option<(Value, Value, usize)> {
        match self.head(r) {
            Value::RecordHead { len } if cursor < len as usize => {
                let keys = self.child(r, 0)?;
                Some((self.field(keys, cursor), self.field(r, 1 + cursor), cursor + 1))
            }
            Value::HashHead(_) => {
                let map = self.hashed(r)?;
                let (entry, key) = self.hashed_next(&map, 2, cursor)?;
                Some((key, self.vec_get(map.entries, entry * 2 + 1)?, entry + 1))
            }
            Value::SortedHead(_) => {
                let (key, value) = self.sorted_entry(r, cursor)?;
                Some((key, value, cursor + 1))
            }
            _ => None,
        }
    }

    /// Returns keys and values in turn.
    pub fn map_items(&self, r: Ref) -> Vec<Value> {
        if let Some(map) = self.hashed(r) {
            let items = self.vec_items(map.entries);
            if map.len == map.used {
                return items;
            }
            let living = items.chunks_exact(2).filter(|entry| !matches!(entry[0], Value::Gone));
            return living.flatten().copied().collect();
        }
        let mut items = Vec::with_capacity(self.map_len(r) * 2);
        let mut cursor = 0;
        while let Some((key, value, next)) = self.map_next(r, cursor) {
            items.extend([key, value]);
            cursor = next;
        }
        items
    }

    /// Makes a map of keys and values in turn; of equal keys the first gives the position, the last the value.
    pub fn new_map(&mut self, items: &[Value]) -> Result<Value, Stop> {
        if self.guarded
            && let Some((items, is_secret)) = self.guard_entries(items)?
        {
            let map = self.plain_map(&items)?;
            return if is_secret { self.veil(map) } else { Ok(map) };
        }
        self.plain_map(items)
    }

    fn plain_map(&mut self, items: &[Value]) -> Result<Value, Stop> {
        let n = items.len() / 2;
        if n > SMALL {
            self.room(hashed_cells(n, 2), 0)?;
            let mut items = items.to_vec();
            return match self.build_unique(&mut items, 2)? {
                Some(r) => Ok(Value::Map(r)),
                None => self.push_record(&items),
            };
        }
        if n > 1 {
            items.iter().step_by(2).for_each(|key| self.charge_key(*key, n));
            self.look()?;
        }
        let repeats = |i: usize| (0..i).find(|j| self.exact(items[j * 2], items[i * 2]));
        if (1..n).all(|i| repeats(i).is_none()) {
            return self.push_record(&items[..n * 2]);
        }
        let mut unique: Vec<Value> = Vec::with_capacity(items.len());
        for pair in items.chunks_exact(2) {
            match unique.chunks_exact_mut(2).find(|known| self.exact(known[0], pair[0])) {
                Some(known) => known[1] = pair[1],
                None => unique.extend_from_slice(pair),
            }
        }
        self.push_record(&unique)
    }

    /// Makes a map of keys that are known to differ, and have these hashes.
    pub fn new_distinct_map(&mut self, items: &[Value], hashes: &[u32]) -> Result<Value, Stop> {
        if self.guarded
            && let Some((items, is_secret)) = self.guard_entries(items)?
        {
            let map = self.plain_distinct_map(&items, hashes)?;
            return if is_secret { self.veil(map) } else { Ok(map) };
        }
        self.plain_distinct_map(items, hashes)
    }

    fn plain_distinct_map(&mut self, items: &[Value], hashes: &[u32]) -> Result<Value, Stop> {
        if hashes.len() <= SMALL {
            return self.push_record(items);
        }
        self.room(hashed_cells(hashes.len(), 2), 0)?;
        Ok(Value::Map(self.build_hashed(items, 2, hashes)))
    }

    fn push_record(&mut self, items: &[Value]) -> Result<Value, Stop> {
        if items.is_empty() {
            return Ok(self.empty_map());
        }
        self.room(items.len() + 3, 0)?;
        let len = items.len() as u32 / 2;
        let keys = self.push_head(Value::FlatHead { len: u64::from(len) });
        self.own.cells.extend(items.iter().step_by(2));
        let new = self.push_head(Value::RecordHead { len: u64::from(len) });
        self.own.cells.push(Value::Keys(keys));
        self.own.cells.extend(items.iter().skip(1).step_by(2));
        Ok(Value::Map(new))
    }

    /// Makes keys to be shared by many maps: at most 16, all different.
    pub fn new_keys(&mut self, keys: &[Value]) -> Result<Ref, Stop> {
        self.room(1 + keys.len(), 0)?;
        Ok(self.push_object(Value::FlatHead { len: keys.len() as u64 }, keys))
    }

    /// Makes a map of shared keys and one value for each.
    #[inline]
    pub fn new_record(&mut self, keys: Ref, values: &[Value]) -> Result<Value, Stop> {
        let len = self.vec_len(keys);
        if len > SMALL || len != values.len() || len == 0 {
            return self.new_wide_record(keys, values);
        }
        if self.guarded {
            return self.guarded_record(keys, values);
        }
        self.plain_record(keys, values)
    }

    /// Makes a record behind the firewall. Shared keys are never veiled, but their values may have to be.
    #[cold]
    fn guarded_record(&mut self, keys: Ref, values: &[Value]) -> Result<Value, Stop> {
        if !self.firewall || !(0..values.len()).any(|i| self.is_firewalled_key(self.field(keys, i))) {
            return self.plain_record(keys, values);
        }
        // All at once: nothing is half done if there is no room.
        self.room(2 + 3 * values.len(), 0)?;
        let mut veiled = values.to_vec();
        for (i, value) in veiled.iter_mut().enumerate() {
            *value = self.guard_entry(self.field(keys, i), *value)?.1;
        }
        self.plain_record(keys, &veiled)
    }

    #[inline]
    fn plain_record(&mut self, keys: Ref, values: &[Value]) -> Result<Value, Stop> {
        let len = values.len();
        self.room(2 + len, 0)?;
        let new = self.push_head(Value::RecordHead { len: len as u64 });
        self.own.cells.push(Value::Keys(keys));
        self.own.cells.extend_from_slice(values);
        Ok(Value::Map(new))
    }

    #[cold]
    fn new_wide_record(&mut self, keys: Ref, values: &[Value]) -> Result<Value, Stop> {
        let keys = self.vec_items(keys);
        let items: Vec<Value> = keys.iter().zip(values).flat_map(|(key, value)| [*key, *value]).collect();
        self.new_map(&items)
    }

    /// Returns the shared keys of a small map, a vector: maps with the same one have the same keys at the same
    /// positions. None for the empty map and for large ones.
    #[inline]
    pub fn map_shape(&self, r: Ref) -> Option<Ref> {
        match self.head(r) {
            Value::RecordHead { .. } => self.child(r, 0),
            _ => None,
        }
    }

    /// Returns the value at position `i` of a map with a shape.
    #[inline]
    pub fn record_get(&self, r: Ref, i: usize) -> Value {
        self.field(r, 1 + i)
    }
}
