//! Programs against servers that live in the test.

mod calls;
mod canary;
mod catalogue;
mod discovery;
mod fake;
mod missions;
mod preludes;
