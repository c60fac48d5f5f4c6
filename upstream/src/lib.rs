//! Other servers as tools: one program joins, filters and reduces what many servers return, and only
//! its answer leaves the sandbox.
//!
//! A [`config::Config`] says which servers there are; an [`Upstream`] runs them and knows their tools. A server is
//! reached by a [`Client`], whatever it speaks; what can go wrong with it is a [`Fault`], which programs see as
//! a value. [`run_lisp`] runs one program against servers, [`run_subagent`] an agent.
#![forbid(unsafe_code)]

mod approval;
mod call;
mod catalogue;
mod client;
pub mod config;
mod connect;
mod context;
pub mod credentials;
mod discovery;
mod eval;
mod fault;
pub mod import;
mod ledger;
mod logs;
pub mod redact;
mod running;
pub mod schema;
mod shapes;
mod size;
pub mod transport;

pub use approval::{Approval, Verdict, Wish};
pub use catalogue::{
    About, CatalogTool, Catalogue, DISCOVERY_HINT, Listing, RenderMode, Rendering, Server, Snapshot,
};
pub use client::{Client, Health, Reply, Request, Tool};
pub use context::{CallLimits, RunContext};
pub use eval::{
    Evaluated, LispOptions, SubagentRun, matched_calls, run_lisp, run_lisp_async, run_subagent,
    run_subagent_async, with_servers,
};
pub use fault::{Fault, Reason};
pub use ledger::Call;
pub use logs::may_log;
pub use running::{Attachment, BootPolicy, Options, StartError, Upstream};
pub use size::json_bytes;
