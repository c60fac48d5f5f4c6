//! Plans: in files, in issues, and from agents that make them.
#![allow(missing_docs)]

mod checklists;
mod files;
mod following;
#[cfg(feature = "http")]
mod github;
mod making;
#[cfg(feature = "http")]
mod server;
