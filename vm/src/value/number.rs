//! Big integers.
use crate::fault::Stop;
use crate::heap::Heap;
use crate::value::Value;
use num_bigint::BigInt;
impl Heap {
    /// An integer of any size; None if the value is not one.
    pub fn to_bigint(&self, _v: Value) -> Option<BigInt> {
        todo!()
    }
    /// An integer value, small when it fits 64 bits.
    pub fn new_integer(&mut self, _n: &BigInt) -> Result<Value, Stop> {
        todo!()
    }
    /// Any number as a float.
    pub fn to_float(&self, _v: Value) -> Option<f64> {
        todo!()
    }
}
