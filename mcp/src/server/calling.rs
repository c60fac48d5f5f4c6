//! Options of a tool call in addition to the tool and its arguments.

use crate::client::Capabilities;
use crate::connection::Flight;
use crate::frame::{Request, RpcError};
use crate::protocol::{META_CAPABILITIES, META_LOG_LEVEL, META_REQUEST_KEY, Revision};
use crate::spans;
use serde_json::{Map, Value, json};
use std::convert::Infallible;
use std::time::{Duration, Instant};

/// Interval of progress notifications to clients that want them.
const TICK: Duration = Duration::from_millis(250);

/// A call in progress.
pub struct Calling<'f> {
    pub flight: &'f Flight,
    pub revision: Revision,
    pub capabilities: Capabilities,
    /// Trace that the call belongs to, according to its client.
    pub traceparent: Option<String>,
    /// Key of the request, by which it is recognised when its client repeats it.
    pub request_key: Option<Value>,
    /// Token for progress notifications.
    progress: Option<Value>,
    /// Lowest level of log messages that the client wants.
    log_level: Option<Level>,
    began: Instant,
}

/// A person's answers, sent when a call is made again.
pub struct Answers {
    pub state: String,
    pub responses: Map<String, Value>,
}

impl<'f> Calling<'f> {
    /// Reads the options of a call. Clients get log messages only where the server offers them (`has_log`), whatever
    /// level they ask for.
    pub fn new(request: &Request, revision: Revision, flight: &'f Flight, has_log: bool) -> Calling<'f> {
        let connection = flight.connection();
        let capabilities = match revision.is_modern() {
            true => Capabilities::read(request.meta(META_CAPABILITIES)),
            false => connection.capabilities(),
        };
        let log_level = match revision.is_modern() {
            true => request.meta(META_LOG_LEVEL).and_then(Value::as_str).and_then(Level::from_name),
            false => connection.log_level(),
        };
        let token = request.meta("progressToken").filter(|token| token.is_string() || token.is_number());
        Calling {
            flight,
            revision,
            capabilities,
            traceparent: request.meta("traceparent").and_then(Value::as_str).map(str::to_string),
            request_key: request.meta(META_REQUEST_KEY).cloned(),
            progress: token.cloned(),
            log_level: log_level.filter(|_| has_log),
            began: Instant::now(),
        }
    }

    /// Returns the trace context for calls to servers.
    pub fn traceparent(&self) -> Option<String> {
        spans::traceparent().or_else(|| self.traceparent.clone())
    }

    /// Sends progress notifications while polled. `state` describes the progress.
    pub async fn report(&self, total: Duration, state: impl Fn() -> String) -> Infallible {
        let Some(token) = &self.progress else { return std::future::pending().await };
        loop {
            // Progress must increase with each notification, and the time does.
            let progress = self.began.elapsed().as_millis() as u64;
            let params = json!({
                "progressToken": token,
                "progress": progress,
                "total": progress.max(total.as_millis() as u64),
                "message": state(),
            });
            self.flight.client().tell("notifications/progress", params);
            tokio::time::sleep(TICK).await;
        }
    }

    /// Sends a log message that the call has ended, if the client wants it: tool and outcome, without payloads.
    pub fn log(&self, tool: &str, reason: Option<&str>) {
        let level = if reason.is_some() { Level::Warning } else { Level::Info };
        if self.log_level.is_none_or(|wanted| level < wanted) {
            return;
        }
        let mut data = json!({
            "event": "tools/call",
            "tool": tool,
            "status": if reason.is_some() { "error" } else { "ok" },
            "duration_ms": self.began.elapsed().as_millis() as u64,
        });
        if let Some(reason) = reason {
            data["reason"] = json!(reason);
        }
        let params = json!({"level": level.name(), "logger": crate::protocol::SERVER_NAME, "data": data});
        self.flight.client().tell("notifications/message", params);
    }
}

impl Answers {
    /// Takes the answers out of the parameters of a call that is made again; None for a new call.
    pub fn take(params: &mut Map<String, Value>) -> Result<Option<Answers>, RpcError> {
        let wrong = |message: &str| {
            Err(RpcError::new(RpcError::INVALID_PARAMS, format!("Invalid params: {message}")))
        };
        let responses = match params.remove("inputResponses") {
            None | Some(Value::Null) => Map::new(),
            Some(Value::Object(responses)) => responses,
            Some(_) => return wrong("`inputResponses` must be an object"),
        };
        match params.remove("requestState") {
            // Answers without a question are ignored.
            None | Some(Value::Null) => Ok(None),
            Some(Value::String(state)) => Ok(Some(Answers { state, responses })),
            Some(_) => wrong("`requestState` must be a string"),
        }
    }
}

/// Level of a log message to a client; the eight names of the protocol are reduced to these.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Level {
    Debug,
    Info,
    Warning,
    Error,
}

impl Level {
    /// Reads a level name of RFC 5424.
    pub fn from_name(name: &str) -> Option<Level> {
        match name {
            "debug" => Some(Level::Debug),
            "info" | "notice" => Some(Level::Info),
            "warning" => Some(Level::Warning),
            "error" | "critical" | "alert" | "emergency" => Some(Level::Error),
            _ => None,
        }
    }

    fn name(self) -> &'static str {
        match self {
            Level::Debug => "debug",
            Level::Info => "info",
            Level::Warning => "warning",
            Level::Error => "error",
        }
    }
}
