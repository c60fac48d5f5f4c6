//! One connection to a server that has been greeted: what is asked over it, and how it ends.

use super::handler::Handler;
use super::inbound;
use super::listing;
use super::ticket::{Ticket, WireAnswer};
use crate::client::{Reply, Request, Tool};
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

/// How a server wants to be greeted. Found out once, then remembered.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Era {
    /// `server/discover`, and what it needs to know with each request: 2026-07-28.
    Modern,
    /// `initialize`: 2025-11-25 and before.
    Legacy,
}

/// What a connection and its transport have in common.
#[derive(Clone, Default, Debug)]
pub(crate) struct Life {
    /// Whoever wants it to end says so here.
    pub(crate) stop: CancellationToken,
    /// The SDK has let go of the transport.
    pub(crate) released: CancellationToken,
    /// It can answer no more calls.
    pub(crate) dead: CancellationToken,
    /// All that belonged to it is gone.
    pub(crate) ended: CancellationToken,
    /// Why it ended, in words.
    pub(crate) obituary: Arc<OnceLock<String>>,
}

/// A connection.
#[derive(Debug)]
pub(crate) struct Session {
    peer: Peer<RoleClient>,
    pub(crate) era: Era,
    pub(crate) life: Life,
}

/// What is said where nobody knows more.
const GONE: &str = "its connection has ended";
/// How long the words about an end are waited for.
const LAST_WORDS: Duration = Duration::from_millis(750);

impl Session {
    /// Greets the server behind a transport.
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

    /// Says when the SDK's loop is over: without it there are no answers.
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

    /// Whether it can still be asked.
    pub(crate) fn is_dead(&self) -> bool {
        self.life.dead.is_cancelled() || self.peer.is_transport_closed()
    }

    /// Ends it and waits until all of it is gone.
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
                    "the server wants to go on talking (resultType \"{other}\"), which programs cannot"
                );
                Err(with_facts(Fault::new(Reason::UpstreamError, why), &received))
            }
        }
    }

    /// Its tools, all pages of them.
    pub(crate) async fn tools(&self, name: &str, max_bytes: u64) -> Result<Vec<Tool>, Fault> {
        let mut listing = listing::Listing::new(name);
        let mut cursor = None;
        loop {
            let ticket = Ticket::new(max_bytes, true);
            let params = PaginatedRequestParams::default().with_cursor(cursor.clone());
            let request = ClientRequest::ListToolsRequest(ListToolsRequest::with_param(params));
            let asked = self.ask(request, RequestMetaObject::new(), &ticket).await;
            // The SDK leaves out tools whose arguments cannot be sent as their headers demand.
            let usable = match &asked {
                Ok(ServerResult::ListToolsResult(list)) => {
                    Some(list.tools.iter().map(|tool| tool.name.to_string()).collect())
                }
                _ => None,
            };
            let mut received = ticket.take();
            let page = match told(asked, &mut received) {
                Ok(page) => page,
                Err(_) if self.has_no_tools() => return Ok(Vec::new()),
                Err(fault) => return Err(with_facts(fault, &received)),
            };
            let page = serde_json::from_str(page.get()).map_err(|error| unreadable(&error))?;
            cursor = listing.page(page, usable)?;
            if cursor.is_none() {
                return Ok(listing.tools());
            }
        }
    }

    /// A server may say from the start that it has no tools, and then need not know how to list them.
    fn has_no_tools(&self) -> bool {
        self.peer.peer_info().is_some_and(|info| info.capabilities.tools.is_none())
    }

    /// Sends a request and waits. Whoever stops waiting takes it back: the server is told.
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

    /// The connection is gone; why is often known a moment later, if it is not yet.
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

/// A request that is taken back if it is dropped unanswered.
struct PendingRequest(Option<RequestHandle<RoleClient>>);

impl Drop for PendingRequest {
    fn drop(&mut self) {
        if let Some(handle) = self.0.take() {
            executor::spawn(async move {
                let _ = handle.cancel(Some("nobody waits for the answer any more".to_string())).await;
            });
        }
    }
}

/// The answer, if one came; else why not. What was seen on the wire says more than what the SDK makes of it.
fn told(asked: Result<ServerResult, Fault>, received: &mut WireAnswer) -> Result<Box<RawValue>, Fault> {
    if let Some(result) = received.result.take() {
        return Ok(result);
    }
    if let Some(fault) = received.fault.take() {
        return Err(fault);
    }
    // An answer that came another way than it was asked for, such as by a stream that was taken up again.
    serde_json::value::to_raw_value(&asked?).map_err(|error| unreadable(&error))
}

fn unreadable(error: &serde_json::Error) -> Fault {
    Fault::new(Reason::UpstreamError, format!("an answer that cannot be read: {error}"))
}

fn with_facts(mut fault: Fault, received: &WireAnswer) -> Fault {
    fault.http_status = fault.http_status.or(received.http_status);
    fault.wire_bytes = fault.wire_bytes.max(received.wire_bytes);
    fault
}

/// Why a greeting failed.
#[derive(Debug)]
pub(crate) struct Misgreeting {
    /// The connection was lost, rather than something wrong said.
    pub(crate) lost: bool,
    /// The older greeting failed too.
    pub(crate) both: bool,
    /// In words.
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
                // Whoever watches the connection does that when it ends.
                | ClientInitializeError::Cancelled
        );
        Misgreeting {
            lost,
            both: false,
            why: format!("could not be greeted: {}", inbound::cut(&error.to_string())),
        }
    }
}

/// Modern servers tell of changes only those who ask. What they tell is taken off the wire, by [`inbound::sort`].
async fn hear_of_changes(peer: Peer<RoleClient>, dead: CancellationToken) {
    let filter = SubscriptionFilter::builder().tools_list_changed().build();
    let hear = async {
        let mut subscription = peer.listen(filter).await?;
        while subscription.next().await?.is_some() {}
        Ok::<(), ServiceError>(())
    };
    tokio::select! {
        outcome = hear => if let Err(error) = outcome {
            tracing::debug!(%error, "changes of tools are not told");
        },
        () = dead.cancelled() => {}
    }
}
