//! Agents: a mission is given to a model, the model answers with programs, the programs run in a
//! sandbox, and what they return is checked against a contract.
//!
//! Here is what an agent is ([`definition`], [`signature`], [`template`], [`tools`]), what a model is told
//! ([`prompt`], [`feedback`]), how its replies are read ([`protocol`]), and what it never sees
//! ([`firewall`]). All of that is pure. Models are asked in [`model`]; [`mission`] takes turns with them until
//! there is a result, and what happens is told in [`trace`], from which [`replay`] runs it again.
//!
//! ```
//! use ptc_agent::{Agent, RunOptions, protocol, tools::Tool};
//! let agent = Agent::builder()
//!     .prompt("Find the {{kind}} order with the highest total")
//!     .signature("(kind :string) -> {id :int, total :float}")
//!     .tool(Tool::new("orders", |_, _| Ok(vec![1, 2])).signature("() -> [:int]"))
//!     .build()?;
//! let run = RunOptions::new().context(&serde_json::json!({"kind": "late"}))?;
//! assert!(agent.validate(&run).is_empty());
//!
//! let reply = "```clojure\n(return {:id 7 :total 12.5})\n```";
//! let program = protocol::extract_program(reply, agent.options().multiple_blocks).unwrap().program;
//! assert_eq!(program, "(return {:id 7 :total 12.5})");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
#![forbid(unsafe_code)]

pub mod compaction;
pub mod data;
pub mod definition;
pub mod feedback;
pub mod firewall;
pub mod keys;
pub mod lisp_eval;
pub mod memory;
pub mod mission;
pub mod model;
pub mod native_preview;
pub mod plan;
pub mod prompt;
pub mod protocol;
pub mod replay;
pub mod session;
pub mod signature;
mod suggest;
pub mod template;
pub mod tools;
pub mod trace;
#[cfg(feature = "http")]
pub mod web;

pub use definition::{Agent, AgentBuilder, BuildError, RunOptions};
pub use mission::{Fail, Step, delegate, run, run_async};
pub use signature::Signature;

/// The examples of the guide are tests.
#[cfg(doctest)]
mod guide {
    #[doc = include_str!("../../docs/agents/signatures.md")]
    struct Signatures;

    #[doc = include_str!("../../docs/agents/text.md")]
    struct Text;

    #[doc = include_str!("../../docs/agents/running.md")]
    struct Running;

    #[cfg(feature = "http")]
    #[doc = include_str!("../../docs/agents/models.md")]
    struct Models;

    #[cfg(feature = "http")]
    #[doc = include_str!("../../docs/agents/plans.md")]
    struct Plans;

    #[doc = include_str!("../../docs/agents/traces.md")]
    struct Traces;
}
