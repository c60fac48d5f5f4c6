//! Answers to browsers that ask whether a page may call the server (CORS), for the origins of `--http-allowed-origin`.
//!
//! A page that nobody named gets no such headers, so a browser shows it nothing; its requests are refused anyway.

use super::respond::plain;
use axum::extract::Request;
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, header};
use axum::response::Response;

/// Headers of responses that pages may read.
const EXPOSED: &str = "Mcp-Session-Id, Retry-After, WWW-Authenticate, X-Request-Id";

/// Headers that pages may send, besides those of arguments.
const ACCEPTED: [&str; 10] = [
    "accept",
    "authorization",
    "content-type",
    "last-event-id",
    "mcp-method",
    "mcp-name",
    "mcp-protocol-version",
    "mcp-session-id",
    "traceparent",
    "x-request-id",
];

/// Prefix of headers that repeat an argument.
const ARGUMENT: &str = "mcp-param-";

/// Seconds for which a browser may keep an answer.
const MAX_AGE: HeaderValue = HeaderValue::from_static("600");

/// Returns whether a request only asks what a page may send.
pub fn is_preflight(request: &Request) -> bool {
    request.method() == Method::OPTIONS
        && request.headers().contains_key(header::ORIGIN)
        && request.headers().contains_key(header::ACCESS_CONTROL_REQUEST_METHOD)
}

/// Builds the answer to such a request of an allowed origin; [`stamp`] adds the origin.
pub fn preflight(headers: &HeaderMap) -> Response {
    let mut response = plain(StatusCode::NO_CONTENT, "");
    let out = response.headers_mut();
    out.remove(header::CONTENT_TYPE);
    out.insert(header::ACCESS_CONTROL_ALLOW_METHODS, HeaderValue::from_static("POST, GET, DELETE"));
    out.insert(header::ACCESS_CONTROL_MAX_AGE, MAX_AGE);
    if let Ok(accepted) = HeaderValue::from_str(&accepted(headers)) {
        out.insert(header::ACCESS_CONTROL_ALLOW_HEADERS, accepted);
    }
    response
}

/// Returns the headers that a page wants to send and may.
fn accepted(headers: &HeaderMap) -> String {
    let wanted = headers.get(header::ACCESS_CONTROL_REQUEST_HEADERS).and_then(|names| names.to_str().ok());
    let names = wanted.unwrap_or_default().split(',').map(|name| name.trim().to_ascii_lowercase());
    let may = |name: &String| {
        ACCEPTED.contains(&name.as_str())
            || (name.starts_with(ARGUMENT) && HeaderName::from_bytes(name.as_bytes()).is_ok())
    };
    names.filter(may).collect::<Vec<_>>().join(", ")
}

/// Lets a page of this origin read a response.
pub fn stamp(response: &mut Response, origin: HeaderValue) {
    let headers = response.headers_mut();
    headers.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, origin);
    headers.insert(header::ACCESS_CONTROL_EXPOSE_HEADERS, HeaderValue::from_static(EXPOSED));
    headers.append(header::VARY, HeaderValue::from_static("Origin"));
}
