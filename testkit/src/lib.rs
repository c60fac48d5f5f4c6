//! Fake servers that the tests of several crates share: an HTTP server whose answers come from a closure, a model
//! provider that speaks every format and misbehaves on request, messages of an MCP server, and an editor that talks to a
//! language server.
//!
//! Only for tests: the HTTP server reads just what our clients and those of the providers send, with a thread per
//! connection, and lives until the process ends. For a model that answers from a list, without HTTP, use
//! `ptc_model::Scripted`.
//!
//! ```
//! use ptc_testkit::http;
//! let address = http::serve(|request, stream| http::write(stream, 200, &[], &format!("You asked for {}", request.path)));
//! assert!(address.starts_with("http://127.0.0.1:"));
//! ```
#![forbid(unsafe_code)]

pub mod editor;
pub mod http;
pub mod mcp;
pub mod provider;
pub mod reply;
pub mod talk;
pub mod wire;
