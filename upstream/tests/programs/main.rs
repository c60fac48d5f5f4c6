//! Programs against fake servers.

mod calls;
mod canary;
mod catalogue;
mod discovery;
mod fake;
mod missions;
mod preludes;
