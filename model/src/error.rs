//! Errors of model calls.

use serde::{Deserialize, Serialize};
use std::fmt;
use std::time::Duration;

/// The kind of failure of a model call.
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
    /// The reply cannot be read, or is larger than allowed.
    BadReply,
    /// The client does not support the request.
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
    /// Returns the class by which `retryable_errors` selects failures.
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

    /// Returns the reason with which a mission ends.
    pub fn reason(self) -> &'static str {
        match self {
            ErrorKind::ModelNotFound => "model_not_found",
            ErrorKind::LlmRequired => "llm_required",
            _ => "llm_error",
        }
    }

    /// Returns whether a retry could help with failures of this kind.
    pub fn may_pass(self) -> bool {
        !matches!(
            self,
            ErrorKind::Unsupported
                | ErrorKind::ModelNotFound
                | ErrorKind::LlmRequired
                | ErrorKind::MissingKey
        )
    }

    /// Returns the kind of an HTTP status.
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

/// Classes of failures that `retryable_errors` may name.
pub const CLASSES: [&str; 6] =
    ["rate_limit", "server_error", "timeout", "client_error", "exception", "unknown"];

/// Providers' names for permanent failures.
const FINAL_CAUSES: [&str; 7] = [
    "invalid_request_error",
    "authentication_error",
    "permission_error",
    "not_found_error",
    "billing_error",
    "invalid_api_key",
    "insufficient_quota",
];

/// Error of a model call. Holds no keys.
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
    /// Kind of failure.
    pub kind: ErrorKind,
    /// Description of the failure, and of what would help.
    pub message: String,
    /// HTTP status, if there was one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<u16>,
    /// Name of the failure at the provider or in the registry.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cause: Option<String>,
    /// Waiting time that the provider asks for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retry_after: Option<Duration>,
    /// Number of requests that failed before this one.
    #[serde(skip)]
    pub retries: u32,
}

impl LlmError {
    /// Returns an error of this kind, with this message.
    pub fn new(kind: ErrorKind, message: impl Into<String>) -> LlmError {
        LlmError { kind, message: message.into(), status: None, cause: None, retry_after: None, retries: 0 }
    }

    /// Adds an HTTP status.
    #[must_use]
    pub fn status(mut self, status: u16) -> LlmError {
        self.status = Some(status);
        self
    }

    /// Adds the name that the provider or the registry has for the failure.
    #[must_use]
    pub fn cause(mut self, cause: impl Into<String>) -> LlmError {
        self.cause = Some(cause.into());
        self
    }

    /// Adds a waiting time.
    #[must_use]
    pub fn retry_after(mut self, wait: Duration) -> LlmError {
        self.retry_after = Some(wait);
        self
    }

    /// Returns the class by which `retryable_errors` selects the failure.
    pub fn class(&self) -> &'static str {
        self.kind.class()
    }

    /// Returns the reason with which a mission ends.
    pub fn reason(&self) -> &'static str {
        self.kind.reason()
    }

    /// Returns whether a retry of the same request could help. A request that was refused as wrong, unauthorised or
    /// unknown will be refused again, and a used-up quota stays used up.
    ///
    /// ```
    /// use ptc_model::{ErrorKind, LlmError};
    /// assert!(LlmError::new(ErrorKind::ServerError, "down").status(503).may_pass());
    /// assert!(!LlmError::new(ErrorKind::ClientError, "wrong key").status(401).may_pass());
    /// ```
    pub fn may_pass(&self) -> bool {
        let is_final_status = matches!(self.status, Some(400..=407 | 410..=417 | 422 | 431 | 451));
        // Errors inside a stream have a name and no status.
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
