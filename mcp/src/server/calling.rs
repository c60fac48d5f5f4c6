//! What a call of a tool says about itself, besides the tool and its arguments.

use crate::client::Capabilities;
use crate::connection::Flight;
use crate::frame::{Request, RpcError};
use crate::protocol::{META_CAPABILITIES, META_LOG_LEVEL, Revision};
use crate::spans;
use serde_json::{Map, Value, json};
use std::convert::Infallible;
use std::time::{Duration, Instant};

/// How often a client that wants to know is told how a call goes.
const TICK: Duration = Duration::from_millis(250);

/// A call that is under way.
pub struct Calling<'f> {
    pub flight: &'f Flight,
    pub revision: Revision,
    pub capabilities: Capabilities,
    /// What it is a part of, as its client says.
    pub traceparent: Option<String>,
    /// What its progress is reported under.
    progress: Option<Value>,
    /// The least important thing the client wants to hear.
    log_level: Option<Level>,
    began: Instant,
}

/// What a person has said, when a call is made again for that.
pub struct Answers {
    pub state: String,
    pub responses: Map<String, Value>,
}

impl<'f> Calling<'f> {
    pub fn new(request: &Request, revision: Revision, flight: &'f Flight) -> Calling<'f> {
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
            progress: token.cloned(),
            log_level,
            began: Instant::now(),
        }
    }

    /// What servers are told that their calls are a part of.
    pub fn traceparent(&self) -> Option<String> {
        spans::traceparent().or_else(|| self.traceparent.clone())
    }

    /// Tells the client how the call goes, for as long as it is polled. `state` says it in words.
    pub async fn report(&self, total: Duration, state: impl Fn() -> String) -> Infallible {
        let Some(token) = &self.progress else { return std::future::pending().await };
        loop {
            // It has to grow each time, and the time does.
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

    /// Tells the client that the call is over, if it wants to hear such things: what was called and how it went, no payloads.
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
    /// What a client sends along when it makes a call again; None if it is a new one.
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
            // Answers to nothing that was asked are nobody's loss.
            None | Some(Value::Null) => Ok(None),
            Some(Value::String(state)) => Ok(Some(Answers { state, responses })),
            Some(_) => wrong("`requestState` must be a string"),
        }
    }
}

/// How important a message to a client is; of the eight names there are, those we tell apart.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Level {
    Debug,
    Info,
    Warning,
    Error,
}

impl Level {
    /// As RFC 5424 has them.
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
