//! `lisp_task`: a task in plain language, carried out by a model of the server that writes programs against upstream servers.
//!
//! A call goes through [`TaskArgs`] (the request) and [`Planner::run`] (an agent with few turns and the single
//! tool `call`). Requests to the model, their duration and tokens are recorded on the way (`model`); the
//! outcome is one object, identical in every profile (`outcome`).

mod args;
mod boot;
mod model;
mod outcome;
mod summary;

pub use args::{Constraints, TaskArgs};
pub use boot::Wanted;
pub use summary::capabilities;

use crate::host::Host;
use crate::pending::{RunEffects, RunScope};
use crate::reason::Reason;
use crate::reply::Payload;
use crate::settings::Settings;
use boot::SubagentConfig;
use model::{Log, WatchedModel};
use outcome::{Outcome, Parts};
use ptc_agent::definition::{CompletionMode, PromptParts};
use ptc_agent::mission::run_apart;
use ptc_agent::tools::LlmRef;
use ptc_agent::{Agent, MissionLedger, RunOptions};
use ptc_model::LlmRetry;
use serde_json::{Map, json};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Prompt for programs of a task, in addition to every agent's.
const PROMPT: &str = include_str!("../prompts/planner.md");
const READS: &str = "- Only read. Tools that write are refused.";
const WRITES: &str = "- Write only what the task asks for. A program that writes must also finish: there is no further turn after it.";

/// Maximum number of decimals: replies of servers must not be rounded.
const DECIMALS: u32 = 15;

/// Planner for tasks. Cheap to clone.
#[derive(Clone)]
pub struct Planner(Arc<Inner>);

struct Inner {
    agent: Agent,
    models: RunOptions,
    settings: Settings,
    capabilities: String,
}

impl Planner {
    /// Creates a planner whose programs run in the host's environment. `models` names the model and where to
    /// look it up. The error is for the process that starts the server.
    pub fn new(host: &Host, settings: &Settings, models: RunOptions) -> Result<Planner, String> {
        let Some(upstream) = host.upstream() else {
            return Err("--agentic needs upstream servers".to_string());
        };
        if models.llm.is_none() {
            return Err("--agentic needs a model: name one with --agentic-model".to_string());
        }
        let config = SubagentConfig::of(settings)?;
        let turns = (config.max_turns, config.retry_turns);
        let program_ms = u64::try_from(host.timeout().as_millis()).unwrap_or(u64::MAX);
        let may_write = settings.agentic_allow_writes && !settings.aggregator_read_only;
        let rule = if may_write { WRITES } else { READS };
        let suffix = [Some(format!("{}\n{rule}", PROMPT.trim_end())), config.suffix];
        let prompt = PromptParts {
            prefix: config.prefix,
            suffix: Some(suffix.into_iter().flatten().collect::<Vec<_>>().join("\n\n")),
            ..PromptParts::default()
        };
        let agent = Agent::builder()
            .name("lisp_task")
            .prompt("lisp_task")
            .completion_mode(CompletionMode::Explicit)
            .max_turns(turns.0)
            .retry_turns(turns.1)
            .turn_budget(turns.0.saturating_add(turns.1))
            .timeout(program_ms)
            .pmap_timeout(program_ms)
            .mission_timeout(Some(settings.agentic_task_timeout_ms))
            .max_heap(Some(settings.program_memory(true)))
            .float_precision(DECIMALS)
            // The observer of the model retries by itself, within the time limit of one request.
            .llm_retry(LlmRetry { max_attempts: 1, ..LlmRetry::default() })
            .llm_opts(Map::from_iter([("max_tokens".to_string(), json!(settings.agentic_max_output_tokens))]))
            .system_prompt(prompt)
            .runtime_preludes(host.preludes().to_vec())
            .policy(host.runtime().current_policy().clone())
            .build()
            .map_err(|error| format!("--agentic: {error}"))?;
        let capabilities = summary::told(settings, upstream)?;
        Ok(Planner(Arc::new(Inner { agent, models, settings: settings.clone(), capabilities })))
    }

    /// Returns the description of what tasks can do, for clients.
    pub fn capabilities(&self) -> &str {
        &self.0.capabilities
    }

    /// Returns the time limit of one task.
    pub fn timeout(&self) -> Duration {
        Duration::from_millis(self.0.settings.agentic_task_timeout_ms)
    }

    /// Returns why the model is not available now, such as a missing key; None if it is.
    pub fn doubt(&self) -> Option<String> {
        self.0.models.resolve_llm(None, None).err().map(|error| format!("--agentic-model: {}", error.message))
    }

    /// Carries out a task to its end, unless it is cancelled first.
    pub async fn run(&self, host: &Host, args: &TaskArgs, scope: &RunScope) -> Payload {
        let (Some(upstream), Some(servers)) = (host.upstream(), host.attach(None)) else {
            return refused(Reason::AgenticConfigError, "there are no upstream servers to do a task with");
        };
        // Gives its slot to another program: most of a task is waiting for the model.
        scope.compute(|| ()).await;
        let settings = &self.0.settings;
        let began = Instant::now();
        let deadline = began + self.timeout();
        // Calls end with the mission, which has its own deadline.
        let servers = if settings.agentic_allow_writes { servers } else { servers.read_only() };
        scope.note_calls(servers.context());
        let log = Arc::new(Log::new(settings.agentic_trace_prompts));
        let client = match self.0.models.resolve_llm(None, None) {
            Ok(client) => client,
            Err(error) => {
                return self.told(host, args, Parts::unasked(servers.context(), &log, began, &error));
            }
        };
        let within = Duration::from_millis(settings.agentic_planner_timeout_ms);
        let model = WatchedModel::new(client, within, upstream.redactor().clone(), log.clone());
        let options = RunOptions {
            mission: Some(args.mission()),
            schedule: scope.schedule.clone(),
            effects: scope.effects.clone().map(|RunEffects { ledger, run }| MissionLedger { ledger, run }),
            ..self.0.models.clone().llm(LlmRef::client(model)).cancel(&scope.cancel).servers(servers.clone())
        };
        let options = match options.context(&args.context) {
            Ok(options) => options,
            Err(error) => return refused(Reason::ArgsError, format!("argument `context`: {error}")),
        };
        let ended = run_apart(self.0.agent.clone(), options).await.into();
        self.told(host, args, Parts { ended, context: servers.context(), log: &log, began, deadline })
    }

    fn told(&self, host: &Host, args: &TaskArgs, parts: Parts<'_>) -> Payload {
        let redactor = host.upstream().map(|upstream| upstream.redactor().clone());
        Outcome::of(&self.0.settings, args, parts).payload(redactor.as_deref())
    }
}

/// Builds the reply to a refused call, in the form of a task's reply.
pub fn refused(reason: Reason, message: impl Into<String>) -> Payload {
    let mut payload = Payload::refused(reason, message);
    if let Some(answer) = &mut payload.answer {
        answer.insert("feedback".to_string(), json!(payload.message));
        answer.insert("warnings".to_string(), json!([]));
        answer.insert("planner".to_string(), json!({}));
        answer.insert("execution".to_string(), json!({}));
        answer.insert("upstream_calls".to_string(), json!([]));
    }
    payload
}
