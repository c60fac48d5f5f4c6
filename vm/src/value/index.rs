//! Hashed form of large maps and sets.
//!
//! Entries are kept in insertion order in a trie vector (keys and values in turn, or members), with removed ones
//! marked; an index leads from hashes to entry numbers. The index is an open table that versions share: like the tail
//! of a vector it stores how many entries it knows, and the version with exactly these may add to it in place. Other
//! versions skip entry numbers that are not theirs, or whose key differs. A version that may not add keeps a short list
//! of its own entries beside the table, and gets a new table when the list is full. So a loop of `assoc` takes a few
//! cells per step, and so do variations of one large map.

use crate::fault::{Fault, Stop};
use crate::heap::{Heap, LONG_TEXT};
use crate::value::trie::trie_cells;
use crate::value::{Ref, Two, Value};

/// Maximum entries of a flat map or set.
pub(crate) const SMALL: usize = 16;

/// Maximum length of the list beside the table.
const EXTRA_MAX: usize = 16;

/// Maximum cells for pushing or setting one entry in a trie of any height.
const ENTRY_CELLS: usize = 17 * 12;

/// The target of a search in a map or set.
#[derive(Clone, Copy)]
pub(crate) enum Probe<'a> {
    /// A key.
    Key(Value),
    /// A key whose hash is known.
    Known(Value, u32),
    /// A keyword or string with this text, which need not exist as a value.
    Text { keyword: bool, text: &'a str, hash: u32 },
}

/// A hashed map (stride 2) or set (stride 1), opened.
#[derive(Clone, Copy)]
pub(crate) struct Hashed {
    pub(crate) len: usize,
    pub(crate) used: usize,
    tabled: usize,
    pub(crate) entries: Ref,
    table: Ref,
    extra: Option<Ref>,
}

/// Slots of a table for `n` entries: at most three in four are taken.
fn table_cap(n: usize) -> usize {
    (n + n / 3 + 1).next_power_of_two().max(32)
}

/// Returns the maximum cells of a hashed collection of `n` entries, built whole.
pub(crate) fn hashed_cells(n: usize, stride: usize) -> usize {
    trie_cells(n * stride) + table_cap(n) + 8
}

/// Returns the maximum cells of a map of `n` entries, built whole.
pub(crate) fn map_cells(n: usize) -> usize {
    if n > SMALL { hashed_cells(n, 2) } else { 2 * n + 3 }
}

/// Returns the maximum cells of a set of `n` members, built whole.
pub(crate) fn set_cells(n: usize) -> usize {
    if n > SMALL { hashed_cells(n, 1) } else { n + 1 }
}

fn put_slot(slots: &mut [Value], hash: u32, entry: u32) {
    let mask = slots.len() - 1;
    let mut i = hash as usize & mask;
    while let Value::Slot(_) = slots[i] {
        i = (i + 1) & mask;
    }
    slots[i] = Value::Slot(Two::new(hash, entry));
}

/// Steps for inserting a key into a table, besides hashing and comparing it.
pub const ENTER_STEPS: usize = 8;

impl Heap {
    /// Opens a hashed map or set; None if it is flat.
    #[inline]
    pub(crate) fn hashed(&self, r: Ref) -> Option<Hashed> {
        match self.head(r) {
            Value::HashHead(counts) => {
                let (len, used) = counts.get();
                let Value::Int(tabled) = self.raw(r, 3, 1)[0] else { return None };
                Some(Hashed {
                    len: len as usize,
                    used: used as usize,
                    tabled: tabled as usize,
                    entries: self.child(r, 0)?,
                    table: self.child(r, 1)?,
                    extra: self.child(r, 2),
                })
            }
            _ => None,
        }
    }

    /// Returns the hash of the target of a search among `among` entries.
    fn probe_hash(&self, probe: Probe<'_>, among: usize) -> u32 {
        match probe {
            Probe::Key(key) => self.key_hash(key, among),
            Probe::Known(_, hash) => hash,
            Probe::Text { keyword: true, hash, .. } => super::hash::keyword_hash(hash),
            Probe::Text { hash, .. } => hash,
        }
    }

    /// True if a key is the target of the search.
    #[inline]
    pub(crate) fn probe_hits(&self, probe: Probe<'_>, key: Value) -> bool {
        match (probe, key) {
            (Probe::Key(wanted) | Probe::Known(wanted, _), key) => self.exact(key, wanted),
            (Probe::Text { keyword: false, text, .. }, Value::Str(r))
            | (Probe::Text { keyword: true, text, .. }, Value::Keyword(r)) => self.text_is(r, text),
            _ => false,
        }
    }

    /// Calls `hit` with the entries that have this hash until it returns true.
    fn with_hash(&self, map: &Hashed, hash: u32, mut hit: impl FnMut(usize) -> bool) -> Option<usize> {
        let slots = self.raw(map.table, 0, self.table_parts(map.table).0);
        let mask = slots.len().checked_sub(1)?;
        let mut i = hash as usize & mask;
        // A quarter of the slots is empty, so this ends.
        while let Value::Slot(slot) = slots[i] {
            let (found, entry) = slot.get();
            if found == hash && (entry as usize) < map.tabled && hit(entry as usize) {
                return Some(entry as usize);
            }
            i = (i + 1) & mask;
        }
        let extra = map.extra?;
        self.raw(extra, 0, self.vec_len(extra)).iter().find_map(|slot| match *slot {
            Value::Slot(slot) => {
                let (found, entry) = slot.get();
                (found == hash && hit(entry as usize)).then_some(entry as usize)
            }
            _ => None,
        })
    }

    /// Returns the key or member of an entry.
    #[inline]
    pub(crate) fn hashed_key(&self, map: &Hashed, stride: usize, entry: usize) -> Value {
        self.vec_get(map.entries, entry * stride).unwrap_or(Value::Gone)
    }

    /// Returns the number of the entry that is the target of the search.
    pub(crate) fn hashed_find(&self, map: &Hashed, stride: usize, probe: Probe<'_>) -> Option<usize> {
        let hash = self.probe_hash(probe, map.used);
        self.with_hash(map, hash, |entry| self.probe_hits(probe, self.hashed_key(map, stride, entry)))
    }

    /// Returns the entries whose key has this hash, in their order.
    pub(crate) fn hashed_candidates(&self, map: &Hashed, stride: usize, hash: u32) -> Vec<usize> {
        let mut found = Vec::new();
        self.with_hash(map, hash, |entry| {
            if !matches!(self.hashed_key(map, stride, entry), Value::Gone) {
                found.push(entry);
            }
            false
        });
        // The order in the table depends on the secret.
        found.sort_unstable();
        found
    }

    /// Returns the live entries except number `place`, and the hashes of their keys.
    pub(crate) fn hashed_without(&self, map: &Hashed, stride: usize, place: usize) -> (Vec<Value>, Vec<u32>) {
        let all = self.vec_items(map.entries);
        let (mut items, mut hashes) = (Vec::with_capacity(all.len()), Vec::with_capacity(map.len));
        for ((entry, item), hash) in all.chunks_exact(stride).enumerate().zip(self.hashes_by_entry(map)) {
            if entry != place && !matches!(item[0], Value::Gone) {
                items.extend_from_slice(item);
                hashes.push(hash);
            }
        }
        (items, hashes)
    }

    /// Returns a probe for a key that is no collection, at no charge.
    pub(crate) fn leaf_probe(&self, key: Value) -> Probe<'static> {
        match key {
            Value::Int(_) => Probe::Key(key),
            Value::Str(r) | Value::Keyword(r) if self.text_bytes(r).len() <= LONG_TEXT => Probe::Key(key),
            _ => Probe::Known(key, self.leaf_hash(key)),
        }
    }

    /// Returns the hashes of all entries by number.
    fn hashes_by_entry(&self, map: &Hashed) -> Vec<u32> {
        let mut hashes = vec![0; map.used];
        let listed = map.extra.map_or(&[][..], |extra| self.raw(extra, 0, self.vec_len(extra)));
        for cell in self.raw(map.table, 0, self.table_parts(map.table).0).iter().chain(listed) {
            // The table may know entries of later versions.
            if let Value::Slot(slot) = cell
                && let (hash, entry) = slot.get()
                && let Some(known) = hashes.get_mut(entry as usize)
            {
                *known = hash;
            }
        }
        hashes
    }

    /// Returns the number of slots visited to find each entry of a large map or set once, and the number of
    /// entries: for tests of the distribution of keys. As nothing is ever removed from a table, inserting the
    /// entries took as many visits. None if it has no table.
    #[doc(hidden)]
    pub fn table_probes(&self, r: Ref) -> Option<(usize, usize)> {
        let map = self.hashed(r)?;
        let slots = self.raw(map.table, 0, self.table_parts(map.table).0);
        let mask = slots.len().checked_sub(1)?;
        let (mut probes, mut entries) = (0, 0);
        for (i, cell) in slots.iter().enumerate() {
            if let Value::Slot(slot) = cell {
                probes += (i.wrapping_sub(slot.get().0 as usize) & mask) + 1;
                entries += 1;
            }
        }
        Some((probes, entries))
    }

    /// Returns the first live entry from number `entry` on.
    pub(crate) fn hashed_next(&self, map: &Hashed, stride: usize, entry: usize) -> Option<(usize, Value)> {
        (entry..map.used)
            .map(|entry| (entry, self.hashed_key(map, stride, entry)))
            .find(|(_, key)| !matches!(key, Value::Gone))
    }

    fn push_hashed(&mut self, map: &Hashed) -> Ref {
        let head = Value::HashHead(Two::new(map.len as u32, map.used as u32));
        let extra = map.extra.map_or(Value::Nil, Value::IndexRef);
        let tabled = Value::Int(map.tabled as i64);
        self.push_object(head, &[Value::Vector(map.entries), Value::IndexRef(map.table), extra, tabled])
    }

    /// Returns the slots of a table, and the number of entries it knows.
    #[inline]
    fn table_parts(&self, table: Ref) -> (usize, usize) {
        match self.head(table) {
            Value::TableHead(counts) => {
                let (cap, fill) = counts.get();
                (cap as usize, fill as usize)
            }
            _ => (0, 0), // heads are trusted
        }
    }

    /// Returns the maximum cells that [`Heap::hashed_add`] needs.
    pub(crate) fn hashed_add_cells(&self, map: &Hashed) -> usize {
        let in_place = self.table_has_room(map);
        ENTRY_CELLS + EXTRA_MAX + 8 + if in_place { 0 } else { 1 + table_cap(2 * (map.used + 1)) }
    }

    /// True if the next entry may be added to the table in place.
    fn table_has_room(&self, map: &Hashed) -> bool {
        let (cap, fill) = self.table_parts(map.table);
        map.table.space() == 0 && map.extra.is_none() && fill == map.used && (map.used + 1) * 4 <= cap * 3
    }

    /// Adds a new entry, whose key has this hash and is not present. Room for [`Heap::hashed_add_cells`] must be
    /// reserved.
    pub(crate) fn hashed_add(&mut self, map: &Hashed, items: &[Value], hash: u32) -> Ref {
        let entry = map.used as u32;
        let mut new = *map;
        if self.table_has_room(map) {
            let at = map.table.at() as usize;
            let (cap, fill) = self.table_parts(map.table);
            self.own.cells[at] = Value::TableHead(Two::new(cap as u32, fill as u32 + 1));
            put_slot(&mut self.own.cells[at + 1..at + 1 + cap], hash, entry);
            new.tabled += 1;
        } else if self.may_list(map) {
            let len = map.extra.map_or(0, |extra| self.vec_len(extra));
            let list = self.push_head(Value::FlatHead { len: len as u64 + 1 });
            if let Some(extra) = map.extra {
                self.push_items(extra, 0, len);
            }
            self.own.cells.push(Value::Slot(Two::new(hash, entry)));
            new.extra = Some(list);
        } else {
            new.table = self.regrow(map, hash);
            new.tabled = map.used + 1;
            new.extra = None;
        }
        let (len, shift) = self.trie_parts(map.entries);
        new.entries = self.trie_push(map.entries, len, shift, items);
        new.used += 1;
        new.len += 1;
        self.push_hashed(&new)
    }

    /// True if the entry should go to the list rather than to a larger table.
    fn may_list(&self, map: &Hashed) -> bool {
        let newest = map.table.space() == 0 && self.table_parts(map.table).1 == map.used;
        let listed = map.extra.map_or(0, |extra| self.vec_len(extra));
        // A table that this version could add to, if it were larger, is worth growing.
        !(newest && map.extra.is_none()) && listed < EXTRA_MAX
    }

    /// Makes a table for this version and one more entry, with hash `hash`.
    fn regrow(&mut self, map: &Hashed, hash: u32) -> Ref {
        let cap = table_cap(2 * (map.used + 1));
        let new = self.push_head(Value::TableHead(Two::new(cap as u32, map.used as u32 + 1)));
        let start = new.at() as usize + 1;
        self.own.cells.resize(start + cap, Value::Nil);
        for i in 0..self.table_parts(map.table).0 {
            if let Value::Slot(slot) = self.raw(map.table, i, 1)[0] {
                let (hash, entry) = slot.get();
                if (entry as usize) < map.tabled {
                    put_slot(&mut self.own.cells[start..start + cap], hash, entry);
                }
            }
        }
        if let Some(extra) = map.extra {
            for i in 0..self.vec_len(extra) {
                if let Value::Slot(slot) = self.raw(extra, i, 1)[0] {
                    let (hash, entry) = slot.get();
                    put_slot(&mut self.own.cells[start..start + cap], hash, entry);
                }
            }
        }
        put_slot(&mut self.own.cells[start..start + cap], hash, map.used as u32);
        new
    }

    fn trie_parts(&self, r: Ref) -> (usize, u32) {
        match self.head(r) {
            Value::TrieHead(parts) => (parts.get().0 as usize, parts.get().1),
            _ => (0, 4), // entries always are a trie
        }
    }

    /// Returns the maximum cells that [`Heap::hashed_set`] needs.
    pub(crate) fn hashed_set_cells(&self) -> usize {
        ENTRY_CELLS + 8
    }

    /// Replaces cells of the entries from `at` on; `removed` if that removes an entry.
    pub(crate) fn hashed_set(&mut self, map: &Hashed, at: usize, items: &[Value], removed: bool) -> Ref {
        let (len, shift) = self.trie_parts(map.entries);
        let mut new = *map;
        new.entries = self.trie_set(map.entries, len, shift, at, items);
        new.len -= usize::from(removed);
        self.push_hashed(&new)
    }

    /// Makes a hashed collection of entries without equal keys, with these hashes. Room for [`hashed_cells`] must
    /// be reserved.
    pub(crate) fn build_hashed(&mut self, items: &[Value], stride: usize, hashes: &[u32]) -> Ref {
        let table = self.push_table(hashes.len());
        for (entry, hash) in hashes.iter().enumerate() {
            self.table_put(table, *hash, entry);
        }
        self.finish_hashed(table, items, stride, hashes.len())
    }

    /// Returns the hashes of the keys of these entries.
    pub(crate) fn hashes_of(&self, items: &[Value], stride: usize) -> Vec<u32> {
        let among = items.len() / stride;
        items.iter().step_by(stride).map(|key| self.key_hash(*key, among)).collect()
    }

    /// Drops all but the last of equal keys, which take the position of the first, and returns the hashed
    /// collection, or None if few are left. Room for [`hashed_cells`] must be reserved.
    pub(crate) fn build_unique(
        &mut self,
        items: &mut Vec<Value>,
        stride: usize,
    ) -> Result<Option<Ref>, Fault> {
        let n = items.len() / stride;
        self.charge(n * ENTER_STEPS);
        self.look()?;
        let mark = self.own.cells.len();
        let table = self.push_table(n);
        let mut kept = 0;
        for entry in 0..n {
            let key = items[entry * stride];
            let hash = self.key_hash(key, kept);
            self.look()?;
            match self.table_find(table, hash, |found| self.exact(items[found * stride], key)) {
                Some(found) if stride == 2 => items[found * 2 + 1] = items[entry * 2 + 1],
                Some(_) => {}
                None => {
                    items.copy_within(entry * stride..(entry + 1) * stride, kept * stride);
                    self.table_put(table, hash, kept);
                    kept += 1;
                }
            }
        }
        items.truncate(kept * stride);
        if kept <= SMALL {
            self.own.cells.truncate(mark);
            return Ok(None);
        }
        Ok(Some(self.finish_hashed(table, items, stride, kept)))
    }

    /// Returns the numbers of the entries that were removed from a map or set; None if there are none.
    pub(crate) fn gaps(&self, value: Value, r: Ref) -> Option<Vec<u32>> {
        let stride = if matches!(value, Value::Set(_)) { 1 } else { 2 };
        let map = self.hashed(r).filter(|map| map.len < map.used)?;
        let is_gone = |entry: &u32| matches!(self.hashed_key(&map, stride, *entry as usize), Value::Gone);
        Some((0..map.used as u32).filter(is_gone).collect())
    }

    /// Makes a map (stride 2) or set (stride 1) of these entries as if others, with the numbers `gone`, had been
    /// removed between them; without gaps if it cannot have come about that way.
    pub(crate) fn new_with_gaps(
        &mut self,
        items: &[Value],
        stride: usize,
        gone: &[u32],
    ) -> Result<Value, Stop> {
        let live = items.len() / stride;
        let used = live + gone.len();
        let is_set = stride == 1;
        let fits = gone.last().is_some_and(|last| (*last as usize) < used);
        if !fits || used <= SMALL || live * 2 < used {
            return if is_set { self.new_set(items) } else { self.new_map(items) };
        }
        self.room(hashed_cells(used, stride), 0)?;
        let table = self.push_table(used);
        let mut all: Vec<Value> = Vec::with_capacity(used * stride);
        let (mut gone, mut rest) = (gone.iter().peekable(), items.chunks_exact(stride));
        for entry in 0..used {
            if gone.next_if(|number| **number as usize == entry).is_some() {
                all.extend([Value::Gone, Value::Nil].into_iter().take(stride));
            } else if let Some(item) = rest.next() {
                let hash = self.key_hash(item[0], entry);
                self.look()?;
                if self.table_find(table, hash, |found| self.exact(all[found * stride], item[0])).is_some() {
                    return if is_set { self.new_set(items) } else { self.new_map(items) };
                }
                self.table_put(table, hash, entry);
                all.extend_from_slice(item);
            }
        }
        let new = self.finish_hashed(table, &all, stride, live);
        Ok(if is_set { Value::Set(new) } else { Value::Map(new) })
    }

    fn push_table(&mut self, n: usize) -> Ref {
        let cap = table_cap(n);
        let table = self.push_head(Value::TableHead(Two::new(cap as u32, 0)));
        self.own.cells.resize(table.at() as usize + 1 + cap, Value::Nil);
        table
    }

    fn table_put(&mut self, table: Ref, hash: u32, entry: usize) {
        let at = table.at() as usize;
        let cap = self.table_parts(table).0;
        put_slot(&mut self.own.cells[at + 1..at + 1 + cap], hash, entry as u32);
    }

    fn table_find(&self, table: Ref, hash: u32, hit: impl Fn(usize) -> bool) -> Option<usize> {
        let whole = Hashed { len: 0, used: 0, tabled: usize::MAX, entries: table, table, extra: None };
        self.with_hash(&whole, hash, hit)
    }

    fn finish_hashed(&mut self, table: Ref, items: &[Value], stride: usize, live: usize) -> Ref {
        let n = items.len() / stride;
        let cap = self.table_parts(table).0;
        self.own.cells[table.at() as usize] = Value::TableHead(Two::new(cap as u32, n as u32));
        let entries = self.build_trie(items.len(), |_, i| items[i]);
        self.push_hashed(&Hashed { len: live, used: n, tabled: n, entries, table, extra: None })
    }
}
