//! Prompts for models: the system message, the first user message, and the shown part of data.
//!
//! The texts are in `agent/prompts`. Everything here is a pure function of the agent and its data, so that the system
//! message of a run stays the same, byte for byte.
//!
//! ```
//! use ptc_agent::{Agent, prompt::preview_prompt};
//! let agent = Agent::builder().prompt("Sum {{rows}}").signature("(rows [:int]) -> {total :int}").build()?;
//! let data = ptc_runtime::bridge::json_to_datum(&serde_json::json!({"rows": [1, 2, 3]})).unwrap();
//! let preview = preview_prompt(&agent, &data);
//! assert_eq!(preview.user, "<mission>\nSum data/rows\n</mission>");
//! assert!(preview.system.contains("data/rows  ; [:int], sample: [1 2 3]"));
//! # Ok::<(), ptc_agent::BuildError>(())
//! ```

mod assemble;
mod inventory;
mod language;
mod limits;
mod plan;
mod reference;
mod tools;
mod untrusted;
mod varying;

pub use assemble::preview_prompt;
pub(crate) use assemble::{Prompt, PromptInput, assemble};
pub use inventory::{inventory, type_label};
pub use language::{LanguageFn, PromptCtx};
pub use limits::{FormatOptions, MissionLogIn};
pub use plan::plan_text;
pub use reference::{compact_card, reference_card};
pub(crate) use tools::native_schema;
pub use tools::tool_list;
pub(crate) use untrusted::{NOTICE, Source, untrusted};
