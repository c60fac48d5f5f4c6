//! The server over Streamable HTTP.
//!
//! Every request passes the same gate, in one order (`gate`): callers without access learn nothing from the
//! server. Admitted requests are messages (`post`), either of a client after its handshake (`clients`) or
//! self-contained.

mod address;
mod body;
mod clients;
mod connections;
mod cors;
mod gate;
mod guard;
mod identity;
mod listen;
mod metrics;
mod oauth;
mod parse;
mod post;
mod respond;
mod tls;
mod tokens;

use crate::service::Service;
use crate::shares::Shares;
use crate::signal::HangUps;
use crate::spans;
use address::Proxies;
use axum::body::{Body, HttpBody};
use axum::extract::Request;
use axum::response::Response;
use clients::Clients;
use connections::{Busy, Connections};
use guard::Guard;
use http_body_util::BodyExt;
use identity::Identity;
use listen::Door;
use metrics::Metrics;
use oauth::OAuth;
use parse::Parser;
use ptc_runtime::Reservation;
use std::future::Future;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tls::Tls;
use tokens::Tokens;
use tokio::net::TcpListener;
use tokio::sync::Notify;
use tracing::Instrument;

/// Interval of removing expired sessions and blocks.
const SWEEP: Duration = Duration::from_secs(30);

/// State shared by all requests.
pub(crate) struct Shared {
    service: Arc<dyn Service>,
    door: Arc<Door>,
    /// Memory budget for request bodies.
    bodies: Shares<Identity>,
    parser: Parser,
    clients: Clients,
    tokens: Tokens,
    /// Tokens of authorization servers, if any are named.
    oauth: Option<OAuth>,
    guard: Guard,
    metrics: Metrics,
    /// True if only this machine can reach the server.
    is_loopback: bool,
    /// Notified whenever a request ends.
    landed: Notify,
}

/// Serves until `asked_to_end` completes; then refuses further calls, waits for those in progress as long as
/// the settings say, and drops the rest. The error is for the process that starts the server.
pub async fn serve(
    service: impl Service,
    listener: TcpListener,
    asked_to_end: impl Future<Output = ()> + Send + 'static,
) -> Result<(), String> {
    let settings = service.settings().clone();
    let address = listener.local_addr().map_err(|error| format!("cannot listen: {error}"))?;
    let shared = Arc::new(Shared {
        door: Arc::new(Door {
            connections: Arc::new(Connections::new(&settings)),
            proxies: Proxies::new(&settings),
            tls: Tls::new(&settings)?,
        }),
        bodies: Shares::new(settings.http_max_bodies_bytes),
        parser: Parser::start()?,
        clients: Clients::new(&settings),
        tokens: Tokens::new(&settings)?,
        oauth: OAuth::new(&settings)?,
        guard: Guard::new(&settings),
        metrics: Metrics::new(&settings),
        is_loopback: address.ip().is_loopback(),
        landed: Notify::new(),
        service: Arc::new(service),
    });
    tracing::info!(%address, path = settings.http_path, tls = shared.door.tls.is_some(), "http.listening");
    let answering = shared.clone();
    let listening = listen::accept(listener, shared.door.clone(), move |peer, request, busy| {
        answer(answering.clone(), peer, request, busy)
    });
    let (sweeping, service) = (sweep(shared.clone()), shared.service.clone());
    let tending = service.tend();
    tokio::select! {
        () = listening => {}
        () = reload(shared.clone()) => {}
        () = sweeping => {}
        () = tending => {}
        () = drained(shared.clone(), asked_to_end) => {}
    }
    Ok(())
}

/// Waits for the end, and then for calls in progress.
async fn drained(shared: Arc<Shared>, asked_to_end: impl Future<Output = ()>) {
    asked_to_end.await;
    shared.service.drain();
    let grace = Duration::from_millis(shared.service.settings().http_shutdown_grace_ms);
    tracing::info!(in_flight = shared.metrics.in_flight(), "http.draining");
    let idle = async {
        loop {
            let landed = shared.landed.notified();
            if shared.metrics.in_flight() == 0 {
                return;
            }
            landed.await;
        }
    };
    let _ = tokio::time::timeout(grace, idle).await;
    shared.clients.close_all(&*shared.service);
}

async fn sweep(shared: Arc<Shared>) {
    loop {
        tokio::time::sleep(SWEEP).await;
        shared.clients.sweep(&*shared.service, Instant::now());
        shared.guard.sweep(Instant::now());
        shared.tokens.reload();
        if let Some(tls) = &shared.door.tls {
            tls.reload();
        }
    }
}

/// Reads tokens and certificates again whenever the process gets a SIGHUP, without waiting for the next sweep.
async fn reload(shared: Arc<Shared>) {
    let mut hang_ups = HangUps::new();
    loop {
        hang_ups.next().await;
        tracing::info!("http.reload");
        shared.tokens.reload();
        if let Some(tls) = &shared.door.tls {
            tls.reload();
        }
    }
}

async fn answer(shared: Arc<Shared>, peer: SocketAddr, request: Request, busy: Busy) -> Response {
    let began = Instant::now();
    let under_way = UnderWay::new(&shared);
    let label = respond::request_id(request.headers());
    let method = request.method().clone();
    let traceparent = request.headers().get("traceparent").and_then(|value| value.to_str().ok());
    let span = spans::request(method.as_str(), traceparent);
    let origin = gate::named_origin(&shared, request.headers());
    let mut response = gate::pass(&shared, peer, request, under_way).instrument(span.clone()).await;
    let status = response.status();
    span.record("http.response.status_code", status.as_u16());
    shared.metrics.answered(status);
    respond::stamp(&mut response, &label);
    if let Some(origin) = origin {
        cors::stamp(&mut response, origin);
    }
    tracing::info!(
        request_id = label,
        method = %method,
        status = status.as_u16(),
        duration_ms = began.elapsed().as_millis() as u64,
        "http.request"
    );
    // A stream counts as in progress until its last message; other responses are complete already.
    match response.body().size_hint().exact() {
        Some(_) => response,
        None => response.map(|body| {
            Body::new(body.map_frame(move |frame| {
                let _busy = &busy;
                frame
            }))
        }),
    }
}

/// Counts a request as in progress until it ends in any way, and holds the memory of its body. A streamed
/// response takes it along.
struct UnderWay {
    shared: Arc<Shared>,
    body: Option<Reservation>,
}

impl UnderWay {
    fn new(shared: &Arc<Shared>) -> UnderWay {
        shared.metrics.begin();
        UnderWay { shared: shared.clone(), body: None }
    }
}

impl Drop for UnderWay {
    fn drop(&mut self) {
        self.body = None;
        self.shared.metrics.end();
        self.shared.landed.notify_waiters();
    }
}
