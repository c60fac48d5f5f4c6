//! The server over stdin and stdout: one message per line.

mod lines;

use crate::connection::{Connection, Flight};
use crate::frame::{self, Message, Request, RpcError};
use crate::service::Service;
use crate::sessions::Owner;
use lines::{Line, Lines};
use serde_json::Value;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt};
use tokio::sync::mpsc;

/// Maximum number of replies queued for a slow client; when full, no further message is read.
const WAITING: usize = 256;

/// Time limit for calls in progress after `exit`.
const EXIT_GRACE: Duration = Duration::from_secs(2);

/// Serves one client until `exit` or the end of the input. Then all requests in progress are cancelled.
///
/// ```
/// use ptc_mcp::{Host, Server, Settings, protocol::Build, sessions::Owner};
/// # tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
/// let (settings, runtime) = (Settings::default(), ptc_runtime::Runtime::with_core(ptc_preludes::core()).unwrap());
/// let server = Server::new(Host::new(&runtime, &settings, None), &settings, None, Build::default()).unwrap();
/// let input = &b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}\n"[..];
/// let (mut client, out) = tokio::io::duplex(4096);
/// ptc_mcp::stdio::serve(&server, Owner::new("me"), input, out).await;
/// let mut answers = String::new();
/// tokio::io::AsyncReadExt::read_to_string(&mut client, &mut answers).await.unwrap();
/// assert_eq!(answers, "{\"id\":1,\"jsonrpc\":\"2.0\",\"result\":{}}\n");
/// # });
/// ```
pub async fn serve(
    service: &(impl Service + Clone),
    owner: Owner,
    input: impl AsyncRead + Unpin,
    output: impl AsyncWrite + Unpin + Send + 'static,
) {
    let (answers, waiting) = mpsc::channel(WAITING);
    let writer = tokio::spawn(write(output, waiting));
    let connection = Connection::new(owner);
    let service: Arc<dyn Service> = Arc::new(service.clone());
    let mut client = Peer { service: service.clone(), connection: connection.clone(), answers };
    let mut lines = Lines::new(input, service.settings().max_frame_bytes);
    let read = async {
        while let Some(line) = lines.next().await {
            if client.take(line).await.is_exit() {
                return true;
            }
        }
        false
    };
    let is_told = tokio::select! {
        is_told = read => is_told,
        () = service.tend() => false,
    };
    if is_told {
        // After `exit`, requests in progress may end and get their replies.
        let _ = tokio::time::timeout(EXIT_GRACE, connection.idle()).await;
    }
    connection.cancel_all();
    // The writer ends when all senders are gone.
    drop(client);
    let _ = tokio::time::timeout(EXIT_GRACE, connection.idle()).await;
    let _ = tokio::time::timeout(EXIT_GRACE, writer).await;
}

struct Peer {
    service: Arc<dyn Service>,
    connection: Arc<Connection>,
    answers: mpsc::Sender<Value>,
}

enum Next {
    GoOn,
    Exit,
}

impl Next {
    fn is_exit(&self) -> bool {
        matches!(self, Next::Exit)
    }
}

impl Peer {
    async fn take(&mut self, line: Line) -> Next {
        let message = match line {
            Line::Whole(bytes) if bytes.trim_ascii().is_empty() => return Next::GoOn,
            Line::Whole(bytes) => Message::read(&bytes),
            Line::TooLong => {
                let most = self.service.settings().max_frame_bytes;
                let message = format!("Parse error: the message is longer than max_frame_bytes ({most})");
                Err((None, RpcError::new(RpcError::PARSE, message)))
            }
        };
        match message {
            Err((id, error)) => self.send(error.answer(id.as_ref())).await,
            Ok(Message::Request(request)) => self.request(request).await,
            Ok(Message::Notification { method, .. }) if method == "exit" => return Next::Exit,
            Ok(Message::Notification { method, params }) => {
                self.service.note(&self.connection, &method, &params);
            }
            Ok(Message::Response { id, result }) => self.connection.answered(&id, result),
        }
        Next::GoOn
    }

    async fn send(&self, answer: Value) {
        // Fails if the client has closed its end.
        let _ = self.answers.send(answer).await;
    }

    async fn request(&self, request: Request) {
        let id = request.id.clone();
        let flight = match self.connection.begin(&id, Some(self.answers.clone())) {
            Ok(flight) => flight,
            Err(error) => return self.send(error.answer(Some(&id))).await,
        };
        let mut answered = Box::pin(answer(self.service.clone(), self.answers.clone(), request, flight));
        // A request runs as far as it can without waiting before the next one is read: checks happen in the
        // order of arrival, and quick requests are answered in that order.
        if futures_util::poll!(&mut answered).is_pending() {
            tokio::spawn(answered);
        }
    }
}

async fn answer(service: Arc<dyn Service>, answers: mpsc::Sender<Value>, request: Request, flight: Flight) {
    let (id, is_handshake) = (request.id.clone(), request.method == "initialize");
    let answer = match service.answer(request, &flight).await {
        Ok(result) => frame::answer(&id, result),
        Err(error) => error.answer(Some(&id)),
    };
    // The client does not want a reply to a cancelled request.
    if is_handshake || !flight.cancel().is_cancelled() {
        let _ = answers.send(answer).await;
    }
}

/// Writes all replies, so that they do not interleave.
async fn write(mut output: impl AsyncWrite + Unpin, mut answers: mpsc::Receiver<Value>) {
    let mut bytes = Vec::new();
    while let Some(answer) = answers.recv().await {
        bytes.clear();
        let mut next = Some(answer);
        while let Some(answer) = next {
            // A value in memory can always be written.
            let _ = serde_json::to_writer(&mut bytes, &answer);
            bytes.push(b'\n');
            next = answers.try_recv().ok();
        }
        if output.write_all(&bytes).await.is_err() || output.flush().await.is_err() {
            return;
        }
    }
    let _ = output.shutdown().await;
}
