//! Missions as OpenTelemetry spans and metrics, by its conventions for generative AI.

use super::spans::{Open, begins, ends, failure};
use super::{Event, Kind, Subscriber, Timestamp};
use opentelemetry::metrics::{Histogram, Meter};
use opentelemetry::trace::{SpanKind, Status, TraceContextExt, Tracer as OtelTracer};
use opentelemetry::{Context, KeyValue};
use serde_json::{Value, json};
use std::time::SystemTime;

/// Subscriber that makes a span of each mission (`invoke_agent`), request (`chat`), tool (`execute_tool`) and turn.
/// Child agents are in the same trace as their callers. Prompts, programs and results are only included if the host
/// asks for [`content`](OpenTelemetry::content).
///
/// ```
/// use opentelemetry::trace::noop::NoopTracer;
/// use ptc_agent::trace::{AgentLabel, Kind, OpenTelemetry, Tracer};
/// let tracer = Tracer::new().with(OpenTelemetry::new(NoopTracer::new()));
/// tracer.mission(AgentLabel::new(Some("triage"), "c0ffee12"), None).emit(Kind::RunStart, |_| ());
/// ```
pub struct OpenTelemetry<T> {
    tracer: T,
    open: Open<Context>,
    /// Parent of the missions: the span that the host has open.
    root: Context,
    meters: Option<Meters>,
    content: bool,
}

struct Meters {
    duration: Histogram<f64>,
    tokens: Histogram<u64>,
}

impl<T: OtelTracer> OpenTelemetry<T>
where
    T::Span: Send + Sync + 'static,
{
    /// Emits spans to this tracer, below the span that is current now.
    pub fn new(tracer: T) -> OpenTelemetry<T> {
        OpenTelemetry {
            tracer,
            open: Open::default(),
            root: Context::current(),
            meters: None,
            content: false,
        }
    }

    /// Also emits metrics: durations and token counts of requests.
    #[must_use]
    pub fn metrics(mut self, meter: &Meter) -> OpenTelemetry<T> {
        let duration = meter
            .f64_histogram("gen_ai.client.operation.duration")
            .with_unit("s")
            .with_description("How long a request or an agent took.")
            .with_boundaries(vec![
                0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92,
            ])
            .build();
        let tokens = meter
            .u64_histogram("gen_ai.client.token.usage")
            .with_unit("{token}")
            .with_description("How many tokens a request cost.")
            .with_boundaries((0..14).map(|power| f64::from(4u32.pow(power))).collect())
            .build();
        self.meters = Some(Meters { duration, tokens });
        self
    }

    /// Sets whether spans include messages, arguments and results.
    #[must_use]
    pub fn content(mut self, content: bool) -> OpenTelemetry<T> {
        self.content = content;
        self
    }

    fn begin(&self, event: &Event) {
        let parent = self.open.around(event).unwrap_or_else(|| self.root.clone());
        let (operation, target, kind) = operation(event);
        let name = match (operation, target) {
            (Some(operation), Some(target)) => format!("{operation} {target}"),
            (Some(operation), None) => operation.to_string(),
            (None, _) => event.kind.name().trim_end_matches(".start").to_string(),
        };
        let mut attributes = described(event);
        if self.content {
            attributes.extend(said(event));
        }
        let builder = self.tracer.span_builder(name).with_kind(kind).with_start_time(time(event.at));
        let span = self.tracer.build_with_context(builder.with_attributes(attributes), &parent);
        self.open.begin(event, parent.with_span(span));
    }

    fn end(&self, event: &Event) {
        let Some(context) = self.open.end(event) else { return };
        let span = context.span();
        span.set_attributes(outcome(event));
        if self.content {
            span.set_attributes(said(event));
        }
        if let Some((reason, message)) = failure(event) {
            span.set_attribute(KeyValue::new("error.type", reason));
            span.set_status(Status::error(message));
        }
        span.end_with_timestamp(time(event.at));
        self.measure(event);
    }

    fn measure(&self, event: &Event) {
        let (Some(meters), (Some(_), ..)) = (&self.meters, operation(event)) else { return };
        if matches!(event.kind, Kind::ToolStop | Kind::ToolException) {
            return;
        }
        let mut about = described(event);
        about.retain(|pair| {
            !matches!(pair.key.as_str(), "gen_ai.conversation.id" | "gen_ai.agent.id" | "ptc.turn")
        });
        if let Some((reason, _)) = failure(event) {
            about.push(KeyValue::new("error.type", reason));
        }
        if let Some(duration) = event.duration {
            meters.duration.record(duration.as_secs_f64(), &about);
        }
        if event.kind == Kind::LlmStop
            && let Some(tokens) = event.tokens
        {
            for (count, of) in [(tokens.input, "input"), (tokens.output, "output")] {
                let Some(count) = count else { continue };
                let about = [&about[..], &[KeyValue::new("gen_ai.token.type", of)]].concat();
                meters.tokens.record(count, &about);
            }
        }
    }
}

impl<T> Subscriber for OpenTelemetry<T>
where
    T: OtelTracer + Send + Sync,
    T::Span: Send + Sync + 'static,
{
    fn event(&self, event: &Event) {
        if begins(event) {
            self.begin(event);
        } else if ends(event) {
            self.end(event);
        } else if event.kind == Kind::TraceStop {
            for context in self.open.rest(event.trace_id) {
                context.span().end_with_timestamp(time(event.at));
            }
        } else if let Some(context) = self.open.here(event).filter(|_| {
            matches!(event.kind, Kind::ValidationWarning | Kind::CompactionTriggered | Kind::EventOmitted)
        }) {
            context.span().add_event_with_timestamp(event.kind.name(), time(event.at), Vec::new());
        }
    }
}

/// Returns the operation, its object, and the kind of span.
fn operation(event: &Event) -> (Option<&'static str>, Option<&str>, SpanKind) {
    match event.kind {
        Kind::RunStart | Kind::RunStop | Kind::RunException => {
            (Some("invoke_agent"), event.agent_name.as_deref(), SpanKind::Internal)
        }
        Kind::CompiledStart | Kind::CompiledStop | Kind::CompiledException => {
            (Some("invoke_agent"), event.agent_name.as_deref(), SpanKind::Internal)
        }
        Kind::LlmStart | Kind::LlmStop => (Some("chat"), event.model.as_deref(), SpanKind::Client),
        Kind::ToolStart | Kind::ToolStop | Kind::ToolException => {
            (Some("execute_tool"), event.tool_name.as_deref(), SpanKind::Internal)
        }
        _ => (None, None, SpanKind::Internal),
    }
}

/// Returns the attributes known at the start.
fn described(event: &Event) -> Vec<KeyValue> {
    let mut attributes = Vec::new();
    let mut put = |key: &'static str, value: Option<String>| {
        attributes.extend(value.map(|value| KeyValue::new(key, value)));
    };
    put("gen_ai.operation.name", operation(event).0.map(str::to_string));
    put("gen_ai.agent.name", event.agent_name.as_deref().map(str::to_string));
    put("gen_ai.agent.id", Some(event.agent_id.to_string()));
    put("gen_ai.conversation.id", Some(event.trace_id.to_string()));
    put("gen_ai.request.model", event.model.clone());
    put("gen_ai.provider.name", event.model.as_deref().and_then(provider));
    put("gen_ai.tool.name", event.tool_name.clone());
    put("gen_ai.tool.type", event.tool_name.as_ref().map(|_| "function".to_string()));
    attributes.extend(event.turn.map(|turn| KeyValue::new("ptc.turn", i64::from(turn))));
    attributes
}

/// Returns the provider in a name such as `anthropic:haiku`, by the conventions' name for it.
fn provider(model: &str) -> Option<String> {
    let (provider, _) = model.split_once(':')?;
    Some(
        match provider {
            "google" => "gcp.gemini",
            "bedrock" => "aws.bedrock",
            "openai-responses" => "openai",
            other => other,
        }
        .to_string(),
    )
}

/// Returns the attributes known at the end.
fn outcome(event: &Event) -> Vec<KeyValue> {
    let mut attributes = Vec::new();
    if let Some(tokens) = event.tokens {
        let counts = [
            ("gen_ai.usage.input_tokens", tokens.input),
            ("gen_ai.usage.output_tokens", tokens.output),
            ("gen_ai.usage.cache_read.input_tokens", tokens.cache_read),
            ("gen_ai.usage.cache_creation.input_tokens", tokens.cache_creation),
        ];
        for (key, count) in counts {
            let count = count.map(|count| i64::try_from(count).unwrap_or(i64::MAX));
            attributes.extend(count.map(|count| KeyValue::new(key, count)));
        }
        attributes.extend(tokens.total_cost.map(|cost| KeyValue::new("ptc.usage.cost_usd", cost)));
    }
    if let Some(response) = event.data.get("response") {
        let text = |key: &str| response.get(key).and_then(Value::as_str).map(str::to_string);
        attributes.extend(text("model").map(|model| KeyValue::new("gen_ai.response.model", model)));
        if let Some(stop) = text("stop") {
            let stops = opentelemetry::Array::String(vec![stop.into()]);
            attributes
                .push(KeyValue::new("gen_ai.response.finish_reasons", opentelemetry::Value::Array(stops)));
        }
    }
    attributes
}

/// Returns messages and other content, in the form of the conventions.
fn said(event: &Event) -> Vec<KeyValue> {
    let written = |(key, value): (&String, &Value)| {
        let (name, value) = match key.as_str() {
            _ if value.is_null() => return None,
            "system_prompt" => ("gen_ai.system_instructions", parts(value)),
            "messages" => ("gen_ai.input.messages", value.as_array()?.iter().map(message).collect()),
            "response" => {
                ("gen_ai.output.messages", json!([{"role": "assistant", "parts": parts(&value["content"])}]))
            }
            "args" => ("gen_ai.tool.call.arguments", value.clone()),
            "result" => ("gen_ai.tool.call.result", value.clone()),
            _ => return None,
        };
        Some(KeyValue::new(name, value.to_string()))
    };
    event.data.iter().filter_map(written).collect()
}

fn message(message: &Value) -> Value {
    json!({"role": message["role"], "parts": parts(&message["content"])})
}

fn parts(text: &Value) -> Value {
    json!([{"type": "text", "content": text}])
}

fn time(at: Timestamp) -> SystemTime {
    SystemTime::from(at)
}
