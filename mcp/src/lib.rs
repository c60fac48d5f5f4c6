//! The MCP server, as far as it is a function of what it is given: settings, arguments, programs and replies. Nothing
//! here reads a socket or a clock of its own.
//!
//! A call of `lisp_eval` goes through [`args`] (what was asked), [`eval`] (what came of it, in full) and [`reply`] (as much
//! of that as the client's [`profile`] shows).
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
pub mod client;
pub mod connection;
mod cut;
pub mod debug;
pub mod eval;
pub mod frame;
pub mod held;
pub mod host;
pub mod http;
pub mod listing;
pub mod log;
mod moment;
pub mod otlp;
pub mod profile;
pub mod protocol;
mod reason;
pub mod reply;
pub mod schema;
pub mod server;
pub mod service;
pub mod sessions;
pub mod settings;
pub mod signal;
mod spans;
pub mod stdio;
pub mod task;
pub mod trace;

pub use eval::Evaluator;
pub use host::Host;
pub use profile::Profile;
pub use reason::Reason;
pub use reply::{Payload, Reply};
pub use server::Server;
pub use sessions::Sessions;
pub use settings::Settings;
pub use task::Planner;
