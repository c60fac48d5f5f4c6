//! What can go wrong with a server. Programs see it as `{:ok false :reason … :message …}` and go on.

use std::fmt;

/// Why a call gave nothing, as the program is told.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Reason {
    /// It could not be started or reached, or it has crashed and is not yet to be started again.
    UpstreamUnavailable,
    /// It answered with an error of the protocol, or with something that is no answer.
    UpstreamError,
    /// The tool itself says that it failed.
    ToolError,
    /// It does not take our credential.
    AuthFailed,
    /// It wants to be asked less often.
    RateLimited,
    /// No answer within the time a call may take.
    Timeout,
    /// More bytes than an answer may have; they were counted before anything was decoded.
    ResponseTooLarge,
    /// The program has made all the calls it may make.
    CapExhausted,
    /// It needed a person's approval and did not get it.
    ApprovalDenied,
    /// The run this call belongs to is over.
    RunContextClosed,
}

impl Reason {
    /// The keyword programs compare with.
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
        }
    }
}

/// A world fault: nobody's mistake in the program, so it is a value there and not an error.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Fault {
    /// Which kind.
    pub reason: Reason,
    /// What happened, in words. Not yet scrubbed of secrets: whoever lets it out does that.
    pub message: String,
    /// The status of an answer over HTTP.
    pub http_status: Option<u16>,
    /// How many bytes had arrived.
    pub wire_bytes: u64,
}

impl Fault {
    /// A fault that knows no more than this.
    ///
    /// ```
    /// use ptc_upstream::{Fault, Reason};
    /// let fault = Fault::new(Reason::Timeout, "no answer within 5000 ms");
    /// assert_eq!(fault.to_string(), "timeout: no answer within 5000 ms");
    /// ```
    pub fn new(reason: Reason, message: impl Into<String>) -> Fault {
        Fault { reason, message: message.into(), http_status: None, wire_bytes: 0 }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.reason.name(), self.message)
    }
}

impl std::error::Error for Fault {}
