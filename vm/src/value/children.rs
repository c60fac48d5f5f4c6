//! Children: the values directly inside a value, for walks over everything it leads to.

use crate::heap::Heap;
use crate::value::{Ref, Value};

impl Heap {
    /// Returns the parts of an object: keys and values of maps, captures of functions. A record begins with the
    /// vector of its keys, which others may share; a slice of a vector has the whole. Mutable places have none:
    /// they may lead back to themselves, so a walk has to handle them itself.
    pub(crate) fn children(&self, value: Value) -> Vec<Value> {
        match value {
            Value::Vector(r) => match self.slice_parts(r) {
                Some((whole, ..)) => vec![Value::Vector(whole)],
                None => self.vec_items(r),
            },
            Value::Map(r) if let Some(keys) = self.map_shape(r) => {
                let values = (0..self.vec_len(keys)).map(|i| self.record_get(r, i));
                std::iter::once(Value::Vector(keys)).chain(values).collect()
            }
            Value::Map(r) => self.map_items(r),
            Value::Set(r) => self.set_items(r),
            Value::Closure(r) => (0..self.capture_len(r)).map(|i| self.capture(r, i)).collect(),
            Value::Builder(_) => self.builder_items(value),
            Value::Veiled(_) => vec![self.unveil(value)],
            Value::Exception(r) => self.exception_parts(r).into(),
            Value::Endless(r) => match self.link_parts(r) {
                Some((first, rest)) => vec![first, rest],
                None => self.step_parts(r),
            },
            _ => Vec::new(),
        }
    }

    /// Returns the vector behind a slice, with the slice's start and length.
    pub(crate) fn slice_parts(&self, r: Ref) -> Option<(Ref, u32, u32)> {
        let Value::SliceHead(parts) = self.head(r) else { return None };
        let (len, start) = parts.get();
        Some((self.child(r, 0)?, start, len))
    }

    /// Returns the items of a builder.
    pub(crate) fn builder_items(&self, builder: Value) -> Vec<Value> {
        let Value::Builder(r) = builder else { return Vec::new() };
        match self.head(r) {
            Value::BuilderHead(counts) => (0..counts.get().0 as usize).map(|i| self.field(r, i)).collect(),
            _ => Vec::new(),
        }
    }
}
