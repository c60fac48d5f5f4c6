//! Interface of the server's tools: the parts that each file of [`crate::tools`] fills in, and the calls.

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

/// One tool of the server.
pub(crate) struct Tool {
    pub name: &'static str,
    /// Name for people.
    pub title: &'static str,
    /// Returns whether a server with these settings offers the tool.
    pub is_offered: fn(&Offer<'_>) -> bool,
    /// Description for models. Texts from servers are untrusted and come last.
    pub description: fn(&Offer<'_>) -> String,
    pub hints: fn(&Offer<'_>) -> Hints,
    /// JSON Schema of the arguments.
    pub input: fn() -> Value,
    /// JSON Schema of structured results, if the profile has them.
    pub output: fn(&Offer<'_>) -> Option<Value>,
    /// Reason for refusing arguments that are not an object.
    pub args_reason: Reason,
    /// True if its calls appear in traces, spans and the record of calls.
    pub is_recorded: bool,
    pub run: fn(ToolCall<'_>) -> Work,
}

/// Settings and context that determine which tools are offered, and their descriptions.
pub(crate) struct Offer<'o> {
    pub settings: &'o Settings,
    /// Inventory of the attached preludes, if there are any: the text that agents' prompts have.
    pub preludes: Option<&'o str>,
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
    /// JSON text of the argument `context`, if `args` rounds its numbers.
    pub exact_context: Option<String>,
    pub owner: &'c Owner,
    /// Size of the protocol's frame around the result, in bytes.
    pub frame_bytes: usize,
    pub server: &'c Parts,
}

/// Parts of the server that tools use.
pub(crate) struct Parts {
    pub settings: Settings,
    pub host: Host,
    pub evaluator: Evaluator,
    pub sessions: Option<Sessions>,
    pub debug: Option<Debug>,
}

/// Work that a call requires.
pub(crate) enum Work {
    /// None: the call is done.
    Done(Box<Payload>),
    /// Work on a thread that may block on disk access.
    Blocking(Box<dyn FnOnce() -> Payload + Send>),
    /// A program, which needs a permit and a slot for computing.
    Program(ProgramWork),
}

impl Work {
    pub fn done(payload: Payload) -> Work {
        Work::Done(Box::new(payload))
    }
}

/// One stretch of a program, from its start or resumption until it ends or waits for a person.
pub(crate) type Job = Box<dyn FnOnce(RunScope) -> BoxFuture<'static, ProgramState> + Send>;

/// A program ready to run.
pub(crate) struct ProgramWork {
    pub job: Job,
    /// Remaining time.
    pub left: Duration,
    /// True if a person may be asked to approve its calls; otherwise such calls are denied.
    pub may_ask: bool,
    /// Function that builds a refusal.
    pub refusal: fn(Reason, String) -> Payload,
}
