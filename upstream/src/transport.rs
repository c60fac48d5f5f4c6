//! Connections to servers: children over pipes, and servers over HTTP.
//!
//! A connection is made when it is first needed, shared by all calls, and made again when it was lost.
//! `supervisor` does that for all of them; `session` asks over one connection; the rest is the wire.

mod handler;
mod inbound;
mod listing;
#[cfg(feature = "http")]
pub mod mcp_http;
pub mod mcp_stdio;
#[cfg(feature = "http")]
pub mod openapi;
mod recovery;
mod scan;
mod session;
mod supervisor;
mod ticket;
#[cfg(feature = "http")]
mod web;
