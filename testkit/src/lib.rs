//! Fake servers that the tests of several crates share: a server over HTTP whose answers are a closure, a provider of
//! models that speaks every format and misbehaves as it is told to, and the messages of an MCP server.
//!
//! It is not a server to build on: it reads just what our clients and those of the providers send, on a thread per connection, and lives until
//! the process ends. A model that answers from a list, without HTTP, is `ptc_model::Scripted`.
//!
//! ```
//! use ptc_testkit::http;
//! let address = http::serve(|request, stream| http::write(stream, 200, &[], &format!("You asked for {}", request.path)));
//! assert!(address.starts_with("http://127.0.0.1:"));
//! ```
#![forbid(unsafe_code)]

pub mod http;
pub mod mcp;
pub mod provider;
pub mod reply;
pub mod talk;
pub mod wire;
