//! Functions as values.

use crate::fault::Stop;
use crate::heap::Heap;
use crate::value::{Ref, Value};

impl Heap {
    /// A function of run-level module `module` over these captures.
    pub fn new_closure(&mut self, module: u32, code: u32, captures: &[Value]) -> Result<Value, Stop> {
        self.room(1 + captures.len(), 0)?;
        let head = Value::ClosureHead { module, code, captures: captures.len() as u32 };
        Ok(Value::Closure(self.push_object(head, captures)))
    }

    /// Run-level module and code of a closure.
    #[inline]
    pub fn closure_code(&self, r: Ref) -> (u32, u32) {
        match self.head(r) {
            Value::ClosureHead { module, code, .. } => (self.module_of(r, module), code),
            _ => (0, 0), // heads are trusted
        }
    }

    /// How many values it captures.
    #[inline]
    pub fn capture_len(&self, r: Ref) -> usize {
        match self.head(r) {
            Value::ClosureHead { captures, .. } => captures as usize,
            _ => 0,
        }
    }

    /// The `i`-th captured value; nil if there is none.
    #[inline]
    pub fn capture(&self, r: Ref, i: usize) -> Value {
        if i < self.capture_len(r) { self.field(r, i) } else { Value::Nil }
    }
}
