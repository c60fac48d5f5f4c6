//! Messages as lines: the SDK's transport over the pipes of a child.

use super::child::Pipes;
use super::lines::{Line, Lines};
use crate::config::StdioSettings;
use crate::executor;
use crate::fault::Reason;
use crate::transport::inbound::{Sorted, Sorter, failed};
use crate::transport::inflow::Inflow;
use crate::transport::scan::Scan;
use crate::transport::ticket::{Ticket, Waiter, Waiting};
use rmcp::model::{
    ClientJsonRpcMessage, ClientNotification, ClientRequest, ErrorCode, ErrorData, GetExtensions, RequestId,
    ServerJsonRpcMessage,
};
use rmcp::service::RoleClient;
use rmcp::transport::Transport;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWriteExt, BufReader};
use tokio::sync::{mpsc, oneshot};
use tokio_util::sync::CancellationToken;

/// Maximum number of messages queued in each direction.
const QUEUE: usize = 64;
/// Maximum number of unanswered requests of the server; further ones are ignored.
const MAX_QUESTIONS: usize = 64;
/// Time after which a child that does not read its input counts as broken.
const WRITE_TIMEOUT: Duration = Duration::from_secs(30);
/// Size of the read buffer, in bytes.
const BUFFER: usize = 64 * 1024;

type Written = oneshot::Sender<io::Result<()>>;

/// Transport of the SDK over a child's pipes.
pub(super) struct Wire {
    outbox: mpsc::Sender<(Vec<u8>, Written)>,
    inbox: mpsc::Receiver<ServerJsonRpcMessage>,
    injector: mpsc::WeakSender<ServerJsonRpcMessage>,
    waiting: Arc<Waiting>,
    questions: Arc<AtomicUsize>,
    probe: Duration,
}

impl Wire {
    pub(super) fn new(pipes: Pipes, name: &str, settings: &StdioSettings, inflow: Arc<Inflow>) -> Wire {
        let Pipes { stdin, stdout, silent, hang_up } = pipes;
        let (outbox, letters) = mpsc::channel(QUEUE);
        let (sender, inbox) = mpsc::channel(QUEUE);
        let (waiting, questions) = (Arc::<Waiting>::default(), Arc::<AtomicUsize>::default());
        let injector = sender.downgrade();
        let reader = Reader {
            name: name.to_string(),
            waiting: waiting.clone(),
            questions: questions.clone(),
            inflow,
            inbox: sender,
            told_of_noise: false,
        };
        let max = settings.max_response_bytes;
        let broken = silent.clone();
        executor::spawn(async move {
            reader.read(stdout, max).await;
            silent.cancel();
        });
        executor::spawn(async move {
            tokio::select! {
                () = write(stdin, letters, broken) => {}
                // Dropping the input closes it.
                () = hang_up.cancelled() => {}
            }
        });
        // Servers that do not know `server/discover` may leave it unanswered.
        Wire { outbox, inbox, injector, waiting, questions, probe: settings.handshake_timeout / 2 }
    }

    /// Answers one of our requests with an error if the server does not reply in time.
    fn give_up_later(&self, id: RequestId) {
        let (injector, waiting, probe) = (self.injector.clone(), self.waiting.clone(), self.probe);
        executor::spawn(async move {
            tokio::time::sleep(probe).await;
            if waiting.take(&id).is_some()
                && let Some(sender) = injector.upgrade()
            {
                let unknown = ErrorData::new(ErrorCode::METHOD_NOT_FOUND, "no answer", None);
                let _ = sender.send(ServerJsonRpcMessage::error(unknown, Some(id))).await;
            }
        });
    }
}

impl Transport<RoleClient> for Wire {
    type Error = io::Error;

    fn send(
        &mut self,
        message: ClientJsonRpcMessage,
    ) -> impl Future<Output = io::Result<()>> + Send + 'static {
        match &message {
            ClientJsonRpcMessage::Request(request) => {
                let ticket = request.request.extensions().get::<Arc<Ticket>>();
                self.waiting.expect(request.id.clone(), ticket);
                if matches!(request.request, ClientRequest::DiscoverRequest(_)) {
                    self.give_up_later(request.id.clone());
                }
            }
            ClientJsonRpcMessage::Notification(notification) => {
                if let ClientNotification::CancelledNotification(cancelled) = &notification.notification
                    && let Some(id) = &cancelled.params.request_id
                {
                    self.waiting.take(id);
                }
            }
            ClientJsonRpcMessage::Response(_) | ClientJsonRpcMessage::Error(_) => {
                let _ =
                    self.questions.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |n| n.checked_sub(1));
            }
        }
        let line = serde_json::to_vec(&message);
        let outbox = self.outbox.clone();
        async move {
            let mut line = line?;
            line.push(b'\n');
            let (written, done) = oneshot::channel();
            let closed = |_| io::Error::from(io::ErrorKind::BrokenPipe);
            outbox.send((line, written)).await.map_err(|_| io::Error::from(io::ErrorKind::BrokenPipe))?;
            done.await.map_err(closed)?
        }
    }

    async fn receive(&mut self) -> Option<ServerJsonRpcMessage> {
        self.inbox.recv().await
    }

    async fn close(&mut self) -> io::Result<()> {
        self.inbox.close();
        Ok(())
    }
}

/// Writes lines one after another. A line is written in full or not at all, even if its sender stops waiting.
async fn write(
    mut stdin: impl tokio::io::AsyncWrite + Unpin,
    mut letters: mpsc::Receiver<(Vec<u8>, Written)>,
    broken: CancellationToken,
) {
    while let Some((line, written)) = letters.recv().await {
        let writing = async {
            stdin.write_all(&line).await?;
            stdin.flush().await
        };
        let outcome = match tokio::time::timeout(WRITE_TIMEOUT, writing).await {
            Ok(outcome) => outcome,
            Err(_) => Err(io::ErrorKind::TimedOut.into()),
        };
        let failed = outcome.is_err();
        let _ = written.send(outcome);
        if failed {
            // A line may have been written in part: everything after it would be misread.
            broken.cancel();
            return;
        }
    }
}

struct Reader {
    name: String,
    waiting: Arc<Waiting>,
    questions: Arc<AtomicUsize>,
    inflow: Arc<Inflow>,
    inbox: mpsc::Sender<ServerJsonRpcMessage>,
    told_of_noise: bool,
}

impl Reader {
    /// Reads until the output ends or nobody listens any more.
    async fn read(mut self, stdout: impl AsyncRead + Unpin, max: u64) {
        let inflow = self.inflow.clone();
        let mut lines = Lines::new(BufReader::with_capacity(BUFFER, stdout), max, &inflow);
        loop {
            let (Sorted { messages, unasked }, bytes) = match lines.next().await {
                Err(_) | Ok(None) => return,
                Ok(Some(Line::Whole(line))) => (self.understand(line), line.len() as u64),
                Ok(Some(Line::TooLong { bytes, id })) => (self.too_long(bytes, id), 0),
            };
            for message in messages {
                if self.inbox.send(message).await.is_err() {
                    return;
                }
            }
            if unasked > 0 {
                inflow.pace(unasked, bytes).await;
            }
        }
    }

    fn understand(&mut self, line: &[u8]) -> Sorted {
        let noise = Sorted { unasked: 1, ..Sorted::default() };
        let line = line.trim_ascii();
        if line.is_empty() {
            return noise;
        }
        let (waiting, inflow) = (&self.waiting, &self.inflow);
        let sorter = Sorter { waiting, inflow, wire_bytes: line.len() as u64, only: None };
        match executor::heavy(line.len(), || sorter.sort(line)) {
            Ok(mut sorted) => {
                sorted.messages.retain(|message| self.admit(message));
                sorted
            }
            Err(error) => {
                let mut scan = Scan::default();
                scan.feed(line);
                let Some((id, waiter)) = scan.id().and_then(|id| Some((id.clone(), self.waiting.take(&id)?)))
                else {
                    self.noise();
                    return noise;
                };
                if let Waiter::Call(ticket) = waiter {
                    ticket.count(line.len() as u64);
                    ticket.fail(Reason::UpstreamError, format!("the reply is not valid JSON: {error}"));
                }
                Sorted { messages: vec![failed(id, "malformed")], unasked: 0 }
            }
        }
    }

    /// Returns whether to pass a message to the SDK: requests only while not too many are unanswered.
    fn admit(&self, message: &ServerJsonRpcMessage) -> bool {
        if !matches!(message, ServerJsonRpcMessage::Request(_)) {
            return true;
        }
        let more = |open: usize| (open < MAX_QUESTIONS).then_some(open + 1);
        self.questions.fetch_update(Ordering::Relaxed, Ordering::Relaxed, more).is_ok()
    }

    fn too_long(&mut self, bytes: u64, id: Option<RequestId>) -> Sorted {
        tracing::debug!(upstream = self.name, bytes, "a message is too long and was skipped");
        let Some((id, waiter)) = id.and_then(|id| Some((id.clone(), self.waiting.take(&id)?))) else {
            return Sorted { unasked: 1, ..Sorted::default() };
        };
        if let Waiter::Call(ticket) = waiter {
            ticket.count(bytes);
            ticket.too_large();
        }
        Sorted { messages: vec![failed(id, "too long")], unasked: 0 }
    }

    fn noise(&mut self) {
        if !std::mem::replace(&mut self.told_of_noise, true) {
            tracing::debug!(
                upstream = self.name,
                "writes lines to its output that are not messages; they are skipped"
            );
        }
    }
}
