//! The MCP server: tools that run programs, sessions, and the transports over stdio and HTTP. The process that
//! starts it supplies settings and upstream servers.
//!
//! A call goes through the file of its tool in [`tools`] and its arguments ([`args`]) to a [`Payload`] (the
//! full outcome) and a [`Reply`] (the part of it that the client's [`Profile`] shows).
//!
//! ```
//! use ptc_mcp::{Evaluator, Profile, Settings};
//! let settings = Settings::default();
//! let runtime = ptc_runtime::Runtime::with_core(ptc_preludes::core())?;
//! let evaluator = Evaluator::new(&runtime, &settings);
//! let args = serde_json::json!({"program": "(reduce + data/ns)", "context": {"ns": [1, 2, 3]}});
//! let payload = evaluator.lisp_eval(args.as_object().unwrap());
//! assert_eq!(payload.reply(Profile::Slim).text, "user=> 6");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
#![forbid(unsafe_code)]

pub mod args;
mod attached;
mod budget;
pub mod client;
pub mod connection;
mod context_data;
mod cut;
pub mod debug;
pub mod effects;
mod eval;
pub mod frame;
mod host;
pub mod http;
mod listing;
pub mod log;
mod metrics;
mod moment;
mod network;
#[cfg_attr(not(feature = "otlp"), path = "otlp/absent.rs")]
pub mod otlp;
pub mod pending;
mod present;
mod profile;
mod program;
pub mod protocol;
mod reason;
mod reply;
mod result_value;
mod server;
pub mod service;
pub mod sessions;
pub mod settings;
mod shares;
pub mod signal;
mod spans;
pub mod stdio;
pub mod task;
mod tool;
pub mod tools;
mod trace;
mod weight;

pub use eval::Evaluator;
pub use host::Host;
pub use profile::Profile;
pub use reason::Reason;
pub use reply::{Payload, Reply};
pub use result_value::ResultValue;
pub use server::Server;
pub use sessions::Sessions;
pub use settings::Settings;
pub use task::Planner;
