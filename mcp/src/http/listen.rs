//! Accepts connections and serves each in its own task.

use super::address::Proxies;
use super::connections::{Admitted, Busy, Connections};
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

/// Maximum size of one request's headers, in bytes.
const MAX_HEADERS: usize = 64 << 10;

/// Time for a closed connection to free its file, and (`PAUSE`) the wait if none can be closed.
const CLOSING: Duration = Duration::from_millis(10);
const PAUSE: Duration = Duration::from_millis(500);

/// State needed to accept connections.
pub struct Door {
    pub connections: Arc<Connections>,
    pub proxies: Proxies,
    pub tls: Option<Tls>,
}

/// Accepts connections while polled. `answer` responds to a request of a peer and holds [`Busy`] until done.
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
            Some(admitted) => {
                tokio::spawn(attend(door.clone(), stream, peer, admitted, answer.clone()));
            }
            None => tracing::debug!(%peer, "http.connection_refused"),
        }
    }
}

/// Handles an error of accepting. Lost clients do not matter; other errors usually mean too many open files.
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

/// Serves one connection until it ends or loses its admitted. The TLS handshake is part of it, with the same time limit.
async fn attend<A, F>(door: Arc<Door>, stream: TcpStream, peer: SocketAddr, admitted: Admitted, answer: A)
where
    A: Fn(SocketAddr, Request, Busy) -> F,
    F: Future<Output = Response> + Send + 'static,
{
    // Replies are small and the client waits for each, so no byte is held back.
    let _ = stream.set_nodelay(true);
    let respond = |request| answer(peer, request, admitted.begin());
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
        () = admitted.lost() => tracing::debug!(%peer, "http.connection_closed"),
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
    // An error here does not matter: the requests were answered, or nobody waits for them.
    let _ = builder.serve_connection(TokioIo::new(stream), service).await;
}
