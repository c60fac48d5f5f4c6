//! Functions as values.

use crate::fault::{Fault, Stop};
use crate::heap::Heap;
use crate::value::{Ref, Two, Value};
use ptc_bytecode::Code;

/// Maximum captures, as many as one instruction can name.
const MOST_CAPTURES: usize = 255;

/// Makes the head of a function: the number of captures is the lowest byte beside the module's number.
pub(crate) fn closure_head(module: u32, captures: usize, code: u32) -> Value {
    Value::ClosureHead(Two::new(module << 8 | captures as u32, code))
}

/// Returns the number of values that follow the head of a function.
pub(crate) fn captures_of(parts: Two) -> usize {
    (parts.get().0 & 0xff) as usize
}

impl Heap {
    /// Makes a function of run-level module `module` over these captures.
    pub(crate) fn new_closure(&mut self, module: u32, code: u32, captures: &[Value]) -> Result<Value, Stop> {
        if module >= 1 << 24 || captures.len() > MOST_CAPTURES {
            return Err(Fault::new(Code::Internal, "a function or its number is too large").into());
        }
        self.room(1 + captures.len(), 0)?;
        let head = closure_head(module, captures.len(), code);
        Ok(Value::Closure(self.push_object(head, captures)))
    }

    /// Returns the run-level module and code of a closure.
    #[inline]
    pub(crate) fn closure_code(&self, r: Ref) -> (u32, u32) {
        match self.head(r) {
            Value::ClosureHead(parts) => {
                let (owner, code) = parts.get();
                (self.module_of(r, owner >> 8), code)
            }
            _ => (0, 0), // heads are trusted
        }
    }

    /// Returns the number of captured values.
    #[inline]
    pub(crate) fn capture_len(&self, r: Ref) -> usize {
        match self.head(r) {
            Value::ClosureHead(parts) => captures_of(parts),
            _ => 0,
        }
    }

    /// Returns the `i`-th captured value; nil if there is none.
    #[inline]
    pub(crate) fn capture(&self, r: Ref, i: usize) -> Value {
        if i < self.capture_len(r) { self.field(r, i) } else { Value::Nil }
    }
}
