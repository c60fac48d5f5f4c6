//! Order.
use crate::fault::Fault;
use crate::heap::{Heap, Work};
use crate::value::Value;
use std::cmp::Ordering;
impl Heap {
    /// The one total order of `compare` and `sort`; NaN comes after all other numbers.
    pub fn compare(&self, _a: Value, _b: Value, _work: &mut Work) -> Result<Ordering, Fault> {
        todo!()
    }
    /// `a < b`, false between kinds.
    pub fn less(&self, _a: Value, _b: Value) -> bool {
        todo!()
    }
    /// `a <= b`, false between kinds.
    pub fn less_eq(&self, _a: Value, _b: Value) -> bool {
        todo!()
    }
    /// Order of two numbers, strings, keywords or dates of one kind; None otherwise and for NaN.
    pub fn partial(&self, _a: Value, _b: Value) -> Option<Ordering> {
        todo!()
    }
}
