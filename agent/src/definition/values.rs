//! Types of options, and their forms in files.

use crate::prompt::{LanguageFn, PromptCtx};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::fmt;
use std::sync::Arc;

/// Generates enums of a few words; the first is the default.
macro_rules! choices {
    ($($(#[doc = $doc:literal])* $name:ident {
        $(#[doc = $first_doc:literal])* $first:ident, $($(#[doc = $vdoc:literal])* $variant:ident,)*
    })*) => {
        $(
            $(#[doc = $doc])*
            #[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
            #[serde(rename_all = "snake_case")]
            pub enum $name {
                $(#[doc = $first_doc])*
                #[default]
                $first,
                $($(#[doc = $vdoc])* $variant,)*
            }
        )*
    };
}

choices! {
    /// Transport of programs from the model.
    Transport {
        /// Fenced block in the reply.
        Content,
        /// Argument of a tool call.
        ToolCall,
    }
    /// Reaction to definitions that grow past `memory_limit`.
    MemoryStrategy {
        /// Ends the mission.
        Strict,
        /// Undoes the turn.
        Rollback,
    }
    /// Condition on which an agent of one turn completes.
    CompletionMode {
        /// The value of the program is the result.
        Implicit,
        /// The program must say `return`.
        Explicit,
    }
    /// Place where tools and data are described.
    ContextPlacement {
        /// The system message.
        System,
        /// The first user message, in front of the mission.
        User,
    }
    /// Result of a mission without turns left.
    OnExhausted {
        /// A failure.
        Fail,
        /// The newest value that fits.
        LastValue,
    }
    /// Result of a mission whose token budget is spent.
    OnBudgetExceeded {
        /// A failure.
        Fail,
        /// The newest value that fits.
        ReturnPartial,
    }
    /// Tools that come with agents.
    BuiltinTool {
        /// Lines that match a pattern, with or without line numbers and context.
        Grep,
        /// Keeps a plan.
        CreatePlan,
    }
}

/// Condition on which the result of a run holds its turns.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum TraceMode {
    /// The turns are kept.
    #[default]
    Always,
    /// The turns are dropped.
    Never,
    /// The turns are kept if the run fails.
    OnError,
}

/// The option `compaction`: rules for leaving old messages out of requests.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Compaction {
    /// Turns after which messages are trimmed.
    pub after_turns: Option<u32>,
    /// Estimated tokens after which messages are trimmed.
    pub after_tokens: Option<u64>,
    /// Number of latest turns that are kept.
    pub keep_recent_turns: u32,
    /// Flag: the first message is kept.
    pub keep_initial_user: bool,
}

impl Default for Compaction {
    fn default() -> Compaction {
        Compaction { after_turns: Some(8), after_tokens: None, keep_recent_turns: 3, keep_initial_user: true }
    }
}

impl Compaction {
    /// Reads `true`, `false`, or a table `{strategy, trigger: {turns, tokens}, keep_recent_turns, keep_initial_user}`.
    pub(super) fn read(value: &Value) -> Result<Option<Compaction>, String> {
        #[derive(Deserialize)]
        #[serde(deny_unknown_fields)]
        struct Trigger {
            turns: Option<u32>,
            tokens: Option<u64>,
        }
        #[derive(Deserialize)]
        #[serde(deny_unknown_fields)]
        struct Table {
            strategy: Option<String>,
            trigger: Option<Trigger>,
            keep_recent_turns: Option<u32>,
            keep_initial_user: Option<bool>,
        }
        match value {
            Value::Bool(on) => return Ok(on.then(Compaction::default)),
            Value::Object(table) if table.is_empty() => {
                return Err("is an empty table; write `true` for the defaults".to_string());
            }
            _ => {}
        }
        let table: Table = serde_json::from_value(value.clone()).map_err(unread)?;
        if let Some(other) = table.strategy.filter(|name| name != "trim") {
            return Err(format!("has the strategy `{other}`; only `trim` is supported"));
        }
        let default = Compaction::default();
        let (after_turns, after_tokens) = table
            .trigger
            .map_or((default.after_turns, default.after_tokens), |trigger| (trigger.turns, trigger.tokens));
        if after_turns.is_none() && after_tokens.is_none() {
            return Err("has a trigger that never fires; give it `turns` or `tokens`".to_string());
        }
        Ok(Some(Compaction {
            after_turns,
            after_tokens,
            keep_recent_turns: table.keep_recent_turns.unwrap_or(default.keep_recent_turns),
            keep_initial_user: table.keep_initial_user.unwrap_or(default.keep_initial_user),
        }))
    }
}

/// The option `tool_cache_limit`. Least recently used results are dropped first.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ToolCacheLimit {
    /// Maximum number of cached results.
    pub entries: Option<u64>,
    /// Maximum bytes of all cached results together.
    pub bytes: Option<u64>,
}

/// Step of a plan.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PlanItem {
    /// Id by which programs report the step.
    pub id: String,
    /// Task of the step.
    pub text: String,
    /// State before the mission.
    #[serde(default, skip_serializing_if = "StepState::is_pending")]
    pub state: StepState,
    /// Outcome before the mission: a summary, or the reason of a failure.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub result: Option<String>,
}

impl PlanItem {
    /// Returns a pending step.
    pub fn new(id: impl Into<String>, text: impl Into<String>) -> PlanItem {
        PlanItem { id: id.into(), text: text.into(), ..PlanItem::default() }
    }

    /// Returns steps with the ids 1, 2, 3, ….
    pub fn list<T: Into<String>>(texts: impl IntoIterator<Item = T>) -> Vec<PlanItem> {
        let numbered = texts.into_iter().enumerate();
        numbered.map(|(i, text)| PlanItem::new((i + 1).to_string(), text)).collect()
    }
}

/// State of a step of a plan.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StepState {
    /// Not begun.
    #[default]
    Pending,
    /// Done.
    Done,
    /// Tried and failed.
    Failed,
}

impl StepState {
    fn is_pending(&self) -> bool {
        *self == StepState::Pending
    }
}

/// Reads steps: texts, which get the ids 1, 2, …, `[id, text]` pairs, and tables with the fields of [`PlanItem`].
pub(super) fn read_plan(value: &Value) -> Result<Vec<PlanItem>, String> {
    let items = value.as_array().ok_or("must be a list of texts, of pairs of id and text, or of tables")?;
    let read = |(i, item): (usize, &Value)| match item {
        Value::String(text) => Ok(PlanItem::new((i + 1).to_string(), text)),
        Value::Array(pair) => match &pair[..] {
            [Value::String(id), Value::String(text)] => Ok(PlanItem::new(id, text)),
            _ => Err(format!("has an invalid step {}: it is not a pair of id and text", i + 1)),
        },
        Value::Object(_) => {
            PlanItem::deserialize(item).map_err(|error| format!("has an invalid step {}: {error}", i + 1))
        }
        _ => Err(format!("has an invalid step {}: it is neither a text nor a pair", i + 1)),
    };
    items.iter().enumerate().map(read).collect()
}

/// The explanation of the language in the system message.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LanguageSpec {
    /// The whole reference card.
    #[default]
    Full,
    /// The short card, as agents get it that answer in text.
    Compact,
    /// Nothing: the model knows the language, or the host explains it.
    None,
    /// Result of this function, called before every turn.
    #[serde(skip)]
    Function(LanguageFn),
    /// This text.
    #[serde(untagged)]
    Text(String),
    /// The whole card with some parts replaced.
    #[serde(untagged)]
    Parts(LanguageParts),
}

impl LanguageSpec {
    /// Explains the language with this function, called before every turn.
    ///
    /// ```
    /// use ptc_agent::definition::{LanguageSpec, PromptParts, SystemPrompt};
    /// let language_spec = LanguageSpec::function(|ctx| format!("Write PTC-Lisp. This is turn {}.", ctx.turn));
    /// let prompt = SystemPrompt::Parts(PromptParts { language_spec, ..PromptParts::default() });
    /// let agent = ptc_agent::Agent::builder().prompt("Count").system_prompt(prompt).build()?;
    /// # Ok::<(), ptc_agent::BuildError>(())
    /// ```
    pub fn function(explain: impl Fn(&PromptCtx<'_>) -> String + Send + Sync + 'static) -> LanguageSpec {
        LanguageSpec::Function(LanguageFn::new(explain))
    }
}

/// Replacements for parts of the language's explanation.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct LanguageParts {
    /// Explanation of how to finish.
    pub behavior: Option<String>,
    /// Explanation of the language.
    pub reference: Option<String>,
    /// Explanation of tasks and their journal, for agents that keep one.
    pub journal: Option<String>,
}

/// Parts of the system message that a host supplies.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct PromptParts {
    /// Text before everything.
    pub prefix: Option<String>,
    /// Text after everything.
    pub suffix: Option<String>,
    /// Replacement for the language reference.
    pub language_spec: LanguageSpec,
    /// Replacement for the output requirements.
    pub output_format: Option<String>,
}

/// Function that changes the finished system message.
pub type PromptTransform = Arc<dyn Fn(String) -> String + Send + Sync>;

/// The option `system_prompt`.
#[derive(Clone)]
pub enum SystemPrompt {
    /// Replaces the whole message.
    Replace(String),
    /// Adds around it and replaces parts.
    Parts(PromptParts),
    /// Passes it through this function.
    Transform(PromptTransform),
}

impl SystemPrompt {
    pub(super) fn read(value: &Value) -> Result<SystemPrompt, String> {
        match value {
            Value::String(text) => Ok(SystemPrompt::Replace(text.clone())),
            other => serde_json::from_value(other.clone()).map(SystemPrompt::Parts).map_err(unread),
        }
    }
}

impl From<&str> for SystemPrompt {
    fn from(text: &str) -> SystemPrompt {
        SystemPrompt::Replace(text.to_string())
    }
}

impl From<PromptParts> for SystemPrompt {
    fn from(parts: PromptParts) -> SystemPrompt {
        SystemPrompt::Parts(parts)
    }
}

impl fmt::Debug for SystemPrompt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SystemPrompt::Replace(text) => f.debug_tuple("Replace").field(text).finish(),
            SystemPrompt::Parts(parts) => f.debug_tuple("Parts").field(parts).finish(),
            SystemPrompt::Transform(_) => f.write_str("Transform(…)"),
        }
    }
}

/// Input of a progress function.
#[derive(Clone, Debug)]
pub struct ProgressInput {
    /// Plan of the mission.
    pub plan: Vec<PlanItem>,
    /// Steps reported as done: id and text.
    pub summaries: Vec<(String, String)>,
    /// Names of the tools called in the turn.
    pub tool_calls: Vec<String>,
    /// Number of the turn.
    pub turn: u32,
    /// Kind of the turn: `normal`, `must_return`, `retry`.
    pub phase: &'static str,
}

/// Function that takes the steps reported with `step-done` in a turn: id and text, without firewalled parts. An error
/// becomes a warning of the mission.
pub type StepsDoneFn = Arc<dyn Fn(&[(String, String)]) -> Result<(), String> + Send + Sync>;

/// Function that makes the text on progress, from the turn and its own previous state.
pub type ProgressFn = Arc<dyn Fn(&ProgressInput, &Value) -> (String, Value) + Send + Sync>;

/// Reads a number, or nothing for `"none"` and null.
pub(super) fn or_none<T: for<'de> Deserialize<'de>>(value: &Value) -> Result<Option<T>, String> {
    match value {
        Value::Null => Ok(None),
        Value::String(word) if word == "none" => Ok(None),
        other => T::deserialize(other).map(Some).map_err(unread),
    }
}

/// Describes a value of the wrong type, without the names of Rust's types.
pub(super) fn unread(error: serde_json::Error) -> String {
    let words = [
        ("expected u32", "expected a whole number"),
        ("expected u64", "expected a whole number"),
        ("expected f64", "expected a number"),
        ("expected usize", "expected a whole number"),
    ];
    let why = words.iter().fold(error.to_string(), |text, (rust, plain)| text.replace(rust, plain));
    format!("cannot be read: {why}")
}
