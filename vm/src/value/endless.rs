//! Endless sequences.
//!
//! An endless sequence is a *link*, an element and the sequence after it, or a *step*: a function and its arguments,
//! which returns the link when called. Only the VM can call functions, so natives see existing links and leave the rest
//! to the core library (see [`Stop::twin`]). Elements are not cached: walking a sequence twice makes its elements
//! twice.

use crate::fault::Stop;
use crate::heap::Heap;
use crate::value::{Ref, Value};

impl Heap {
    /// Makes an endless sequence of `first` and then `rest`.
    pub fn new_link(&mut self, first: Value, rest: Value) -> Result<Value, Stop> {
        self.room(3, 0)?;
        Ok(Value::Endless(self.push_object(Value::LinkHead, &[first, rest])))
    }

    /// Makes an endless sequence whose link is the result of calling the first of `call` with the others.
    pub fn new_step(&mut self, call: &[Value]) -> Result<Value, Stop> {
        self.room(1 + call.len(), 0)?;
        let args = call.len().saturating_sub(1) as u32;
        Ok(Value::Endless(self.push_object(Value::StepHead { args: u64::from(args) }, call)))
    }

    /// Returns the first element and the rest of a link; None for a step.
    pub fn link_parts(&self, r: Ref) -> Option<(Value, Value)> {
        matches!(self.head(r), Value::LinkHead).then(|| (self.field(r, 0), self.field(r, 1)))
    }

    /// Returns the function and arguments of a step; empty for a link.
    pub fn step_parts(&self, r: Ref) -> Vec<Value> {
        match self.head(r) {
            Value::StepHead { args } => (0..=args as usize).map(|i| self.field(r, i)).collect(),
            _ => Vec::new(),
        }
    }
}
