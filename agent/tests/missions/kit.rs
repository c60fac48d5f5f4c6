//! What the tests of missions share.

use ptc_agent::tools::LlmRef;
use ptc_agent::{Agent, AgentBuilder, RunOptions, Step};
use ptc_model::LlmRetry;
use ptc_model::Scripted;
use serde_json::Value;

/// An agent with this mission.
pub fn agent(prompt: &str) -> AgentBuilder {
    Agent::builder().prompt(prompt)
}

/// A run with this model.
pub fn with(model: &Scripted) -> RunOptions {
    RunOptions::new().llm(LlmRef::client(model.clone()))
}

/// What a mission returned.
pub fn value(step: &Step) -> Value {
    step.json().unwrap()
}

/// The last message of a request, from 1.
pub fn told(model: &Scripted, request: usize) -> String {
    let requests = model.requests();
    let request = requests.get(request - 1).unwrap_or_else(|| panic!("{} requests", requests.len()));
    request.messages.last().unwrap().content.clone()
}

/// Everything that a model was ever told.
pub fn everything(model: &Scripted) -> String {
    serde_json::to_string(&model.requests()).unwrap()
}

/// What a turn failed with.
pub fn failure(step: &Step, turn: usize) -> Value {
    let result = step.turns[turn - 1].result.as_ref().unwrap();
    ptc_runtime::bridge::datum_to_json(result).unwrap()
}

/// Asking again at once.
pub fn at_once() -> LlmRetry {
    LlmRetry { base_delay: 0, ..LlmRetry::default() }
}
