//! Lets clients in, and hears each of them out on a task of its own.

use super::address::Proxies;
use super::connections::{Busy, Connections, Place};
use super::tls::Tls;
use axum::body::Body;
use axum::extract::Request;
use axum::response::Response;
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo};
use hyper_util::server::conn::auto::Builder;
use std::convert::Infallible;
use std::future::Future;
use std::io::{self, ErrorKind};
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream};

/// Memory that the headers of one request may take, in bytes.
const MAX_HEADERS: usize = 64 << 10;

/// How long a connection that was closed takes to give its file back, and how long we wait where none can be closed.
const CLOSING: Duration = Duration::from_millis(10);
const PAUSE: Duration = Duration::from_millis(500);

/// What a connection has to pass before its first request.
pub struct Door {
    pub connections: Arc<Connections>,
    pub proxies: Proxies,
    pub tls: Option<Tls>,
}

/// Accepts connections for as long as it is polled. `answer` answers a request of a peer, and holds on to [`Busy`] until
/// that is done.
pub async fn accept<A, F>(listener: TcpListener, door: Arc<Door>, answer: A)
where
    A: Fn(SocketAddr, Request, Busy) -> F + Clone + Send + Sync + 'static,
    F: Future<Output = Response> + Send + 'static,
{
    loop {
        let (stream, peer) = match listener.accept().await {
            Ok(accepted) => accepted,
            Err(error) => {
                recover(&error, &door.connections).await;
                continue;
            }
        };
        match door.connections.admit(peer.ip(), &door.proxies) {
            Some(place) => {
                tokio::spawn(attend(door.clone(), stream, peer, place, answer.clone()));
            }
            None => tracing::debug!(%peer, "http.connection_refused"),
        }
    }
}

/// A client that is gone already is nobody's trouble; anything else is most likely a want of files.
async fn recover(error: &io::Error, connections: &Connections) {
    let is_of_client = matches!(
        error.kind(),
        ErrorKind::ConnectionAborted | ErrorKind::ConnectionRefused | ErrorKind::ConnectionReset
    );
    if is_of_client {
        return;
    }
    tracing::warn!(%error, "http.accept_failed");
    let pause = if connections.make_room() { CLOSING } else { PAUSE };
    tokio::time::sleep(pause).await;
}

/// One connection, until it ends or its place is lost. Agreeing on keys is a part of it, and held to the same time.
async fn attend<A, F>(door: Arc<Door>, stream: TcpStream, peer: SocketAddr, place: Place, answer: A)
where
    A: Fn(SocketAddr, Request, Busy) -> F,
    F: Future<Output = Response> + Send + 'static,
{
    // Answers are small, and one waits for the next: no byte is held back.
    let _ = stream.set_nodelay(true);
    let respond = |request| answer(peer, request, place.begin());
    let talk = async {
        match &door.tls {
            None => converse(stream, respond).await,
            Some(tls) => {
                if let Some(stream) = tls.accept(stream).await {
                    converse(stream, respond).await;
                }
            }
        }
    };
    tokio::select! {
        () = talk => {}
        () = place.lost() => tracing::debug!(%peer, "http.connection_closed"),
    }
}

async fn converse<F>(
    stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static,
    respond: impl Fn(Request) -> F,
) where
    F: Future<Output = Response> + Send + 'static,
{
    let service = service_fn(|request: hyper::Request<Incoming>| {
        let response = respond(request.map(Body::new));
        async { Ok::<_, Infallible>(response.await) }
    });
    let mut builder = Builder::new(TokioExecutor::new());
    builder.http1().max_buf_size(MAX_HEADERS);
    // How a connection ends is nobody's concern: its requests were answered, or nobody waits for them.
    let _ = builder.serve_connection(TokioIo::new(stream), service).await;
}
