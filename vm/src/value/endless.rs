//! Sequences without an end.
//!
//! An endless sequence is a *link*, an element and the sequence behind it, or a *step*: a function
//! and its arguments, which gives the link when it is called. Only the VM can call, so natives see
//! what is there and leave the rest to the core library (see [`Stop::twin`]). Nothing is kept: who
//! walks a sequence twice makes its elements twice.

use crate::fault::Stop;
use crate::heap::Heap;
use crate::value::{Ref, Value};

impl Heap {
    /// An endless sequence of `first` and then what `rest` has.
    pub fn new_link(&mut self, first: Value, rest: Value) -> Result<Value, Stop> {
        self.room(3, 0)?;
        Ok(Value::Endless(self.push_object(Value::LinkHead, &[first, rest])))
    }

    /// An endless sequence whose link is what the first of `call` gives for the others.
    pub fn new_step(&mut self, call: &[Value]) -> Result<Value, Stop> {
        self.room(1 + call.len(), 0)?;
        let args = call.len().saturating_sub(1) as u32;
        Ok(Value::Endless(self.push_object(Value::StepHead { args: u64::from(args) }, call)))
    }

    /// First element and rest of a link; None for a step.
    pub fn link_parts(&self, r: Ref) -> Option<(Value, Value)> {
        matches!(self.head(r), Value::LinkHead).then(|| (self.field(r, 0), self.field(r, 1)))
    }

    /// Function and arguments of a step; nothing for a link.
    pub fn step_parts(&self, r: Ref) -> Vec<Value> {
        match self.head(r) {
            Value::StepHead { args } => (0..=args as usize).map(|i| self.field(r, i)).collect(),
            _ => Vec::new(),
        }
    }
}
