//! The server: files of the page, the answers to its requests, and the headers that every answer has.

use crate::api;
use crate::guard::{self, Refusal};
use crate::studio::Studio;
use crate::token::Token;
use axum::body::{Body, Bytes, to_bytes};
use axum::extract::Request;
use axum::http::{HeaderValue, Method, StatusCode, header};
use axum::response::Response;
use serde_json::Value;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use tokio::net::TcpListener;
use tokio::sync::Semaphore;

/// Maximum size of a request: a program with its data.
const MAX_REQUEST: usize = 32 << 20;
/// Programs that run at a time; further ones wait.
const RUNNING: usize = 2;

/// The policy of the pages: everything comes from here, and nothing else is loaded, sent or embedded.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; frame-src 'self'; \
                      base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/// Files of the page, with their types.
const FILES: &[(&str, &str, &str)] = &[
    ("", "text/html; charset=utf-8", include_str!("../page/index.html")),
    ("icon.svg", "image/svg+xml", include_str!("../page/icon.svg")),
    ("studio.css", "text/css; charset=utf-8", include_str!("../page/studio.css")),
    ("studio.js", JAVASCRIPT, include_str!("../page/studio.js")),
    ("dom.js", JAVASCRIPT, include_str!("../page/dom.js")),
    ("run.js", JAVASCRIPT, include_str!("../page/run.js")),
    ("library.js", JAVASCRIPT, include_str!("../page/library.js")),
    ("traces.js", JAVASCRIPT, include_str!("../page/traces.js")),
];
const JAVASCRIPT: &str = "text/javascript; charset=utf-8";

/// State shared by all requests.
pub(crate) struct Shared {
    pub studio: Studio,
    token: Token,
    address: SocketAddr,
    running: Arc<Semaphore>,
}

/// Serves until the process ends. Refuses to listen on an address that other machines can reach.
pub async fn serve(studio: Studio, listener: TcpListener, token: Token) -> io::Result<()> {
    let address = listener.local_addr()?;
    if !address.ip().is_loopback() {
        return Err(io::Error::other(format!("{address} can be reached from other machines")));
    }
    let shared = Arc::new(Shared { studio, token, address, running: Arc::new(Semaphore::new(RUNNING)) });
    let app = axum::Router::new().fallback(move |request: Request| answer(shared.clone(), request));
    axum::serve(listener, app).await
}

async fn answer(shared: Arc<Shared>, request: Request) -> Response {
    let (parts, body) = request.into_parts();
    let passed = guard::pass(&parts.method, &parts.uri, &parts.headers, shared.address, &shared.token);
    let path = match passed {
        Ok(path) => path.to_string(),
        Err(refusal) => return refused(refusal),
    };
    if parts.method == Method::POST {
        let is_json = parts.headers.get(header::CONTENT_TYPE).is_some_and(|kind| kind == "application/json");
        let Some(name) = path.strip_prefix("api/").filter(|_| is_json) else { return not_found() };
        return match to_bytes(body, MAX_REQUEST).await {
            Ok(body) => requested(shared, name.to_string(), body).await,
            Err(_) => text(StatusCode::PAYLOAD_TOO_LARGE, "the request is too large"),
        };
    }
    if let Some(name) = path.strip_prefix("trace/") {
        return trace_page(shared, name.to_string()).await;
    }
    match FILES.iter().find(|(name, ..)| *name == path) {
        Some((_, kind, content)) => respond(StatusCode::OK, kind, POLICY, *content),
        None => not_found(),
    }
}

/// Answers a request of the page. Work that takes long is done beside the threads that serve.
async fn requested(shared: Arc<Shared>, name: String, body: Bytes) -> Response {
    // Only closing it could fail, which nobody does.
    let permit = match name.as_str() {
        "run" | "check" => shared.running.clone().acquire_owned().await.ok(),
        _ => None,
    };
    let work = move || {
        // Kept until the work is done, also if nobody waits for the answer any more.
        let _permit = permit;
        api::answer(&shared.studio, &name, &body)
    };
    let answered = tokio::task::spawn_blocking(work).await;
    match answered {
        Ok(Ok(value)) => json(StatusCode::OK, &value),
        Ok(Err(api::Wrong::NoSuch)) => not_found(),
        Ok(Err(api::Wrong::Request(reason))) => {
            json(StatusCode::BAD_REQUEST, &serde_json::json!({"error": reason}))
        }
        Err(_) => json(
            StatusCode::INTERNAL_SERVER_ERROR,
            &serde_json::json!({"error": "a mistake of ptc; please report this"}),
        ),
    }
}

/// Returns the page of a trace, which has its script and style in it.
async fn trace_page(shared: Arc<Shared>, name: String) -> Response {
    let made = tokio::task::spawn_blocking(move || api::traces::page(&shared.studio, &name)).await;
    match made {
        Ok(Ok((page, policy))) => respond(StatusCode::OK, "text/html; charset=utf-8", &policy, page),
        _ => not_found(),
    }
}

fn json(status: StatusCode, value: &Value) -> Response {
    respond(status, "application/json", POLICY, value.to_string())
}

fn not_found() -> Response {
    text(StatusCode::NOT_FOUND, "there is nothing here")
}

fn refused(refusal: Refusal) -> Response {
    let reason = match refusal {
        Refusal::Host => "this address is not served under that name",
        Refusal::Origin => "requests of other pages are refused",
        Refusal::Token => "open the address that `ptc studio` printed: it has a token",
        Refusal::Method => "there is no such method",
    };
    text(StatusCode::FORBIDDEN, reason)
}

fn text(status: StatusCode, text: &str) -> Response {
    respond(status, "text/plain; charset=utf-8", POLICY, format!("{text}\n"))
}

fn respond(status: StatusCode, kind: &str, policy: &str, body: impl Into<Body>) -> Response {
    let mut response = Response::new(body.into());
    *response.status_mut() = status;
    let headers = response.headers_mut();
    let mut set = |name: header::HeaderName, value: &str| {
        if let Ok(value) = HeaderValue::from_str(value) {
            headers.insert(name, value);
        }
    };
    set(header::CONTENT_TYPE, kind);
    set(header::CONTENT_SECURITY_POLICY, policy);
    set(header::CACHE_CONTROL, "no-store");
    set(header::REFERRER_POLICY, "no-referrer");
    set(header::X_CONTENT_TYPE_OPTIONS, "nosniff");
    set(header::HeaderName::from_static("cross-origin-opener-policy"), "same-origin");
    set(header::HeaderName::from_static("cross-origin-resource-policy"), "same-origin");
    response
}
