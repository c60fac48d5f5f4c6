//! Events of missions.

use super::{SpanId, Timestamp, TraceId};
use ptc_model::Tokens;
use serde_json::{Map, Value};
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

macro_rules! kinds {
    ($($(#[doc = $doc:literal])* $kind:ident = $name:literal $(or $alias:literal)?;)*) => {
        /// The kind of an event.
        #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
        pub enum Kind {
            $($(#[doc = $doc])* $kind,)*
        }

        impl Kind {
            /// All kinds.
            pub const ALL: &[Kind] = &[$(Kind::$kind,)*];

            /// Returns the name used in traces.
            pub fn name(self) -> &'static str {
                match self {
                    $(Kind::$kind => $name,)*
                }
            }

            /// Returns the alternative name that subscribers may use.
            pub fn alias(self) -> Option<&'static str> {
                match self {
                    $($(Kind::$kind => Some($alias),)?)*
                    _ => None,
                }
            }
        }
    };
}

kinds! {
    /// A mission begins. Data: `context`, `prompt`.
    RunStart = "run.start" or "mission_start";
    /// A mission ends. Data: `status`, `return` or `fail`, `usage`.
    RunStop = "run.stop" or "mission_stop";
    /// A mission ends with an internal error or an error of the host. Data: `kind`, `reason`.
    RunException = "run.exception";
    /// A turn begins. Data: `type`, `tools_count`, perhaps `attempt` and `remaining`.
    TurnStart = "turn.start" or "turn_start";
    /// A turn ends. Data: `type`, `success`, `program` or `raw_response`, `result_preview`, `prints`.
    TurnStop = "turn.stop" or "turn_stop";
    /// A model is asked. Data: new `messages`, on the first turn `system_prompt`; `request_hash`.
    LlmStart = "llm.start";
    /// A model replies. Data: `response`, or `error`.
    LlmStop = "llm.stop";
    /// A tool begins. Data: `args`.
    ToolStart = "tool.start";
    /// A tool ends. Data: `result`, perhaps `child_trace_id`.
    ToolStop = "tool.stop";
    /// A tool fails. Data: `error`.
    ToolException = "tool.exception";
    /// A tool call from a model or a program, including those answered from the cache.
    ToolCall = "tool.call";
    /// `pmap` begins. Data: `count`.
    PmapStart = "pmap.start";
    /// `pmap` ends. Data: `count`, `success_count`, `error_count`, `child_trace_ids`.
    PmapStop = "pmap.stop";
    /// `pcalls` begins.
    PcallsStart = "pcalls.start";
    /// `pcalls` ends.
    PcallsStop = "pcalls.stop";
    /// Old messages are left out of the next request.
    CompactionTriggered = "compaction.triggered";
    /// A compiled agent begins.
    CompiledStart = "compiled.execute.start";
    /// A compiled agent ends.
    CompiledStop = "compiled.execute.stop";
    /// A compiled agent fails.
    CompiledException = "compiled.execute.exception";
    /// A value did not fit and was let through. Data: `path`, `message`, `tool`.
    ValidationWarning = "validation.warning";
    /// The record of one turn, of an agent or of a session.
    Turn = "turn";
    /// The description of the agent, once per trace and before its other events.
    AgentConfig = "agent.config";
    /// The first event of a trace.
    TraceStart = "trace.start";
    /// The last event of a trace.
    TraceStop = "trace.stop";
    /// Placeholder for events that were too large, or too many at once.
    EventOmitted = "trace.event_omitted";
    /// Text of a reply as it arrives. Data: `text`, or `restart` if the reply begins again. Live.
    LlmPiece = "llm.piece";
    /// A program is about to run. Data: `program`. Live.
    Program = "program";
    /// A program has ended after printing something. Data: `prints`. Live.
    Prints = "prints";
    /// The model gets feedback on its turn. Data: `text`. Live.
    Feedback = "feedback";
}

impl Kind {
    /// Returns the kind of this name or alternative name.
    ///
    /// ```
    /// use ptc_agent::trace::Kind;
    /// assert_eq!(Kind::from_name("run.start"), Some(Kind::RunStart));
    /// assert_eq!(Kind::from_name("mission_start"), Some(Kind::RunStart));
    /// assert_eq!(Kind::from_name("run.begin"), None);
    /// ```
    pub fn from_name(name: &str) -> Option<Kind> {
        Kind::ALL.iter().copied().find(|kind| kind.name() == name || kind.alias() == Some(name))
    }

    /// Returns whether the event ends a mission, with or without success.
    pub fn ends_run(self) -> bool {
        matches!(self, Kind::RunStop | Kind::RunException)
    }

    /// Returns whether the event only matters while it happens, since later events repeat its content. Live events go
    /// to [live subscribers](Subscriber::is_live), and are in no file.
    pub fn is_live(self) -> bool {
        matches!(self, Kind::LlmPiece | Kind::Program | Kind::Prints | Kind::Feedback)
    }

    /// Returns whether a span begins with the event.
    pub fn begins(self) -> bool {
        self.name().ends_with(".start")
    }

    /// Returns whether a span ends with the event.
    pub fn ends(self) -> bool {
        self.name().ends_with(".stop") || self.name().ends_with(".exception")
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Event of a trace.
#[derive(Clone, PartialEq, Debug)]
pub struct Event {
    /// Kind of event.
    pub kind: Kind,
    /// Id of the trace.
    pub trace_id: TraceId,
    /// Number of the event in its trace, from 0. A live event has the number of the next stored one.
    pub seq: u64,
    /// Span of the event.
    pub span: SpanId,
    /// Parent of the span; for the first span of a child agent, a span of its caller's trace.
    pub parent: Option<SpanId>,
    /// Name of the agent.
    pub agent_name: Option<Arc<str>>,
    /// Id of the agent.
    pub agent_id: Arc<str>,
    /// Number of agents above it.
    pub depth: u32,
    /// Time of the event.
    pub at: Timestamp,
    /// Number of the turn, from 1.
    pub turn: Option<u32>,
    /// Duration, for the end of a span and for a call; measured from the beginning of the span unless set.
    pub duration: Option<Duration>,
    /// Token counts and cost.
    pub tokens: Option<Tokens>,
    /// Name of the tool.
    pub tool_name: Option<String>,
    /// Name of the model.
    pub model: Option<String>,
    /// Status at the end: `ok`, `error`, or a reason.
    pub status: Option<String>,
    /// All other data.
    pub data: Map<String, Value>,
}

impl Event {
    /// Sets an entry of `data`.
    pub fn put(&mut self, key: &str, value: impl Into<Value>) {
        self.data.insert(key.to_string(), value.into());
    }
}

/// A receiver of events, called in order per trace, on the thread of the run: it must be quick. A subscriber that
/// panics is not called again, and the run continues.
pub trait Subscriber: Send + Sync {
    /// Receives an event.
    fn event(&self, event: &Event);

    /// Returns whether the subscriber watches the running mission and also gets [live events](Kind::is_live). Models
    /// are then asked for replies in pieces.
    fn is_live(&self) -> bool {
        false
    }
}

impl<F: Fn(&Event) + Send + Sync> Subscriber for F {
    fn event(&self, event: &Event) {
        self(event);
    }
}

impl<S: Subscriber + ?Sized> Subscriber for Arc<S> {
    fn event(&self, event: &Event) {
        (**self).event(event);
    }

    fn is_live(&self) -> bool {
        (**self).is_live()
    }
}
