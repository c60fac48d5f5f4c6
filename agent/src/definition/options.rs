//! Table of options: name, type, default, meaning. Generates the struct, builder, loader and reference page.

use super::values::*;
use super::{BuildError, Reason};
use crate::plan::PlanSink;
use crate::prompt::FormatOptions;
use crate::protocol::MultipleBlocks;
use crate::tools::{Expose, LlmRef, Tool, ToolSet};
use ptc_contract::data::PromptLimit;
use ptc_contract::signature::{Signature, SignatureInput, Type, Validation};
use ptc_contract::template::{OnMissing, TemplateStyle};
use ptc_model::{LlmRetry, Output};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::sync::Arc;

/// One row of [`OPTIONS`].
#[derive(Clone, Copy, Debug)]
pub struct OptionRow {
    /// Name, in code and in files.
    pub name: &'static str,
    /// Description of the option.
    pub doc: &'static str,
    /// Default value, in Rust syntax.
    pub default: &'static str,
    /// Flag: files can set the option; the others need code.
    pub in_files: bool,
}

/// Generates the builder's method for an option, by its sort.
macro_rules! setter {
    ($(#[doc = $doc:literal])* text $name:ident: $type:ty) => {
        $(#[doc = $doc])*
        #[must_use]
        pub fn $name(mut self, value: impl Into<String>) -> AgentBuilder {
            self.options.$name = Some(value.into());
            self
        }
    };
    ($(#[doc = $doc:literal])* some($inner:ty) $name:ident: $type:ty) => {
        $(#[doc = $doc])*
        #[must_use]
        pub fn $name(mut self, value: impl Into<$inner>) -> AgentBuilder {
            self.options.$name = Some(value.into());
            self
        }
    };
    ($(#[doc = $doc:literal])* by $name:ident: $type:ty) => {
        $(#[doc = $doc])*
        #[must_use]
        pub fn $name(mut self, value: impl Into<$type>) -> AgentBuilder {
            self.options.$name = value.into();
            self
        }
    };
    ($(#[doc = $doc:literal])* $sort:ident $name:ident: $type:ty) => {
        $(#[doc = $doc])*
        #[must_use]
        pub fn $name(mut self, value: $type) -> AgentBuilder {
            self.options.$name = value;
            self
        }
    };
}

/// Generates the loader's reader for an option, by its sort; errors continue a sentence that begins with the option.
macro_rules! reader {
    (text, $value:ident) => {
        String::deserialize($value).map(Some).map_err(|_| "must be a text".to_string())
    };
    (data, $value:ident) => {
        Deserialize::deserialize($value).map_err(unread)
    };
    (maybe, $value:ident) => {
        or_none($value)
    };
    (code, $value:ident) => {{
        let _ = $value;
        Err("takes code, which a file cannot contain; set it on the builder".to_string())
    }};
    (some($inner:ty) $read:path, $value:ident) => {
        $read($value)
    };
    (by $read:path, $value:ident) => {
        $read($value)
    };
}

macro_rules! in_files {
    (code) => {
        false
    };
    ($($sort:tt)*) => {
        true
    };
}

macro_rules! sort_of {
    ([$(#[doc = $doc:literal])*] some($inner:ty) $read:path, $name:ident: $type:ty) => {
        setter! { $(#[doc = $doc])* some($inner) $name: $type }
    };
    ([$(#[doc = $doc:literal])*] by $read:path, $name:ident: $type:ty) => {
        setter! { $(#[doc = $doc])* by $name: $type }
    };
    ([$(#[doc = $doc:literal])*] $sort:ident, $name:ident: $type:ty) => {
        setter! { $(#[doc = $doc])* $sort $name: $type }
    };
}

macro_rules! options {
    ($($(#[doc = $doc:literal])* [$($sort:tt)*] $name:ident: $type:ty = $default:expr;)*) => {
        /// All options of an agent.
        #[derive(Clone)]
        pub struct AgentOptions {
            $($(#[doc = $doc])* pub $name: $type,)*
        }

        impl Default for AgentOptions {
            fn default() -> AgentOptions {
                AgentOptions { $($name: $default,)* }
            }
        }

        /// All options, in the order of the reference page.
        pub const OPTIONS: &[OptionRow] = &[
            $(OptionRow {
                name: stringify!($name),
                doc: concat!($($doc,)*),
                default: stringify!($default),
                in_files: in_files!($($sort)*),
            },)*
        ];

        impl AgentOptions {
            /// Sets one option from a file. None if there is no such option.
            pub(super) fn set(&mut self, name: &str, value: &Value) -> Option<Result<(), String>> {
                match name {
                    $(stringify!($name) => {
                        let read: Result<$type, String> = reader!($($sort)*, value);
                        Some(read.map(|read| self.$name = read))
                    })*
                    _ => None,
                }
            }
        }

        /// Builds an [`Agent`](crate::Agent): one method per option.
        impl AgentBuilder {
            $(sort_of! { [$(#[doc = $doc])*] $($sort)*, $name: $type })*
        }
    };
}

/// Builder of an [`Agent`](crate::Agent), with one method per option.
#[derive(Clone, Default)]
pub struct AgentBuilder {
    pub(super) options: AgentOptions,
    /// Problems found while options were set; reported by `build`.
    pub(super) problems: Vec<BuildError>,
}

options! {
    /// Text of the mission, with `{{placeholders}}`.
    [text] prompt: Option<String> = None;
    /// Contract of inputs and result: shorthand, Malli data or a signature.
    [by SignatureInput::from_json] signature: SignatureInput = SignatureInput::Text("() -> :any".to_string());
    /// Tools for programs and models.
    [by read_tools] tools: ToolSet = ToolSet::default();
    /// Tools that are described for planning but cannot be called.
    [by read_tools] tool_catalog: ToolSet = ToolSet::default();
    /// Default model; the run may name another.
    [some(LlmRef) or_none] llm: Option<LlmRef> = None;
    /// Kind of answers: programs, or text.
    [data] output: Output = Output::PtcLisp;
    /// How the model sends programs; default: `content` for agents that write programs.
    [maybe] ptc_transport: Option<Transport> = None;
    /// Language reference in combined prompts; `compact` is the only one.
    [by reference] ptc_reference: String = "compact".to_string();
    /// Maximum turns of the mission.
    [data] max_turns: u32 = 5;
    /// Extra turns after `max_turns`; for agents that write programs.
    [data] retry_turns: u32 = 0;
    /// Timeout of one program, in milliseconds.
    [data] timeout: u64 = 5000;
    /// Timeout of the mission, in milliseconds.
    [maybe] mission_timeout: Option<u64> = Some(60_000);
    /// Maximum turns of the mission and all agents it calls.
    [data] turn_budget: u32 = 20;
    /// Maximum questions of one LLM tool per turn; together they take one turn of `turn_budget`.
    [data] max_questions: u32 = 1000;
    /// Maximum depth of agents that call agents.
    [data] max_depth: u32 = 3;
    /// Memory limit of a program in bytes; default: the runtime's.
    [maybe] max_heap: Option<u64> = None;
    /// Limit on mission data and tool results that a program holds, in bytes; default: the runtime's.
    [maybe] max_granted: Option<u64> = None;
    /// Maximum size of all definitions, in bytes.
    [maybe] memory_limit: Option<u64> = Some(1_048_576);
    /// Reaction when definitions exceed `memory_limit`.
    [data] memory_strategy: MemoryStrategy = MemoryStrategy::Strict;
    /// Amount of data shown in prompts.
    [data] prompt_limit: PromptLimit = PromptLimit::default();
    /// Strictness of checks of inputs and outputs.
    [data] signature_validation: Validation = Validation::Enabled;
    /// Retries of failed model requests.
    [data] llm_retry: LlmRetry = LlmRetry::default();
    /// Options that are passed to the model's client unchanged.
    [data] llm_opts: Map<String, Value> = Map::new();
    /// Prompt caching of system message and tools, for providers that need to be asked.
    [data] prompt_cache: bool = false;
    /// Replacement for the system message, or additions to it.
    [some(SystemPrompt) read_system_prompt] system_prompt: Option<SystemPrompt> = None;
    /// Name of the agent in traces.
    [text] name: Option<String> = None;
    /// Description of the agent when it is used as a tool.
    [text] description: Option<String> = None;
    /// Descriptions of result fields, which travel with the result.
    [data] field_descriptions: BTreeMap<String, String> = BTreeMap::new();
    /// Descriptions of context keys.
    [data] context_descriptions: BTreeMap<String, String> = BTreeMap::new();
    /// Types of the context, for the inventory in the prompt.
    [text] context_signature: Option<String> = None;
    /// Formatting of results.
    [data] format_options: FormatOptions = FormatOptions::default();
    /// Decimals of floats in program results.
    [data] float_precision: u32 = 2;
    /// Limit on cached tool results; default: none.
    [maybe] tool_cache_limit: Option<ToolCacheLimit> = None;
    /// Maximum tool calls of one program, or of the run where models call tools themselves.
    [maybe] max_tool_calls: Option<u32> = None;
    /// Timeout of one `pmap` branch, in milliseconds.
    [data] pmap_timeout: u64 = 5000;
    /// Maximum concurrent `pmap` branches; default: twice the number of processors.
    [maybe] pmap_max_concurrency: Option<u32> = None;
    /// Allows programs to ask the model with `llm-query`.
    [data] llm_query: bool = false;
    /// Built-in tools to offer.
    [data] builtin_tools: Vec<BuiltinTool> = Vec::new();
    /// Lets the model write text before its program.
    [data] thinking: bool = false;
    /// Whether an agent with one turn has to call `return`.
    [data] completion_mode: CompletionMode = CompletionMode::Implicit;
    /// Rules for dropping old messages from requests.
    [by Compaction::read] compaction: Option<Compaction> = None;
    /// Steps of a plan, shown with their progress.
    [by read_plan] plan: Vec<PlanItem> = Vec::new();
    /// Receiver of plans made by the built-in tool `create_plan`.
    [code] plan_sink: Option<Arc<dyn PlanSink>> = None;
    /// Function that writes the progress text.
    [code] progress_fn: Option<ProgressFn> = None;
    /// Lets programs store finished tasks with `task`.
    [data] journaling: bool = false;
    /// Compiled prelude for programs.
    [code] runtime_prelude: Option<ptc_runtime::Prelude> = None;
    /// More compiled preludes for programs, each with namespaces of its own.
    [code] runtime_preludes: Vec<ptc_runtime::Prelude> = Vec::new();
    /// Store for the preludes named in `preludes`.
    [code] prelude_store: Option<ptc_runtime::PreludeStore> = None;
    /// Preludes for programs. In a file: `crm.ptcp`, `crm.ptcp@artifact:HASH` for only that build, `billing.clj`, or
    /// `ptc:paged`, with paths relative to the file; child agents have the same ones unless they name their own. In code:
    /// stored preludes, as `name` or `name@7`; versions are fixed when the agent is built.
    [data] preludes: Vec<String> = Vec::new();
    /// Preludes as sources and files, prepared when the agent is built; each comes after those that it uses.
    [code] prelude_inputs: Vec<ptc_runtime::PreludeInput> = Vec::new();
    /// Whether an agent that names no preludes gets those in the file of its parent agent, as far as its own tools allow.
    [data] inherit_preludes: bool = true;
    /// Who may call the exports of preludes: a model that calls tools itself (`native`), programs (`ptc_lisp`), or `both`.
    /// Default: `native` for text agents, `ptc_lisp` wherever there are programs. Programs may always call them.
    [maybe] expose_preludes: Option<Expose> = None;
    /// Public keys that must have signed the preludes, or files of such keys; default: no signature is needed.
    [by read_trusted] trusted: Option<ptc_runtime::TrustedKeys> = None;
    /// Visibility of prelude exports: `hide` and `discoverable` list exports, `hide_writes` leaves out all that may write,
    /// `deny_dynamic` refuses preludes with dynamic calls.
    [by read_policy] policy: ptc_runtime::Policy = ptc_runtime::Policy::default();
    /// Handling of several programs in one reply.
    [data] multiple_blocks: MultipleBlocks = MultipleBlocks::Do;
    /// How values appear in the prompt of an agent that writes programs.
    [data] template_style: TemplateStyle = TemplateStyle::Value;
    /// Handling of placeholders without a value.
    [data] on_missing_template: OnMissing = OnMissing::Error;
    /// Place in the prompt where tools and data are described.
    [data] context_placement: ContextPlacement = ContextPlacement::System;
    /// Result of a mission that runs out of turns.
    [data] on_exhausted: OnExhausted = OnExhausted::Fail;
    /// Maximum failed turns in a row, after which the mission ends.
    [maybe] max_consecutive_failures: Option<u32> = None;
    /// US dollars after which the mission ends. Needs a model with known prices; otherwise use `token_limit`.
    [maybe] max_cost_usd: Option<f64> = None;
    /// Tokens after which the mission ends, including those of child agents.
    [maybe] token_limit: Option<u64> = None;
    /// Whether traces show firewalled values.
    [data] trace_firewalled: bool = false;
}

impl AgentBuilder {
    /// Adds one tool to `tools`.
    #[must_use]
    pub fn tool(mut self, tool: impl Into<Tool>) -> AgentBuilder {
        self.options.tools.insert(tool.into());
        self
    }

    /// Adds one tool to `tool_catalog`.
    #[must_use]
    pub fn catalog_tool(mut self, tool: Tool) -> AgentBuilder {
        self.options.tool_catalog.insert(tool);
        self
    }

    /// Makes the result of `signature` this Rust type, and leaves its parameters as they are. Doc comments of the type's
    /// fields become `field_descriptions`, unless those say something else.
    ///
    /// ```
    /// use ptc_agent::Agent;
    /// #[derive(schemars::JsonSchema)]
    /// struct Report {
    ///     /// Orders that are late.
    ///     late: u32,
    /// }
    /// let agent = Agent::builder().prompt("Count {{city}}").signature("(city :string) -> :any").returns::<Report>().build()?;
    /// assert_eq!(agent.signature().to_string(), "(city :string) -> {late :int}");
    /// assert_eq!(agent.options().field_descriptions["late"], "Orders that are late.");
    /// # Ok::<(), ptc_agent::BuildError>(())
    /// ```
    #[must_use]
    pub fn returns<T: JsonSchema>(mut self) -> AgentBuilder {
        // A signature that cannot be parsed is reported by `build`, as it was written.
        let Ok(signature) = self.options.signature.read() else { return self };
        match Type::of::<T>() {
            Ok(returns) => self.options.signature = Signature { returns, ..signature }.into(),
            Err(error) => {
                let name = T::schema_name();
                let message = format!(
                    "the Rust type `{name}` cannot be the result of an agent: {error}; write its \
                     `signature` by hand"
                );
                self.problems.push(BuildError::new(Reason::InvalidSignature, message));
            }
        }
        for (name, text) in Signature::descriptions_of::<T>() {
            self.options.field_descriptions.entry(name).or_insert(text);
        }
        self
    }

    /// Returns the current options.
    pub fn options(&self) -> &AgentOptions {
        &self.options
    }
}

impl From<AgentOptions> for AgentBuilder {
    fn from(options: AgentOptions) -> AgentBuilder {
        AgentBuilder { options, problems: Vec::new() }
    }
}

fn reference(value: &Value) -> Result<String, String> {
    match value {
        Value::String(text) => Ok(text.clone()),
        // Any other value is refused together with the rest of the combination.
        other => Ok(other.to_string()),
    }
}

fn read_system_prompt(value: &Value) -> Result<Option<SystemPrompt>, String> {
    SystemPrompt::read(value).map(Some)
}

/// Reads keys in hexadecimal: [`AgentFile`](super::AgentFile) has put them in place of the files that hold them.
fn read_trusted(value: &Value) -> Result<Option<ptc_runtime::TrustedKeys>, String> {
    let keys: Vec<String> = Deserialize::deserialize(value)
        .map_err(|_| "must be a list of public keys, or of files that hold them".to_string())?;
    let keys = ptc_runtime::TrustedKeys::parse(&keys.join("\n"));
    keys.map(Some).map_err(|problem| format!("has an invalid key: {}", problem.message))
}

fn read_policy(value: &Value) -> Result<ptc_runtime::Policy, String> {
    let policy: ptc_runtime::Policy = Deserialize::deserialize(value).map_err(unread)?;
    policy.check().map_err(|problem| format!("cannot be: {}", problem.message))?;
    Ok(policy)
}

/// Reads a table of tools. Only reached through `set`: the loader reads tools itself, for their own error reasons.
fn read_tools(value: &Value) -> Result<ToolSet, String> {
    let table = value.as_object().ok_or("must be a table of tools by name")?;
    table.iter().map(|(name, entry)| Tool::from_json(name, entry).map_err(|error| error.message)).collect()
}
