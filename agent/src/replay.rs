//! Replays of missions from their traces: models and tools answer from the trace, and nothing else is called.
//!
//! Requests, programs, calls and results are compared with the trace, so that a changed prompt, tool description or
//! engine shows up at its first difference.
//!
//! ```
//! use ptc_agent::{replay::RecordedMission, run, tools::{LlmRef, Tool}, trace, Agent, RunOptions};
//! use ptc_model::Scripted;
//! let agent = Agent::builder().prompt("How late is it?").tool(Tool::new("clock", |_, _| Ok("12:00"))).build()?;
//! let model = LlmRef::client(Scripted::new(["(def t (tool/clock))", "(return t)"]));
//! let (tracer, memory) = trace::start_memory_sink();
//! run(&agent, &RunOptions::new().llm(model).tracer(tracer)).unwrap();
//!
//! let recorded = RecordedMission::of(&trace::Analyzer::of(memory.events()))?;
//! let replayed = recorded.run(&agent, &RunOptions::new());
//! assert!(replayed.difference.is_none());
//!
//! let other = agent.with(|options| options.prompt("How early is it?"))?;
//! let difference = recorded.run(&other, &RunOptions::new()).difference.unwrap();
//! assert_eq!((difference.what, difference.turn), ("the request", Some(1)));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod compare;
mod model;
mod read;
mod servers;
mod tools;

pub use read::NotWhole;

use crate::definition::RunOptions;
use crate::tools::LlmRef;
use crate::trace::{Event, MemorySink, Timestamp, TraceId};
use crate::{Agent, Step};
use model::RecordedRequest;
use ptc_contract::firewall::without_media;
use ptc_model::LlmRetry;
use ptc_model::{Client, OneModel};
use ptc_runtime::bridge::{datum_to_json, json_to_datum};
use serde_json::{Map, Value, json};
use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError};
use tools::RecordedCall;

/// Maximum bytes kept of a replayed mission for the comparison.
const MAX_BYTES: usize = 256 << 20;

/// A mission recorded in a trace.
pub struct RecordedMission(Arc<Tape>);

struct Tape {
    /// Events of the root mission.
    root: Vec<Event>,
    asked: Vec<RecordedRequest>,
    answered: Vec<RecordedCall>,
    /// Definition and data that the host recorded for replays.
    mission: Option<Value>,
}

/// State that changes while a mission is replayed.
#[derive(Default)]
struct ReplayState {
    asked: Vec<bool>,
    answered: Vec<bool>,
    /// Tools with cached answers, of all agents of the mission.
    cached: BTreeSet<String>,
    /// Differences, in the order in which they were found.
    differences: Vec<Difference>,
}

type Shared = Arc<Mutex<ReplayState>>;

fn lock(playing: &Shared) -> std::sync::MutexGuard<'_, ReplayState> {
    playing.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A difference between a replay and its trace.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Difference {
    /// Name of the agent.
    pub agent: Option<String>,
    /// Turn of the agent.
    pub turn: Option<u32>,
    /// Kind: `the preludes`, `the request`, `a tool call`, `the program`, `the result of the turn`, `the result`.
    pub what: &'static str,
    /// Content in the trace.
    pub recorded: String,
    /// Content in the replay.
    pub now: String,
}

/// Outcome of a replay.
pub struct ReplayReport {
    /// Result of the replayed mission.
    pub result: Result<Step, Box<Step>>,
    /// First difference; None if everything is the same.
    pub difference: Option<Difference>,
    /// Requests that were answered from the trace.
    pub requests: usize,
    /// Tool calls that were answered from the trace.
    pub tool_calls: usize,
}

impl ReplayReport {
    /// Returns the step, with a result or without.
    pub fn step(&self) -> &Step {
        match &self.result {
            Ok(step) => step,
            Err(step) => step,
        }
    }
}

/// Returns the metadata `replay` that lets a trace be replayed without other files, for hosts that define agents in
/// files: the definition without the results of its tools, and the data. Images and documents are left out; such a
/// trace cannot be replayed alone.
pub fn mission(table: &Value, context: &Map<String, Value>) -> Value {
    let mut mission = json!({"agent": tools::without_answers(table), "context": context});
    if let Ok(datum) = json_to_datum(&mission["context"])
        && let slim = without_media(&datum)
        && slim != datum
    {
        mission["context"] = datum_to_json(&slim).unwrap_or_default();
        mission["left_out"] = "images or documents".into();
    }
    mission
}

impl RecordedMission {
    /// Returns definition and data, if the host recorded them: see [`mission`].
    pub fn mission(&self) -> Option<&Value> {
        self.0.mission.as_ref()
    }

    /// Returns the time when the mission began, and its trace.
    pub fn began(&self) -> Option<(Timestamp, TraceId)> {
        self.0.root.first().map(|event| (event.at, event.trace_id))
    }

    /// Replays the mission. Models, tool code and servers answer from the trace; the rest of the agent and its data are
    /// given. A mission that had servers needs them again for their catalogue: no tool of theirs is called.
    pub fn run(&self, agent: &Agent, options: &RunOptions) -> ReplayReport {
        let playing: Shared = Arc::new(Mutex::new(ReplayState {
            asked: vec![false; self.0.asked.len()],
            answered: vec![false; self.0.answered.len()],
            cached: BTreeSet::new(),
            differences: Vec::new(),
        }));
        let cancel = options.cancel.clone();
        let client = Client::new(model::ReplayModel::new(self.0.clone(), playing.clone(), cancel));
        let memory = MemorySink::with_bytes(MAX_BYTES);
        let run = RunOptions {
            llm: Some(LlmRef::from(client.clone())),
            models: Arc::new(OneModel(client)),
            llm_registry: Default::default(),
            tracer: options.tracer.clone().with(memory.clone()),
            servers: options.servers.as_ref().map(|servers| self.serving(servers, &playing)),
            changes: None,
            ..options.clone()
        };
        let result = match self.playing(agent, &playing) {
            Ok(agent) => crate::run(&agent, &run),
            Err(error) => Err(Box::new(Step::failed(crate::Fail::new(error.reason.name(), error.message)))),
        };
        let difference = self.compare(&result, &memory.events(), &playing);
        let playing = lock(&playing);
        let used = |all: &[bool]| all.iter().filter(|used| **used).count();
        ReplayReport {
            difference,
            requests: used(&playing.asked),
            tool_calls: used(&playing.answered),
            result,
        }
    }

    /// Returns the agent with tools that return the trace's results, and without a clock that could end it earlier.
    fn playing(&self, agent: &Agent, playing: &Shared) -> Result<Agent, crate::BuildError> {
        let tools = agent.tools().iter().map(|tool| self.answering(tool, playing));
        let tools: Vec<crate::tools::Tool> = tools.collect::<Result<_, _>>()?;
        agent.with(|mut builder| {
            for tool in tools {
                builder = builder.tool(tool);
            }
            // The trace records the outcome of all attempts together.
            builder.llm_retry(LlmRetry { max_attempts: 1, ..LlmRetry::default() }).mission_timeout(None)
        })
    }
}
