//! Agents: a mission is given to a model, the model replies with programs, the programs run in a sandbox, and their
//! results are checked against a contract.
//!
//! Defines agents ([`definition`], [`tools`]), texts for models ([`prompt`], [`feedback`]), and the reading of replies
//! ([`protocol`]). All of that is pure. [`mission`] takes turns with a model until there is a result. [`trace`] records
//! the events, and [`replay`] runs them again. Other crates hold contracts and the firewall (`ptc_contract`), models
//! (`ptc_model`), and the running of programs (`ptc_runtime`).
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

mod attachments;
pub mod compaction;
pub mod definition;
pub mod feedback;
pub mod lisp_eval;
pub mod memory;
pub mod mission;
pub mod native_preview;
pub mod plan;
pub mod prompt;
pub mod protocol;
pub mod replay;
pub mod tools;
pub mod trace;

pub use definition::{Agent, AgentBuilder, BuildError, RunOptions};
pub use mission::{Fail, MissionLedger, Step, run, run_async};

/// Examples of the guide, as tests.
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

    #[doc = include_str!("../../docs/moving.md")]
    struct Moving;
}
