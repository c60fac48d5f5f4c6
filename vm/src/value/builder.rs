//! Builders.
use crate::fault::Stop;
use crate::heap::Heap;
use crate::value::Value;
impl Heap {
    /// An empty builder.
    pub fn new_builder(&mut self) -> Result<Value, Stop> {
        todo!()
    }
    /// Appends; gives the builder, which may have moved.
    pub fn builder_push(&mut self, _builder: Value, _item: Value) -> Result<Value, Stop> {
        todo!()
    }
    /// Items so far.
    pub fn builder_len(&self, _builder: Value) -> usize {
        todo!()
    }
    /// The items as a vector. Uses the builder up.
    pub fn builder_vector(&mut self, _builder: Value) -> Result<Value, Stop> {
        todo!()
    }
    /// The items, keys and values in turn, as a map. Uses the builder up.
    pub fn builder_map(&mut self, _builder: Value) -> Result<Value, Stop> {
        todo!()
    }
    /// The items as a set. Uses the builder up.
    pub fn builder_set(&mut self, _builder: Value) -> Result<Value, Stop> {
        todo!()
    }
}
