//! The native half of the Node package: programs, data and runs as objects of Node.
//!
//! What JavaScript does better is in JavaScript, in `lib`: promises, tools, adapters. Data crosses as numbers and one
//! text, see [`packed`], and a failure is an object that `lib/errors.js` makes an exception of.
#![deny(unsafe_code)]

mod agent;
mod ask;
mod batch;
mod cancel;
mod command;
mod diagnostic;
mod engine;
mod frozen;
mod limits;
mod outcome;
mod packed;
mod prelude;
mod reader;
mod run;
mod servers;
mod session;
mod tools;

use napi_derive::napi;

/// Returns the reference card of the language, for prompts.
#[napi]
pub fn card() -> &'static str {
    ptc::agent::prompt::reference_card()
}

/// Returns the version of the package.
#[napi]
pub fn version() -> &'static str {
    env!("CARGO_PKG_VERSION")
}
