//! Hash table over values of a run, for natives that count, group or drop duplicates.

use super::args::growing_room;
use ptc_vm::{ENTER_STEPS, Heap, Stop, Value, Work};

/// Table that numbers keys in order of first appearance. Keys are equal as in maps: 1 and 1.0 differ.
pub struct Table {
    /// Key numbers plus one, each at the first free place from its hash on; 0 is free. The length is a power of
    /// two, at least twice the number of keys.
    slots: Vec<u32>,
    keys: Vec<(u32, Value)>,
    work: Work,
}

/// The result of entering a key.
pub struct Entered {
    /// Number of the key.
    pub number: usize,
    /// True if the key was seen for the first time.
    pub is_new: bool,
}

impl Table {
    /// Makes an empty table. Each key counts as one step of `work`, wherever its hash leads: that depends on the
    /// secret of the process, and a price must not.
    pub fn new(work: Work) -> Table {
        Table { slots: vec![0; 16], keys: Vec::new(), work }
    }

    /// Returns the number of `key`, a new one if it is unknown.
    pub fn enter(&mut self, heap: &Heap, key: Value) -> Result<Entered, Stop> {
        let hash = heap.key_hash(key, self.keys.len());
        self.work.walk(heap)?;
        self.work.step(ENTER_STEPS as u64)?;
        let mut at = hash as usize & (self.slots.len() - 1);
        while let Some(number) = (self.slots[at] as usize).checked_sub(1) {
            let (known_hash, known) = self.keys[number];
            if known_hash == hash && heap.exact(known, key) {
                return Ok(Entered { number, is_new: false });
            }
            at = (at + 1) & (self.slots.len() - 1);
        }
        let number = self.keys.len();
        self.keys.push((hash, key));
        // The table is not in the heap, but the result made of it will be.
        if self.keys.len().is_multiple_of(1024) {
            growing_room(heap, self.keys.len(), 0)?;
        }
        self.slots[at] = number as u32 + 1;
        if self.keys.len() * 2 > self.slots.len() {
            self.grow();
        }
        Ok(Entered { number, is_new: true })
    }

    fn grow(&mut self) {
        let len = self.slots.len() * 2;
        self.slots.clear();
        self.slots.resize(len, 0);
        for (number, (hash, _)) in self.keys.iter().enumerate() {
            let mut at = *hash as usize & (len - 1);
            while self.slots[at] != 0 {
                at = (at + 1) & (len - 1);
            }
            self.slots[at] = number as u32 + 1;
        }
    }

    /// Returns the hashes of the keys by number, for `Heap::new_distinct_map`.
    pub fn hashes(&self) -> Vec<u32> {
        self.keys.iter().map(|(hash, _)| *hash).collect()
    }

    /// Returns the key with this number.
    pub fn key(&self, number: usize) -> Value {
        self.keys[number].1
    }

    /// Returns the work done so far, to be paid for.
    pub fn work(&self) -> &Work {
        &self.work
    }
}
