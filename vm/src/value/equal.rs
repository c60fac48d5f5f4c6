//! Equality.
use crate::fault::Fault;
use crate::heap::{Heap, Work};
use crate::value::Value;
impl Heap {
    /// The language's `=`: 1 equals 1.0 at any depth, NaN equals nothing.
    pub fn equal(&self, _a: Value, _b: Value, _work: &mut Work) -> Result<bool, Fault> {
        todo!()
    }
    /// Equality of keys: 1 and 1.0 differ.
    pub fn exact(&self, _a: Value, _b: Value) -> bool {
        todo!()
    }
}
