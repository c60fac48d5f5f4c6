//! Hashes.
use crate::heap::Heap;
use crate::value::Value;
impl Heap {
    /// Hash of a key, consistent with `exact`. Looks at a bounded part of the value.
    pub fn key_hash(&self, _v: Value) -> u32 {
        todo!()
    }
}
