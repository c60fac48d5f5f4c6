//! What is done with input that nobody vouches for, as functions of bytes. Each returns, or panics on a finding: a
//! promise that does not hold, an `internal_error`, a limit that was passed.
//!
//! [`TARGETS`] is the table of them. A fuzzer runs them from `libfuzzer/`, `cargo test` each a bounded number of
//! times, and inputs that once failed are in `found/`. How to use all that is in `docs/internals/fuzzing.md`.
#![forbid(unsafe_code)]

mod bend;
mod forge;
pub mod kit;
pub mod mutate;
pub mod take;
pub mod targets;

pub use targets::{TARGETS, Target, target};
