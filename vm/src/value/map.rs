//! Maps.
use crate::fault::Stop;
use crate::heap::Heap;
use crate::value::{Ref, Value};
#[derive(Default)]
pub(crate) struct ShapeCache;
impl Heap {
    /// Number of entries.
    pub fn map_len(&self, _r: Ref) -> usize {
        todo!()
    }
    /// Value of exactly this key.
    pub fn map_get(&self, _r: Ref, _key: Value) -> Option<Value> {
        todo!()
    }
    /// Value of this key or its other spelling (keyword or string, `-` or `_`).
    pub fn map_get_flex(&self, _r: Ref, _key: Value) -> Option<Value> {
        todo!()
    }
    /// The key a flexible lookup finds, with its value.
    pub fn map_find_flex(&self, _r: Ref, _key: Value) -> Option<(Value, Value)> {
        todo!()
    }
    /// With this entry; an existing key keeps its place.
    pub fn map_assoc(&mut self, _r: Ref, _key: Value, _value: Value) -> Result<Value, Stop> {
        todo!()
    }
    /// Without this key.
    pub fn map_dissoc(&mut self, _r: Ref, _key: Value) -> Result<Value, Stop> {
        todo!()
    }
    /// The next entry from cursor 0 on, and the cursor behind it.
    pub fn map_next(&self, _r: Ref, _cursor: usize) -> Option<(Value, Value, usize)> {
        todo!()
    }
    /// A map of keys and values in turn; of equal keys the first gives the place, the last the value.
    pub fn new_map(&mut self, _items: &[Value]) -> Result<Value, Stop> {
        todo!()
    }
    /// Keys to be shared by many maps: at most 16, all different.
    pub fn new_keys(&mut self, _keys: &[Value]) -> Result<Ref, Stop> {
        todo!()
    }
    /// A map of shared keys and one value for each.
    pub fn new_record(&mut self, _keys: Ref, _values: &[Value]) -> Result<Value, Stop> {
        todo!()
    }
    /// The shared keys of a small map: maps with the same have the same keys at the same places.
    pub fn map_shape(&self, _r: Ref) -> Option<Ref> {
        todo!()
    }
    /// Where a flexible lookup finds `key` in a shape.
    pub fn shape_find(&self, _shape: Ref, _key: Value) -> Option<usize> {
        todo!()
    }
    /// The value at place `i` of a small map.
    pub fn record_get(&self, _r: Ref, _i: usize) -> Value {
        todo!()
    }
}
