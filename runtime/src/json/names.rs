//! Keys of JSON objects, each made once, and the key sequences that objects share.
//!
//! Records of a data set have the same keys in the same order. So key sequences form a tree: a node stands for the keys
//! on the way to it, and holds the one keys object of all maps that end there. A node remembers which key followed last
//! time; mostly it follows again, and then reading a key is comparing its bytes, with no hashing and no new text.
//!
//! The tree outlives a parse. Its knowledge of a heap does not, and is marked with the generation it belongs to; unless
//! it has been settled, which moves all keys into a frozen space attached to the heap for good.

use ptc_bytecode::HashSecret;
use ptc_vm::{Frozen, Heap, Ref, Stop, Value, Vm};

use super::plan::{Plan, WHOLE};
use super::scan::is_special;
use crate::natives::is_keyword_name;

/// Node of the empty sequence.
pub(crate) const ROOT: u32 = 0;

/// Maximum keys of an object that is remembered: larger ones rarely repeat.
const MAX_KEYS: u16 = 64;
/// Maximum keys of a record (see `Heap::new_keys`).
const RECORD_KEYS: u16 = 16;
// Bounds of the tables: hostile data has a new key in every place.
const MAX_NODES: usize = 8192;
const MAX_NAMES: usize = 4096;
const MAX_NAME_BYTES: usize = 256;

/// Generation of keys in a frozen space.
const SETTLED: u32 = u32::MAX;

/// Node of no sequence: keys that repeat, or too many of them.
pub(crate) const NOWHERE: u32 = u32::MAX;

const NO_KEYS: Ref = Ref::new(0, 0);

#[derive(Clone, Copy)]
struct Name {
    start: u32,
    len: u32,
    value: Value,
    generation: u32,
}

#[derive(Clone, Copy)]
struct Node {
    /// Start of the last key in `Names::text`.
    start: u32,
    /// Length of the last key; [`NOT_PLAIN`] if JSON text writes it with escapes, so that it cannot be compared
    /// with the input.
    text_len: u32,
    name: u32,
    parent: u32,
    /// Number of keys that lead here.
    len: u16,
    /// Node that followed last time, `ROOT` for none.
    next: u32,
    /// First node of the last object found below this key.
    first: u32,
    keys: Ref,
    generation: u32,
    /// Part of a plan, and the part of it that the last key leads to: the same sequence may be found in several parts.
    part: (u32, u32),
}

const NOT_PLAIN: u32 = u32::MAX;

const NO_NODE: Node = Node {
    start: 0,
    text_len: NOT_PLAIN,
    name: u32::MAX,
    parent: ROOT,
    len: 0,
    next: ROOT,
    first: ROOT,
    keys: NO_KEYS,
    generation: 0,
    part: (WHOLE, WHOLE),
};

/// Names and key sequences, bounded in number.
pub(crate) struct Names {
    /// All names, joined.
    text: String,
    names: Vec<Name>,
    by_text: Table,
    nodes: Vec<Node>,
    steps: Table,
    generation: u32,
    secret: &'static HashSecret,
    /// True if keys are keywords in this generation.
    keywords: bool,
    /// Number of names and sequences made in a heap since they were last settled.
    fresh: usize,
}

impl Default for Names {
    fn default() -> Names {
        Names {
            text: String::new(),
            names: Vec::new(),
            by_text: Table::default(),
            nodes: vec![NO_NODE],
            steps: Table::default(),
            // Names begin in generation 0, which has passed.
            generation: 1,
            secret: HashSecret::of_process(),
            keywords: false,
            fresh: 0,
        }
    }
}

impl Names {
    /// Forgets the keys in the heap's own arena; settled ones stay.
    pub(crate) fn forget(&mut self) {
        self.next_generation(self.keywords);
    }

    /// Forgets all keys in a heap.
    pub(crate) fn next_generation(&mut self, keywords: bool) {
        self.keywords = keywords;
        match self.generation.checked_add(1).filter(|next| *next < SETTLED) {
            Some(next) => self.generation = next,
            None => *self = Names { generation: 1, keywords, ..Names::default() },
        }
    }

    /// Returns the node of an object's first key if it is the one seen last below `owner`, and the length of the
    /// key. `rest` starts after the quote that opens the key.
    #[inline]
    pub(crate) fn guess_first(&self, owner: u32, rest: &[u8]) -> Option<(u32, usize)> {
        self.guess(self.nodes[owner as usize].first, rest)
    }

    /// Returns the node of the key that followed `node` last time, if it does again.
    #[inline]
    pub(crate) fn guess_next(&self, node: u32, rest: &[u8]) -> Option<(u32, usize)> {
        self.guess(self.nodes[node as usize].next, rest)
    }

    #[inline]
    fn guess(&self, guess: u32, rest: &[u8]) -> Option<(u32, usize)> {
        let node = &self.nodes[guess as usize];
        if node.text_len == NOT_PLAIN {
            return None;
        }
        let (start, len) = (node.start as usize, node.text_len as usize);
        let hit = rest.get(len) == Some(&b'"') && rest[..len] == self.text.as_bytes()[start..start + len];
        hit.then_some((guess, len))
    }

    /// Returns the part of the plan that the last key of `node` leads to, in an object of `part`.
    #[inline]
    pub(super) fn part(&mut self, plan: &Plan, part: u32, node: u32) -> u32 {
        let known = &mut self.nodes[node as usize];
        if known.part.0 != part {
            let Name { start, len, .. } = self.names[known.name as usize];
            let text = &self.text[start as usize..][..len as usize];
            known.part = (part, plan.member(part, text));
        }
        known.part.1
    }

    /// Remembers the first key of an object below `owner`.
    pub(crate) fn set_first(&mut self, owner: u32, first: u32) {
        self.nodes[owner as usize].first = first;
    }

    /// Returns the node of one more key; None if the key repeats one, or the tables are full.
    pub(crate) fn step(&mut self, from: u32, text: &str) -> Option<u32> {
        let len = self.nodes[from as usize].len;
        if len >= MAX_KEYS {
            return None;
        }
        let name = self.name(text)?;
        let hash = self.secret.number(0, u64::from(from) << 32 | u64::from(name));
        let nodes = &self.nodes;
        let known = self.steps.find(hash, |id| {
            let node = &nodes[id as usize];
            node.parent == from && node.name == name
        });
        let to = match known {
            Some(to) => to,
            None if self.nodes.len() >= MAX_NODES || self.repeats(from, name) => return None,
            None => {
                let to = self.nodes.len() as u32;
                let Name { start, len: text_len, .. } = self.names[name as usize];
                let text_len = if text.bytes().any(is_special) { NOT_PLAIN } else { text_len };
                self.nodes.push(Node { start, text_len, name, parent: from, len: len + 1, ..NO_NODE });
                self.steps.insert(hash, to);
                to
            }
        };
        self.nodes[from as usize].next = to;
        Some(to)
    }

    fn name(&mut self, text: &str) -> Option<u32> {
        let hash = self.secret.text(text.as_bytes());
        let known = self.by_text.find(hash, |id| {
            let Name { start, len, .. } = self.names[id as usize];
            self.text.as_bytes()[start as usize..][..len as usize] == *text.as_bytes()
        });
        if known.is_some() || self.names.len() >= MAX_NAMES || text.len() > MAX_NAME_BYTES {
            return known;
        }
        let id = self.names.len() as u32;
        let (start, len) = (self.text.len() as u32, text.len() as u32);
        self.names.push(Name { start, len, value: Value::Nil, generation: 0 });
        self.text.push_str(text);
        self.by_text.insert(hash, id);
        Some(id)
    }

    fn repeats(&self, mut node: u32, name: u32) -> bool {
        while node != ROOT {
            let Node { name: known, parent, .. } = self.nodes[node as usize];
            if known == name {
                return true;
            }
            node = parent;
        }
        false
    }

    /// Returns a key as a value of `heap`, made once for all its places.
    pub(crate) fn value(&mut self, heap: &mut Heap, text: &str) -> Result<Value, Stop> {
        match self.name(text) {
            Some(name) => self.name_value(heap, name),
            None => self.new_key(heap, text),
        }
    }

    /// Makes a key that is not remembered.
    pub(crate) fn new_key(&self, heap: &mut Heap, text: &str) -> Result<Value, Stop> {
        new_key(heap, text, self.keywords)
    }

    fn name_value(&mut self, heap: &mut Heap, name: u32) -> Result<Value, Stop> {
        let name = &mut self.names[name as usize];
        if name.generation != self.generation && name.generation != SETTLED {
            let start = name.start as usize;
            name.value = new_key(heap, &self.text[start..start + name.len as usize], self.keywords)?;
            name.generation = self.generation;
            self.fresh += 1;
        }
        Ok(name.value)
    }

    /// Appends the keys on the way to a node to `keys`.
    pub(crate) fn keys_of(
        &mut self,
        heap: &mut Heap,
        mut node: u32,
        keys: &mut Vec<Value>,
    ) -> Result<(), Stop> {
        let from = keys.len();
        while node != ROOT {
            let Node { name, parent, .. } = self.nodes[node as usize];
            keys.push(self.name_value(heap, name)?);
            node = parent;
        }
        keys[from..].reverse();
        Ok(())
    }

    /// Returns the keys object of all maps that end at a node; None if they have too many keys for one.
    #[inline]
    pub(crate) fn shape(
        &mut self,
        heap: &mut Heap,
        node: u32,
        spare: &mut Vec<Value>,
    ) -> Result<Option<Ref>, Stop> {
        let known = &self.nodes[node as usize];
        if known.generation == self.generation || known.generation == SETTLED {
            return Ok(Some(known.keys));
        }
        self.new_shape(heap, node, spare)
    }

    #[cold]
    fn new_shape(&mut self, heap: &mut Heap, node: u32, spare: &mut Vec<Value>) -> Result<Option<Ref>, Stop> {
        if self.nodes[node as usize].len > RECORD_KEYS {
            return Ok(None);
        }
        spare.clear();
        self.keys_of(heap, node, spare)?;
        let keys = heap.new_keys(spare)?;
        let node = &mut self.nodes[node as usize];
        node.keys = keys;
        node.generation = self.generation;
        self.fresh += 1;
        Ok(Some(keys))
    }

    /// Adds one more key of an object, read after `node` (`ROOT` for the first) below the key of `owner`; returns
    /// its value and the node it leads to.
    pub(crate) fn next_key(
        &mut self,
        heap: &mut Heap,
        owner: u32,
        node: u32,
        text: &str,
    ) -> Result<(Value, u32), Stop> {
        if node == NOWHERE {
            return Ok((self.value(heap, text)?, NOWHERE));
        }
        let guess = match node {
            ROOT => self.nodes[owner as usize].first,
            _ => self.nodes[node as usize].next,
        };
        let Node { start, name, .. } = self.nodes[guess as usize];
        let is_next = guess != ROOT && {
            let len = self.names[name as usize].len as usize;
            self.text.as_bytes()[start as usize..][..len] == *text.as_bytes()
        };
        let next = match is_next {
            true => guess,
            false => match self.step(node, text) {
                Some(next) => {
                    if node == ROOT {
                        self.set_first(owner, next);
                    }
                    next
                }
                None => return Ok((self.value(heap, text)?, NOWHERE)),
            },
        };
        let name = self.nodes[next as usize].name;
        Ok((self.name_value(heap, name)?, next))
    }

    /// Returns the number of keys that lead to a node.
    pub(crate) fn len_of(&self, node: u32) -> usize {
        if node == NOWHERE { 0 } else { usize::from(self.nodes[node as usize].len) }
    }

    /// Returns the number of names and sequences made in a heap since they were last settled.
    pub(crate) fn fresh(&self) -> usize {
        self.fresh
    }

    /// Moves all names and sequences in use into a frozen space of this machine, whose heap is used for reading
    /// from now on.
    pub(crate) fn settle(&mut self, vm: &mut Vm) -> Result<(), Stop> {
        let is_used = |generation: u32| generation == self.generation || generation == SETTLED;
        let used: Vec<usize> = (0..self.names.len()).filter(|i| is_used(self.names[*i].generation)).collect();
        let shaped: Vec<usize> = (1..self.nodes.len())
            .filter(|i| is_used(self.nodes[*i].generation) && self.nodes[*i].len <= RECORD_KEYS)
            .collect();
        let mut values = vec![Value::Nil; self.names.len()];
        let frozen = Frozen::build(|heap| {
            let mut all = Vec::with_capacity(used.len() + shaped.len());
            for i in &used {
                let Name { start, len, .. } = self.names[*i];
                values[*i] = new_key(heap, &self.text[start as usize..][..len as usize], self.keywords)?;
                all.push(values[*i]);
            }
            for i in &shaped {
                let mut keys = Vec::new();
                let mut node = *i as u32;
                while node != ROOT {
                    let Node { name, parent, .. } = self.nodes[node as usize];
                    keys.push(values[name as usize]);
                    node = parent;
                }
                keys.reverse();
                let record = heap.new_keys(&keys)?;
                all.push(heap.new_record(record, &keys)?);
            }
            heap.new_vec(&all)
        })?;
        let Value::Vector(all) = vm.thaw(&frozen) else { return Ok(()) };
        let heap = vm.heap();
        let mut items = (0..).map_while(|i| heap.vec_get(all, i));
        for (i, value) in used.into_iter().zip(&mut items) {
            self.names[i].value = value;
            self.names[i].generation = SETTLED;
        }
        for (i, record) in shaped.into_iter().zip(&mut items) {
            if let Some(keys) = record.reference().and_then(|r| heap.map_shape(r)) {
                self.nodes[i].keys = keys;
                self.nodes[i].generation = SETTLED;
            }
        }
        self.fresh = 0;
        Ok(())
    }
}

fn new_key(heap: &mut Heap, text: &str, keywords: bool) -> Result<Value, Stop> {
    if keywords && is_keyword_name(text) { heap.new_keyword(text) } else { heap.new_str(text) }
}

/// A hash table of numbers, whose owner knows their meaning. The standard map would keep a second copy of every
/// name, and a reader for one small text is made often.
#[derive(Default)]
struct Table {
    /// Pairs of hash and number + 1; 0 marks an empty slot. The length is a power of two.
    slots: Vec<(u32, u32)>,
    len: usize,
}

impl Table {
    #[inline]
    fn find(&self, hash: u64, is: impl Fn(u32) -> bool) -> Option<u32> {
        let mask = self.slots.len().checked_sub(1)?;
        let mut at = hash as usize & mask;
        loop {
            let (tag, id) = self.slots[at];
            if id == 0 {
                return None;
            }
            if tag == hash as u32 && is(id - 1) {
                return Some(id - 1);
            }
            at = (at + 1) & mask;
        }
    }

    fn insert(&mut self, hash: u64, id: u32) {
        if self.len * 2 >= self.slots.len() {
            let larger = vec![(0, 0); (self.slots.len() * 2).max(32)];
            for slot in std::mem::replace(&mut self.slots, larger) {
                if slot.1 != 0 {
                    self.put(slot);
                }
            }
        }
        self.put((hash as u32, id + 1));
        self.len += 1;
    }

    fn put(&mut self, slot: (u32, u32)) {
        let mask = self.slots.len() - 1;
        let mut at = slot.0 as usize & mask;
        while self.slots[at].1 != 0 {
            at = (at + 1) & mask;
        }
        self.slots[at] = slot;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_stop_growing() {
        let mut names = Names::default();
        for i in 0..20_000 {
            let _ = names.step(ROOT, &format!("key {i}"));
        }
        assert_eq!(names.names.len(), MAX_NAMES);
        assert_eq!(names.nodes.len(), MAX_NAMES + 1);
        assert!(names.step(ROOT, "key 7").is_some());
        assert!(names.step(ROOT, "key 19999").is_none());
        assert!(names.step(ROOT, &"k".repeat(1000)).is_none());
    }

    #[test]
    fn keys_with_escapes_are_not_guessed() {
        let mut names = Names::default();
        let first = names.step(ROOT, "a\"b").unwrap();
        names.set_first(ROOT, first);
        // `"a"b"` is not a JSON string, though it has the bytes of the key.
        assert!(names.guess_first(ROOT, b"a\"b\":1").is_none());
        let plain = names.step(ROOT, "ab").unwrap();
        names.set_first(ROOT, plain);
        assert_eq!(names.guess_first(ROOT, b"ab\":1"), Some((plain, 2)));
        assert!(names.guess_first(ROOT, b"abc\":1").is_none());
        assert!(names.guess_first(ROOT, b"ab").is_none());
    }

    #[test]
    fn a_sequence_that_repeats_a_key_has_no_node() {
        let mut names = Names::default();
        let a = names.step(ROOT, "a").unwrap();
        let b = names.step(a, "b").unwrap();
        assert!(names.step(b, "a").is_none());
        assert_eq!(names.step(a, "b"), Some(b));
    }
}
