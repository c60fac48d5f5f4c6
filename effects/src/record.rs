//! What the ledger holds: intents, outcomes, and the verdicts of operators.

use crate::EffectId;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// A call that is about to be sent.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Intent {
    /// Id of the call.
    pub id: EffectId,
    /// Name of the tool; `server.tool` for a tool of a server.
    pub tool: String,
    /// Arguments as people may see them: without secrets and firewalled values.
    pub args: Value,
    /// Keyed hash of all arguments: two calls with one id must have the same.
    pub args_hash: String,
    /// Effect of the tool: `write` or `unknown`.
    pub effect: String,
    /// Line of the program that makes the call, from 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<u32>,
    /// Time, in milliseconds since 1970.
    pub at_ms: u64,
}

impl Intent {
    /// Makes an intent of unknown effect, whose hash is that of the visible arguments.
    pub fn new(id: EffectId, tool: &str, args: Value) -> Intent {
        let args_hash = crate::hash::plain_hash(&args);
        let (tool, effect) = (tool.to_string(), "unknown".to_string());
        Intent { id, tool, args, args_hash, effect, line: None, at_ms: now_ms() }
    }
}

/// Returns the time in milliseconds since 1970.
pub(crate) fn now_ms() -> u64 {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    since.map_or(0, |since| u64::try_from(since.as_millis()).unwrap_or(u64::MAX))
}

/// What came of a call.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(tag = "outcome", rename_all = "snake_case", deny_unknown_fields)]
pub enum Outcome {
    /// The tool answered.
    Done {
        /// Its answer, or what an operator gave as its answer.
        #[serde(default)]
        answer: Value,
        /// True if the answer was too large to keep.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        is_dropped: bool,
    },
    /// The tool answered with an error.
    Failed {
        /// The error, as the host records it.
        error: Value,
    },
    /// The call was not made: somebody refused it, or nothing could be sent.
    Refused {
        /// The error, as the host records it.
        error: Value,
    },
    /// The call waits for a person's decision, and is sent after it.
    Held,
    /// The call was sent, and no answer came. It may have had its effect.
    Unknown {
        /// What was seen instead of an answer.
        why: String,
    },
}

impl Outcome {
    /// Makes the outcome of a call that was answered.
    pub fn done(answer: Value) -> Outcome {
        Outcome::Done { answer, is_dropped: false }
    }

    /// Returns the outcome without what is too large to keep. The program that made the call has seen all of it.
    #[must_use]
    pub fn within(self, bytes: usize) -> Outcome {
        let is_small = |value: &Value| serde_json::to_vec(value).is_ok_and(|json| json.len() <= bytes);
        let too_large = || serde_json::json!({"text": "the call failed, with an error too large to keep"});
        match self {
            Outcome::Done { answer, .. } if !is_small(&answer) => {
                Outcome::Done { answer: Value::Null, is_dropped: true }
            }
            Outcome::Failed { error } if !is_small(&error) => Outcome::Failed { error: too_large() },
            Outcome::Refused { error } if !is_small(&error) => Outcome::Refused { error: too_large() },
            Outcome::Unknown { why } if why.len() > bytes => {
                Outcome::Unknown { why: "no answer came".to_string() }
            }
            other => other,
        }
    }

    /// Returns the state of a call with this outcome.
    pub fn state(&self) -> State {
        match self {
            Outcome::Done { .. } => State::Done,
            Outcome::Failed { .. } => State::Failed,
            Outcome::Refused { .. } => State::Refused,
            Outcome::Held => State::Held,
            Outcome::Unknown { .. } => State::Unknown,
        }
    }
}

/// Answer of the ledger to an intent.
#[derive(Clone, PartialEq, Debug)]
pub enum Begun {
    /// The call is written down: send it, and report the outcome under this number.
    Send {
        /// Number of the attempt, from 1.
        attempt: u32,
    },
    /// The call was made before: this came of it.
    Known(Outcome),
    /// An operator said that the call was made: this is to be its answer.
    Settled(Value),
    /// The call may have been made before. It must not be sent.
    Unknown {
        /// What is known about it.
        why: String,
    },
    /// Another call has this id. The run is not the one that the ledger holds, and must stop.
    Diverged {
        /// Tool of that call.
        tool: String,
    },
}

impl Begun {
    /// Returns a name for logs and counts.
    pub fn name(&self) -> &'static str {
        match self {
            Begun::Send { .. } => "sent",
            Begun::Known(_) => "known",
            Begun::Settled(_) => "settled",
            Begun::Unknown { .. } => "unknown",
            Begun::Diverged { .. } => "diverged",
        }
    }
}

/// State of a call.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum State {
    /// Written down and perhaps sent. Its process may be waiting for the answer, or may be gone.
    Sent,
    /// Answered.
    Done,
    /// Answered with an error.
    Failed,
    /// Not made.
    Refused,
    /// Waits for a person's decision. It is sent after it.
    Held,
    /// Sent, without an answer.
    Unknown,
    /// An operator says that it was not done. It is sent when its run gets to it again.
    NotDone,
}

impl State {
    /// All states, as `ptc effects list --state` names them.
    pub const ALL: [State; 7] = [
        State::Sent,
        State::Done,
        State::Failed,
        State::Refused,
        State::Held,
        State::Unknown,
        State::NotDone,
    ];

    /// Returns the name.
    pub fn name(self) -> &'static str {
        match self {
            State::Sent => "sent",
            State::Done => "done",
            State::Failed => "failed",
            State::Refused => "refused",
            State::Held => "held",
            State::Unknown => "unknown",
            State::NotDone => "not-done",
        }
    }

    /// Returns the state of this name.
    pub fn from_name(name: &str) -> Option<State> {
        State::ALL.into_iter().find(|state| state.name() == name)
    }

    /// True if nobody knows whether the call had its effect.
    pub fn is_open(self) -> bool {
        matches!(self, State::Sent | State::Unknown)
    }
}

/// What an operator says about a call whose outcome is unknown.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(tag = "verdict", rename_all = "snake_case", deny_unknown_fields)]
pub enum Verdict {
    /// The call had its effect.
    Done {
        /// Answer that the program is given.
        #[serde(default)]
        answer: Value,
    },
    /// The call had no effect. It is sent when its run gets to it again.
    NotDone,
}

impl Verdict {
    /// Returns what came of a call with this verdict.
    pub fn outcome(self) -> Option<Outcome> {
        match self {
            Verdict::Done { answer } => Some(Outcome::done(answer)),
            Verdict::NotDone => None,
        }
    }
}

/// One record of a ledger. A ledger is the sequence of its records.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(tag = "record", rename_all = "snake_case", deny_unknown_fields)]
pub enum Record {
    /// A call is about to be sent.
    Begin {
        /// The call.
        intent: Intent,
        /// Number of the attempt.
        attempt: u32,
    },
    /// What came of it.
    End {
        /// Id of the call.
        id: EffectId,
        /// Number of the attempt.
        attempt: u32,
        /// The outcome.
        end: Outcome,
        /// Time, in milliseconds since 1970.
        at_ms: u64,
    },
    /// What an operator said about it.
    Settle {
        /// Id of the call.
        id: EffectId,
        /// The verdict.
        verdict: Verdict,
        /// Time, in milliseconds since 1970.
        at_ms: u64,
    },
}

impl Record {
    /// Returns the id of the call.
    pub fn id(&self) -> &EffectId {
        match self {
            Record::Begin { intent, .. } => &intent.id,
            Record::End { id, .. } | Record::Settle { id, .. } => id,
        }
    }
}
