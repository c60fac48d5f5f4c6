//! Missions as streams: events as they happen, and the result at the end.

use super::blocking::{block_on, entered};
use super::step::{Step, TurnKind};
use super::{RunOptions, Runnable};
use crate::trace::{Event, Kind, SpanId, Subscriber};
use futures_util::Stream;
use serde_json::Value;
use std::collections::VecDeque;
use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

/// Maximum events, and approximate bytes of them, that wait for the reader. A mission only continues when all have been
/// read, so they are the events of a single step.
const MAX_EVENTS: usize = 1024;
const MAX_BYTES: usize = 4 << 20;

/// An event in a mission, or in one of its child missions.
#[derive(Clone, Debug)]
pub struct MissionEvent {
    /// Number of agents above the one that the event concerns.
    pub depth: u32,
    /// Name of that agent.
    pub agent: Option<Arc<str>>,
    /// Number of the turn, from 1.
    pub turn: Option<u32>,
    /// Span of the trace: a tool call and its result share one.
    pub span: SpanId,
    /// Kind of event, with its data.
    pub kind: MissionEventKind,
}

/// The kind of an event in a mission. As in traces, firewalled values are hidden; only the final step has them.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum MissionEventKind {
    /// A turn begins: the model is asked.
    TurnBegan(TurnKind),
    /// More text of the model's reply; unread pieces are joined. A model that does not stream gives all text at once.
    Text(String),
    /// The reply begins again, perhaps because it broke off: discard its text so far.
    TextRestarted,
    /// A program is about to run.
    Program(String),
    /// A tool is called.
    ToolCalled {
        /// Name of the tool.
        name: String,
        /// Arguments; of large ones, the beginning of their printed form.
        args: Value,
    },
    /// A tool has returned a result or failed.
    ToolAnswered {
        /// Name of the tool.
        name: String,
        /// Answer or error; of a large answer, the beginning of its printed form.
        answer: Result<Value, String>,
        /// Flag: the answer was known from an earlier call.
        is_cached: bool,
    },
    /// A program has ended after printing these lines.
    Printed(Vec<String>),
    /// A value did not fit, but the mission continued.
    Warning(String),
    /// The model gets this feedback on its turn.
    Feedback(String),
    /// A turn has ended.
    TurnEnded {
        /// Flag: the turn succeeded.
        is_success: bool,
        /// Beginning of the result or error.
        result: Option<String>,
    },
    /// This many events were left out, because too many came at once.
    Omitted(u64),
    /// The mission has ended, as the last event of the stream.
    Ended(Result<Box<Step>, Box<Step>>),
}

/// Starts a watched mission: returns a stream of its events, the last of which is [`MissionEventKind::Ended`].
///
/// The mission only continues while the stream is read: a slow reader holds it back, while its timeouts keep running. So
/// memory holds at most the events of one step, and of those at most 1024 events and about 4 MiB; then
/// [`MissionEventKind::Omitted`] counts the missing ones. Dropping the stream ends the mission and everything it
/// started. Any executor will do; programs compute on the thread that polls unless [`RunOptions::schedule`] says
/// otherwise. Models are asked for replies in pieces, also where they may call tools.
///
/// ```
/// use ptc_agent::{mission::{stream, MissionEventKind}, tools::{LlmRef, Tool}, Agent, RunOptions};
/// use ptc_model::Scripted;
/// let agent = Agent::builder().prompt("Tea?").tool(Tool::new("price", |_, _| Ok(3))).build()?;
/// let model = Scripted::new(["(return (tool/price {}))"]);
/// let mut events = stream(agent, RunOptions::new().llm(LlmRef::client(model)));
/// let mut seen = Vec::new();
/// # tokio::runtime::Builder::new_current_thread().enable_time().build()?.block_on(async {
/// while let Some(event) = events.next().await {
///     match event.kind {
///         MissionEventKind::Text(text) => seen.push(text),
///         MissionEventKind::ToolAnswered { name, answer, .. } => seen.push(format!("{name} = {}", answer.unwrap())),
///         MissionEventKind::Ended(step) => seen.push(step.unwrap().json().unwrap().to_string()),
///         _ => {}
///     }
/// }
/// # });
/// assert_eq!(seen, ["(return (tool/price {}))", "price = 3", "3"]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn stream(agent: impl Runnable + Send + 'static, mut options: RunOptions) -> MissionStream {
    let waiting = Arc::new(Waiting::default());
    options.tracer = options.tracer.with(waiting.clone());
    let mission = Box::pin(async move { agent.start(&options).await });
    MissionStream { mission: Some(mission), waiting }
}

type Ending = Result<Step, Box<Step>>;

/// Stream of the events of a mission: see [`stream`].
#[must_use = "a mission does nothing until its stream is read"]
pub struct MissionStream {
    /// Running mission; None after its end.
    mission: Option<Pin<Box<dyn Future<Output = Ending> + Send>>>,
    waiting: Arc<Waiting>,
}

impl MissionStream {
    /// Returns the next event; None after the last one. The crate `futures` offers more ways to read a stream.
    pub async fn next(&mut self) -> Option<MissionEvent> {
        std::future::poll_fn(|context| Pin::new(&mut *self).poll_next(context)).await
    }

    /// Returns the events as an iterator for a thread that blocks on each of them.
    ///
    /// ```
    /// use ptc_agent::{mission::{stream, MissionEventKind}, tools::LlmRef, Agent, RunOptions};
    /// let agent = Agent::builder().prompt("Count").build()?;
    /// let options = RunOptions::new().llm(LlmRef::client(ptc_model::Scripted::new(["(return 7)"])));
    /// let last = stream(agent, options).blocking().last().unwrap();
    /// assert!(matches!(last.kind, MissionEventKind::Ended(Ok(step)) if step.get::<i64>().unwrap() == 7));
    /// # Ok::<(), ptc_agent::BuildError>(())
    /// ```
    pub fn blocking(mut self) -> impl Iterator<Item = MissionEvent> + Send {
        std::iter::from_fn(move || match block_on(self.next()) {
            Ok(event) => event,
            Err(step) => self.mission.take().map(|_| ended(Err(step))),
        })
    }
}

impl Stream for MissionStream {
    type Item = MissionEvent;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<MissionEvent>> {
        if let Some(event) = self.waiting.pop() {
            return Poll::Ready(Some(event));
        }
        let this = &mut *self;
        let Some(mission) = &mut this.mission else { return Poll::Ready(None) };
        let _entered = match entered() {
            Ok(entered) => entered,
            Err(step) => {
                this.mission = None;
                return Poll::Ready(Some(ended(Err(step))));
            }
        };
        match mission.as_mut().poll(context) {
            Poll::Ready(end) => {
                this.mission = None;
                this.waiting.events().queue.push_back((0, ended(end)));
                Poll::Ready(this.waiting.pop())
            }
            Poll::Pending => this.waiting.pop_or_wait(context).map(Some),
        }
    }
}

impl std::fmt::Debug for MissionStream {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("MissionStream").field("has_ended", &self.mission.is_none()).finish()
    }
}

fn ended(end: Ending) -> MissionEvent {
    let step = match &end {
        Ok(step) => step,
        Err(step) => step,
    };
    MissionEvent {
        depth: 0,
        agent: step.name.as_deref().map(Arc::from),
        turn: None,
        span: SpanId::default(),
        kind: MissionEventKind::Ended(end.map(Box::new)),
    }
}

/// Events that wait for the reader.
#[derive(Default)]
struct Waiting(Mutex<Events>);

#[derive(Default)]
struct Events {
    /// Events, each with its approximate bytes.
    queue: VecDeque<(usize, MissionEvent)>,
    bytes: usize,
    /// Waker of a reader that found nothing, while others may emit events.
    reader: Option<Waker>,
}

impl Waiting {
    fn events(&self) -> MutexGuard<'_, Events> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn pop(&self) -> Option<MissionEvent> {
        self.events().pop()
    }

    fn pop_or_wait(&self, context: &Context<'_>) -> Poll<MissionEvent> {
        let mut events = self.events();
        match events.pop() {
            Some(event) => Poll::Ready(event),
            None => {
                events.reader = Some(context.waker().clone());
                Poll::Pending
            }
        }
    }
}

impl Events {
    fn pop(&mut self) -> Option<MissionEvent> {
        self.reader = None;
        let (bytes, event) = self.queue.pop_front()?;
        self.bytes -= bytes;
        Some(event)
    }

    /// Adds an event. The caller wakes the reader after releasing all locks, since it may read at once on this thread.
    #[must_use]
    fn push(&mut self, bytes: usize, event: MissionEvent) -> Option<Waker> {
        // Unread text is joined.
        if let MissionEventKind::Text(more) = &event.kind
            && let Some((known, MissionEvent { span, kind: MissionEventKind::Text(text), .. })) =
                self.queue.back_mut()
            && *span == event.span
            && self.bytes + bytes <= MAX_BYTES
        {
            text.push_str(more);
            *known += bytes;
            self.bytes += bytes;
        } else if self.queue.is_empty() || self.queue.len() < MAX_EVENTS && self.bytes + bytes <= MAX_BYTES {
            self.bytes += bytes;
            self.queue.push_back((bytes, event));
        } else {
            self.omit(event);
        }
        self.reader.take()
    }

    /// Counts an omitted event, at its place in the queue.
    fn omit(&mut self, event: MissionEvent) {
        match self.queue.back_mut() {
            Some((_, MissionEvent { kind: MissionEventKind::Omitted(count), .. })) => *count += 1,
            _ => self.queue.push_back((0, MissionEvent { kind: MissionEventKind::Omitted(1), ..event })),
        }
    }
}

impl Subscriber for Waiting {
    fn event(&self, event: &Event) {
        let Some(kind) = MissionEventKind::of(event) else { return };
        let made = MissionEvent {
            depth: event.depth,
            agent: event.agent_name.clone(),
            turn: event.turn,
            span: event.span,
            kind,
        };
        let reader = self.events().push(made.kind.bytes(), made);
        if let Some(reader) = reader {
            reader.wake();
        }
    }

    fn is_live(&self) -> bool {
        true
    }
}

impl MissionEventKind {
    /// Converts an event of a trace; None if it adds nothing new.
    fn of(event: &Event) -> Option<MissionEventKind> {
        let text = |key: &str| event.data.get(key).and_then(Value::as_str).map(str::to_string);
        let name = || event.tool_name.clone().unwrap_or_default();
        let value = |key: &str| event.data.get(key).cloned().unwrap_or_default();
        Some(match event.kind {
            Kind::TurnStart => {
                let kind = value("type");
                MissionEventKind::TurnBegan(serde_json::from_value(kind).unwrap_or_default())
            }
            Kind::LlmPiece => match text("text") {
                Some(text) => MissionEventKind::Text(text),
                None => MissionEventKind::TextRestarted,
            },
            Kind::Program => MissionEventKind::Program(text("program")?),
            Kind::ToolStart => MissionEventKind::ToolCalled { name: name(), args: value("args") },
            Kind::ToolCall => MissionEventKind::ToolAnswered {
                name: name(),
                answer: text("error").map_or_else(|| Ok(value("result")), Err),
                is_cached: value("cached") == Value::Bool(true),
            },
            Kind::Prints => {
                MissionEventKind::Printed(serde_json::from_value(value("prints")).unwrap_or_default())
            }
            Kind::ValidationWarning => MissionEventKind::Warning(text("message")?),
            Kind::Feedback => MissionEventKind::Feedback(text("text")?),
            Kind::TurnStop => MissionEventKind::TurnEnded {
                is_success: value("success") == Value::Bool(true),
                result: text("result_preview"),
            },
            _ => return None,
        })
    }

    /// Estimates the memory of its texts. Values are cut to 16 KiB where they are recorded.
    fn bytes(&self) -> usize {
        match self {
            MissionEventKind::Text(text)
            | MissionEventKind::Program(text)
            | MissionEventKind::Warning(text)
            | MissionEventKind::Feedback(text) => text.len(),
            MissionEventKind::Printed(lines) => lines.iter().map(|line| line.len() + 24).sum(),
            MissionEventKind::ToolCalled { .. } | MissionEventKind::ToolAnswered { .. } => 16 << 10,
            MissionEventKind::TurnEnded { result, .. } => result.as_ref().map_or(0, String::len),
            _ => 0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trace::{AgentLabel, Tracer};
    use std::sync::atomic::{AtomicBool, Ordering};
    use std::task::Wake;

    /// Reader that reads as soon as it is woken, on the waking thread.
    struct Eager(Arc<Waiting>, AtomicBool);

    impl Wake for Eager {
        fn wake(self: Arc<Self>) {
            let is_free = self.0.0.try_lock().is_ok();
            self.1.store(is_free && self.0.pop().is_some(), Ordering::Relaxed);
        }
    }

    #[test]
    fn a_reader_may_read_where_it_is_woken() {
        let waiting = Arc::new(Waiting::default());
        let reader = Arc::new(Eager(waiting.clone(), AtomicBool::new(false)));
        let waker = Waker::from(reader.clone());
        assert!(waiting.pop_or_wait(&Context::from_waker(&waker)).is_pending());
        let scope = Tracer::new().with(waiting).mission(AgentLabel::new(None, "a"), None);
        scope.emit(Kind::Feedback, |event| event.put("text", "Go on."));
        assert!(reader.1.load(Ordering::Relaxed), "the lock was held");
    }
}
