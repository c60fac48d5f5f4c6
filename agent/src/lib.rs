//! Agents: a mission is given to a model, the model answers with programs, the programs run in a
//! sandbox, and what they return is checked against a contract.
#![forbid(unsafe_code)]

pub mod data;
pub mod feedback;
pub mod firewall;
pub mod keys;
pub mod prompt;
pub mod protocol;
pub mod signature;
mod suggest;
pub mod template;

pub use signature::Signature;
