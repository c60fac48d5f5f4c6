//! A mission on its way: what it is made of, and what a turn may come to.

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

/// How a model answers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Mode {
    /// With programs in its words.
    Program,
    /// With programs in calls of `lisp_eval`.
    ProgramCall,
    /// With words, perhaps after calls of tools.
    Text,
    /// The same, with `lisp_eval` among the tools.
    Combined,
}

impl Mode {
    pub fn of(agent: &Agent) -> Mode {
        Mode::of_options(agent.options())
    }

    /// The mode of an agent with these options.
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
    /// Whether the model is offered the host's tools by name.
    pub fn offers_tools(self) -> bool {
        matches!(self, Mode::Text | Mode::Combined)
    }
}

/// A mission on its way.
pub(crate) struct Mission {
    pub mode: Mode,
    pub agent: Agent,
    pub run: RunOptions,
    pub place: Place,
    pub model: Retry<Client>,
    pub model_name: String,
    pub prompt: Prompt,
    /// What runs programs; agents that answer in text have none.
    pub engine: Option<Engine>,
    pub state: State,
    pub started: Instant,
}

/// What changes from turn to turn. What a checkpoint holds of it is serialised.
#[derive(Default, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct State {
    /// Turns that are over.
    pub done: u32,
    pub work_left: u32,
    pub retry_left: u32,
    pub messages: Vec<Message>,
    /// What kept the last program from its end; programs read it as `data/fail`.
    pub last_fail: Option<Fail>,
    /// Whether the last turn returned something that does not fit.
    pub was_bad_return: bool,
    /// Turns that failed, in a row.
    pub failures: u32,
    pub summaries: Vec<(String, String)>,
    /// What the host's function on progress gave the last time.
    pub progress: Value,
    pub tokens: Tokens,
    pub llm_requests: u64,
    pub warnings: Vec<String>,
    /// Ids that were given to calls of the model.
    pub call_ids: u64,
    /// Calls of tools that the model made itself.
    pub native_calls: u64,
    #[serde(skip)]
    pub turns: Vec<Turn>,
    /// The newest value that fits.
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

/// What a turn comes to, unless the mission fails.
pub(crate) enum TurnOutcome {
    /// The mission has its result.
    Done(Datum),
    /// The model is told something, and asked again.
    Continue(Continuation),
}

/// A turn that is followed by another.
pub(crate) struct Continuation {
    /// What the model is told, unless a tool message tells it.
    pub feedback: String,
    /// Images and documents that go with it.
    pub parts: Vec<Part>,
    /// Whether the turn did what it should.
    pub success: bool,
    /// What a reply to `lisp_eval` holds besides the words.
    pub report: EvalReport,
}

/// What a program came to, for replies to `lisp_eval`.
#[derive(Default)]
pub(crate) enum EvalReport {
    /// There was no program.
    #[default]
    Nothing,
    /// A value.
    Value(Box<Success>),
    /// An error.
    Error { reason: &'static str, message: String },
}

impl Continuation {
    /// A turn that did not do what it should, and the words about it.
    pub fn failed(feedback: String) -> Continuation {
        Continuation { feedback, parts: Vec::new(), success: false, report: EvalReport::Nothing }
    }
}

impl From<Continuation> for TurnOutcome {
    fn from(next: Continuation) -> TurnOutcome {
        TurnOutcome::Continue(next)
    }
}

/// Definitions, shared with the session.
pub(crate) fn memory_of(engine: &Engine) -> BTreeMap<String, Frozen> {
    let names = engine.session.defined();
    names.filter_map(|name| Some((name.to_string(), engine.session.definition(name)?.clone()))).collect()
}

/// A failure as programs and turns have it.
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
