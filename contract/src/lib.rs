//! Contracts between models, programs and hosts: inputs and results of agents and tools, and how models are shown them.
//!
//! A [`Signature`] is read from text, JSON Schema, Malli or a Rust type; it checks and coerces data and renders itself
//! for prompts. A [`template`] is filled from data. [`keys`] translates key names between programs and hosts,
//! [`firewall`] hides fields from models, and [`servers`] is the interface between missions and servers. Nothing in
//! this crate asks a model, calls a tool or runs a program.
//!
//! ```
//! use ptc_contract::{Signature, signature::Validation};
//! let signature = Signature::parse("(n :int) -> {total :int}")?;
//! let input = ptc_runtime::bridge::json_to_datum(&serde_json::json!({"n": "7"}))?;
//! let checked = signature.check_input(&input, Validation::Enabled).unwrap();
//! assert_eq!(ptc_runtime::bridge::datum_to_json(&checked.value)?, serde_json::json!({"n": 7}));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
#![forbid(unsafe_code)]

pub mod data;
pub mod firewall;
pub mod keys;
pub mod servers;
pub mod signature;
pub mod template;

pub use signature::Signature;
