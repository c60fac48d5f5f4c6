//! Who may speak to the server, and how: the checks of every request, in the order that tells strangers least.

use super::guard::Verdict;
use super::identity::Identity;
use super::respond::{Refusal, json, plain, refuse};
use super::{Shared, UnderWay, post};
use crate::frame::RpcError;
use axum::body::Bytes;
use axum::extract::Request;
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, Uri, header};
use axum::response::Response;
use http_body_util::{BodyExt, Limited};
use serde_json::json as object;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::{Duration, Instant};
use url::Url;

pub async fn pass(shared: &Arc<Shared>, peer: SocketAddr, request: Request, under_way: UnderWay) -> Response {
    let settings = shared.service.settings();
    let path = request.uri().path();
    match path {
        "/health" => return json(StatusCode::OK, &object!({"status": "ok"})),
        "/ready" => return ready(shared),
        _ => {}
    }
    let is_metrics = settings.http_metrics && path == settings.http_metrics_path;
    if path != settings.http_path && !is_metrics {
        return plain(StatusCode::NOT_FOUND, "not found");
    }
    if shared.is_loopback && !is_loopback_host(request.uri(), request.headers()) {
        return plain(StatusCode::FORBIDDEN, "the Host header does not name this machine");
    }
    if !is_allowed_origin(shared, request.headers()) {
        return plain(StatusCode::FORBIDDEN, "the Origin is not allowed");
    }
    let identity = match authenticate(shared, peer.ip(), request.headers()) {
        Ok(identity) => identity,
        Err(response) => return *response,
    };
    if is_metrics {
        return shared.metrics.render(&*shared.service, shared.clients.len());
    }
    match *request.method() {
        Method::POST => {}
        Method::GET if wants_events(request.headers()) => {
            return shared.clients.listen(request.headers(), &identity);
        }
        Method::DELETE => return shared.clients.delete(&*shared.service, request.headers(), &identity),
        _ => {
            let mut response = plain(
                StatusCode::METHOD_NOT_ALLOWED,
                "POST a message, GET the stream of a session, or DELETE it",
            );
            response.headers_mut().insert(header::ALLOW, HeaderValue::from_static("POST, GET, DELETE"));
            return response;
        }
    }
    if !is_json(request.headers()) {
        return plain(StatusCode::UNSUPPORTED_MEDIA_TYPE, "the Content-Type must be application/json");
    }
    let headers = request.headers().clone();
    let body = match read(shared, request).await {
        Ok(body) => body,
        Err(response) => return *response,
    };
    if shared.service.is_draining() {
        let error = RpcError::new(RpcError::UNAVAILABLE, "server draining");
        return refuse(Refusal { status: StatusCode::SERVICE_UNAVAILABLE, id: None, error });
    }
    post::message(shared, &headers, &identity, &body, under_way).await
}

fn ready(shared: &Shared) -> Response {
    let (status, told) = if shared.service.is_draining() {
        (StatusCode::SERVICE_UNAVAILABLE, "draining")
    } else if shared.service.is_saturated() {
        (StatusCode::SERVICE_UNAVAILABLE, "saturated")
    } else {
        (StatusCode::OK, "ready")
    };
    json(status, &object!({"status": told}))
}

/// Whether the client means this machine: a page elsewhere could have made its name lead here.
fn is_loopback_host(uri: &Uri, headers: &HeaderMap) -> bool {
    let named = match uri.authority() {
        Some(authority) => Some(authority.as_str()),
        None => headers.get(header::HOST).and_then(|host| host.to_str().ok()),
    };
    named.is_some_and(|authority| is_loopback_name(without_port(authority)))
}

/// `[::1]:80` is `::1`, `localhost:80` is `localhost`.
fn without_port(authority: &str) -> &str {
    if let Some(rest) = authority.strip_prefix('[') {
        return rest.split_once(']').map_or("", |(address, _)| address);
    }
    authority.rsplit_once(':').map_or(authority, |(name, _)| name)
}

fn is_loopback_name(name: &str) -> bool {
    name.eq_ignore_ascii_case("localhost")
        || name.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
}

fn is_allowed_origin(shared: &Shared, headers: &HeaderMap) -> bool {
    let Some(origin) = headers.get(header::ORIGIN) else { return true };
    let Some(origin) = origin.to_str().ok().and_then(normal) else { return false };
    let allowed = &shared.service.settings().http_allowed_origin;
    match allowed.is_empty() {
        false => allowed.iter().filter_map(|allowed| normal(allowed)).any(|allowed| allowed == origin),
        true => {
            shared.is_loopback
                && origin.host_str().is_some_and(|host| is_loopback_name(host.trim_matches(['[', ']'])))
        }
    }
}

/// An origin with nothing but scheme, host and port; None for what is none, such as `null`.
fn normal(origin: &str) -> Option<Url> {
    let url = Url::parse(origin).ok()?;
    let is_bare =
        url.path() == "/" && url.query().is_none() && url.fragment().is_none() && url.username().is_empty();
    (url.has_host() && is_bare).then_some(url)
}

fn authenticate(shared: &Shared, peer: IpAddr, headers: &HeaderMap) -> Result<Identity, Box<Response>> {
    if shared.service.settings().http_disable_auth {
        return Ok(Identity([0; 32]));
    }
    if let Verdict::Blocked(left) = shared.guard.look(peer, Instant::now()) {
        let mut response = plain(StatusCode::TOO_MANY_REQUESTS, "too many requests");
        response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from(left.as_secs().max(1)));
        return Err(Box::new(response));
    }
    let sent = headers.get(header::AUTHORIZATION).and_then(|value| value.to_str().ok());
    let token = sent.and_then(|value| {
        let (scheme, token) = value.split_once(' ')?;
        scheme.eq_ignore_ascii_case("bearer").then_some(token.trim())
    });
    if let Some(identity) = token.and_then(|token| shared.tokens.identity(token)) {
        shared.guard.succeeded(peer);
        return Ok(identity);
    }
    shared.guard.failed(peer, Instant::now());
    shared.metrics.refused();
    let challenge = match token {
        Some(_) => r#"Bearer realm="ptc_lisp", error="invalid_token""#,
        None => r#"Bearer realm="ptc_lisp""#,
    };
    let mut response = plain(StatusCode::UNAUTHORIZED, "a bearer token is needed");
    response.headers_mut().insert(header::WWW_AUTHENTICATE, HeaderValue::from_static(challenge));
    Err(Box::new(response))
}

/// Whether the client reads streams.
pub fn wants_events(headers: &HeaderMap) -> bool {
    let accepted = headers.get(header::ACCEPT).and_then(|accept| accept.to_str().ok());
    accepted.is_some_and(|accepted| accepted.contains("text/event-stream"))
}

fn is_json(headers: &HeaderMap) -> bool {
    let Some(kind) = headers.get(header::CONTENT_TYPE) else { return true };
    let Ok(kind) = kind.to_str() else { return false };
    let kind = kind.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    kind == "application/json" || (kind.starts_with("application/") && kind.ends_with("+json"))
}

/// The body, if it is not too long and comes in time.
async fn read(shared: &Shared, request: Request) -> Result<Bytes, Box<Response>> {
    let settings = shared.service.settings();
    let most = settings.http_max_body_bytes.unwrap_or(settings.max_frame_bytes);
    let too_large = || {
        let message = format!("the message is longer than {most} bytes");
        Box::new(plain(StatusCode::PAYLOAD_TOO_LARGE, &message))
    };
    let promised =
        request.headers().get(header::CONTENT_LENGTH).and_then(|length| length.to_str().ok()?.parse().ok());
    if promised.is_some_and(|length: u64| length > most) {
        return Err(too_large());
    }
    let limited = Limited::new(request.into_body(), usize::try_from(most).unwrap_or(usize::MAX));
    let patience = Duration::from_millis(settings.http_request_timeout_ms);
    match tokio::time::timeout(patience, limited.collect()).await {
        Err(_) => Err(Box::new(plain(StatusCode::REQUEST_TIMEOUT, "the message did not come in time"))),
        Ok(Err(error)) if error.is::<http_body_util::LengthLimitError>() => Err(too_large()),
        Ok(Err(_)) => Err(Box::new(plain(StatusCode::BAD_REQUEST, "the message could not be read"))),
        Ok(Ok(body)) => {
            let body = body.to_bytes();
            match body.is_empty() {
                true => Err(Box::new(plain(StatusCode::BAD_REQUEST, "there is no message"))),
                false => Ok(body),
            }
        }
    }
}
