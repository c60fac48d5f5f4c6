//! Runs PTC-Lisp programs from Rust: small programs, mostly written by models, in a sandbox that can do nothing but
//! compute, read the data it was given and call the tools it was given.
//!
//! ```
//! use ptc::prelude::*;
//!
//! #[derive(serde::Deserialize)]
//! struct Item { of: String }
//!
//! let engine = Engine::new()?.tool("price", |item: Item| Ok(if item.of == "tea" { 3 } else { 5 }));
//! let total: i64 = engine.eval(r#"(reduce + (map (fn [x] (tool/price {:of x})) ["tea" "cake"]))"#)?;
//! assert_eq!(total, 8);
//! # Ok::<(), Failure>(())
//! ```
//! An [`Engine`] has the library, tools, data and limits of programs. It compiles a [`Program`], which is called with
//! Rust values and returns Rust values; a [`Session`] runs programs that see each other's definitions. Every error is a
//! [`Failure`], with a stable reason, the place in the source and a hint. This crate is the simple interface of
//! [`runtime`], which has the rest (attaching, signing and storing preludes, drivers that decide about every call).
//! PTC-Lisp is not Clojure: programs have no input or output of their own, and their work, memory, output and time are
//! bounded.
//!
//! With the feature `macros`, `#[ptc::tool]` makes tools of Rust functions. With `agent`, `upstream` and `mcp`, the crates
//! around the engine are here as well.
#![forbid(unsafe_code)]

pub mod binding;
mod engine;
mod program;
#[cfg(feature = "macros")]
mod tool;

pub use engine::Engine;
pub use program::Program;
#[cfg(feature = "macros")]
pub use ptc_macros::tool;
pub use ptc_runtime::{
    Batch, Cancel, Diagnostic, Ending, Evaluator, Failure, Function, Grants, Input, Limits, Outcome,
    PendingCall, Prelude, Run, Session, Shape, Step, Summary, ToolError, ToolShape, Tools,
};
#[cfg(feature = "macros")]
pub use tool::ToolDefinition;

#[cfg(feature = "agent")]
pub use ptc_agent as agent;
#[cfg(feature = "mcp")]
pub use ptc_mcp as mcp;
#[cfg(feature = "agent")]
pub use ptc_model as model;
pub use ptc_runtime as runtime;
#[cfg(feature = "upstream")]
pub use ptc_upstream as upstream;

/// Names for the code that `#[ptc::tool]` generates; not a public API.
#[cfg(feature = "macros")]
#[doc(hidden)]
pub mod __private {
    pub use crate::tool::tool_error;
    pub use {schemars, serde};
}

/// The types that most hosts use.
pub mod prelude {
    pub use crate::{Cancel, Engine, Failure, Limits, Program, Session, ToolError};
}

/// The examples of the guides and of error pages are doc tests of this crate.
#[cfg(doctest)]
mod pages {
    #[doc = include_str!("../README.md")]
    struct Readme;
    #[doc = include_str!("../../docs/guide/embedding.md")]
    struct Embedding;
    #[doc = include_str!("../../docs/guide/effects.md")]
    struct Effects;
    #[doc = include_str!("../../docs/guide/batch.md")]
    struct Batch;
    #[doc = include_str!("../../docs/errors/E0321.md")]
    struct UnknownAnswer;
    #[doc = include_str!("../../docs/errors/E0322.md")]
    struct PlanDiffers;
    #[doc = include_str!("../../docs/errors/E0405.md")]
    struct Cancelled;
    #[doc = include_str!("../../docs/errors/E0502.md")]
    struct InvalidTool;
    #[doc = include_str!("../../docs/errors/E0603.md")]
    struct SnapshotInvalid;
    #[doc = include_str!("../../docs/preludes/team.md")]
    struct Team;
}
