//! Analysis of traces.

use super::read::{Loaded, Problems};
use super::tree::{build, failed};
use super::turns::{sessions, turns};
use super::{Event, Kind, ReadError, SessionRecord, Span, SpanKind, TraceId, Tree, TurnRecord, chrome};
use ptc_model::Tokens;
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// A trace with the traces of child agents, ready for queries.
///
/// ```
/// use ptc_agent::trace::{AgentLabel, Analyzer, Kind, start_memory_sink};
/// let (tracer, memory) = start_memory_sink();
/// let mission = tracer.mission(AgentLabel::new(Some("triage"), "c0ffee12"), None);
/// mission.emit(Kind::RunStart, |_| ());
/// let turn = mission.child();
/// turn.emit(Kind::TurnStart, |event| event.turn = Some(1));
/// turn.emit(Kind::TurnStop, |event| event.turn = Some(1));
/// mission.emit(Kind::RunStop, |event| event.status = Some("ok".into()));
///
/// let trace = Analyzer::of(memory.events());
/// assert_eq!(trace.summary().turns, 1);
/// let tree = trace.build_tree();
/// let names: Vec<&str> = tree.spans.iter().map(|span| span.name.as_str()).collect();
/// assert_eq!(names, ["triage", "turn 1"]);
/// ```
#[derive(Clone, Debug, Default)]
pub struct Analyzer {
    events: Vec<Event>,
    files: Vec<PathBuf>,
    problems: Problems,
}

/// Summary of a trace.
#[derive(Clone, PartialEq, Debug, Default, Serialize)]
pub struct Summary {
    /// Number of traces, one per mission.
    pub traces: usize,
    /// Number of distinct agents.
    pub agents: usize,
    /// Milliseconds from the first event to the last.
    pub duration_ms: u64,
    /// Status of the first mission.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status: Option<String>,
    /// Number of turns.
    pub turns: usize,
    /// Number of failed turns.
    pub failed_turns: usize,
    /// Number of requests to models.
    pub llm_requests: usize,
    /// Milliseconds spent in models; concurrent requests count each.
    pub llm_ms: u64,
    /// Number of tool calls.
    pub tool_calls: usize,
    /// Milliseconds spent in tools; concurrent calls count each.
    pub tool_ms: u64,
    /// Token counts and cost of all models.
    pub tokens: Tokens,
    /// Usage by model.
    pub models: BTreeMap<String, ModelUse>,
    /// Usage by tool.
    pub tools: BTreeMap<String, ToolUse>,
    /// Number of events that the trace lacks.
    pub missing_events: u64,
    /// Number of events that were too large.
    pub omitted_events: usize,
}

/// Usage of one model.
#[derive(Clone, PartialEq, Debug, Default, Serialize)]
pub struct ModelUse {
    /// Number of requests.
    pub requests: usize,
    /// Number of failed requests.
    pub errors: usize,
    /// Total milliseconds.
    pub ms: u64,
    /// Token counts and cost.
    pub tokens: Tokens,
}

/// Usage of one tool.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize)]
pub struct ToolUse {
    /// Number of calls.
    pub calls: usize,
    /// Number of failed calls.
    pub errors: usize,
    /// Number of calls answered from the cache.
    pub cached: usize,
    /// Total milliseconds.
    pub ms: u64,
}

/// Row of a timeline.
#[derive(Clone, PartialEq, Debug)]
pub struct TimelineRow<'a> {
    /// Time since the trace began.
    pub offset: Duration,
    /// Span of the row.
    pub span: &'a Span,
}

impl Analyzer {
    /// Reads a file, with the files of child agents next to it, or all files of a folder. Broken lines are skipped
    /// and reported by [`problems`](Analyzer::problems); a file without any event is an error.
    pub fn load(path: impl AsRef<Path>) -> Result<Analyzer, ReadError> {
        Ok(Analyzer::from(Loaded::open(path.as_ref())?))
    }

    /// Reads text; messages refer to it by this name.
    pub fn parse(text: &[u8], name: &str) -> Result<Analyzer, ReadError> {
        Ok(Analyzer::from(Loaded::text(text, name)?))
    }

    /// Analyses events in memory.
    pub fn of(mut events: Vec<Event>) -> Analyzer {
        events.sort_by_key(|event| (event.at, event.trace_id, event.seq));
        Analyzer { events, ..Analyzer::default() }
    }

    /// Returns all events, oldest first.
    pub fn events(&self) -> &[Event] {
        &self.events
    }

    /// Returns the files that were read.
    pub fn files(&self) -> &[PathBuf] {
        &self.files
    }

    /// Returns the lines that could not be read.
    pub fn problems(&self) -> &Problems {
        &self.problems
    }

    /// Returns the wanted events.
    pub fn filter(&self, wanted: impl Fn(&Event) -> bool) -> Vec<&Event> {
        self.events.iter().filter(|event| wanted(event)).collect()
    }

    /// Returns the summary of the trace.
    pub fn summary(&self) -> Summary {
        let mut summary = Summary { missing_events: self.missing(), ..Summary::default() };
        let traces: BTreeSet<TraceId> = self.events.iter().map(|event| event.trace_id).collect();
        summary.traces = traces.len();
        summary.agents = self.events.iter().map(|event| &event.agent_id).collect::<BTreeSet<_>>().len();
        if let (Some(first), Some(last)) = (self.events.first(), self.events.last()) {
            let took = Duration::try_from(last.at.duration_since(first.at)).unwrap_or_default();
            summary.duration_ms = millis(took);
        }
        let root = self.filter(|event| event.kind.ends_run() && event.depth == 0);
        summary.status = root.first().and_then(|event| event.status.clone());
        // Call records say more than the starts and stops of tools, so they win.
        let calls: BTreeSet<TraceId> =
            self.filter(|event| event.kind == Kind::ToolCall).iter().map(|event| event.trace_id).collect();
        for event in &self.events {
            summary.count(event, calls.contains(&event.trace_id));
        }
        summary
    }

    /// Returns the number of missing events.
    fn missing(&self) -> u64 {
        let mut traces: HashMap<TraceId, (u64, u64)> = HashMap::new();
        for event in &self.events {
            let (most, count) = traces.entry(event.trace_id).or_default();
            *most = (*most).max(event.seq.saturating_add(1));
            *count += 1;
        }
        traces.values().map(|(most, count)| most.saturating_sub(*count)).fold(0, u64::saturating_add)
    }

    /// Builds the tree of spans.
    pub fn build_tree(&self) -> Tree {
        build(&self.events)
    }

    /// Returns the slowest spans, slowest first; missions and turns, which mostly wait, are left out.
    pub fn slowest<'t>(&self, tree: &'t Tree, most: usize) -> Vec<&'t Span> {
        let works = |span: &&Span| !matches!(span.kind, SpanKind::Run | SpanKind::Turn | SpanKind::Other);
        let mut spans: Vec<&Span> = tree.spans.iter().filter(works).collect();
        spans.sort_by_key(|span| std::cmp::Reverse(span.duration));
        spans.truncate(most);
        spans
    }

    /// Returns the spans in the order in which they began.
    pub fn timeline<'t>(&self, tree: &'t Tree) -> Vec<TimelineRow<'t>> {
        let mut spans: Vec<&Span> = tree.spans.iter().collect();
        spans.sort_by_key(|span| span.start);
        let began = spans.first().map(|span| span.start).unwrap_or_default();
        let offset = |span: &Span| Duration::try_from(span.start.duration_since(began)).unwrap_or_default();
        spans.into_iter().map(|span| TimelineRow { offset: offset(span), span }).collect()
    }

    /// Returns all turns, oldest first.
    pub fn turns(&self) -> Vec<TurnRecord> {
        turns(&self.events)
    }

    /// Returns the sessions and agents of these turns, in the order in which they began.
    pub fn sessions(&self) -> Vec<SessionRecord> {
        sessions(&self.turns())
    }

    /// Returns the turns of one session or agent.
    pub fn session_turns(&self, session_id: &str) -> Vec<TurnRecord> {
        let mut turns = self.turns();
        turns.retain(|turn| turn.session_id == session_id);
        turns
    }

    /// Returns the turns that ran a program.
    pub fn programs(&self) -> Vec<TurnRecord> {
        let mut turns = self.turns();
        turns.retain(|turn| turn.program.is_some());
        turns
    }

    /// Exports the trace for `chrome://tracing`, Perfetto and Speedscope.
    pub fn export_chrome_trace(&self) -> serde_json::Value {
        chrome::export(&self.build_tree())
    }
}

impl From<Loaded> for Analyzer {
    fn from(loaded: Loaded) -> Analyzer {
        Analyzer { events: loaded.events, files: loaded.files, problems: loaded.problems }
    }
}

impl Summary {
    fn count(&mut self, event: &Event, tells_calls: bool) {
        let ms = event.duration.map_or(0, millis);
        match event.kind {
            Kind::TurnStop => {
                self.turns += 1;
                self.failed_turns += usize::from(failed(event));
            }
            Kind::LlmStop => {
                let tokens = event.tokens.unwrap_or_default();
                self.llm_requests += 1;
                self.llm_ms = self.llm_ms.saturating_add(ms);
                self.tokens += tokens;
                let model = self.models.entry(event.model.clone().unwrap_or_default()).or_default();
                model.requests += 1;
                model.errors += usize::from(failed(event));
                model.ms = model.ms.saturating_add(ms);
                model.tokens += tokens;
            }
            Kind::ToolCall => self.call(event, ms),
            Kind::ToolStop | Kind::ToolException if !tells_calls => self.call(event, ms),
            Kind::EventOmitted => self.omitted_events += 1,
            _ => {}
        }
    }

    fn call(&mut self, event: &Event, ms: u64) {
        self.tool_calls += 1;
        self.tool_ms = self.tool_ms.saturating_add(ms);
        let tool = self.tools.entry(event.tool_name.clone().unwrap_or_default()).or_default();
        tool.calls += 1;
        tool.errors += usize::from(failed(event));
        tool.cached += usize::from(event.data.get("cached").is_some_and(|cached| cached == true));
        tool.ms = tool.ms.saturating_add(ms);
    }
}

fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}
