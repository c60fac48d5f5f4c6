//! Caches of the shapes of records, so that loops over maps of one shape share keys and find fields by comparing
//! numbers. Both caches hold references.

use crate::value::{Ref, Value};

/// Cache of the keys that `assoc` and `dissoc` led to, so that the maps made in a loop share keys.
#[derive(Default)]
pub(crate) struct ShapeCache(Vec<Option<ShapeStep>>);

#[derive(Clone, Copy)]
struct ShapeStep {
    from: Ref,
    key: Value,
    removed: bool,
    to: Ref,
}

/// Size of the shape cache, a power of two.
const SHAPES: usize = 64;

impl ShapeCache {
    fn at(from: Ref, key: Ref) -> usize {
        (from.at() as usize).wrapping_mul(31).wrapping_add(key.at() as usize) % SHAPES
    }

    pub(super) fn get(&self, from: Ref, key: Value, removed: bool) -> Option<Ref> {
        let step = (*self.0.get(ShapeCache::at(from, key.reference()?))?)?;
        (step.from == from && step.removed == removed && step.key.same(key)).then_some(step.to)
    }

    /// Forgets everything.
    pub(crate) fn clear(&mut self) {
        self.0.clear();
    }

    pub(super) fn put(&mut self, from: Ref, key: Value, removed: bool, to: Ref) {
        if let (Some(r), Value::Keyword(_) | Value::Str(_)) = (key.reference(), key) {
            self.0.resize(SHAPES, None);
            self.0[ShapeCache::at(from, r)] = Some(ShapeStep { from, key, removed, to });
        }
    }
}

/// A key as one number: a keyword and a string of the same text differ.
#[derive(Clone, Copy, PartialEq)]
pub(crate) struct FieldName(u64);

impl FieldName {
    /// Makes the name of a keyword, as the run refers to it.
    #[inline(always)]
    pub(crate) fn keyword(name: Ref) -> FieldName {
        // There are far fewer than 2^31 spaces, so the upper bit is free.
        FieldName(name.bits() | 1 << 63)
    }

    /// Makes the name of a string, as the run refers to it.
    #[inline(always)]
    pub(crate) fn string(name: Ref) -> FieldName {
        FieldName(name.bits())
    }

    fn is_own(self) -> bool {
        self.0 << 1 >> 33 == 0
    }
}

/// Cache of the position of a key in records of one shape. A collection empties it.
#[derive(Default)]
pub(crate) struct KeyCache {
    slots: Vec<KeySlot>,
    /// True if some keys are in the own arena, or the looked-up key is.
    has_own: bool,
}

#[derive(Clone, Copy)]
struct KeySlot {
    /// Shape: its vector of keys.
    shape: Ref,
    name: FieldName,
    /// Position of the key among the values; [`ABSENT`] if the shape does not have it.
    place: u32,
}

/// Position of a key that a shape does not have.
pub(super) const ABSENT: u32 = u32::MAX;

/// Size of the key cache, a power of two.
const KEYS: usize = 64;

impl KeyCache {
    #[inline(always)]
    fn at(shape: Ref, name: FieldName) -> usize {
        (shape.at() as usize).wrapping_mul(7).wrapping_add(name.0 as usize) % KEYS
    }

    #[inline(always)]
    pub(super) fn get(&self, shape: Ref, name: FieldName) -> Option<u32> {
        let slot = self.slots.get(KeyCache::at(shape, name))?;
        (slot.shape == shape && slot.name == name).then_some(slot.place)
    }

    pub(super) fn put(&mut self, shape: Ref, name: FieldName, place: u32) {
        let nowhere = Ref::new(u32::MAX, u32::MAX);
        self.slots.resize(KEYS, KeySlot { shape: nowhere, name: FieldName(0), place: 0 });
        self.has_own |= shape.space() == 0 || name.is_own();
        self.slots[KeyCache::at(shape, name)] = KeySlot { shape, name, place };
    }

    /// Forgets everything.
    pub(crate) fn clear(&mut self) {
        self.slots.clear();
    }

    /// Forgets everything except frozen spaces.
    pub(crate) fn forget_own(&mut self) {
        if self.has_own {
            self.has_own = false;
            self.slots.clear();
        }
    }
}
