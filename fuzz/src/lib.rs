//! Fuzz targets: functions of bytes for everything that reads untrusted input. Each returns, or panics on a finding: a
//! broken promise, an `internal_error`, or an exceeded limit.
//!
//! [`TARGETS`] lists them. A fuzzer runs them from `libfuzzer/`, and `cargo test` runs each a bounded number of times.
//! `found/` keeps inputs that once failed. `docs/internals/fuzzing.md` says how to use all of this.
#![forbid(unsafe_code)]

mod bend;
mod forge;
pub mod kit;
pub mod mutate;
pub mod take;
pub mod targets;

pub use targets::{TARGETS, Target, target};
