//! Runs verified bytecode within a budget, suspending at host calls.
#![forbid(unsafe_code)]

mod fault;

pub use fault::{Fault, FaultInner, Stop, StopKind};
