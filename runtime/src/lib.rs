//! Compiler and runner of PTC-Lisp programs: the library, data and tools, sessions, and the drivers that take a
//! suspended run to its end. Hosts depend on the crate `ptc`, which includes the core library; this one receives it as
//! bytes, so that both build independently.
//!
//! ```
//! use ptc_runtime::{Grants, Runtime, Tools};
//! let tools = Tools::new().with("price", |args| {
//!     let item: std::collections::HashMap<String, String> = args.parse()?;
//!     Ok(if item["of"] == "tea" { 3 } else { 5 })
//! });
//! let runtime = Runtime::with_core(ptc_preludes::core())?.with_tools(tools);
//! let outcome = runtime.eval("(map (fn [x] (tool/price {:of x})) [\"tea\" \"cake\"])", &Grants::new())?;
//! assert_eq!(outcome.get::<Vec<i64>>()?, [3, 5]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
#![forbid(unsafe_code)]

mod batch;
pub mod bridge;
mod call;
mod catalog;
mod check;
mod drive;
pub mod effects;
mod evaluator;
mod explain;
pub mod files;
mod function;
mod host;
pub mod json;
mod logged;
mod natives;
mod parallel;
mod policy;
mod pool;
mod prelude;
mod program;
mod run;
mod saved;
mod schedule;
mod session;
mod shape;
mod tally;
mod tools;
mod turn;
mod watch;

pub use batch::{Batch, Cost, Ending, Input, Progress, Reducer, Rows, Rules, Starts, Stats, Summary};
pub use bridge::BridgeError;
pub use call::{CallId, PendingCall};
pub use catalog::{Catalog, Entry, Origin, search_alike, tokens as name_words, wanted as query_words};
pub use drive::{CallFuture, Dispatch, Driven, FailedRun, Held, asynchronous, panic_text, until_held};
pub use evaluator::Evaluator;
pub use function::{Arguments, Function};
pub use host::{Grants, Runtime};
pub use policy::PolicyRules;
pub use pool::{Pool, Reservation};
pub use prelude::{
    ArtifactHash, Attach, Calls, CompileOptions, ComponentTrace, ExportTrace, FrozenRef, InputError,
    Inventory, Keep, Known, Listed, LoadOptions, Lookup, MAX_FILE_BYTES, Metadata as StoreMetadata,
    OfferedExport, Origin as SourceOrigin, Outline as PreludeOutline, Past, Policy, Prelude, PreludeContent,
    PreludeError, PreludeId, PreludeInput, PreludeStore, PreludeTrace, Provenance, STORE_TOOLS, Seeded,
    Selected, Selection, Signing, Stale, StoreError, StoreLimits, StoreRef, Stored, ToStoreRef, ToolIndex,
    TrustedKeys, Upstream, Written, order_of as order_of_preludes,
};
pub use program::Program;
pub use ptc_bytecode::{
    Code, Datum, Diagnostic, Effects, ExportRecord, Key, Limits, Node, Visibility, shown_warnings,
    warning_lines,
};
pub use ptc_compiler::{Condition, Literal, Order, Projection};
pub use ptc_vm::{Branches, FIREWALLED, Fault, Frozen, Heap, Outline, Part, Remembered, is_firewalled};
pub use run::{Failure, Outcome, Run, Step};
pub use schedule::{Computed, Schedule, SliceFuture, Work};
pub use session::{Session, SessionBuilder};
pub use shape::{FieldShape, RecordShape, Shape, ToolShape};
pub use tools::{Refusal, SeenCall, ToolAnswer, ToolArgs, ToolError, ToolFuture, Tools};
pub use turn::TurnHost;
pub use watch::{Cancel, CancelOnDrop};
