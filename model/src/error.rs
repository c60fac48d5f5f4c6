//! Why there is no reply.

use serde::{Deserialize, Serialize};
use std::fmt;
use std::time::Duration;

/// What kind of failure.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ErrorKind {
    /// Too many requests: status 429.
    RateLimit,
    /// The provider failed: status 5xx.
    ServerError,
    /// The reply took too long.
    Timeout,
    /// The connection failed, or ended before the reply did.
    Network,
    /// The provider refused the request: another status 4xx.
    ClientError,
    /// The code of a client panicked.
    Exception,
    /// The reply is none that can be read, or larger than allowed.
    BadReply,
    /// The client cannot do what was asked of it.
    Unsupported,
    /// There is no such model.
    ModelNotFound,
    /// No model was given.
    LlmRequired,
    /// The provider needs a key, and there is none.
    MissingKey,
    /// Anything else.
    Unknown,
}

impl ErrorKind {
    /// The name by which `retryable_errors` picks failures.
    pub fn class(self) -> &'static str {
        match self {
            ErrorKind::RateLimit => "rate_limit",
            ErrorKind::ServerError => "server_error",
            ErrorKind::Timeout | ErrorKind::Network => "timeout",
            ErrorKind::ClientError | ErrorKind::Unsupported | ErrorKind::MissingKey => "client_error",
            ErrorKind::Exception => "exception",
            ErrorKind::BadReply | ErrorKind::ModelNotFound | ErrorKind::LlmRequired | ErrorKind::Unknown => {
                "unknown"
            }
        }
    }

    /// The reason with which a mission ends.
    pub fn reason(self) -> &'static str {
        match self {
            ErrorKind::ModelNotFound => "model_not_found",
            ErrorKind::LlmRequired => "llm_required",
            _ => "llm_error",
        }
    }

    /// Whether asking again could help with failures of this kind.
    pub fn may_pass(self) -> bool {
        !matches!(
            self,
            ErrorKind::Unsupported
                | ErrorKind::ModelNotFound
                | ErrorKind::LlmRequired
                | ErrorKind::MissingKey
        )
    }

    /// The kind of an HTTP status.
    pub fn of_status(status: u16) -> ErrorKind {
        match status {
            429 => ErrorKind::RateLimit,
            408 => ErrorKind::Timeout,
            400..=499 => ErrorKind::ClientError,
            500..=599 => ErrorKind::ServerError,
            _ => ErrorKind::Unknown,
        }
    }
}

/// The classes of failures: what `retryable_errors` may name.
pub const CLASSES: [&str; 6] =
    ["rate_limit", "server_error", "timeout", "client_error", "exception", "unknown"];

/// Names that providers have for failures that do not pass.
const FINAL_CAUSES: [&str; 7] = [
    "invalid_request_error",
    "authentication_error",
    "permission_error",
    "not_found_error",
    "billing_error",
    "invalid_api_key",
    "insufficient_quota",
];

/// Why there is no reply. Holds no keys.
///
/// ```
/// use ptc_model::{ErrorKind, LlmError};
/// let error = LlmError::new(ErrorKind::RateLimit, "slow down").status(429);
/// assert_eq!(error.to_string(), "llm_error: slow down (rate_limit, status 429)");
/// assert_eq!(LlmError::from("no idea").kind, ErrorKind::Unknown);
/// ```
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LlmError {
    /// What kind of failure.
    pub kind: ErrorKind,
    /// What happened, and what would help.
    pub message: String,
    /// The HTTP status, if there was one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<u16>,
    /// What the provider, or the registry, calls it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cause: Option<String>,
    /// How long the provider wants to be left alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retry_after: Option<Duration>,
    /// How many requests failed before this one.
    #[serde(skip)]
    pub retries: u32,
}

impl LlmError {
    /// Of this kind, with this message.
    pub fn new(kind: ErrorKind, message: impl Into<String>) -> LlmError {
        LlmError { kind, message: message.into(), status: None, cause: None, retry_after: None, retries: 0 }
    }

    /// The same with an HTTP status.
    #[must_use]
    pub fn status(mut self, status: u16) -> LlmError {
        self.status = Some(status);
        self
    }

    /// The same with the name that the provider or the registry has for it.
    #[must_use]
    pub fn cause(mut self, cause: impl Into<String>) -> LlmError {
        self.cause = Some(cause.into());
        self
    }

    /// The same with a time to wait.
    #[must_use]
    pub fn retry_after(mut self, wait: Duration) -> LlmError {
        self.retry_after = Some(wait);
        self
    }

    /// The name by which `retryable_errors` picks it.
    pub fn class(&self) -> &'static str {
        self.kind.class()
    }

    /// The reason with which a mission ends.
    pub fn reason(&self) -> &'static str {
        self.kind.reason()
    }

    /// Whether asking the same again could help. What the provider refused as wrong, unauthorised or unknown stays so,
    /// as does a quota that is used up.
    ///
    /// ```
    /// use ptc_model::{ErrorKind, LlmError};
    /// assert!(LlmError::new(ErrorKind::ServerError, "down").status(503).may_pass());
    /// assert!(!LlmError::new(ErrorKind::ClientError, "wrong key").status(401).may_pass());
    /// ```
    pub fn may_pass(&self) -> bool {
        let is_final_status = matches!(self.status, Some(400..=407 | 410..=417 | 422 | 431 | 451));
        // Errors within a stream have a name and no status.
        let is_final_cause = self.cause.as_deref().is_some_and(|cause| FINAL_CAUSES.contains(&cause));
        self.kind.may_pass() && !is_final_status && !is_final_cause
    }

    pub(crate) fn unsupported(message: impl Into<String>) -> LlmError {
        LlmError::new(ErrorKind::Unsupported, message)
    }
}

impl fmt::Display for LlmError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.reason(), self.message)?;
        match (self.reason(), self.status) {
            ("llm_error", Some(status)) => write!(f, " ({}, status {status})", self.class()),
            ("llm_error", None) => write!(f, " ({})", self.class()),
            _ => Ok(()),
        }
    }
}

impl std::error::Error for LlmError {}

impl From<String> for LlmError {
    fn from(message: String) -> LlmError {
        LlmError::new(ErrorKind::Unknown, message)
    }
}

impl From<&str> for LlmError {
    fn from(message: &str) -> LlmError {
        LlmError::from(message.to_string())
    }
}
