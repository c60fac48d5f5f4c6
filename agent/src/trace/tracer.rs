//! Emission of events to subscribers.

use super::clean::redact;
use super::{Event, Kind, SpanId, Subscriber, Timestamp, TraceId};
use jiff::SignedDuration;
use ptc_contract::firewall::SharedSecrets;
use serde_json::{Map, Value};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// The subscribers to events of missions. Without any it is off, and costs nothing. Clones share the counter of spans.
///
/// ```
/// use ptc_agent::trace::{AgentLabel, Event, Kind, Tracer};
/// let tracer = Tracer::new();
/// assert!(!tracer.is_on());
/// let mission = tracer.mission(AgentLabel::new(None, "c0ffee12"), None);
/// mission.emit(Kind::RunStart, |_| unreachable!("nobody listens"));
/// ```
#[derive(Clone, Default)]
pub struct Tracer {
    subscribers: Vec<Arc<Slot>>,
    source: Arc<Source>,
    /// Label that the host gives its traces, recorded in `trace.start`.
    label: Option<Arc<str>>,
    metadata: Arc<Map<String, Value>>,
}

struct Slot {
    subscriber: Box<dyn Subscriber>,
    /// Flag: the subscriber panicked, and is not called again.
    broken: AtomicBool,
}

impl Tracer {
    /// Returns a tracer without subscribers.
    pub fn new() -> Tracer {
        Tracer::default()
    }

    /// Adds a subscriber.
    #[must_use]
    pub fn with(mut self, subscriber: impl Subscriber + 'static) -> Tracer {
        let slot = Slot { subscriber: Box::new(subscriber), broken: AtomicBool::new(false) };
        self.subscribers.push(Arc::new(slot));
        self
    }

    /// Adds a function that is called for one kind of events, by either of its names. An unknown name is an error.
    ///
    /// ```
    /// use ptc_agent::trace::Tracer;
    /// assert!(Tracer::new().on("mission_start", |event| println!("{}", event.trace_id)).is_ok());
    /// let error = Tracer::new().on("run.strat", |_| ()).unwrap_err();
    /// assert_eq!(error, "there is no event `run.strat`; did you mean `run.start`?");
    /// ```
    pub fn on(self, name: &str, f: impl Fn(&Event) + Send + Sync + 'static) -> Result<Tracer, String> {
        let Some(kind) = Kind::from_name(name) else {
            let names = Kind::ALL.iter().flat_map(|kind| std::iter::once(kind.name()).chain(kind.alias()));
            let near = match ptc_bytecode::nearest(name, names) {
                Some(near) => format!("; did you mean `{near}`?"),
                None => String::new(),
            };
            return Err(format!("there is no event `{name}`{near}"));
        };
        Ok(self.with(OfKind { kind, f }))
    }

    /// Sets the label of traces, recorded in their first event.
    #[must_use]
    pub fn label(mut self, label: impl Into<Arc<str>>) -> Tracer {
        self.label = Some(label.into());
        self
    }

    /// Sets metadata of the host, recorded in the first event of each trace.
    #[must_use]
    pub fn metadata(mut self, metadata: Map<String, Value>) -> Tracer {
        self.metadata = Arc::new(metadata);
        self
    }

    /// Returns whether there are subscribers.
    pub fn is_on(&self) -> bool {
        !self.subscribers.is_empty()
    }

    /// Returns whether a subscriber wants live events.
    fn is_live(&self) -> bool {
        self.subscribers.iter().any(|slot| slot.subscriber.is_live())
    }

    /// Uses a clock that advances a millisecond per reading, and ids that count from 1: equal runs give equal traces.
    /// Events of parallel branches may still come in any order.
    #[must_use]
    pub fn deterministic(mut self) -> Tracer {
        self.source = Arc::new(Source::deterministic());
        self
    }

    /// Returns the scope of a root mission. `secrets` are redacted; None for agents with the option `trace_firewalled`.
    pub fn mission(&self, agent: AgentLabel, secrets: Option<SharedSecrets>) -> Scope {
        self.mission_below(agent, secrets, None)
    }

    fn mission_below(
        &self,
        agent: AgentLabel,
        secrets: Option<SharedSecrets>,
        above: Option<&Span>,
    ) -> Scope {
        if !self.is_on() {
            return Scope(None);
        }
        let mission = Mission {
            tracer: self.clone(),
            trace_id: self.source.trace_id(),
            above: above.map(|span| span.mission.trace_id),
            agent,
            depth: above.map_or(0, |span| span.mission.depth + 1),
            secrets,
            seq: AtomicU64::new(0),
            opening: Mutex::new(Opening::default()),
            began: self.source.now(),
            root: self.source.span_id(),
            root_parent: above.map(|span| span.id),
        };
        let (id, parent, began) = (mission.root, mission.root_parent, mission.began);
        Scope(Some(Arc::new(Span { mission: Arc::new(mission), id, parent, began, turn: None })))
    }

    fn send(&self, event: &Event) {
        for slot in &self.subscribers {
            let is_for_it = !event.kind.is_live() || slot.subscriber.is_live();
            if !is_for_it || slot.broken.load(Ordering::Relaxed) {
                continue;
            }
            if catch_unwind(AssertUnwindSafe(|| slot.subscriber.event(event))).is_err() {
                slot.broken.store(true, Ordering::Relaxed);
            }
        }
    }
}

/// Subscriber to one kind of events.
struct OfKind<F> {
    kind: Kind,
    f: F,
}

impl<F: Fn(&Event) + Send + Sync> Subscriber for OfKind<F> {
    fn event(&self, event: &Event) {
        if event.kind == self.kind {
            (self.f)(event);
        }
    }

    fn is_live(&self) -> bool {
        self.kind.is_live()
    }
}

impl std::fmt::Debug for Tracer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Tracer").field("subscribers", &self.subscribers.len()).finish_non_exhaustive()
    }
}

/// Identity of the agent whose mission is traced.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct AgentLabel {
    /// Name of the agent.
    pub name: Option<Arc<str>>,
    /// Id of the agent: see [`agent_id`](crate::definition::agent_id).
    pub id: Arc<str>,
}

impl AgentLabel {
    /// Returns the label of an agent.
    pub fn new(name: Option<&str>, id: &str) -> AgentLabel {
        AgentLabel { name: name.map(Arc::from), id: Arc::from(id) }
    }
}

/// A span in which events are emitted. Cheap to clone, and crosses threads.
#[derive(Clone)]
pub struct Scope(Option<Arc<Span>>);

struct Span {
    mission: Arc<Mission>,
    id: SpanId,
    parent: Option<SpanId>,
    began: Timestamp,
    /// Turn of the span.
    turn: Option<u32>,
}

/// Trace of one mission. Ends when the last scope that can emit into it is dropped.
struct Mission {
    tracer: Tracer,
    trace_id: TraceId,
    /// Id of the trace above.
    above: Option<TraceId>,
    agent: AgentLabel,
    depth: u32,
    secrets: Option<SharedSecrets>,
    seq: AtomicU64,
    opening: Mutex<Opening>,
    began: Timestamp,
    root: SpanId,
    root_parent: Option<SpanId>,
}

/// Data for the events before the first one.
#[derive(Default)]
struct Opening {
    done: bool,
    configured: bool,
    config: Option<Map<String, Value>>,
}

impl Scope {
    /// Returns a scope that emits nothing.
    pub fn off() -> Scope {
        Scope(None)
    }

    /// Returns whether anybody listens.
    pub fn is_on(&self) -> bool {
        self.0.is_some()
    }

    /// Returns whether anybody gets [live events](Kind::is_live).
    pub fn is_live(&self) -> bool {
        self.0.as_ref().is_some_and(|span| span.mission.tracer.is_live())
    }

    /// Returns the id of the trace; zeros if nobody listens.
    pub fn trace_id(&self) -> TraceId {
        self.0.as_ref().map_or(TraceId::default(), |span| span.mission.trace_id)
    }

    /// Returns the id of the trace above, for an agent that another one called.
    pub fn parent_trace_id(&self) -> Option<TraceId> {
        self.0.as_ref().and_then(|span| span.mission.above)
    }

    /// Returns the id of the span; zeros if nobody listens.
    pub fn span(&self) -> SpanId {
        self.0.as_ref().map_or(SpanId::default(), |span| span.id)
    }

    /// Returns a new span below this one, of the same agent.
    #[must_use]
    pub fn child(&self) -> Scope {
        self.below(self.0.as_ref().and_then(|span| span.turn))
    }

    /// Returns a new span for a turn: events in it and below carry the turn's number.
    #[must_use]
    pub fn turn(&self, number: u32) -> Scope {
        self.below(Some(number))
    }

    fn below(&self, turn: Option<u32>) -> Scope {
        Scope(self.0.as_ref().map(|span| {
            let source = &span.mission.tracer.source;
            Arc::new(Span {
                mission: span.mission.clone(),
                id: source.span_id(),
                parent: Some(span.id),
                began: source.now(),
                turn,
            })
        }))
    }

    /// Returns the scope of a mission that this span starts. The mission's trace names this one as `parent_trace_id`.
    #[must_use]
    pub fn mission(&self, agent: AgentLabel, secrets: Option<SharedSecrets>) -> Scope {
        match &self.0 {
            None => Scope(None),
            Some(span) => span.mission.tracer.mission_below(agent, secrets, Some(span)),
        }
    }

    /// Describes the agent: emitted once per trace, before its first event. `data` is not called if nobody listens.
    pub fn config(&self, data: impl FnOnce() -> Map<String, Value>) {
        let Some(span) = &self.0 else { return };
        let mission = &span.mission;
        if std::mem::replace(&mut mission.opening().configured, true) {
            return;
        }
        let data = data();
        if mission.opening().done {
            mission.emit(Kind::AgentConfig, span.at(), |event| event.data = data);
        } else {
            mission.opening().config = Some(data);
        }
    }

    /// Emits an event. `fill` sets its content, and is not called if nobody listens.
    pub fn emit(&self, kind: Kind, fill: impl FnOnce(&mut Event)) {
        let Some(span) = &self.0 else { return };
        if kind.is_live() && !span.mission.tracer.is_live() {
            return;
        }
        let mut event = span.mission.event(kind, span.at());
        event.turn = span.turn;
        fill(&mut event);
        span.mission.open(Some(&event));
        span.mission.finish(event, span.began);
    }
}

impl std::fmt::Debug for Scope {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match &self.0 {
            None => f.write_str("Scope(off)"),
            Some(span) => write!(f, "Scope({}, {})", span.mission.trace_id, span.id),
        }
    }
}

impl Span {
    fn at(&self) -> (SpanId, Option<SpanId>) {
        (self.id, self.parent)
    }
}

impl Mission {
    fn opening(&self) -> std::sync::MutexGuard<'_, Opening> {
        self.opening.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn event(&self, kind: Kind, (span, parent): (SpanId, Option<SpanId>)) -> Event {
        Event {
            kind,
            trace_id: self.trace_id,
            seq: 0,
            span,
            parent,
            agent_name: self.agent.name.clone(),
            agent_id: self.agent.id.clone(),
            depth: self.depth,
            at: Timestamp::UNIX_EPOCH,
            turn: None,
            duration: None,
            tokens: None,
            tool_name: None,
            model: None,
            status: None,
            data: Map::new(),
        }
    }

    fn root(&self) -> (SpanId, Option<SpanId>) {
        (self.root, self.root_parent)
    }

    fn emit(&self, kind: Kind, at: (SpanId, Option<SpanId>), fill: impl FnOnce(&mut Event)) {
        let mut event = self.event(kind, at);
        fill(&mut event);
        self.finish(event, self.began);
    }

    /// Emits `trace.start` and `agent.config` before the first event, which gives them the subject of the trace.
    fn open(&self, first: Option<&Event>) {
        // The lock is held until both are sent, so that no other thread comes in between.
        let mut opening = self.opening();
        if std::mem::replace(&mut opening.done, true) {
            return;
        }
        self.emit(Kind::TraceStart, self.root(), |event| {
            event.data = Map::clone(&self.tracer.metadata);
            event.put("trace_kind", "agent");
            event.put("producer", concat!("ptc-agent ", env!("CARGO_PKG_VERSION")));
            if let Some(label) = &self.tracer.label {
                event.put("trace_label", &**label);
            }
            if let Some(above) = self.above {
                event.put("parent_trace_id", above.to_string());
            }
            if let Some(first) = first {
                event.model = first.model.clone();
                if let Some(query) = first.data.get("prompt") {
                    event.put("query", query.clone());
                }
            }
        });
        if let Some(config) = opening.config.take() {
            self.emit(Kind::AgentConfig, self.root(), |event| event.data = config);
        }
    }

    /// Completes an event, redacts it and sends it to the subscribers.
    fn finish(&self, mut event: Event, began: Timestamp) {
        let source = &self.tracer.source;
        event.at = source.now();
        // Live events are not in files, so numbering them would look like lost events.
        event.seq = self.seq.fetch_add(u64::from(!event.kind.is_live()), Ordering::Relaxed);
        let told = event.duration.is_some();
        let lasts = event.kind.ends() || event.kind == Kind::ToolCall;
        if lasts && !told || told && source.is_deterministic() {
            event.duration = Some(since(began, event.at));
        }
        if let Some(above) = self.above.filter(|_| event.kind == Kind::RunStart) {
            event.put("parent_trace_id", above.to_string());
        }
        if source.is_deterministic() {
            event.data.values_mut().for_each(without_times);
        }
        if let Some(secrets) = &self.secrets {
            redact(&mut event, &mut secrets.lock().unwrap_or_else(PoisonError::into_inner));
        }
        self.tracer.send(&event);
    }
}

impl Drop for Mission {
    fn drop(&mut self) {
        let opening = self.opening.get_mut().unwrap_or_else(PoisonError::into_inner);
        if !opening.done && opening.config.is_none() {
            return;
        }
        self.open(None);
        self.emit(Kind::TraceStop, self.root(), |_| ());
    }
}

/// Removes times measured by a real clock.
fn without_times(value: &mut Value) {
    match value {
        Value::Object(map) => map.iter_mut().for_each(|(key, value)| match key.as_str() {
            "duration_ms" => *value = Value::from(0),
            _ => without_times(value),
        }),
        Value::Array(items) => items.iter_mut().for_each(without_times),
        _ => {}
    }
}

fn since(began: Timestamp, now: Timestamp) -> Duration {
    Duration::try_from(now.duration_since(began)).unwrap_or_default()
}

/// Source of times and ids.
struct Source {
    next_trace: Mutex<fastrand::Rng>,
    next_span: AtomicU32,
    /// Wall clock at one moment. The steady clock counts from there, so that no duration is negative.
    base: (Timestamp, Instant),
    /// Milliseconds of the clock that advances only when read, and the last trace id.
    steps: Option<(AtomicU64, AtomicU64)>,
}

impl Default for Source {
    fn default() -> Source {
        Source {
            next_trace: Mutex::new(fastrand::Rng::new()),
            // Random start, so that spans of different tracers rarely share an id.
            next_span: AtomicU32::new(fastrand::u32(1..)),
            base: (Timestamp::now(), Instant::now()),
            steps: None,
        }
    }
}

impl Source {
    fn deterministic() -> Source {
        Source {
            next_span: AtomicU32::new(1),
            // 2030-01-01T00:00:00Z, so that such a trace is not mistaken for a real one.
            base: (Timestamp::new(1_893_456_000, 0).unwrap_or_default(), Instant::now()),
            steps: Some((AtomicU64::new(0), AtomicU64::new(0))),
            ..Source::default()
        }
    }

    fn is_deterministic(&self) -> bool {
        self.steps.is_some()
    }

    fn now(&self) -> Timestamp {
        let (base, started) = self.base;
        let passed = match &self.steps {
            Some((clock, _)) => Duration::from_millis(clock.fetch_add(1, Ordering::Relaxed)),
            None => started.elapsed(),
        };
        SignedDuration::try_from(passed).ok().and_then(|passed| base.checked_add(passed).ok()).unwrap_or(base)
    }

    fn trace_id(&self) -> TraceId {
        match &self.steps {
            Some((_, last)) => TraceId(u128::from(last.fetch_add(1, Ordering::Relaxed) + 1)),
            None => TraceId(self.next_trace.lock().unwrap_or_else(PoisonError::into_inner).u128(1..)),
        }
    }

    fn span_id(&self) -> SpanId {
        match self.next_span.fetch_add(1, Ordering::Relaxed) {
            // Zero means that there is no span.
            0 => self.span_id(),
            id => SpanId(id),
        }
    }
}
