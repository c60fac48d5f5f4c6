//! Traces: the events of a mission, turn by turn.
//!
//! A [`Tracer`] has subscribers. A mission asks it for a [`Scope`], emits its events there, and makes a child scope for
//! everything that takes time: a turn, a request, a tool, a child agent. Firewalled values are removed from each
//! [`Event`] before any subscriber sees it.
//!
//! ```
//! use ptc_agent::trace::{AgentLabel, Event, Kind, Tracer};
//! use std::sync::{Arc, Mutex};
//! let seen = Arc::new(Mutex::new(Vec::new()));
//! let names = seen.clone();
//! let tracer = Tracer::new().with(move |event: &Event| names.lock().unwrap().push(event.kind.name()));
//!
//! let mission = tracer.mission(AgentLabel::new(Some("triage"), "c0ffee12"), None);
//! mission.emit(Kind::RunStart, |event| {
//!     event.data.insert("prompt".to_string(), "Count the orders".into());
//! });
//! let turn = mission.child();
//! turn.emit(Kind::TurnStart, |event| event.turn = Some(1));
//! turn.emit(Kind::TurnStop, |event| event.turn = Some(1));
//! mission.emit(Kind::RunStop, |event| event.status = Some("ok".to_string()));
//! drop((turn, mission));
//! assert_eq!(
//!     *seen.lock().unwrap(),
//!     ["trace.start", "run.start", "turn.start", "turn.stop", "run.stop", "trace.stop"],
//! );
//! ```

mod analyze;
mod chrome;
mod clean;
mod event;
mod file;
mod id;
mod line;
mod log;
mod memory;
#[cfg(feature = "otel")]
mod otel;
mod read;
mod record;
#[cfg(any(feature = "otel", feature = "tracing"))]
mod spans;
mod tracer;
#[cfg(feature = "tracing")]
mod tracing;
mod tree;
mod turns;

pub use analyze::{Analyzer, ModelUse, Summary, TimelineRow, ToolUse};
pub use event::{Event, Kind, Subscriber};
pub use file::{JsonLines, WriteReport};
pub use id::{NoId, SpanId, TraceId};
pub use jiff::Timestamp;
pub use line::{MAX_LINE, SCHEMA_VERSION, to_line};
pub use log::{LOG_TOOLS, TurnLog};
pub use memory::MemorySink;
#[cfg(feature = "otel")]
pub use otel::OpenTelemetry;
pub use read::{Problems, ReadError};
pub use record::{Recording, start, start_memory_sink, with_trace};
pub use tracer::{AgentLabel, Scope, Tracer};
#[cfg(feature = "tracing")]
pub use tracing::TracingSpans;
pub use tree::{Span, SpanKind, Tree};
pub use turns::{SessionRecord, TurnRecord};
