//! Missions as spans of the crate `tracing`, for hosts that log with it.

use super::spans::{Open, begins, ends, failure};
use super::{Event, Kind, Subscriber};
use serde_json::Value;
use tracing::{Span, field};

/// Subscriber that makes a span of each mission, turn, request and tool: `run`, `turn`, `llm`, `tool`, `parallel`, with
/// the target `ptc_agent`. Validation warnings become events. Prompts, programs and results are never included.
///
/// ```
/// use ptc_agent::trace::{AgentLabel, Kind, Tracer, TracingSpans};
/// let tracer = Tracer::new().with(TracingSpans::new());
/// tracer.mission(AgentLabel::new(Some("triage"), "c0ffee12"), None).emit(Kind::RunStart, |_| ());
/// ```
#[derive(Default)]
pub struct TracingSpans(Open<Span>);

impl TracingSpans {
    /// Returns a subscriber without open spans.
    pub fn new() -> TracingSpans {
        TracingSpans::default()
    }
}

macro_rules! span_of {
    ($name:literal, $event:expr, $parent:expr) => {
        tracing::info_span!(
            target: "ptc_agent", parent: $parent, $name,
            agent = $event.agent_name.as_deref(), agent_id = &*$event.agent_id, trace_id = %$event.trace_id,
            turn = $event.turn, tool = $event.tool_name.as_deref(), model = $event.model.as_deref(),
            status = field::Empty, error = field::Empty, input_tokens = field::Empty, output_tokens = field::Empty,
        )
    };
}

impl Subscriber for TracingSpans {
    fn event(&self, event: &Event) {
        if begins(event) {
            let parent = self.0.around(event).and_then(|span| span.id());
            let span = match event.kind {
                Kind::RunStart | Kind::CompiledStart => span_of!("run", event, parent),
                Kind::TurnStart => span_of!("turn", event, parent),
                Kind::LlmStart => span_of!("llm", event, parent),
                Kind::ToolStart => span_of!("tool", event, parent),
                _ => span_of!("parallel", event, parent),
            };
            self.0.begin(event, span);
        } else if ends(event) {
            let Some(span) = self.0.end(event) else { return };
            span.record("status", event.status.as_deref().unwrap_or("ok"));
            if let Some((reason, message)) = failure(event) {
                span.record("status", "error");
                span.record("error", format!("{reason}: {message}"));
            }
            if let Some(tokens) = event.tokens {
                span.record("input_tokens", tokens.input);
                span.record("output_tokens", tokens.output);
            }
        } else if event.kind == Kind::ValidationWarning {
            let parent = self.0.here(event).or_else(|| self.0.around(event)).and_then(|span| span.id());
            let text = |key: &str| event.data.get(key).and_then(Value::as_str);
            tracing::warn!(
                target: "ptc_agent", parent: parent, path = text("path"), tool = text("tool"),
                "{}", text("message").unwrap_or("a value did not fit"),
            );
        } else if event.kind == Kind::TraceStop {
            self.0.rest(event.trace_id);
        }
    }
}
