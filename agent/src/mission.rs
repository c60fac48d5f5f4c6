//! Missions: an agent, its data and a model take turns until there is a result that keeps the contract.
//!
//! A turn asks the model, runs the program in its reply, and reports the outcome to the model. Everything is bounded:
//! turns, time, memory, tokens, money, depth; delegated work counts against the mission. The result is a [`Step`], also
//! for failures.
//!
//! ```
//! use ptc_agent::{run, tools::{LlmRef, Tool}, Agent, RunOptions};
//! use ptc_model::Scripted;
//! let agent = Agent::builder()
//!     .prompt("Which of {{names}} is the cheapest?")
//!     .signature("(names [:string]) -> {name :string, price :float}")
//!     .tool(Tool::new("price", |args, _| Ok(args.json()?["of"].as_str().map_or(0, str::len))).signature("(of :string) -> :int"))
//!     .build()?;
//! let model = Scripted::new([
//!     "```clojure\n(def prices (zipmap data/names (pmap #(tool/price {:of %}) data/names)))\n```",
//!     "```clojure\n(let [[name price] (first (sort-by val prices))] (return {:name name :price price}))\n```",
//! ]);
//! let options = RunOptions::new().context(&serde_json::json!({"names": ["coffee", "tea"]}))?.llm(LlmRef::client(model));
//! let step = run(&agent, &options).unwrap();
//! assert_eq!(step.json()?, serde_json::json!({"name": "tea", "price": 3}));
//! assert_eq!((step.usage.turns, step.turns[0].tool_calls.len()), (2, 2));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod answer;
mod ask;
mod blocking;
mod budget;
mod cache;
mod calls;
mod chain;
mod chat;
mod checkpoint;
mod combined;
mod commit;
mod compiled;
mod data;
mod debug;
mod delegate;
mod drive;
mod effects;
mod engine;
mod eval_call;
mod excerpt;
mod execute;
mod exports;
mod fault;
mod guard;
mod host;
mod journal;
mod library;
mod native;
mod pieces;
mod place;
mod program;
mod record;
mod request;
mod servers;
mod start;
mod state;
mod step;
mod stream;
mod text;
mod toolbox;
mod turns;
mod typed;
mod unfinished;

pub(crate) use ask::request_hash;
pub use chain::{then, then_or_err};
pub use chat::{ChatOptions, ChatTurn, chat, chat_async};
pub use compiled::{CompileOptions, CompiledAgent, CompiledMetadata, compile};
pub use debug::{TraceFormat, format_trace};
pub use effects::MissionLedger;
pub use guard::{Guard, GuardFn, Standing, stop_after_writes};
pub(crate) use step::json_of;
pub use step::{AgentError, BranchRecord, CallRecord, Fail, Step, TreeUsage, Turn, TurnKind, Usage};
pub use stream::{MissionEvent, MissionEventKind, MissionStream, stream};
pub use typed::{TypedStep, run_as, run_as_async};

use crate::{Agent, RunOptions};
use blocking::{apart, block_on};
use futures_util::StreamExt;
use std::future::Future;

/// Anything that can be run: an agent, a mission in words, or a compiled program.
pub trait Runnable: Sync {
    /// Starts the run.
    fn start<'a>(
        &'a self,
        options: &'a RunOptions,
    ) -> std::pin::Pin<Box<dyn Future<Output = Result<Step, Box<Step>>> + Send + 'a>>;
}

impl Runnable for Agent {
    fn start<'a>(
        &'a self,
        options: &'a RunOptions,
    ) -> std::pin::Pin<Box<dyn Future<Output = Result<Step, Box<Step>>> + Send + 'a>> {
        Box::pin(start::run_root(self, options))
    }
}

/// Runs an agent with this prompt; [`RunOptions::changing`] sets its other options.
impl Runnable for str {
    fn start<'a>(
        &'a self,
        options: &'a RunOptions,
    ) -> std::pin::Pin<Box<dyn Future<Output = Result<Step, Box<Step>>> + Send + 'a>> {
        Box::pin(async move {
            match Agent::builder().prompt(self).build() {
                Ok(agent) => start::run_root(&agent, options).await,
                Err(error) => Err(Step::failing(fault::fail_of(&[error]))),
            }
        })
    }
}

/// Runs a mission to its end. A failure is also a step, with `fail` set.
///
/// ```
/// use ptc_agent::{run, tools::LlmRef, RunOptions};
/// use ptc_model::Scripted;
/// let model = Scripted::new(["(return (+ 40 2))"]);
/// let step = run("What is 40 + 2?", &RunOptions::new().llm(LlmRef::client(model))).unwrap();
/// assert_eq!(step.get::<i64>().unwrap(), 42);
///
/// let none = run("What is 40 + 2?", &RunOptions::new()).unwrap_err();
/// assert_eq!(none.reason(), "llm_required");
/// ```
pub fn run<R: Runnable + ?Sized>(agent: &R, options: &RunOptions) -> Result<Step, Box<Step>> {
    block_on(agent.start(options))?
}

/// Runs a mission as a future. Needs a tokio runtime with time; dropping the future ends everything it started.
pub async fn run_async<R: Runnable + ?Sized>(agent: &R, options: &RunOptions) -> Result<Step, Box<Step>> {
    agent.start(options).await
}

/// Runs a mission on separate threads, for hosts whose polling thread must not compute. Only the programs compute
/// where [`RunOptions::scheduled`] says. Dropping the future ends everything it started.
pub async fn run_apart(agent: Agent, options: RunOptions) -> Result<Step, Box<Step>> {
    apart(async move { run_async(&agent, &options).await }).await
}

/// Runs a mission like [`run`], with failures as a Rust error.
///
/// ```
/// use ptc_agent::{RunOptions, mission::run_or_err};
/// let error = run_or_err("Count", &RunOptions::new()).unwrap_err();
/// assert!(error.to_string().starts_with("llm_required"));
/// assert!(error.step.fail.is_some());
/// ```
pub fn run_or_err<R: Runnable + ?Sized>(agent: &R, options: &RunOptions) -> Result<Step, AgentError> {
    run(agent, options).map_err(|step| AgentError { step })
}

/// Runs missions concurrently, at most `max_concurrency` at a time. Results are in the order of the missions.
///
/// ```
/// use ptc_agent::{mission::run_many, tools::LlmRef, Agent, RunOptions};
/// use ptc_model::{LlmRequest, Scripted};
/// let agent = Agent::builder().prompt("Double {{n}}").signature("(n :int) -> :int").build()?;
/// let model = |_: &LlmRequest| Ok("(return (* 2 data/n))");
/// let missions = (0..10).map(|n| {
///     let options = RunOptions::new().context(&serde_json::json!({"n": n})).unwrap();
///     (agent.clone(), options.llm(LlmRef::from(model)))
/// });
/// let steps = run_many(missions, 4);
/// assert_eq!(steps[7].as_ref().unwrap().get::<i64>().unwrap(), 14);
/// # Ok::<(), ptc_agent::BuildError>(())
/// ```
pub fn run_many(
    missions: impl IntoIterator<Item = (Agent, RunOptions)>,
    max_concurrency: usize,
) -> Vec<Result<Step, Box<Step>>> {
    let missions: Vec<(Agent, RunOptions)> = missions.into_iter().collect();
    block_on(run_many_async(missions, max_concurrency)).unwrap_or_else(|step| vec![Err(step)])
}

/// Runs missions concurrently, as a future.
pub async fn run_many_async(
    missions: Vec<(Agent, RunOptions)>,
    max_concurrency: usize,
) -> Vec<Result<Step, Box<Step>>> {
    let run = |(agent, options): (Agent, RunOptions)| async move { run_async(&agent, &options).await };
    futures_util::stream::iter(missions.into_iter().map(run)).buffered(max_concurrency.max(1)).collect().await
}
