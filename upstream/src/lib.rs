//! Other servers as tools: one program joins, filters and reduces what many servers return, and only
//! its answer leaves the sandbox.
//!
//! A server is reached by a [`Client`], whatever it speaks; what can go wrong with it is a [`Fault`],
//! which programs see as a value.
#![forbid(unsafe_code)]

mod client;
pub mod config;
pub mod credentials;
mod fault;
pub mod redact;
pub mod transport;

pub use client::{Client, Health, Reply, Request, Tool};
pub use fault::{Fault, Reason};
