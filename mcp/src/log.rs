//! The log: one JSON object per line on stderr, `{"ts", "level", "event", "request_id"?, "fields"?}`.

use crate::otlp::Exporter;
use crate::settings::LogLevel;
use ptc_agent::trace::Timestamp;
use ptc_upstream::redact::Redactor;
use serde_json::{Map, Value, json};
use std::fmt;
use std::io::Write;
use std::sync::{Arc, OnceLock};
use tracing::field::{Field, Visit};
use tracing::{Event, Level, Subscriber};
use tracing_subscriber::filter::filter_fn;
use tracing_subscriber::layer::{Context, Layer, SubscriberExt};
use tracing_subscriber::registry::LookupSpan;

/// The redactor of a log. Set once it is known: the log begins before upstream servers are started, so that it tells
/// how they start. Until then only this project's own words and scrubbed output of servers are logged.
#[derive(Clone, Default)]
pub struct LateRedactor(Arc<OnceLock<Arc<Redactor>>>);

impl LateRedactor {
    /// Sets the redactor; only the first one counts.
    pub fn set(&self, redactor: Arc<Redactor>) {
        let _ = self.0.set(redactor);
    }
}

impl From<Option<Arc<Redactor>>> for LateRedactor {
    fn from(redactor: Option<Arc<Redactor>>) -> LateRedactor {
        let late = LateRedactor::default();
        redactor.into_iter().for_each(|redactor| late.set(redactor));
        late
    }
}

/// Creates a subscriber that logs events of this project from a level on, through `write`. Events of libraries
/// are left out, because some contain arguments.
pub fn subscriber(
    level: LogLevel,
    redactor: impl Into<LateRedactor>,
    write: impl Fn(&str) + Send + Sync + 'static,
) -> impl Subscriber + for<'span> LookupSpan<'span> + Send + Sync {
    let level = match level {
        LogLevel::Debug => Level::DEBUG,
        LogLevel::Info => Level::INFO,
        LogLevel::Warn => Level::WARN,
        LogLevel::Error => Level::ERROR,
    };
    let lines = Lines { level, redactor: redactor.into(), write: Box::new(write) };
    // Spans are left to subscribers that need them; if there is none, they cost nothing.
    tracing_subscriber::registry().with(lines.with_filter(filter_fn(|about| about.is_event())))
}

/// Installs a log for the whole process, and passes spans to the exporter if there is one.
pub fn install(
    log: impl Subscriber + for<'span> LookupSpan<'span> + Send + Sync,
    exporter: Option<&Exporter>,
) {
    // Fails if one is installed already, which can happen only if the server is embedded; that one then stays.
    let _ = match exporter {
        Some(exporter) => tracing::subscriber::set_global_default(log.with(exporter.layer())),
        None => tracing::subscriber::set_global_default(log),
    };
}

/// Writes a line to stderr; a failure cannot be reported anywhere.
pub fn to_stderr(line: &str) {
    let _ = writeln!(std::io::stderr().lock(), "{line}");
}

struct Lines {
    level: Level,
    redactor: LateRedactor,
    write: Box<dyn Fn(&str) + Send + Sync>,
}

impl<S: Subscriber> Layer<S> for Lines {
    fn on_event(&self, event: &Event<'_>, _: Context<'_, S>) {
        let about = event.metadata();
        if *about.level() > self.level || !about.target().starts_with("ptc_") {
            return;
        }
        let mut fields = Fields::default();
        event.record(&mut fields);
        let mut line = json!({
            "ts": Timestamp::now().to_string(),
            "level": about.level().as_str().to_lowercase(),
            "event": fields.event,
        });
        if let Some(id) = fields.rest.remove("request_id") {
            line["request_id"] = id;
        }
        if !fields.rest.is_empty() {
            line["fields"] = Value::Object(fields.rest);
        }
        if let Some(redactor) = self.redactor.0.get() {
            line = redactor.scrub_json(line);
        }
        (self.write)(&line.to_string());
    }
}

#[derive(Default)]
struct Fields {
    event: String,
    rest: Map<String, Value>,
}

impl Fields {
    fn put(&mut self, field: &Field, value: Value) {
        match (field.name(), value) {
            ("message", Value::String(text)) => self.event = text,
            (name, value) => {
                self.rest.insert(name.to_string(), value);
            }
        }
    }
}

impl Visit for Fields {
    fn record_u64(&mut self, field: &Field, value: u64) {
        self.put(field, json!(value));
    }

    fn record_i64(&mut self, field: &Field, value: i64) {
        self.put(field, json!(value));
    }

    fn record_f64(&mut self, field: &Field, value: f64) {
        self.put(field, json!(value));
    }

    fn record_bool(&mut self, field: &Field, value: bool) {
        self.put(field, json!(value));
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        self.put(field, json!(value));
    }

    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        self.put(field, json!(format!("{value:?}")));
    }
}
