//! State of a running mission, and outcomes of its turns.

use super::engine::Engine;
use super::place::Place;
use super::step::{BranchRecord, CallRecord, Fail, Turn};
use crate::Agent;
use crate::definition::{AgentOptions, RunOptions, Transport};
use crate::lisp_eval::Success;
use crate::prompt::Prompt;
use ptc_bytecode::Datum;
use ptc_model::{Client, Message, Output, Part, Retry, Tokens};
use ptc_runtime::Frozen;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;
use std::time::Instant;

/// Form of a model's answers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Mode {
    /// Programs in text.
    Program,
    /// Programs in calls of `lisp_eval`.
    ProgramCall,
    /// Text, perhaps after tool calls.
    Text,
    /// Text, perhaps after tool calls, with `lisp_eval` among the tools.
    Combined,
}

impl Mode {
    pub fn of(agent: &Agent) -> Mode {
        Mode::of_options(agent.options())
    }

    /// Returns the mode of an agent with these options.
    pub fn of_options(options: &AgentOptions) -> Mode {
        let by_call = options.ptc_transport == Some(Transport::ToolCall);
        match (options.output == Output::Text, by_call) {
            (false, false) => Mode::Program,
            (false, true) => Mode::ProgramCall,
            (true, false) => Mode::Text,
            (true, true) => Mode::Combined,
        }
    }
}

impl Mode {
    /// Returns whether the model is offered the host's tools by name.
    pub fn offers_tools(self) -> bool {
        matches!(self, Mode::Text | Mode::Combined)
    }
}

/// A running mission.
pub(crate) struct Mission {
    pub mode: Mode,
    pub agent: Agent,
    pub run: RunOptions,
    pub place: Place,
    pub model: Retry<Client>,
    pub model_name: String,
    pub prompt: Prompt,
    /// Engine for programs; agents that answer in text have none.
    pub engine: Option<Engine>,
    pub state: State,
    pub started: Instant,
}

/// State that changes from turn to turn. The part for checkpoints is serialised.
#[derive(Default, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct State {
    /// Number of finished turns.
    pub done: u32,
    pub work_left: u32,
    pub retry_left: u32,
    pub messages: Vec<Message>,
    /// Failure of the last program; programs read it as `data/fail`.
    pub last_fail: Option<Fail>,
    /// Flag: the last turn returned a value that does not fit.
    pub was_bad_return: bool,
    /// Failed turns in a row.
    pub failures: u32,
    pub summaries: Vec<(String, String)>,
    /// Last state of the host's progress function.
    pub progress: Value,
    pub tokens: Tokens,
    pub llm_requests: u64,
    pub warnings: Vec<String>,
    /// Number of ids given to calls of the model.
    pub call_ids: u64,
    /// Number of tool calls that the model made itself.
    pub native_calls: u64,
    #[serde(skip)]
    pub turns: Vec<Turn>,
    /// Newest value that fits.
    #[serde(with = "super::step::as_marked_json", skip_serializing_if = "Option::is_none")]
    pub last_value: Option<Datum>,
    #[serde(skip)]
    pub prints: Vec<String>,
    #[serde(skip)]
    pub calls: Vec<CallRecord>,
    /// Branches of the last program.
    #[serde(skip)]
    pub branches: Vec<BranchRecord>,
    #[serde(skip)]
    pub memory_bytes: u64,
    #[serde(skip)]
    pub compaction: Option<Value>,
    #[serde(skip)]
    pub fallback_used: bool,
}

/// Outcome of a turn, unless the mission fails.
pub(crate) enum TurnOutcome {
    /// The mission has its result.
    Done(Datum),
    /// The model gets feedback, and is asked again.
    Continue(Continuation),
}

/// Outcome of a turn that is followed by another.
pub(crate) struct Continuation {
    /// Feedback to the model, unless a tool message holds it.
    pub feedback: String,
    /// Images and documents of the feedback.
    pub parts: Vec<Part>,
    /// Flag: the turn succeeded.
    pub success: bool,
    /// Content of a reply to `lisp_eval`, besides the feedback.
    pub report: EvalReport,
}

/// Outcome of a program, for replies to `lisp_eval`.
#[derive(Default)]
pub(crate) enum EvalReport {
    /// No program ran.
    #[default]
    Nothing,
    /// A value.
    Value(Box<Success>),
    /// An error.
    Error { reason: &'static str, message: String },
}

impl Continuation {
    /// Returns the outcome of a failed turn, with this feedback.
    pub fn failed(feedback: String) -> Continuation {
        Continuation { feedback, parts: Vec::new(), success: false, report: EvalReport::Nothing }
    }
}

impl From<Continuation> for TurnOutcome {
    fn from(next: Continuation) -> TurnOutcome {
        TurnOutcome::Continue(next)
    }
}

/// Returns the definitions, shared with the session.
pub(crate) fn memory_of(engine: &Engine) -> BTreeMap<String, Frozen> {
    let names = engine.session.defined();
    names.filter_map(|name| Some((name.to_string(), engine.session.definition(name)?.clone()))).collect()
}

/// Returns a failure in the form that programs and turns hold.
pub(crate) fn fail_datum(fail: &Fail) -> Option<Datum> {
    ptc_runtime::bridge::to_datum(fail.public()).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use ptc_bytecode::Node;

    #[test]
    fn the_newest_value_is_firewalled_after_a_checkpoint_too() {
        let pair = Datum::new(vec![Node::Int(1), Node::Str("q7z".into()), Node::Vector(2)]).unwrap();
        let state = State { last_value: Some(pair.clone().with_veiled(vec![1])), ..State::default() };
        let kept: State = serde_json::from_value(serde_json::to_value(&state).unwrap()).unwrap();
        let value = kept.last_value.unwrap();
        assert_eq!((value.nodes(), value.veiled()), (pair.nodes(), &[1][..]));
    }
}
