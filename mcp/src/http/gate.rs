//! Access checks of every request, in the order that tells strangers least.

use super::guard::Verdict;
use super::identity::Identity;
use super::oauth::{OAuth, TokenError};
use super::respond::{Refusal, json, plain, refuse};
use super::{Shared, UnderWay, body, cors, post};
use crate::frame::RpcError;
use crate::protocol::SERVER_NAME;
use axum::extract::Request;
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, Uri, header};
use axum::response::Response;
use serde_json::json as object;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::Instant;
use url::Url;

pub async fn pass(
    shared: &Arc<Shared>,
    peer: SocketAddr,
    request: Request,
    mut under_way: UnderWay,
) -> Response {
    let settings = shared.service.settings();
    let path = request.uri().path();
    match path {
        "/health" => return json(StatusCode::OK, &object!({"status": "ok"})),
        "/ready" if !is_verbose(&request) => return ready(shared),
        _ => {}
    }
    if let Some(metadata) = shared.oauth.as_ref().and_then(|oauth| oauth.metadata(path)) {
        return metadata;
    }
    let is_metrics = settings.http_metrics && path == settings.http_metrics_path;
    // Names of servers are not for everybody, so this page needs a token, unlike the short one.
    let is_health = path == "/ready";
    if path != settings.http_path && !is_metrics && !is_health {
        return plain(StatusCode::NOT_FOUND, "not found");
    }
    if shared.is_loopback && !is_loopback_host(request.uri(), request.headers()) {
        return plain(StatusCode::FORBIDDEN, "the Host header does not name this machine");
    }
    if !is_allowed_origin(shared, request.headers()) {
        return plain(StatusCode::FORBIDDEN, "the Origin is not allowed");
    }
    if cors::is_preflight(&request) && named_origin(shared, request.headers()).is_some() {
        // It carries no token: browsers ask before they send one.
        return cors::preflight(request.headers());
    }
    if is_from_elsewhere(request.headers()) {
        return plain(StatusCode::FORBIDDEN, "requests from pages of other sites are not allowed");
    }
    let client = shared.door.proxies.client(peer.ip(), request.headers());
    let identity = match authenticate(shared, client, request.headers()).await {
        Ok(identity) => identity,
        Err(response) => return *response,
    };
    if is_health {
        return health(shared);
    }
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
    // Before the body: a message that will be refused is neither kept nor parsed.
    if let Err(refusal) = may_send(shared, &headers, &identity) {
        body::discard(settings, request);
        return refuse(*refusal);
    }
    let (body, reservation) = match body::read(&shared.bodies.of(&identity), settings, request).await {
        Ok(read) => read,
        Err(response) => return *response,
    };
    under_way.body = Some(reservation);
    post::message(shared, &headers, &identity, body, under_way).await
}

/// Checks as far as possible without the body whether a message would be accepted.
fn may_send(shared: &Shared, headers: &HeaderMap, identity: &Identity) -> Result<(), Box<Refusal>> {
    if shared.service.is_draining() {
        let error = RpcError::new(RpcError::UNAVAILABLE, "server draining");
        return Err(Box::new(Refusal { status: StatusCode::SERVICE_UNAVAILABLE, id: None, error }));
    }
    post::check_session(shared, headers, identity)
}

/// Returns whether a request for `/ready` wants details.
fn is_verbose(request: &Request) -> bool {
    let mut parts = request.uri().query().unwrap_or_default().split('&');
    parts.any(|part| matches!(part.split('=').next(), Some("verbose")))
}

fn ready(shared: &Shared) -> Response {
    let (status, told) = readiness(shared);
    json(status, &object!({"status": told}))
}

/// Returns the state of the server and of its upstream servers.
fn health(shared: &Shared) -> Response {
    let (status, told) = readiness(shared);
    let mut about = shared.service.health();
    about["status"] = object!(told);
    about["in_flight"] = object!(shared.metrics.in_flight());
    about["clients"] = object!(shared.clients.len());
    json(status, &about)
}

fn readiness(shared: &Shared) -> (StatusCode, &'static str) {
    if shared.service.is_draining() {
        (StatusCode::SERVICE_UNAVAILABLE, "draining")
    } else if shared.service.is_saturated() {
        (StatusCode::SERVICE_UNAVAILABLE, "saturated")
    } else {
        (StatusCode::OK, "ready")
    }
}

/// Returns whether the request names this machine as host: a foreign page could make its own name resolve to
/// this address (DNS rebinding).
fn is_loopback_host(uri: &Uri, headers: &HeaderMap) -> bool {
    let named = match uri.authority() {
        Some(authority) => Some(authority.as_str()),
        None => headers.get(header::HOST).and_then(|host| host.to_str().ok()),
    };
    named.is_some_and(|authority| is_loopback_name(without_port(authority)))
}

/// Removes the port: `[::1]:80` becomes `::1`, `localhost:80` becomes `localhost`.
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

/// Returns the origin of a request if `--http-allowed-origin` names it.
pub fn named_origin(shared: &Shared, headers: &HeaderMap) -> Option<HeaderValue> {
    let origin = headers.get(header::ORIGIN)?;
    let known = normal(origin.to_str().ok()?)?;
    let mut named = shared.service.settings().http_allowed_origin.iter().filter_map(|named| normal(named));
    named.any(|named| named == known).then(|| origin.clone())
}

/// Returns whether a browser says that a page of another site caused the request, without an `Origin`. Browsers
/// omit `Origin` for images and links, and a page with five of them must not count as five attempts of its
/// reader.
fn is_from_elsewhere(headers: &HeaderMap) -> bool {
    let site = headers.get("sec-fetch-site").map(HeaderValue::as_bytes);
    matches!(site, Some(b"cross-site" | b"same-site")) && !headers.contains_key(header::ORIGIN)
}

/// Parses an origin of only scheme, host and port; None for anything else, such as `null`.
fn normal(origin: &str) -> Option<Url> {
    let url = Url::parse(origin).ok()?;
    let is_bare =
        url.path() == "/" && url.query().is_none() && url.fragment().is_none() && url.username().is_empty();
    (url.has_host() && is_bare).then_some(url)
}

/// Checks the token. A valid token is always accepted, whatever came from its address before: addresses of
/// proxies and routers are shared. Only wrong tokens count as attempts, because a request without one guesses
/// nothing.
async fn authenticate(
    shared: &Shared,
    client: IpAddr,
    headers: &HeaderMap,
) -> Result<Identity, Box<Response>> {
    if shared.service.settings().http_disable_auth {
        return Ok(Identity::STRANGER);
    }
    let sent = headers.get(header::AUTHORIZATION).and_then(|value| value.to_str().ok());
    let token = sent.and_then(|value| {
        let (scheme, token) = value.split_once(' ')?;
        scheme.eq_ignore_ascii_case("bearer").then_some(token.trim())
    });
    if let Some(identity) = token.and_then(|token| shared.tokens.identity(token)) {
        return Ok(identity);
    }
    let refused = match (token, &shared.oauth) {
        (Some(token), Some(oauth)) => match oauth.identity(token).await {
            Ok(identity) => return Ok(identity),
            Err(refused) => Some(refused),
        },
        (Some(_), None) => Some(TokenError::Invalid),
        (None, _) => None,
    };
    shared.metrics.refused();
    Err(Box::new(match refused {
        Some(TokenError::Unavailable) => {
            plain(StatusCode::SERVICE_UNAVAILABLE, "the authorization server cannot be reached; retry later")
        }
        Some(TokenError::MissingScope) => {
            let response = plain(StatusCode::FORBIDDEN, "the token lacks a scope");
            challenged(shared, response, Some("insufficient_scope"))
        }
        Some(TokenError::Invalid) => match shared.guard.failed(client, Instant::now()) {
            Verdict::Blocked(left) => {
                let mut response = plain(StatusCode::TOO_MANY_REQUESTS, "too many requests");
                response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from(left.as_secs().max(1)));
                response
            }
            Verdict::Free => challenged(shared, unauthorized(), Some("invalid_token")),
        },
        None => challenged(shared, unauthorized(), None),
    }))
}

fn unauthorized() -> Response {
    plain(StatusCode::UNAUTHORIZED, "a bearer token is required")
}

/// Adds to a refusal what kind of token is needed, and where clients get one.
fn challenged(shared: &Shared, mut response: Response, error: Option<&str>) -> Response {
    let error = error.map_or(String::new(), |error| format!(", error=\"{error}\""));
    let more = shared.oauth.as_ref().map_or(String::new(), OAuth::challenge);
    let challenge = format!("Bearer realm=\"{SERVER_NAME}\"{error}{more}");
    if let Ok(challenge) = HeaderValue::from_str(&challenge) {
        response.headers_mut().insert(header::WWW_AUTHENTICATE, challenge);
    }
    response
}

/// Returns whether the client accepts event streams.
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
