//! Machine that runs verified bytecode within a budget of fuel, memory and stack, suspending at host calls.
//!
//! It has no builtins, reads no clock and calls no tool itself: the host provides a [`Library`], watches the run, and
//! answers its calls.
//!
//! ```
//! use ptc_bytecode::{Arity, Artifact, BUILTINS, Body, CodeBlock, Export, Function, Limits, Op, verify};
//! use ptc_vm::{Budget, Event, Library, Module, Value, Vm};
//! use std::sync::Arc;
//!
//! let ops = vec![Op::Enter { fuel: 2 }, Op::LoadInt { dst: 1, value: 42 }, Op::Return { src: 1 }];
//! let arity = Arity { required: 0, rest: false, block: 0, params: "".into() };
//! let program = Artifact {
//!     blocks: vec![CodeBlock { regs: 2, params: 0, ops, spans: vec![] }],
//!     functions: vec![Function { name: None, doc: None, captures: 0, arities: vec![arity] }],
//!     entry: Some(0),
//!     ..Artifact::default()
//! };
//! // A library whose builtins are all nil, or the program itself.
//! let rows = BUILTINS.iter().filter(|row| row.body == Body::Core);
//! let exports = rows.map(|row| Export { name: row.name.into(), function: 0 }).collect();
//! let core = Artifact { exports, entry: None, ..program.clone() };
//! let library = Library::new(|_| Some(|_| Ok(Value::Nil)), verify(core).unwrap()).unwrap();
//!
//! let module = Module::link(verify(program).unwrap(), &library).unwrap();
//! let mut vm = Vm::new(Arc::new(library), &Limits::default(), Budget::new(1_000, None)).unwrap();
//! let module = vm.attach_module(module).unwrap();
//! vm.start(module).unwrap();
//! let Ok(Event::Done(ending)) = vm.run() else { panic!("it waits for nothing") };
//! assert!(ending.value().same(Value::Int(42)));
//! assert_eq!(vm.budget().spent(), 2);
//! ```
#![forbid(unsafe_code)]

mod attempt;
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
mod leaving;
mod link;
mod loops;
mod lot_table;
mod lots;
mod machine;
mod outline;
mod parts;
mod price;
mod remembered;
mod roots;
mod snapshot;
mod trace;
mod transfer;
mod unwind;
mod value;
mod watch;
mod watched;
mod work;

pub use budget::Budget;
pub use call::{Call, NativeFn, Output};
pub use collect::Collector;
pub use exec::{
    add, assoc, assoc_last, conj, conj_last, div, float_out_of_range, get, get_or, host_args, is_data_name,
    missing_data, modulo, mul, no_positions, not_a_number, quot, rem, sub,
};
pub use fault::{Fault, FaultInner, Stop, StopKind};
pub use fork::{Branches, Held};
pub use frozen::Frozen;
pub use heap::{Heap, STEP_BYTES};
pub use link::{Library, Module, Target};
pub use machine::{Definitions, Ending, Event, ToolCall, Vm};
pub use outline::Outline;
pub use parts::Part;
pub use price::FLAT_PARTS;
pub use remembered::Remembered;
pub use value::{
    CELL_BYTES, CHAR_STEPS, ENTER_STEPS, FIREWALLED, Float, Ref, StateKind, TextKind, TextWriter, Value,
    is_firewalled, merge_sort,
};
pub use watch::Watch;
pub use watched::{Lookups, MAX_WATCHED, MissedField, WatchedField};
pub use work::Work;
