//! Spans of what is done for a client, for whoever collects them: which tool, how long, how it ended. Names and reasons
//! are in them, programs and data never.
//!
//! Nothing is measured unless somebody listens ([`crate::otlp`]).

use crate::otlp::{adopt, name_of};
use crate::protocol::Revision;
use crate::reason::Reason;
use tracing::field::Empty;
use tracing::{Span, info_span};

/// A request over HTTP, which may say itself what it is a part of.
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

/// One call of a tool; a part of what its client names, or else of the request it came with.
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

/// What a tool of sessions does (`session.eval`, `session.start` and so on); other tools have no part of their own.
pub fn part(tool: &str) -> Span {
    match tool.strip_prefix("lisp_session_") {
        Some(verb) => info_span!("session", otel.name = format!("session.{verb}")),
        None => Span::none(),
    }
}

/// A stretch of a program, from where it begins or goes on to where it ends or waits for a person.
pub fn execute() -> Span {
    info_span!("lisp.execute")
}

/// How a call ended.
pub fn ended(call: &Span, reason: Option<Reason>) {
    if let Some(reason) = reason {
        call.record("error.type", reason.name());
        call.record("otel.status_code", "ERROR");
    }
}

/// The name of the span we are in, as others are told it; None if nobody collects spans.
pub fn traceparent() -> Option<String> {
    let span = Span::current();
    if span.is_disabled() { None } else { name_of(&span) }
}
