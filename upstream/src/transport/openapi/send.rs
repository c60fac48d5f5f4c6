//! Calls of operations over HTTP.

use super::Inner;
use super::compile::Operation;
use crate::client::{Reply, Request};
use crate::fault::{Fault, Reason};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use ptc_web::{BodyError, bounded, start, why};
use serde_json::value::RawValue;
use serde_json::{Map, Value};
use url::Url;

/// Maximum number of bytes read of an error response.
const ERROR_BYTES: usize = 4 << 10;

/// Characters of a path value that stay unescaped.
const UNRESERVED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'_').remove(b'.').remove(b'~');

impl Inner {
    /// Sends a request with our headers; once more if a credential was refused and a new one is available.
    pub(super) async fn send(&self, request: reqwest::RequestBuilder) -> reqwest::Result<reqwest::Response> {
        let request = request.header("accept", "application/json");
        let version = self.headers.version();
        let again = request.try_clone();
        let response = request.headers(self.headers.emit()).send().await?;
        match again {
            Some(again) if response.status() == 401 && self.headers.are_newer_than(version).await => {
                again.headers(self.headers.emit()).send().await
            }
            _ => Ok(response),
        }
    }

    pub(super) async fn call(&self, request: Request) -> Result<Reply, Fault> {
        let operations = self.operations().clone();
        let operation = operations.as_ref().and_then(|known| known.get(&request.tool));
        let Some(operation) = operation else {
            return Err(self.fault(Reason::UpstreamError, &format!("has no operation '{}'", request.tool)));
        };
        let is_unknown =
            |name: &&String| !operation.path_params.contains(name) && !operation.query_params.contains(name);
        let unknown = request.args.keys().filter(is_unknown).count();
        if unknown > 0 {
            tracing::debug!(
                upstream = self.name,
                operation = request.tool,
                unknown,
                "arguments that are not declared were left out"
            );
        }
        let url = address(&self.settings.base_url, operation, &request.args)
            .map_err(|problem| self.fault(Reason::UpstreamError, &problem))?;
        let most = request.max_bytes.min(self.settings.max_response_bytes);
        let mut sent = self.http()?.get(url);
        if let Some(trace) = &request.traceparent {
            sent = sent.header("traceparent", trace);
        }
        let unreachable = |error: reqwest::Error| {
            let reason = if error.is_timeout() { Reason::Timeout } else { Reason::UpstreamUnavailable };
            self.fault(reason, &format!("cannot be reached: {}", why(error)))
        };
        let response = self.send(sent).await.map_err(unreachable)?;
        let status = response.status();
        if !status.is_success() {
            let said = start(response, ERROR_BYTES).await;
            let said = String::from_utf8_lossy(&said);
            let wire_bytes = said.len() as u64;
            let fault = match said.trim() {
                "" => self.fault(reason(status.as_u16()), &format!("answered {status}")),
                said => self.fault(reason(status.as_u16()), &format!("answered {status}: {said}")),
            };
            return Err(Fault { http_status: Some(status.as_u16()), wire_bytes, ..fault });
        }
        let body = match bounded(response, most as usize).await {
            Ok(body) => body,
            Err(BodyError::TooLarge) => {
                let fault = self.fault(Reason::ResponseTooLarge, &format!("sent more than {most} bytes"));
                return Err(Fault { http_status: Some(status.as_u16()), wire_bytes: most, ..fault });
            }
            Err(BodyError::Connection(error)) => return Err(unreachable(error)),
        };
        let read = match body.trim_ascii() {
            [] => Ok(r#"{"content":[]}"#.to_string()),
            // As structured content, null would be lost.
            b"null" => Ok(r#"{"content":[{"type":"text","text":"null"}]}"#.to_string()),
            json => serde_json::from_slice::<&RawValue>(json)
                .map(|value| format!(r#"{{"content":[],"structuredContent":{value}}}"#)),
        };
        let result = match read.and_then(RawValue::from_string) {
            Ok(result) => result,
            Err(_) => {
                let fault = self.fault(Reason::UpstreamError, "sent a reply that is not valid JSON");
                return Err(Fault {
                    http_status: Some(status.as_u16()),
                    wire_bytes: body.len() as u64,
                    ..fault
                });
            }
        };
        Ok(Reply { result, http_status: Some(status.as_u16()), wire_bytes: body.len() as u64 })
    }
}

/// Returns the reason for a failure with this status.
pub(super) fn reason(status: u16) -> Reason {
    match status {
        401 => Reason::AuthFailed,
        429 => Reason::RateLimited,
        400 | 403 | 404 | 422 => Reason::ToolError,
        500.. => Reason::UpstreamUnavailable,
        _ => Reason::UpstreamError,
    }
}

/// Builds the address of a call: the path with its values, and the declared query parameters.
fn address(base: &Url, operation: &Operation, args: &Map<String, Value>) -> Result<Url, String> {
    let value =
        |name: &str| args.get(name).or_else(|| operation.defaults.get(name)).filter(|value| !value.is_null());
    let scalar = |name: &str, value: &Value| match value {
        Value::String(text) => Ok(text.clone()),
        Value::Number(_) | Value::Bool(_) => Ok(value.to_string()),
        _ => Err(format!("takes text, a number or a boolean for '{name}', not a list or an object")),
    };
    let mut path = operation.path.clone();
    for name in &operation.path_params {
        let given = value(name).ok_or_else(|| format!("needs '{name}'"))?;
        let given = scalar(name, given)?;
        // These would name another path, in any encoding.
        if matches!(&*given, "" | "." | "..") {
            return Err(format!("cannot take {given:?} for '{name}', which is part of a path"));
        }
        path = path.replace(&format!("{{{name}}}"), &utf8_percent_encode(&given, UNRESERVED).to_string());
    }
    let mut url = base.clone();
    url.set_path(&format!("{}/{}", base.path().trim_end_matches('/'), path.trim_start_matches('/')));
    for name in &operation.query_params {
        if let Some(given) = value(name) {
            url.query_pairs_mut().append_pair(name, &scalar(name, given)?);
        }
    }
    match url.origin() == base.origin() {
        true => Ok(url),
        false => Err("would be called at another origin".to_string()),
    }
}
