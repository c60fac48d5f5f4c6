//! Failures of servers. Programs see them as `{:ok false :reason … :message …}` and continue.

use std::fmt;

/// Reason for a failed call, as programs see it.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Reason {
    /// The server could not be started or reached, or crashed and is not to be restarted yet.
    UpstreamUnavailable,
    /// The server replied with a protocol error or an invalid reply.
    UpstreamError,
    /// The tool itself reports a failure.
    ToolError,
    /// The server rejects our credential.
    AuthFailed,
    /// The server limits the rate of requests.
    RateLimited,
    /// No reply within the time limit of the call.
    Timeout,
    /// The reply exceeds its size limit; bytes are counted before anything is decoded.
    ResponseTooLarge,
    /// The program has used up its budget of calls.
    CapExhausted,
    /// The call needed a person's approval and did not get it.
    ApprovalDenied,
    /// The run this call belongs to has ended.
    RunContextClosed,
    /// The call may have changed something, and its answer is not known. The ledger keeps it from being sent again.
    OutcomeUnknown,
}

impl Reason {
    /// Returns the keyword that programs compare with.
    pub fn name(self) -> &'static str {
        match self {
            Reason::UpstreamUnavailable => "upstream_unavailable",
            Reason::UpstreamError => "upstream_error",
            Reason::ToolError => "tool_error",
            Reason::AuthFailed => "auth_failed",
            Reason::RateLimited => "rate_limited",
            Reason::Timeout => "timeout",
            Reason::ResponseTooLarge => "response_too_large",
            Reason::CapExhausted => "cap_exhausted",
            Reason::ApprovalDenied => "approval_denied",
            Reason::RunContextClosed => "run_context_closed",
            Reason::OutcomeUnknown => "outcome-unknown",
        }
    }
}

/// A failure of the outside world. It is not the program's mistake, so the program gets a value instead of an error.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Fault {
    /// Reason of the failure.
    pub reason: Reason,
    /// Message, not yet scrubbed of secrets: code that passes it on must scrub it.
    pub message: String,
    /// HTTP status of the reply, if there was one.
    pub http_status: Option<u16>,
    /// Number of bytes received.
    pub wire_bytes: u64,
    /// True if nothing was sent for sure.
    pub is_unsent: bool,
}

impl Fault {
    /// Creates a fault without HTTP status and bytes.
    ///
    /// ```
    /// use ptc_upstream::{Fault, Reason};
    /// let fault = Fault::new(Reason::Timeout, "no reply within 5000 ms");
    /// assert_eq!(fault.to_string(), "timeout: no reply within 5000 ms");
    /// ```
    pub fn new(reason: Reason, message: impl Into<String>) -> Fault {
        Fault { reason, message: message.into(), http_status: None, wire_bytes: 0, is_unsent: false }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.reason.name(), self.message)
    }
}

impl std::error::Error for Fault {}
