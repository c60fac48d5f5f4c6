//! Other servers as tools: one program joins, filters and reduces what many servers return, and only
//! its value leaves the sandbox.
//!
//! A [`config::Config`] lists the servers; an [`Upstream`] runs them and knows their tools. A [`Client`]
//! connects to one server, over any transport; its failures are [`Fault`]s, which programs see as values. A
//! [`ProgramHost`] runs programs against servers; an [`Attachment`] gives them to an agent.
#![forbid(unsafe_code)]

mod approval;
mod call;
mod catalogue;
mod client;
pub mod config;
mod context;
pub mod credentials;
mod discovery;
mod executor;
mod fault;
mod glob;
mod host;
pub mod import;
mod json_schema;
mod ledger;
mod logs;
mod missions;
mod options;
pub mod pins;
pub mod policy;
mod raw;
pub mod redact;
mod running;
pub mod schema;
mod shapes;
mod size;
mod slots;
pub mod transport;

pub use approval::{Approval, ApprovalRequest, Verdict};
pub use catalogue::{
    About, CatalogTool, Catalogue, DISCOVERY_HINT, Listing, RenderMode, Rendering, Server, Snapshot,
};
pub use client::{Client, Health, Introduction, LateSchema, Reply, Request, Tool};
pub use context::{CallLimits, RunContext};
pub use fault::{Fault, Reason};
pub use host::{Begun, HeldRun, ProgramHost, ProgramOptions, ProgramRun, RunOutcome, Suspension, UnderWay};
pub use json_schema::{JsonSchema, json_kind};
pub use ledger::{Call, matched_calls};
pub use logs::may_log;
pub use options::{BootPolicy, OPTIONS, OptionKind, OptionRow, Options};
pub use running::{Attachment, StartError, Upstream};
pub use size::json_bytes;
pub use slots::Slots;
