//! Values across heaps.
use crate::fault::{Fault, Stop};
use crate::heap::{Heap, Space};
use crate::link::Module;
use crate::value::Value;
use ptc_bytecode::{Datum, Node};
use std::sync::Arc;
impl Heap {
    /// An owned copy; faults `output_exceeded` past `limit` bytes.
    pub fn to_datum(&self, _v: Value, _limit: usize) -> Result<Datum, Fault> {
        todo!()
    }
    /// A value from owned data.
    pub fn from_datum(&mut self, _datum: &Datum) -> Result<Value, Stop> {
        todo!()
    }
    /// A value from a scalar node; nil for a collection.
    pub fn from_node(&mut self, _node: &Node) -> Result<Value, Stop> {
        todo!()
    }
    /// Copies what `roots` lead to in the own arena into a new frozen space and makes the roots
    /// relative to it (`import` them after attaching). Attached spaces become its dependencies.
    pub fn copy_out(&self, _roots: &mut [Value], _modules: &[Arc<Module>]) -> Arc<Space> {
        todo!()
    }
    /// Copies a value of another heap. `spaces` gives this heap's number (0 for the own arena) of
    /// a space of `child`, or None for a space to be copied, as the child's own always is;
    /// `modules` gives this run's number of a module of the child's run.
    pub fn copy_in(
        &mut self,
        _child: &Heap,
        _v: Value,
        _spaces: impl Fn(u32) -> Option<u32>,
        _modules: impl Fn(u32) -> u32,
    ) -> Result<Value, Stop> {
        todo!()
    }
}
