//! What happens in a mission, one by one.

use super::{SpanId, Timestamp, TraceId};
use ptc_model::Tokens;
use serde_json::{Map, Value};
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

macro_rules! kinds {
    ($($(#[doc = $doc:literal])* $kind:ident = $name:literal $(or $alias:literal)?;)*) => {
        /// What happened.
        #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
        pub enum Kind {
            $($(#[doc = $doc])* $kind,)*
        }

        impl Kind {
            /// Every kind.
            pub const ALL: &[Kind] = &[$(Kind::$kind,)*];

            /// As it is written in traces.
            pub fn name(self) -> &'static str {
                match self {
                    $(Kind::$kind => $name,)*
                }
            }

            /// Another name that subscribers may ask for.
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
    /// It ends. Data: `status`, `return` or `fail`, `usage`.
    RunStop = "run.stop" or "mission_stop";
    /// It ends with an error of ours or of the host. Data: `kind`, `reason`.
    RunException = "run.exception";
    /// A turn begins. Data: `type`, `tools_count`, perhaps `attempt` and `remaining`.
    TurnStart = "turn.start" or "turn_start";
    /// It ends. Data: `type`, `success`, `program` or `raw_response`, `result_preview`, `prints`.
    TurnStop = "turn.stop" or "turn_stop";
    /// A model is asked. Data: `messages` that are new, on the first turn `system_prompt`; `request_hash`.
    LlmStart = "llm.start";
    /// It answers. Data: `response`, or `error`.
    LlmStop = "llm.stop";
    /// A tool begins. Data: `args`.
    ToolStart = "tool.start";
    /// It ends. Data: `result`, perhaps `child_trace_id`.
    ToolStop = "tool.stop";
    /// It fails. Data: `error`.
    ToolException = "tool.exception";
    /// A call of a tool, from a model or a program, also one that was answered from the cache.
    ToolCall = "tool.call";
    /// `pmap` begins. Data: `count`.
    PmapStart = "pmap.start";
    /// It ends. Data: `count`, `success_count`, `error_count`, `child_trace_ids`.
    PmapStop = "pmap.stop";
    /// `pcalls` begins.
    PcallsStart = "pcalls.start";
    /// It ends.
    PcallsStop = "pcalls.stop";
    /// Old messages are left out of the next request.
    CompactionTriggered = "compaction.triggered";
    /// A compiled agent begins.
    CompiledStart = "compiled.execute.start";
    /// It ends.
    CompiledStop = "compiled.execute.stop";
    /// It fails.
    CompiledException = "compiled.execute.exception";
    /// A value did not fit, and went on all the same. Data: `path`, `message`, `tool`.
    ValidationWarning = "validation.warning";
    /// The record of one turn, of an agent or of a session.
    Turn = "turn";
    /// What the agent is. Once per trace, before its other events.
    AgentConfig = "agent.config";
    /// The first event of a trace.
    TraceStart = "trace.start";
    /// The last event of a trace.
    TraceStop = "trace.stop";
    /// In place of events that were too large, or too many at once.
    EventOmitted = "trace.event_omitted";
    /// Text of a reply as it arrives. Data: `text`, or `restart` where the reply begins anew. Live.
    LlmPiece = "llm.piece";
    /// A program is about to run. Data: `program`. Live.
    Program = "program";
    /// A program has ended, and printed something. Data: `prints`. Live.
    Prints = "prints";
    /// The model is told what came of its turn. Data: `text`. Live.
    Feedback = "feedback";
}

impl Kind {
    /// The kind of this name, or of this other name.
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

    /// Whether a mission is over with it, one way or the other.
    pub fn ends_run(self) -> bool {
        matches!(self, Kind::RunStop | Kind::RunException)
    }

    /// True for events that only matter while they happen, since others say the same later. They go to subscribers that
    /// [are live](Subscriber::is_live), and are in no file.
    pub fn is_live(self) -> bool {
        matches!(self, Kind::LlmPiece | Kind::Program | Kind::Prints | Kind::Feedback)
    }

    /// Whether a span begins with it.
    pub fn begins(self) -> bool {
        self.name().ends_with(".start")
    }

    /// Whether a span ends with it.
    pub fn ends(self) -> bool {
        self.name().ends_with(".stop") || self.name().ends_with(".exception")
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// One event.
#[derive(Clone, PartialEq, Debug)]
pub struct Event {
    /// What happened.
    pub kind: Kind,
    /// In which trace.
    pub trace_id: TraceId,
    /// Which of its trace it is, from 0. A live event has the number of the one behind it.
    pub seq: u64,
    /// In which span.
    pub span: SpanId,
    /// The span around that one; for the first span of an agent below, a span of the trace above.
    pub parent: Option<SpanId>,
    /// The agent.
    pub agent_name: Option<Arc<str>>,
    /// What the agent is known by.
    pub agent_id: Arc<str>,
    /// How many agents are above it.
    pub depth: u32,
    /// When.
    pub at: Timestamp,
    /// In which turn, from 1.
    pub turn: Option<u32>,
    /// How long it took; for the end of a span and for a call, since the span began unless told otherwise.
    pub duration: Option<Duration>,
    /// What it cost.
    pub tokens: Option<Tokens>,
    /// Which tool.
    pub tool_name: Option<String>,
    /// Which model.
    pub model: Option<String>,
    /// How it ended: `ok`, `error`, or a reason.
    pub status: Option<String>,
    /// Everything else.
    pub data: Map<String, Value>,
}

impl Event {
    /// Puts something into `data`.
    pub fn put(&mut self, key: &str, value: impl Into<Value>) {
        self.data.insert(key.to_string(), value.into());
    }
}

/// Is told every event, in order per trace, on the thread of the run: be quick. One that panics is not called again,
/// and the run goes on.
pub trait Subscriber: Send + Sync {
    /// One event.
    fn event(&self, event: &Event);

    /// True for a subscriber that watches while the mission runs and is told [live events](Kind::is_live), too. Models are
    /// then asked for replies in pieces.
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
