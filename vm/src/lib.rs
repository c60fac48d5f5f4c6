//! Runs verified bytecode within a budget, suspending at host calls.
#![forbid(unsafe_code)]

mod budget;
mod call;
mod charge;
mod collect;
mod exec;
mod explain;
mod fault;
mod fork;
mod frozen;
mod heap;
mod link;
mod loops;
mod machine;
mod outline;
mod parts;
mod price;
mod roots;
mod snapshot;
mod transfer;
mod value;
mod watch;
mod work;

pub use budget::Budget;
pub use call::{Call, NativeFn, Output};
pub use collect::Collector;
pub use exec::{
    add, assoc, conj, div, float_out_of_range, get, get_or, host_args, is_data_name, missing_data, modulo,
    mul, no_positions, not_a_number, quot, rem, sub,
};
pub use fault::{Fault, FaultInner, Stop, StopKind};
pub use fork::{Branches, Held};
pub use frozen::Frozen;
pub use heap::{Heap, STEP_BYTES, Space};
pub use link::{Library, Module, Target};
pub use machine::{Definitions, Ending, Event, ToolCall, Vm};
pub use outline::Outline;
pub use parts::Part;
pub use price::FLAT_PARTS;
pub use value::{CELL_BYTES, CHAR_STEPS, Float, Ref, TextKind, TextWriter, Value, merge_sort};
pub use watch::Watch;
pub use work::Work;
