//! One connection to a server after the handshake: its requests, and its end.

use super::handler::Handler;
use super::inbound;
use super::listing;
use super::ticket::{Ticket, WireAnswer};
use crate::client::{Introduction, Reply, Request, Tool};
use crate::executor;
use crate::fault::{Fault, Reason};
use crate::raw;
use rmcp::model::{
    CallToolRequest, CallToolRequestParams, ClientRequest, GetExtensions, ListToolsRequest,
    PaginatedRequestParams, ProtocolVersion, RequestMetaObject, ServerResult, SubscriptionFilter,
};
use rmcp::service::{
    ClientInitializeError, ClientLifecycleMode, Peer, PeerRequestOptions, RequestHandle, RoleClient,
    ServiceError, serve_client_with_lifecycle_and_ct,
};
use rmcp::transport::Transport;
use serde_json::value::RawValue;
use std::sync::{Arc, OnceLock};
use std::time::Duration;
use tokio_util::sync::CancellationToken;

/// Kind of handshake a server needs, found out once and then remembered.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Era {
    /// Revision 2026-07-28: `server/discover`, and client information with each request.
    Modern,
    /// Revision 2025-11-25 and before: `initialize`.
    Legacy,
}

/// State shared by a connection and its transport.
#[derive(Clone, Default, Debug)]
pub(crate) struct Life {
    /// Cancelled to end the connection.
    pub(crate) stop: CancellationToken,
    /// Cancelled when the SDK has released the transport.
    pub(crate) released: CancellationToken,
    /// Cancelled when the connection can serve no more calls.
    pub(crate) dead: CancellationToken,
    /// Cancelled when everything that belongs to the connection is gone.
    pub(crate) ended: CancellationToken,
    /// Reason why the connection ended.
    pub(crate) obituary: Arc<OnceLock<String>>,
}

/// A connection after the handshake.
#[derive(Debug)]
pub(crate) struct Session {
    peer: Peer<RoleClient>,
    pub(crate) era: Era,
    pub(crate) life: Life,
}

/// Reason for an end of which nothing else is known.
const GONE: &str = "its connection has ended";
/// Time limit for waiting for the reason of an end.
const LAST_WORDS: Duration = Duration::from_millis(750);

impl Session {
    /// Performs the handshake with the server behind a transport.
    pub(crate) async fn open<T: Transport<RoleClient> + 'static>(
        transport: T,
        era: Option<Era>,
        life: Life,
    ) -> Result<Session, Misgreeting> {
        let lifecycle = match era {
            Some(Era::Legacy) => ClientLifecycleMode::Initialize,
            Some(Era::Modern) => {
                ClientLifecycleMode::Discover { preferred_versions: vec![ProtocolVersion::V_2026_07_28] }
            }
            None => ClientLifecycleMode::Auto {
                preferred_versions: vec![ProtocolVersion::V_2026_07_28],
                legacy_version: Some(ProtocolVersion::V_2025_11_25),
            },
        };
        let served =
            serve_client_with_lifecycle_and_ct(Handler, transport, lifecycle, life.stop.clone()).await;
        let service = served.map_err(|error| Misgreeting::of(&error))?;
        let peer = service.peer().clone();
        let info = peer.peer_info();
        let version = info.as_ref().map(|info| info.protocol_version.clone());
        let era = match version.as_ref().is_none_or(ProtocolVersion::has_initialize) {
            true => Era::Legacy,
            false => Era::Modern,
        };
        let tells =
            info.and_then(|info| info.capabilities.tools.as_ref().and_then(|tools| tools.list_changed));
        if era == Era::Modern && tells == Some(true) {
            executor::spawn(hear_of_changes(peer.clone(), life.dead.clone()));
        }
        Ok(Session { peer, era, life }.served_by(service))
    }

    /// Cancels `released` when the SDK's loop ends: without the loop there are no replies.
    fn served_by<S>(self, service: rmcp::service::RunningService<RoleClient, S>) -> Session
    where
        S: rmcp::service::Service<RoleClient>,
    {
        let released = self.life.released.clone();
        executor::spawn(async move {
            let _ = service.waiting().await;
            released.cancel();
        });
        self
    }

    /// Returns what the server said about itself in the handshake.
    pub(crate) fn introduction(&self) -> Introduction {
        let Some(info) = self.peer.peer_info() else { return Introduction::default() };
        let filled = |text: Option<&String>| text.filter(|text| !text.trim().is_empty()).cloned();
        Introduction {
            title: filled(info.server_info.as_ref().and_then(|own| own.title.as_ref())),
            instructions: filled(info.instructions.as_ref()),
        }
    }

    /// Returns whether requests can no longer be sent.
    pub(crate) fn is_dead(&self) -> bool {
        self.life.dead.is_cancelled() || self.peer.is_transport_closed()
    }

    /// Ends the connection and waits until everything that belongs to it is gone.
    pub(crate) async fn close(&self) {
        self.life.stop.cancel();
        self.life.ended.cancelled().await;
    }

    /// Calls a tool.
    pub(crate) async fn call(&self, request: Request, max_bytes: u64) -> Result<Reply, Fault> {
        let ticket = Ticket::new(max_bytes, false);
        let mut params = CallToolRequestParams::new(request.tool);
        params.arguments = Some(request.args);
        let mut meta = RequestMetaObject::new();
        if let Some(traceparent) = &request.traceparent {
            meta.set_traceparent(traceparent);
        }
        let asked =
            self.ask(ClientRequest::CallToolRequest(CallToolRequest::new(params)), meta, &ticket).await;
        let mut received = ticket.take();
        let result = told(asked, &mut received).map_err(|fault| with_facts(fault, &received))?;
        let [kind] = raw::members(&result, ["resultType"]);
        match kind.and_then(raw::string).as_deref() {
            None | Some("complete") => {
                Ok(Reply { result, http_status: received.http_status, wire_bytes: received.wire_bytes })
            }
            Some(other) => {
                let why = format!(
                    "the server expects another message (resultType \"{other}\"), which programs cannot send"
                );
                Err(with_facts(Fault::new(Reason::UpstreamError, why), &received))
            }
        }
    }

    /// Lists its tools, all pages; also returns what was left out.
    pub(crate) async fn tools(&self, name: &str, max_bytes: u64) -> Result<(Vec<Tool>, Vec<String>), Fault> {
        let mut listing = listing::Listing::new(name);
        let mut cursor = None;
        loop {
            let ticket = Ticket::new(max_bytes, true);
            let params = PaginatedRequestParams::default().with_cursor(cursor.clone());
            let request = ClientRequest::ListToolsRequest(ListToolsRequest::with_param(params));
            let asked = self.ask(request, RequestMetaObject::new(), &ticket).await;
            // The SDK leaves out tools whose arguments cannot be sent in the headers they require.
            let usable = match &asked {
                Ok(ServerResult::ListToolsResult(list)) => {
                    Some(list.tools.iter().map(|tool| tool.name.to_string()).collect())
                }
                _ => None,
            };
            let mut received = ticket.take();
            let page = match told(asked, &mut received) {
                Ok(page) => page,
                Err(_) if self.has_no_tools() => return Ok(Default::default()),
                Err(fault) => return Err(with_facts(fault, &received)),
            };
            let bytes = page.get().len() as u64;
            let page = serde_json::from_str(page.get()).map_err(|error| unreadable(&error))?;
            cursor = listing.page(page, bytes, usable)?;
            if cursor.is_none() {
                return Ok(listing.finish());
            }
        }
    }

    /// Returns whether the server has declared that it has no tools; it then need not know how to list them.
    fn has_no_tools(&self) -> bool {
        self.peer.peer_info().is_some_and(|info| info.capabilities.tools.is_none())
    }

    /// Sends a request and waits for the reply. If the caller stops waiting, the request is cancelled at the server.
    async fn ask(
        &self,
        mut request: ClientRequest,
        meta: RequestMetaObject,
        ticket: &Arc<Ticket>,
    ) -> Result<ServerResult, Fault> {
        request.extensions_mut().insert(ticket.clone());
        let options = PeerRequestOptions::no_options().with_meta(meta);
        let handle = match self.peer.send_request_with_option(request, options).await {
            Ok(handle) => handle,
            Err(_) => return Err(self.lost(ticket, GONE).await),
        };
        let mut asked = PendingRequest(Some(handle));
        let Some(handle) = asked.0.as_mut() else { return Err(self.lost(ticket, GONE).await) };
        let answer = tokio::select! {
            biased;
            answer = &mut handle.rx => answer.unwrap_or(Err(ServiceError::TransportClosed)),
            () = self.life.dead.cancelled() => Err(ServiceError::TransportClosed),
        };
        asked.0 = None;
        match answer {
            Ok(result) => Ok(result),
            Err(ServiceError::TransportClosed) => Err(self.lost(ticket, GONE).await),
            Err(ServiceError::McpError(error)) => {
                let why = format!("the server answered with error {}: {}", error.code.0, error.message);
                Err(Fault::new(Reason::UpstreamError, why))
            }
            Err(ServiceError::TransportSend(error)) => {
                Err(self.lost(ticket, &format!("cannot be reached: {}", error.error)).await)
            }
            Err(error) => Err(Fault::new(Reason::UpstreamError, error.to_string())),
        }
    }

    /// Builds the fault for a lost connection; the reason is often known only a moment later.
    async fn lost(&self, ticket: &Ticket, otherwise: &str) -> Fault {
        if !ticket.is_settled() {
            let _ = tokio::time::timeout(LAST_WORDS, self.life.dead.cancelled()).await;
        }
        let why = self.life.obituary.get().map_or(otherwise, String::as_str);
        Fault::new(Reason::UpstreamUnavailable, why)
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        self.life.stop.cancel();
    }
}

/// A request that is cancelled if dropped unanswered.
struct PendingRequest(Option<RequestHandle<RoleClient>>);

impl Drop for PendingRequest {
    fn drop(&mut self) {
        if let Some(handle) = self.0.take() {
            executor::spawn(async move {
                let _ = handle.cancel(Some("nothing waits for the reply any more".to_string())).await;
            });
        }
    }
}

/// Returns the reply, or why there is none. The reply as seen on the wire is more precise than the SDK's.
fn told(asked: Result<ServerResult, Fault>, received: &mut WireAnswer) -> Result<Box<RawValue>, Fault> {
    if let Some(result) = received.result.take() {
        return Ok(result);
    }
    if let Some(fault) = received.fault.take() {
        return Err(fault);
    }
    // A reply that arrived another way than requested, such as on a resumed stream.
    serde_json::value::to_raw_value(&asked?).map_err(|error| unreadable(&error))
}

fn unreadable(error: &serde_json::Error) -> Fault {
    Fault::new(Reason::UpstreamError, format!("the reply cannot be read: {error}"))
}

fn with_facts(mut fault: Fault, received: &WireAnswer) -> Fault {
    fault.http_status = fault.http_status.or(received.http_status);
    fault.wire_bytes = fault.wire_bytes.max(received.wire_bytes);
    fault
}

/// Reason why a handshake failed.
#[derive(Debug)]
pub(crate) struct Misgreeting {
    /// True if the connection was lost, false if the server said something wrong.
    pub(crate) lost: bool,
    /// True if the older handshake failed too.
    pub(crate) both: bool,
    /// Description of the failure.
    pub(crate) why: String,
}

impl Misgreeting {
    fn of(error: &ClientInitializeError) -> Misgreeting {
        if let ClientInitializeError::LegacyFallbackFailed { fallback, .. } = error {
            return Misgreeting { both: true, ..Misgreeting::of(fallback) };
        }
        let lost = matches!(
            error,
            ClientInitializeError::ConnectionClosed(_)
                | ClientInitializeError::TransportError { .. }
                // The task that watches the connection cancels the handshake when the connection ends.
                | ClientInitializeError::Cancelled
        );
        Misgreeting {
            lost,
            both: false,
            why: format!("failed the handshake: {}", inbound::cut(&error.to_string())),
        }
    }
}

/// Subscribes to changes: modern servers report them only to subscribers. [`inbound::Sorter::sort`] takes the reports
/// off the wire.
async fn hear_of_changes(peer: Peer<RoleClient>, dead: CancellationToken) {
    let filter = SubscriptionFilter::builder().tools_list_changed().build();
    let hear = async {
        let mut subscription = peer.listen(filter).await?;
        while subscription.next().await?.is_some() {}
        Ok::<(), ServiceError>(())
    };
    tokio::select! {
        outcome = hear => if let Err(error) = outcome {
            tracing::debug!(%error, "changes of its tools are not reported");
        },
        () = dead.cancelled() => {}
    }
}
