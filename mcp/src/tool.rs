//! What a tool of the server is: the parts that each file of [`crate::tools`] fills in, and what a call gets and gives.

use crate::debug::Debug;
use crate::eval::Evaluator;
use crate::host::Host;
use crate::pending::{ProgramState, RunScope};
use crate::reason::Reason;
use crate::reply::Payload;
use crate::sessions::{Owner, Sessions};
use crate::settings::Settings;
use futures_util::future::BoxFuture;
use serde_json::{Map, Value};
use std::time::Duration;

/// A tool.
pub(crate) struct Tool {
    pub name: &'static str,
    /// Name for people.
    pub title: &'static str,
    /// Whether a server with these settings has it.
    pub is_offered: fn(&Offer<'_>) -> bool,
    /// Text for models. What servers say about themselves is not ours, and stands last.
    pub description: fn(&Offer<'_>) -> String,
    pub hints: fn(&Offer<'_>) -> Hints,
    /// JSON Schema of its arguments.
    pub input: fn() -> Value,
    /// JSON Schema of its structured results, where the profile has them.
    pub output: fn(&Offer<'_>) -> Option<Value>,
    /// Reason told for arguments that are no object.
    pub args_reason: Reason,
    /// Whether traces, spans and the record of calls have its calls.
    pub is_recorded: bool,
    pub run: fn(ToolCall<'_>) -> Work,
}

/// The settings and surroundings that decide which tools there are and what is said about them.
pub(crate) struct Offer<'o> {
    pub settings: &'o Settings,
    /// Text about upstream servers, if there are any.
    pub catalogue: Option<&'o str>,
    /// Capabilities of tasks, if there is a planner.
    pub tasks: Option<&'o str>,
}

/// Effects of a tool, for clients that ask their user first.
pub(crate) struct Hints {
    pub is_read_only: bool,
    pub is_destructive: bool,
    pub is_idempotent: bool,
    pub is_open_world: bool,
}

impl Hints {
    pub const READS: Hints =
        Hints { is_read_only: true, is_destructive: false, is_idempotent: true, is_open_world: false };
    pub const ADDS: Hints =
        Hints { is_read_only: false, is_destructive: false, is_idempotent: false, is_open_world: false };
    pub const REMOVES: Hints =
        Hints { is_read_only: false, is_destructive: true, is_idempotent: true, is_open_world: false };

    /// Effects of programs that call servers; None without servers.
    pub fn of_servers(offer: &Offer<'_>) -> Option<Hints> {
        let is_read_only = offer.settings.aggregator_read_only;
        offer.catalogue.map(|_| Hints {
            is_read_only,
            is_destructive: !is_read_only,
            is_idempotent: false,
            is_open_world: true,
        })
    }
}

/// One call of a tool.
pub(crate) struct ToolCall<'c> {
    pub args: Map<String, Value>,
    pub owner: &'c Owner,
    /// Bytes that the protocol puts around the result.
    pub frame_bytes: usize,
    pub server: &'c Parts,
}

/// The parts of the server that tools work with.
pub(crate) struct Parts {
    pub settings: Settings,
    pub host: Host,
    pub evaluator: Evaluator,
    pub sessions: Option<Sessions>,
    pub debug: Option<Debug>,
}

/// What a call needs to be done.
pub(crate) enum Work {
    /// Nothing any more.
    Done(Box<Payload>),
    /// A thread that may wait for a disk.
    Blocking(Box<dyn FnOnce() -> Payload + Send>),
    /// A permit, and a thread to compute on.
    Program(ProgramWork),
}

impl Work {
    pub fn done(payload: Payload) -> Work {
        Work::Done(Box::new(payload))
    }
}

/// One stretch of a program, from where it begins or goes on to where it ends or waits for a person.
pub(crate) type Job = Box<dyn FnOnce(RunScope) -> BoxFuture<'static, ProgramState> + Send>;

/// A program that is ready to run.
pub(crate) struct ProgramWork {
    pub job: Job,
    /// Time it has.
    pub left: Duration,
    /// Whether a person may be asked to approve its calls; without that they are denied.
    pub may_ask: bool,
    /// Form of a refusal.
    pub refusal: fn(Reason, String) -> Payload,
}
