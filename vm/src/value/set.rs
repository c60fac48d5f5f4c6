//! Sets.
use crate::fault::Stop;
use crate::heap::Heap;
use crate::value::{Ref, Value};
impl Heap {
    /// Number of members.
    pub fn set_len(&self, _r: Ref) -> usize {
        todo!()
    }
    /// The member equal to `item`.
    pub fn set_get(&self, _r: Ref, _item: Value) -> Option<Value> {
        todo!()
    }
    /// With this member.
    pub fn set_conj(&mut self, _r: Ref, _item: Value) -> Result<Value, Stop> {
        todo!()
    }
    /// Without this member.
    pub fn set_disj(&mut self, _r: Ref, _item: Value) -> Result<Value, Stop> {
        todo!()
    }
    /// The next member from cursor 0 on, and the cursor behind it.
    pub fn set_next(&self, _r: Ref, _cursor: usize) -> Option<(Value, usize)> {
        todo!()
    }
    /// A set of these, each once, in order of first appearance.
    pub fn new_set(&mut self, _items: &[Value]) -> Result<Value, Stop> {
        todo!()
    }
}
