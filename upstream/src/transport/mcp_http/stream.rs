//! Replies that arrive as server-sent events: each event is checked before the SDK sees it.

use super::body::{Account, BodyError, Cap, counted};
use crate::executor;
use crate::fault::Reason;
use crate::transport::inbound::{self, Sorted, failed};
use crate::transport::inflow::Inflow;
use crate::transport::scan::Scan;
use crate::transport::ticket::{Ticket, Waiter, Waiting};
use futures_util::stream::{self, BoxStream, StreamExt};
use reqwest::Response;
use rmcp::model::{RequestId, ServerJsonRpcMessage, ServerRequest};
use sse_stream::{Error as SseError, Sse, SseStream};
use std::collections::VecDeque;
use std::sync::Arc;

pub(super) type Events = BoxStream<'static, Result<Sse, SseError>>;

/// Minimum delay before an ended stream is requested again, in milliseconds.
const MIN_RETRY_MS: u64 = 500;
/// Maximum length of an event type that is passed on; the protocol only has `message`.
const MAX_KIND_BYTES: usize = 64;

/// Owner of a stream.
pub(super) enum Owner {
    /// A request; the stream may contain its reply and no other.
    Request { id: RequestId, ticket: Option<Arc<Ticket>> },
    /// No request: the stream stays open for unsolicited messages.
    Nobody,
}

/// Streams the checked events of a response.
pub(super) fn events(
    response: Response,
    max: u64,
    owner: Owner,
    waiting: Arc<Waiting>,
    inflow: Arc<Inflow>,
) -> Events {
    let (cap, meter) = match &owner {
        Owner::Request { ticket: Some(ticket), .. } => {
            (Cap::Total(ticket.max_bytes), Some(Account::Call(ticket.clone())))
        }
        _ => (Cap::Event(max), Some(Account::Server(inflow.clone()))),
    };
    let events = SseStream::from_bytes_stream(Box::pin(counted(response, cap, meter))).boxed();
    let sorter =
        Sorter { events, owner, waiting, inflow, ready: VecDeque::new(), resumable: false, over: false };
    stream::unfold(sorter, |mut sorter| async move { sorter.next().await.map(|event| (Ok(event), sorter)) })
        .boxed()
}

struct Sorter {
    events: Events,
    owner: Owner,
    waiting: Arc<Waiting>,
    inflow: Arc<Inflow>,
    ready: VecDeque<Sse>,
    /// True if the server numbers its events, so that the SDK can request missing ones.
    resumable: bool,
    over: bool,
}

impl Sorter {
    async fn next(&mut self) -> Option<Sse> {
        loop {
            if let Some(event) = self.ready.pop_front() {
                return Some(event);
            }
            if self.over {
                return None;
            }
            match self.events.next().await {
                Some(Ok(event)) => {
                    let unasked = self.take(event);
                    // The stream of a call is bounded by the size limit of its reply.
                    if !matches!(&self.owner, Owner::Request { ticket: Some(_), .. }) {
                        self.inflow.pace(unasked, 0).await;
                    }
                }
                Some(Err(error)) => self.end(Some(error)),
                None => self.end(None),
            }
        }
    }

    /// Processes an event; returns its number of unsolicited messages.
    fn take(&mut self, mut event: Sse) -> usize {
        self.resumable |= event.id.is_some();
        // A server must not make us reconnect without a delay.
        event.retry = event.retry.map(|millis| millis.max(MIN_RETRY_MS));
        let data = event.data.take().unwrap_or_default();
        let Sorted { messages, unasked } = match data.trim().is_empty() {
            true => Sorted { unasked: 1, ..Sorted::default() },
            false => executor::heavy(data.len(), || match self.sort(&data) {
                Ok(sorted) => sorted,
                Err(error) => Sorted { messages: self.malformed(&data, &error), unasked: 1 },
            }),
        };
        // Each message becomes an event of its own. Only the last one keeps the id and retry time: other fields
        // may be long, and the SDK may count the event as received only after its last message.
        let kind = event.event.clone().filter(|kind| kind.len() <= MAX_KIND_BYTES);
        let texts = messages.iter().filter_map(|message| serde_json::to_string(message).ok());
        for text in texts {
            self.ready.push_back(Sse { data: Some(text), event: kind.clone(), ..Sse::default() });
        }
        match self.ready.back_mut() {
            Some(last) => (last.id, last.retry) = (event.id, event.retry),
            // The SDK needs the id to resume, and the retry time for its delay.
            None if event.id.is_some() || event.retry.is_some() => self.ready.push_back(event),
            None => {}
        }
        unasked
    }

    fn sort(&self, data: &str) -> Result<Sorted, serde_json::Error> {
        let (only, is_counted) = match &self.owner {
            // The bytes of a call's reply have already been counted.
            Owner::Request { id, ticket } => (Some(id), ticket.is_some()),
            Owner::Nobody => (None, false),
        };
        let wire_bytes = if is_counted { 0 } else { data.len() as u64 };
        let sorter = inbound::Sorter { waiting: &self.waiting, inflow: &self.inflow, wire_bytes, only };
        let mut sorted = sorter.sort(data.as_bytes())?;
        if only.is_none() {
            sorted.messages.retain(|message| match message {
                ServerJsonRpcMessage::Request(request) => {
                    matches!(request.request, ServerRequest::PingRequest(_))
                }
                _ => true,
            });
        }
        Ok(sorted)
    }

    fn malformed(&self, data: &str, error: &serde_json::Error) -> Vec<ServerJsonRpcMessage> {
        let mut scan = Scan::default();
        scan.feed(data.as_bytes());
        let Some(id) = scan.id() else { return Vec::new() };
        match self.waiting.take(&id) {
            None => return Vec::new(),
            Some(Waiter::Call(ticket)) => {
                ticket.fail(Reason::UpstreamError, format!("the reply is not valid JSON: {error}"))
            }
            Some(Waiter::Sdk) => {}
        }
        vec![failed(id, "malformed")]
    }

    /// Ends the stream. A request still waiting for its reply fails with the reason.
    fn end(&mut self, error: Option<SseError>) {
        self.over = true;
        let Owner::Request { id, ticket } = &self.owner else { return };
        if !self.waiting.expects(id) {
            return;
        }
        let too_large = matches!(&error, Some(SseError::Body(error))
            if matches!(error.downcast_ref::<BodyError>(), Some(BodyError::TooLarge)));
        if let Some(ticket) = ticket {
            match &error {
                _ if too_large => ticket.too_large(),
                None => ticket.fail(Reason::UpstreamError, "the event stream ended without a reply"),
                Some(SseError::Body(error)) => {
                    ticket.fail(Reason::UpstreamUnavailable, format!("the connection was lost: {error}"));
                }
                Some(error) => {
                    ticket.fail(Reason::UpstreamError, format!("the event stream cannot be read: {error}"));
                }
            }
        }
        if too_large || !self.resumable {
            self.waiting.take(id);
            if let Ok(text) = serde_json::to_string(&failed(id.clone(), "the stream ended")) {
                self.ready.push_back(Sse { data: Some(text), ..Sse::default() });
            }
        }
    }
}
