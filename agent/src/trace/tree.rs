//! Trees of spans, built from events.

use super::{Event, Kind, SpanId, Timestamp, TraceId};
use ptc_model::Tokens;
use serde::Serialize;
use std::collections::HashMap;
use std::time::Duration;

/// The kind of a span.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum SpanKind {
    /// A mission.
    Run,
    /// A turn.
    Turn,
    /// A request to a model.
    Llm,
    /// A tool call.
    Tool,
    /// `pmap` or `pcalls`.
    Parallel,
    /// A compiled agent.
    Compiled,
    /// Events outside of any span.
    Other,
}

impl SpanKind {
    fn of(kind: Kind) -> Option<SpanKind> {
        Some(match kind {
            Kind::RunStart | Kind::RunStop | Kind::RunException => SpanKind::Run,
            Kind::TurnStart | Kind::TurnStop => SpanKind::Turn,
            Kind::LlmStart | Kind::LlmStop => SpanKind::Llm,
            Kind::ToolStart | Kind::ToolStop | Kind::ToolException => SpanKind::Tool,
            Kind::PmapStart | Kind::PmapStop | Kind::PcallsStart | Kind::PcallsStop => SpanKind::Parallel,
            Kind::CompiledStart | Kind::CompiledStop | Kind::CompiledException => SpanKind::Compiled,
            _ => return None,
        })
    }

    /// Returns the name used in output.
    pub fn name(self) -> &'static str {
        match self {
            SpanKind::Run => "run",
            SpanKind::Turn => "turn",
            SpanKind::Llm => "llm",
            SpanKind::Tool => "tool",
            SpanKind::Parallel => "parallel",
            SpanKind::Compiled => "compiled",
            SpanKind::Other => "other",
        }
    }
}

/// A span, with its events.
#[derive(Clone, PartialEq, Debug)]
pub struct Span {
    /// Kind of span.
    pub kind: SpanKind,
    /// Id of the trace.
    pub trace_id: TraceId,
    /// Id of the span.
    pub id: SpanId,
    /// Name of its agent, turn, model or tool.
    pub name: String,
    /// Time when the span began.
    pub start: Timestamp,
    /// Duration; until its last event if the span never ended.
    pub duration: Duration,
    /// Flag: the span's end was recorded.
    pub ended: bool,
    /// Number of the turn.
    pub turn: Option<u32>,
    /// Token counts and cost, without spans below.
    pub tokens: Option<Tokens>,
    /// Status at the end.
    pub status: Option<String>,
    /// Flag: the span failed.
    pub failed: bool,
    /// Events of the span, as indexes into those that the tree was built from.
    pub events: Vec<usize>,
    /// Spans below, in the order in which they began, as indexes into the tree.
    pub children: Vec<usize>,
    /// Number of spans above.
    pub depth: u32,
}

/// A tree of all spans, in reading order: each before the ones below it.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Tree {
    /// Spans, in reading order.
    pub spans: Vec<Span>,
    /// Indexes of the spans without a parent.
    pub roots: Vec<usize>,
}

type Key = (TraceId, SpanId);

/// Builds the tree. A span whose parent is missing, or that is its own ancestor, becomes a root.
pub(super) fn build(events: &[Event]) -> Tree {
    let mut places: HashMap<Key, usize> = HashMap::new();
    let mut spans: Vec<Span> = Vec::new();
    let mut parents: Vec<Option<Key>> = Vec::new();
    let above = traces_above(events);
    for (i, event) in events.iter().enumerate() {
        let place = *places.entry((event.trace_id, event.span)).or_insert_with(|| {
            spans.push(Span::of(event));
            parents.push(event.parent.map(|parent| (event.trace_id, parent)));
            spans.len() - 1
        });
        spans[place].add(event, i);
    }
    let parents: Vec<Option<usize>> = parents
        .into_iter()
        .enumerate()
        .map(|(place, key)| {
            let (trace, parent) = key?;
            let elsewhere = || places.get(&(*above.get(&trace)?, parent));
            places.get(&(trace, parent)).or_else(elsewhere).copied().filter(|parent| *parent != place)
        })
        .collect();
    in_order(spans, &parents)
}

/// Returns the parent of each trace.
fn traces_above(events: &[Event]) -> HashMap<TraceId, TraceId> {
    events
        .iter()
        .filter_map(|event| {
            Some((event.trace_id, event.data.get("parent_trace_id")?.as_str()?.parse().ok()?))
        })
        .collect()
}

fn in_order(spans: Vec<Span>, parents: &[Option<usize>]) -> Tree {
    let mut below: Vec<Vec<usize>> = vec![Vec::new(); spans.len()];
    let mut starts: Vec<usize> = Vec::new();
    for (place, parent) in parents.iter().enumerate() {
        match parent {
            Some(parent) => below[*parent].push(place),
            None => starts.push(place),
        }
    }
    let mut from: Vec<Option<Span>> = spans.into_iter().map(Some).collect();
    let mut tree = Tree::default();
    // Spans that no root leads to form cycles, which are cut at their first span.
    starts.extend(0..from.len());
    for start in starts {
        let mut waiting: Vec<(usize, Option<usize>)> = vec![(start, None)];
        while let Some((place, parent)) = waiting.pop() {
            let Some(mut span) = from[place].take() else { continue };
            if span.name.is_empty() {
                span.name = span.kind.name().to_string();
            }
            let at = tree.spans.len();
            match parent {
                Some(parent) => {
                    span.depth = tree.spans[parent].depth + 1;
                    tree.spans[parent].children.push(at);
                }
                None => tree.roots.push(at),
            }
            tree.spans.push(span);
            waiting.extend(below[place].iter().rev().map(|child| (*child, Some(at))));
        }
    }
    tree
}

impl Span {
    fn of(event: &Event) -> Span {
        Span {
            kind: SpanKind::Other,
            trace_id: event.trace_id,
            id: event.span,
            name: String::new(),
            start: event.at,
            duration: Duration::ZERO,
            ended: false,
            turn: None,
            tokens: None,
            status: None,
            failed: false,
            events: Vec::new(),
            children: Vec::new(),
            depth: 0,
        }
    }

    fn add(&mut self, event: &Event, place: usize) {
        self.events.push(place);
        self.turn = self.turn.or(event.turn);
        let kind = SpanKind::of(event.kind);
        // A call without the start and stop of a tool is a span of its own.
        let kind = kind.or((event.kind == Kind::ToolCall).then_some(SpanKind::Tool));
        let sets = kind.filter(|kind| self.kind == SpanKind::Other || self.kind == *kind);
        if let Some(kind) = sets {
            self.kind = kind;
            let told = match kind {
                SpanKind::Run | SpanKind::Compiled => event.agent_name.as_deref().map(str::to_string),
                SpanKind::Llm => event.model.clone(),
                // `call` alone says nothing about what was called.
                SpanKind::Tool => {
                    let operation = event.data.get("operation").and_then(serde_json::Value::as_str);
                    operation.map(str::to_string).or_else(|| event.tool_name.clone())
                }
                SpanKind::Parallel => event.kind.name().split('.').next().map(str::to_string),
                SpanKind::Turn => event.turn.map(|turn| format!("turn {turn}")),
                SpanKind::Other => None,
            };
            if let Some(told) = told {
                self.name = told;
            }
            if event.tokens.is_some() {
                self.tokens = event.tokens;
            }
            self.failed |= failed(event);
            if event.status.is_some() {
                self.status.clone_from(&event.status);
            }
        }
        let own_end = sets.is_some() && (event.kind.ends() || event.kind == Kind::ToolCall);
        match event.duration {
            Some(duration) if own_end => {
                (self.duration, self.ended) = (duration, true);
                let began = jiff::SignedDuration::try_from(duration).ok();
                let began = began.and_then(|took| event.at.checked_sub(took).ok());
                self.start = began.map_or(self.start, |began| began.min(self.start));
            }
            _ if !self.ended => {
                let until = Duration::try_from(event.at.duration_since(self.start)).unwrap_or_default();
                self.duration = self.duration.max(until);
                self.ended |= own_end;
            }
            _ => {}
        }
    }
}

/// Returns whether an event reports a failure.
pub(super) fn failed(event: &Event) -> bool {
    let said = event.status.as_deref().is_some_and(|status| !matches!(status, "ok" | "success" | "return"));
    let error = event.data.get("error").is_some_and(|error| !error.is_null() && error != false);
    let unsuccessful = event.data.get("success").is_some_and(|success| success == false);
    event.kind.name().ends_with(".exception") || said || error || unsuccessful
}
