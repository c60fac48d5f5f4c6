//! Definitions of agents: mission, contract, tools, limits. Built once, checked as a whole, shared by many runs.
//!
//! ```
//! use ptc_agent::{Agent, tools::Tool};
//! let agent = Agent::builder()
//!     .prompt("Find the {{kind}} order with the highest total")
//!     .signature("(kind :string) -> {id :int, total :float}")
//!     .tool(Tool::new("orders", |_, _| Ok(vec![1, 2])).signature("() -> [:int]"))
//!     .max_turns(3)
//!     .build()?;
//! assert_eq!(agent.signature().to_string(), "(kind :string) -> {id :int, total :float}");
//!
//! let error = Agent::builder().prompt("x").tool(Tool::new("return", |_, _| Ok(1))).build().unwrap_err();
//! assert_eq!(error.reason.name(), "reserved_tool_name");
//! # Ok::<(), ptc_agent::BuildError>(())
//! ```

mod check;
mod error;
mod exports;
mod fields;
mod file;
mod id;
mod library;
mod load;
mod options;
mod places;
mod pricing;
mod run;
mod start;
mod values;

pub use error::{BuildError, Reason};
pub use fields::{FieldError, read_fields};
pub use file::{AgentFile, FilePlace, TableFile};
pub use id::agent_id;
pub use options::{AgentBuilder, AgentOptions, OPTIONS, OptionRow};
pub(crate) use pricing::no_prices;
pub use run::{BudgetFn, RunOptions};
pub use start::PreparedRun;
pub use values::{
    BuiltinTool, Compaction, CompletionMode, ContextPlacement, LanguageParts, LanguageSpec, MemoryStrategy,
    OnBudgetExceeded, OnExhausted, PlanItem, ProgressFn, ProgressInput, PromptParts, PromptTransform,
    StepState, StepsDoneFn, SystemPrompt, ToolCacheLimit, TraceMode, Transport,
};

use crate::tools::ToolSet;
use ptc_contract::signature::Signature;
use ptc_contract::template::Template;
use ptc_model::Output;
use std::sync::Arc;

/// An agent. Cheap to clone, and shared by concurrent runs.
#[derive(Clone)]
pub struct Agent(Arc<Definition>);

struct Definition {
    options: AgentOptions,
    signature: Signature,
    template: Template,
    preludes: Vec<ptc_runtime::Prelude>,
    warnings: Vec<String>,
}

impl Agent {
    /// Returns a builder with every option at its default.
    pub fn builder() -> AgentBuilder {
        AgentBuilder::default()
    }

    /// Returns all options.
    pub fn options(&self) -> &AgentOptions {
        &self.0.options
    }

    /// Returns the source text of the mission.
    pub fn prompt(&self) -> &str {
        self.0.template.source()
    }

    /// Returns the parsed mission.
    pub fn template(&self) -> &Template {
        &self.0.template
    }

    /// Returns the contract.
    pub fn signature(&self) -> &Signature {
        &self.0.signature
    }

    /// Returns the tools.
    pub fn tools(&self) -> &ToolSet {
        &self.0.options.tools
    }

    /// Returns the libraries that child agents inherit: those that a file names. Code gives each agent its own.
    pub(crate) fn handed_down(&self) -> &[ptc_runtime::Prelude] {
        match self.0.options.prelude_inputs.is_empty() {
            true => &[],
            false => &self.0.preludes,
        }
    }

    /// Returns the libraries of the agent's programs, ready to be attached.
    pub fn preludes(&self) -> &[ptc_runtime::Prelude] {
        &self.0.preludes
    }

    /// Returns the agent's name, for traces.
    pub fn name(&self) -> Option<&str> {
        self.0.options.name.as_deref()
    }

    /// Returns warnings: problems of the definition that are not errors.
    pub fn warnings(&self) -> &[String] {
        &self.0.warnings
    }

    /// Returns whether the agent answers in text.
    pub fn is_text(&self) -> bool {
        self.0.options.output == Output::Text
    }

    /// Returns a copy with some options changed, checked again.
    ///
    /// ```
    /// let agent = ptc_agent::Agent::builder().prompt("Count").build()?;
    /// let longer = agent.with(|options| options.max_turns(9))?;
    /// assert_eq!((agent.options().max_turns, longer.options().max_turns), (5, 9));
    /// # Ok::<(), ptc_agent::BuildError>(())
    /// ```
    pub fn with(&self, change: impl FnOnce(AgentBuilder) -> AgentBuilder) -> Result<Agent, BuildError> {
        change(AgentBuilder::from(self.0.options.clone())).build()
    }
}

impl std::fmt::Debug for Agent {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Agent")
            .field("name", &self.name())
            .field("prompt", &self.prompt())
            .field("signature", &self.signature().to_string())
            .field("tools", &self.tools().iter().map(|tool| &tool.name).collect::<Vec<_>>())
            .finish_non_exhaustive()
    }
}
