//! Runs verified bytecode within a budget, suspending at host calls.
#![forbid(unsafe_code)]

mod collect;
mod fault;
mod heap;
mod transfer;
mod value;
mod link;

pub use collect::Collector;
pub use fault::{Fault, FaultInner, Stop, StopKind};
pub use heap::{Heap, Space, Work};
pub use value::{CELL_BYTES, Ref, TextKind, TextWriter, Value};
