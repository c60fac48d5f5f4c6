//! Options of single runs.

use super::{AgentBuilder, OnBudgetExceeded, StepsDoneFn, TraceMode};
use crate::mission::{Fail, GuardFn, MissionLedger, Usage};
use crate::tools::LlmRef;
use crate::trace::Tracer;
use ptc_bytecode::{Datum, Node};
use ptc_contract::keys::CacheKey;
use ptc_contract::servers::Servers;
use ptc_model::{ChunkSink, Client, ErrorKind, LlmError, Message, Model, ModelRegistry, Registry};
use ptc_runtime::effects::Oversight;
use ptc_runtime::{Cancel, Frozen, Schedule};
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

/// Function that changes options of the agent for one run.
type Change = Arc<dyn Fn(AgentBuilder) -> AgentBuilder + Send + Sync>;

/// Function that decides after this usage whether a mission may continue.
pub type BudgetFn = Arc<dyn Fn(&Usage) -> bool + Send + Sync>;

/// Options of one run.
#[derive(Clone)]
pub struct RunOptions {
    /// Model to use in place of the agent's.
    pub llm: Option<LlmRef>,
    /// Models by name, searched before `models`. Child agents use them, too.
    pub llm_registry: BTreeMap<String, Client>,
    /// Registry of models.
    pub models: Arc<dyn ModelRegistry>,
    /// Data of the mission: a map.
    pub context: Datum,
    /// Types of the context: a whole signature, or the part after its arrow.
    pub context_signature: Option<String>,
    /// Text of the mission in place of the agent's template, without placeholders.
    pub mission: Option<String>,
    /// Conversation before the mission.
    pub history: Vec<Message>,
    /// Descriptions of fields that an earlier agent passed on.
    pub upstream_descriptions: BTreeMap<String, String>,
    /// Failure of the step that should have become the context.
    pub chained_failure: Option<Fail>,
    /// Definitions to begin with, by name.
    pub memory: Vec<(String, Frozen)>,
    /// Tasks finished before, by id.
    pub journal: Option<Map<String, Value>>,
    /// Tool results known from before.
    pub tool_cache: BTreeMap<CacheKey, Frozen>,
    /// System message that replaces the agent's as a whole.
    pub system_prompt: Option<String>,
    /// Flag: the provider should cache the system message.
    pub cache: bool,
    /// Sink for answer text as it arrives.
    pub on_chunk: Option<ChunkSink>,
    /// Flag: the result holds all messages.
    pub collect_messages: bool,
    /// Condition on which the result holds the turns.
    pub trace: TraceMode,
    /// Tokens after which the mission ends.
    pub token_limit: Option<u64>,
    /// Function that decides after each reply whether the mission may continue.
    pub budget: Option<BudgetFn>,
    /// Result of a mission over its budget.
    pub on_budget_exceeded: OnBudgetExceeded,
    /// Function that decides after each turn whether the mission continues.
    pub continuation_guard: Option<GuardFn>,
    /// Function called after each turn in which programs reported steps of a plan as done.
    pub on_steps_done: Option<StepsDoneFn>,
    /// Receiver of the run's events.
    pub tracer: Tracer,
    /// Servers of the run. Programs call them with the tool `call` and look tools up; a model that calls tools itself
    /// is offered the tools of servers by name. The agent's prelude is checked against them. If a program wrote to a
    /// server, or may have, without ending the mission, the mission then ends, unless there is a `continuation_guard`.
    pub servers: Option<Arc<dyn Servers>>,
    /// Signal that ends the run.
    pub cancel: Cancel,
    /// Schedule for running programs, for hosts with many of them.
    pub schedule: Option<Arc<dyn Schedule>>,
    /// Ledger for calls that may change something, so that none is made twice.
    pub effects: Option<MissionLedger>,
    /// Plan and approvals of calls that may change something, besides the ledger.
    pub oversight: Option<Oversight>,
    /// Name of the mission there, if there is no ledger.
    pub oversight_name: Option<String>,
    /// Folder for checkpoints.
    pub checkpoint_dir: Option<PathBuf>,
    /// Checkpoint to resume from.
    pub resume_from: Option<PathBuf>,
    /// Changes to options of the agent, for this run.
    pub changes: Option<Change>,
}

impl Default for RunOptions {
    fn default() -> RunOptions {
        RunOptions {
            llm: None,
            llm_registry: BTreeMap::new(),
            models: Arc::new(Registry::default()),
            context: Datum::scalar(Node::Map(0)),
            context_signature: None,
            mission: None,
            history: Vec::new(),
            upstream_descriptions: BTreeMap::new(),
            chained_failure: None,
            memory: Vec::new(),
            journal: None,
            tool_cache: BTreeMap::new(),
            system_prompt: None,
            cache: false,
            on_chunk: None,
            collect_messages: false,
            trace: TraceMode::Always,
            token_limit: None,
            budget: None,
            on_budget_exceeded: OnBudgetExceeded::Fail,
            continuation_guard: None,
            on_steps_done: None,
            tracer: Tracer::new(),
            servers: None,
            cancel: Cancel::new(),
            schedule: None,
            effects: None,
            oversight: None,
            oversight_name: None,
            checkpoint_dir: None,
            resume_from: None,
            changes: None,
        }
    }
}

impl RunOptions {
    /// Returns default options, with no data.
    pub fn new() -> RunOptions {
        RunOptions::default()
    }

    /// Sets the data of the mission, from anything that serialises to a map.
    ///
    /// ```
    /// use ptc_agent::RunOptions;
    /// let run = RunOptions::new().context(&serde_json::json!({"topic": "tea"}))?.changing(|agent| agent.max_turns(2));
    /// assert!(run.changes.is_some());
    /// # Ok::<(), ptc_runtime::BridgeError>(())
    /// ```
    pub fn context<T: serde::Serialize + ?Sized>(
        mut self,
        data: &T,
    ) -> Result<RunOptions, ptc_runtime::BridgeError> {
        self.context = ptc_runtime::bridge::to_datum(data)?;
        Ok(self)
    }

    /// Sets the model.
    #[must_use]
    pub fn llm(mut self, llm: impl Into<LlmRef>) -> RunOptions {
        self.llm = Some(llm.into());
        self
    }

    /// Adds a model that the agents of this run know by this name.
    #[must_use]
    pub fn llm_named(mut self, name: impl Into<String>, model: impl Model + 'static) -> RunOptions {
        self.llm_registry.insert(name.into(), Client::new(model));
        self
    }

    /// Sets the registry of models.
    #[must_use]
    pub fn models(mut self, models: impl ModelRegistry + 'static) -> RunOptions {
        self.models = Arc::new(models);
        self
    }

    /// Returns the model named by this run, the agent, or the caller's agent, in this order.
    ///
    /// ```
    /// use ptc_agent::{Agent, RunOptions};
    /// use ptc_model::{Model, Scripted};
    /// let agent = Agent::builder().prompt("Count").llm("fast").build()?;
    /// let run = RunOptions::new().llm_named("fast", Scripted::new(["1"]));
    /// assert_eq!(run.resolve_llm(agent.options().llm.as_ref(), None)?.name(), "scripted");
    ///
    /// let none = RunOptions::new().resolve_llm(None, None).unwrap_err();
    /// assert_eq!(none.reason(), "llm_required");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn resolve_llm(&self, agent: Option<&LlmRef>, caller: Option<&Client>) -> Result<Client, LlmError> {
        self.client_for(self.llm.as_ref().or(agent).unwrap_or(&LlmRef::Caller), caller)
    }

    /// Returns the model that a reference means: for tools, and for child agents, which name their own.
    pub fn client_for(&self, llm: &LlmRef, caller: Option<&Client>) -> Result<Client, LlmError> {
        match llm {
            LlmRef::Client(client) => Ok(client.clone()),
            LlmRef::Name(name) => match self.llm_registry.get(name) {
                Some(client) => Ok(client.clone()),
                None => self.models.resolve(name),
            },
            LlmRef::Caller => caller.cloned().ok_or_else(|| {
                let message = "there is no model: set `llm` of the agent or of the run to a name or a client";
                LlmError::new(ErrorKind::LlmRequired, message)
            }),
        }
    }

    /// Sets the types of the context.
    #[must_use]
    pub fn context_signature(mut self, text: impl Into<String>) -> RunOptions {
        self.context_signature = Some(text.into());
        self
    }

    /// Adds a definition to begin with.
    pub fn define<T: serde::Serialize + ?Sized>(
        mut self,
        name: impl Into<String>,
        value: &T,
    ) -> Result<RunOptions, ptc_runtime::BridgeError> {
        self.memory.push((name.into(), ptc_runtime::bridge::freeze(value)?));
        Ok(self)
    }

    /// Sets the servers that programs may call.
    #[must_use]
    pub fn servers(mut self, servers: impl Servers + 'static) -> RunOptions {
        self.servers = Some(Arc::new(servers));
        self
    }

    /// Sets the receiver of the run's events.
    #[must_use]
    pub fn tracer(mut self, tracer: Tracer) -> RunOptions {
        self.tracer = tracer;
        self
    }

    /// Sets the signal that ends the run.
    #[must_use]
    pub fn cancel(mut self, cancel: &Cancel) -> RunOptions {
        self.cancel = cancel.clone();
        self
    }

    /// Sets the schedule for running programs.
    #[must_use]
    pub fn scheduled(mut self, schedule: Arc<dyn Schedule>) -> RunOptions {
        self.schedule = Some(schedule);
        self
    }

    /// Changes options of the agent for this run only.
    #[must_use]
    pub fn changing(
        mut self,
        change: impl Fn(AgentBuilder) -> AgentBuilder + Send + Sync + 'static,
    ) -> RunOptions {
        self.changes = Some(match self.changes.take() {
            None => Arc::new(change),
            Some(earlier) => Arc::new(move |builder| change(earlier(builder))),
        });
        self
    }
}
