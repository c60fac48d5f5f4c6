//! Sequences of any kind.
use crate::fault::Stop;
use crate::heap::Heap;
use crate::value::Value;
impl Heap {
    /// `coll` as something [`Heap::iter_next`] can walk, starting with cursor 0.
    pub fn iter_start(&mut self, _coll: Value) -> Result<Value, Stop> {
        todo!()
    }
    /// The next element and the cursor behind it.
    pub fn iter_next(&mut self, _seq: Value, _cursor: usize) -> Result<Option<(Value, usize)>, Stop> {
        todo!()
    }
    /// Number of elements; None for what is not a collection.
    pub fn count(&self, _coll: Value) -> Option<usize> {
        todo!()
    }
    /// Element `i` of a vector, range or string; None out of range or for anything else.
    pub fn nth(&mut self, _coll: Value, _i: usize) -> Result<Option<Value>, Stop> {
        todo!()
    }
    /// The first element of any collection.
    pub fn first(&mut self, _coll: Value) -> Result<Option<Value>, Stop> {
        todo!()
    }
    /// All elements.
    pub fn to_vec(&mut self, _coll: Value) -> Result<Vec<Value>, Stop> {
        todo!()
    }
    /// Elements `from..to` of a vector or range, clamped; shares with the original where it can.
    pub fn slice(&mut self, _coll: Value, _from: usize, _to: usize) -> Result<Value, Stop> {
        todo!()
    }
    /// Integers from `start` to before `end`; step 0 gives none.
    pub fn new_range(&mut self, _start: i64, _end: i64, _step: i64) -> Result<Value, Stop> {
        todo!()
    }
    /// Start, step and length of a range.
    pub fn range_parts(&self, _r: crate::value::Ref) -> (i64, i64, u64) {
        todo!()
    }
    /// "expected a collection, got …".
    pub fn not_a_collection(&self, _v: Value) -> Stop {
        todo!()
    }
}
