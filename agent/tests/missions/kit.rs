//! Helpers that the tests of missions share.

use ptc_agent::tools::LlmRef;
use ptc_agent::{Agent, AgentBuilder, RunOptions, Step};
use ptc_model::LlmRetry;
use ptc_model::Scripted;
use serde_json::Value;

/// Returns a builder of an agent with this mission.
pub fn agent(prompt: &str) -> AgentBuilder {
    Agent::builder().prompt(prompt)
}

/// Returns options of a run with this model.
pub fn with(model: &Scripted) -> RunOptions {
    RunOptions::new().llm(LlmRef::client(model.clone()))
}

/// Returns the value of a mission as JSON.
pub fn value(step: &Step) -> Value {
    step.json().unwrap()
}

/// Returns the last message of a request, numbered from 1.
pub fn told(model: &Scripted, request: usize) -> String {
    let requests = model.requests();
    let request = requests.get(request - 1).unwrap_or_else(|| panic!("{} requests", requests.len()));
    request.messages.last().unwrap().content.clone()
}

/// Returns all requests as one text.
pub fn everything(model: &Scripted) -> String {
    serde_json::to_string(&model.requests()).unwrap()
}

/// Returns the failure of a turn.
pub fn failure(step: &Step, turn: usize) -> Value {
    let result = step.turns[turn - 1].result.as_ref().unwrap();
    ptc_runtime::bridge::datum_to_json(result).unwrap()
}

/// Returns retry rules without waiting times.
pub fn at_once() -> LlmRetry {
    LlmRetry { base_delay: 0, ..LlmRetry::default() }
}
