//! Errors of providers and connections, converted to [`LlmError`].

use crate::{ErrorKind, LlmError};
use ptc_web::{cut, retry_after};
use reqwest::header::HeaderMap;
use serde_json::Value;
use std::time::Duration;

/// Returns the error of an unreadable reply.
pub(super) fn bad(message: impl Into<String>) -> LlmError {
    LlmError::new(ErrorKind::BadReply, message)
}

/// Converts the error of a failed connection.
pub(super) fn connection(error: reqwest::Error) -> LlmError {
    let kind = if error.is_timeout() { ErrorKind::Timeout } else { ErrorKind::Network };
    LlmError::new(kind, ptc_web::why(error))
}

/// Converts an answer whose status is not a success.
pub(super) fn status(status: u16, headers: &HeaderMap, body: &[u8]) -> LlmError {
    let text = String::from_utf8_lossy(body);
    let value = serde_json::from_str::<Value>(&text).unwrap_or_default();
    let ((message, cause), wait) = (told(&value), retry_delay(&value));
    let message = message.unwrap_or_else(|| match text.trim() {
        "" => "the provider gave no reason".to_string(),
        text => cut(text),
    });
    let mut error = LlmError::new(ErrorKind::of_status(status), message).status(status);
    error.cause = cause;
    error.retry_after = retry_after(headers).or(wait);
    error
}

/// Converts an error inside a stream, where there is no status: its name tells the kind.
pub(super) fn event(event: &Value) -> LlmError {
    let (message, cause) = told(event);
    let code = event.pointer("/error/code").or(event.get("code")).and_then(Value::as_u64);
    let status = code.and_then(|code| u16::try_from(code).ok()).filter(|code| (400..=599).contains(code));
    let kind = match (status, cause.as_deref()) {
        (Some(status), _) => ErrorKind::of_status(status),
        (_, Some("rate_limit_error" | "rate_limit_exceeded")) => ErrorKind::RateLimit,
        (_, Some("overloaded_error" | "api_error" | "server_error")) => ErrorKind::ServerError,
        (_, Some("timeout_error")) => ErrorKind::Timeout,
        (_, Some(name)) if name.contains("invalid") || name.contains("authentication") => {
            ErrorKind::ClientError
        }
        _ => ErrorKind::Unknown,
    };
    let mut error =
        LlmError::new(kind, message.unwrap_or_else(|| "the provider ended the reply".to_string()));
    error.status = status;
    error.cause = cause;
    error
}

/// Returns message and name of an error, wherever the provider puts them.
fn told(value: &Value) -> (Option<String>, Option<String>) {
    let error = value.get("error").filter(|error| !error.is_null()).unwrap_or(value);
    let message = error.as_str().or(text(error.get("message"))).or(text(error.get("detail")));
    // Envelopes also have a type, `error`, which says nothing.
    let cause = text(error.get("type"))
        .filter(|name| *name != "error")
        .or(text(error.get("code")))
        .or(text(error.get("status")));
    (message.map(cut), cause.map(cut))
}

/// Returns the waiting time that Google asks for: in a detail such as `"retryDelay": "34.5s"` instead of a header.
fn retry_delay(value: &Value) -> Option<Duration> {
    let details = value.pointer("/error/details")?.as_array()?;
    let delay = details.iter().find_map(|detail| detail.get("retryDelay")?.as_str())?;
    Duration::try_from_secs_f64(delay.strip_suffix('s')?.parse().ok()?).ok()
}

fn text(value: Option<&Value>) -> Option<&str> {
    value.and_then(Value::as_str).filter(|text| !text.is_empty())
}

/// Returns the error of a stream that ended too early.
pub(super) fn cut_off() -> LlmError {
    LlmError::new(ErrorKind::Network, "the stream ended before the reply did")
}
