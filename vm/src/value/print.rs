//! Printing.
use crate::fault::Fault;
use crate::heap::Heap;
use crate::value::Value;
impl Heap {
    /// Appends the readable form, as `pr-str`; faults `output_exceeded` past `limit` bytes.
    pub fn print(&self, _v: Value, _out: &mut String, _limit: usize) -> Result<(), Fault> {
        todo!()
    }
    /// Appends what `str` gives: strings and dates without quotes, nothing for nil.
    pub fn display(&self, _v: Value, _out: &mut String, _limit: usize) -> Result<(), Fault> {
        todo!()
    }
}
