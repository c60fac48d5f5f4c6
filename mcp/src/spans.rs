//! Spans of requests and calls, for collectors: tool, duration and outcome. They contain names and reasons, but
//! never programs or data.
//!
//! Spans cost nothing unless there is a collector ([`crate::otlp`]).

use crate::otlp::{adopt, name_of};
use crate::protocol::Revision;
use crate::reason::Reason;
use tracing::field::Empty;
use tracing::{Span, info_span};

/// Creates the span of an HTTP request, which may name its own parent.
pub fn request(method: &str, traceparent: Option<&str>) -> Span {
    let span = info_span!(
        "http.request",
        otel.kind = "server",
        "http.request.method" = method,
        "http.response.status_code" = Empty,
    );
    adopt(&span, traceparent);
    span
}

/// Creates the span of a tool call, below the parent that its client names or else the request's span.
pub fn call(tool: &str, revision: Revision, traceparent: Option<&str>) -> Span {
    let span = info_span!(
        "mcp.call",
        otel.kind = "server",
        otel.status_code = Empty,
        "mcp.method.name" = "tools/call",
        "mcp.protocol.version" = revision.name(),
        "gen_ai.tool.name" = tool,
        "error.type" = Empty,
    );
    adopt(&span, traceparent);
    span
}

/// Creates the span of a session tool (`session.eval`, `session.start` and so on); other tools have none.
pub fn part(tool: &str) -> Span {
    match tool.strip_prefix("lisp_session_") {
        Some(verb) => info_span!("session", otel.name = format!("session.{verb}")),
        None => Span::none(),
    }
}

/// Creates the span of a stretch of a program: from its start or resumption until it ends or waits for a person.
pub fn execute() -> Span {
    info_span!("lisp.execute")
}

/// Records the outcome of a call.
pub fn ended(call: &Span, reason: Option<Reason>) {
    if let Some(reason) = reason {
        call.record("error.type", reason.name());
        call.record("otel.status_code", "ERROR");
    }
}

/// Returns the W3C `traceparent` of the current span; None if spans are not collected.
pub fn traceparent() -> Option<String> {
    let span = Span::current();
    if span.is_disabled() { None } else { name_of(&span) }
}
