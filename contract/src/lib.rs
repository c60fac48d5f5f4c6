//! Contracts between models, programs and hosts: what goes into an agent or a tool, what comes out, and how both
//! are shown to a model.
//!
//! A [`Signature`] is read from text, JSON Schema, Malli or a Rust type; it checks and coerces data and renders itself
//! for prompts. A [`template`] is filled from data. [`keys`] joins the spellings of both sides, and [`firewall`] says
//! which fields no model sees; [`servers`] is what a mission needs of servers. All of it is pure: nothing here asks a
//! model, calls a tool or runs a program.
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
