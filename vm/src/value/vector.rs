//! Vectors.
use crate::fault::Stop;
use crate::heap::Heap;
use crate::value::{Ref, Value};
impl Heap {
    /// Number of items.
    pub fn vec_len(&self, _r: Ref) -> usize {
        todo!()
    }
    /// The item at `i`.
    pub fn vec_get(&self, _r: Ref, _i: usize) -> Option<Value> {
        todo!()
    }
    /// A vector of these items.
    pub fn new_vec(&mut self, _items: &[Value]) -> Result<Value, Stop> {
        todo!()
    }
    /// With `item` added at the end.
    pub fn vec_conj(&mut self, _r: Ref, _item: Value) -> Result<Value, Stop> {
        todo!()
    }
    /// With the item at `i` replaced; `i = len` appends. None beyond.
    pub fn vec_assoc(&mut self, _r: Ref, _i: usize, _item: Value) -> Result<Option<Value>, Stop> {
        todo!()
    }
    /// Items `from..to`, clamped to what there is.
    pub fn vec_slice(&mut self, _r: Ref, _from: usize, _to: usize) -> Result<Value, Stop> {
        todo!()
    }
    /// Without the last item; None when empty.
    pub fn vec_pop(&mut self, _r: Ref) -> Result<Option<Value>, Stop> {
        todo!()
    }
    /// Items from `i` on that lie together, and the space they are relative to: pass each through
    /// `import(space, item)`. Empty past the end.
    pub fn vec_chunk(&self, _r: Ref, _i: usize) -> (&[Value], u32) {
        todo!()
    }
}
