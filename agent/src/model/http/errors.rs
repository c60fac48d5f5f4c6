//! Errors as providers and connections tell them, in our words.

use crate::model::{ErrorKind, LlmError};
use reqwest::header::HeaderMap;
use serde_json::Value;
use std::error::Error;
use std::time::Duration;

/// How much of a message is kept, in characters.
const MAX_MESSAGE: usize = 500;

/// A reply that is none.
pub(super) fn bad(message: impl Into<String>) -> LlmError {
    LlmError::new(ErrorKind::BadReply, message)
}

/// A connection that failed. Addresses are left out: they may hold names and passwords.
pub(super) fn connection(error: reqwest::Error) -> LlmError {
    let kind = if error.is_timeout() { ErrorKind::Timeout } else { ErrorKind::Network };
    let error = error.without_url();
    // The outer layers only say that a request failed; the last two say why.
    let mut why = vec![error.to_string()];
    let mut source = error.source();
    while let Some(cause) = source {
        why.push(cause.to_string());
        source = cause.source();
    }
    why.dedup();
    let message = why[why.len().saturating_sub(2)..].join(": ");
    LlmError::new(kind, cut(&message))
}

/// An answer with a status that is no success.
pub(super) fn status(status: u16, headers: &HeaderMap, body: &[u8]) -> LlmError {
    let text = String::from_utf8_lossy(body);
    let (message, cause) = match serde_json::from_str::<Value>(&text) {
        Ok(value) => told(&value),
        Err(_) => (None, None),
    };
    let message = message.unwrap_or_else(|| match text.trim() {
        "" => "the provider gave no reason".to_string(),
        text => cut(text),
    });
    let mut error = LlmError::new(ErrorKind::of_status(status), message).status(status);
    error.cause = cause;
    error.retry_after = retry_after(headers);
    error
}

/// An error in the midst of a stream, where there is no status: its name says what kind it is.
pub(super) fn event(event: &Value) -> LlmError {
    let (message, cause) = told(event);
    let code = event.pointer("/error/code").or(event.get("code")).and_then(Value::as_u64);
    let kind = match (code.and_then(|code| u16::try_from(code).ok()), cause.as_deref()) {
        (Some(status @ 400..=599), _) => ErrorKind::of_status(status),
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
    error.cause = cause;
    error
}

/// Message and name of an error, wherever the provider puts them.
fn told(value: &Value) -> (Option<String>, Option<String>) {
    let error = value.get("error").filter(|error| !error.is_null()).unwrap_or(value);
    let message = error.as_str().or(text(error.get("message"))).or(text(error.get("detail")));
    // An envelope has a type too, which says nothing.
    let cause = text(error.get("type")).filter(|name| *name != "error").or(text(error.get("code")));
    (message.map(cut), cause.map(cut))
}

fn text(value: Option<&Value>) -> Option<&str> {
    value.and_then(Value::as_str).filter(|text| !text.is_empty())
}

/// `Retry-After` in seconds or as a date; some give milliseconds besides.
fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    let text = |name: &str| headers.get(name).and_then(|value| value.to_str().ok()).map(str::trim);
    let number = |text: &str| text.parse::<f64>().ok().filter(|number| *number >= 0.0);
    if let Some(millis) = text("retry-after-ms").and_then(number) {
        return Duration::try_from_secs_f64(millis / 1000.0).ok();
    }
    let after = text("retry-after")?;
    match number(after) {
        Some(seconds) => Duration::try_from_secs_f64(seconds).ok(),
        None => {
            let date = jiff::fmt::rfc2822::parse(after).ok()?.timestamp();
            Some(Duration::try_from(date.duration_since(jiff::Timestamp::now())).unwrap_or_default())
        }
    }
}

fn cut(text: &str) -> String {
    let short: String = text.chars().take(MAX_MESSAGE).collect();
    match text.len() - short.len() {
        0 => short,
        _ => format!("{short}…"),
    }
}

/// A stream that ended too early.
pub(super) fn cut_off() -> LlmError {
    LlmError::new(ErrorKind::Network, "the stream ended before the reply did")
}
