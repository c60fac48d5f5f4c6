//! Agents: a mission is given to a model, the model answers with programs, the programs run in a
//! sandbox, and what they return is checked against a contract.
#![forbid(unsafe_code)]

pub mod data;
pub mod definition;
pub mod feedback;
pub mod firewall;
pub mod keys;
pub mod prompt;
pub mod protocol;
pub mod signature;
mod suggest;
pub mod template;
pub mod tools;

pub use definition::{Agent, AgentBuilder, BuildError, RunOptions};
pub use signature::Signature;

/// The examples of the guide are tests.
#[cfg(doctest)]
mod guide {
    #[doc = include_str!("../../docs/agents/signatures.md")]
    struct Signatures;
}
