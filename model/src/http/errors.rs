//! Errors as providers and connections tell them, in our words.

use crate::{ErrorKind, LlmError};
use ptc_web::{cut, retry_after};
use reqwest::header::HeaderMap;
use serde_json::Value;
use std::time::Duration;

/// A reply that is none.
pub(super) fn bad(message: impl Into<String>) -> LlmError {
    LlmError::new(ErrorKind::BadReply, message)
}

/// A connection that failed.
pub(super) fn connection(error: reqwest::Error) -> LlmError {
    let kind = if error.is_timeout() { ErrorKind::Timeout } else { ErrorKind::Network };
    LlmError::new(kind, ptc_web::why(error))
}

/// An answer with a status that is no success.
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

/// An error in the midst of a stream, where there is no status: its name says what kind it is.
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

/// Message and name of an error, wherever the provider puts them.
fn told(value: &Value) -> (Option<String>, Option<String>) {
    let error = value.get("error").filter(|error| !error.is_null()).unwrap_or(value);
    let message = error.as_str().or(text(error.get("message"))).or(text(error.get("detail")));
    // An envelope has a type too, which says nothing.
    let cause = text(error.get("type"))
        .filter(|name| *name != "error")
        .or(text(error.get("code")))
        .or(text(error.get("status")));
    (message.map(cut), cause.map(cut))
}

/// How long Google wants to be left alone: it has no header for that, but a detail such as `"retryDelay": "34.5s"`.
fn retry_delay(value: &Value) -> Option<Duration> {
    let details = value.pointer("/error/details")?.as_array()?;
    let delay = details.iter().find_map(|detail| detail.get("retryDelay")?.as_str())?;
    Duration::try_from_secs_f64(delay.strip_suffix('s')?.parse().ok()?).ok()
}

fn text(value: Option<&Value>) -> Option<&str> {
    value.and_then(Value::as_str).filter(|text| !text.is_empty())
}

/// A stream that ended too early.
pub(super) fn cut_off() -> LlmError {
    LlmError::new(ErrorKind::Network, "the stream ended before the reply did")
}
