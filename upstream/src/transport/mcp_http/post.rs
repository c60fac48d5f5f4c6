//! HTTP requests, and the meaning of their responses.

use super::body::{BodyError, whole};
use super::stream::{Events, Owner, events};
use crate::config::HttpSettings;
use crate::credentials::Headers;
use crate::executor;
use crate::fault::{Fault, Reason};
use crate::transport::inbound::{Sorter, cut, failed};
use crate::transport::inflow::Inflow;
use crate::transport::ticket::{Ticket, Waiting};
use futures_util::stream::BoxStream;
use http::header::{ACCEPT, CONTENT_TYPE};
use http::{HeaderMap, HeaderName, HeaderValue, StatusCode};
use reqwest::{RequestBuilder, Response};
use rmcp::model::{
    ClientJsonRpcMessage, ClientRequest, ErrorData, GetExtensions, RequestId, ServerJsonRpcMessage,
};
use rmcp::transport::streamable_http_client::{
    SseError, StreamableHttpClient, StreamableHttpError, StreamableHttpPostResponse,
};
use serde_json::Value;
use sse_stream::Sse;
use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

const JSON: &str = "application/json";
const EVENTS: &str = "text/event-stream";
const SESSION: HeaderName = HeaderName::from_static("mcp-session-id");
const LAST_EVENT: HeaderName = HeaderName::from_static("last-event-id");
/// Maximum number of bytes read of an error's body.
const MAX_ERROR_BODY: usize = 64 * 1024;
/// Time limit for ending a session.
const GOODBYE: Duration = Duration::from_secs(2);

/// Sender of requests to one server.
#[derive(Clone)]
pub(super) struct Poster {
    client: reqwest::Client,
    headers: Headers,
    max: u64,
    probe: Duration,
    waiting: Arc<Waiting>,
    inflow: Arc<Inflow>,
    trouble: Trouble,
    sessions: Sessions,
}

/// Session ids, hidden from the SDK. It logs them, and knowing an id is enough to use the session, so the SDK
/// gets a number instead. Only the last few are kept: a server may issue a new id with each response.
#[derive(Clone, Default)]
struct Sessions(Arc<Mutex<VecDeque<(u64, String)>>>);

/// Maximum number of session ids kept.
const MAX_SESSIONS: usize = 16;

impl Sessions {
    /// Returns the number that represents an id.
    fn hide(&self, id: &str) -> String {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((number, _)) = known.iter().find(|(_, known)| known == id) {
            return number.to_string();
        }
        let number = known.back().map_or(0, |(last, _)| last + 1);
        if known.len() == MAX_SESSIONS {
            known.pop_front();
        }
        known.push_back((number, id.to_string()));
        number.to_string()
    }

    /// Returns the id for a number, as a header value.
    fn show(&self, number: &str) -> Option<HeaderValue> {
        let known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let number = number.parse::<u64>().ok()?;
        let (_, id) = known.iter().find(|(known, _)| *known == number)?;
        let mut value = HeaderValue::from_str(id).ok()?;
        value.set_sensitive(true);
        Some(value)
    }
}

/// Fault of the last failed request that belongs to no call.
#[derive(Clone, Default)]
pub(super) struct Trouble(Arc<Mutex<Option<Fault>>>);

impl Trouble {
    pub(super) fn take(&self) -> Option<Fault> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    fn set(&self, fault: Fault) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(fault);
    }
}

/// Error of a failed request. The reason is in its ticket.
#[derive(Debug)]
pub(super) struct SendError(String);

impl std::fmt::Display for SendError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for SendError {}

type Failure = StreamableHttpError<SendError>;

/// The request in a message, and the call waiting for its reply.
struct SentRequest {
    id: RequestId,
    discovers: bool,
    ticket: Option<Arc<Ticket>>,
}

impl SentRequest {
    fn of(message: &ClientJsonRpcMessage) -> Option<SentRequest> {
        let ClientJsonRpcMessage::Request(request) = message else { return None };
        Some(SentRequest {
            id: request.id.clone(),
            discovers: matches!(request.request, ClientRequest::DiscoverRequest(_)),
            ticket: request.request.extensions().get::<Arc<Ticket>>().cloned(),
        })
    }

    /// Builds the reply of an old server to an unknown method.
    fn unknown(&self, error: Option<ErrorData>) -> StreamableHttpPostResponse {
        let error = error.unwrap_or_else(|| ErrorData::invalid_request("server/discover is not known", None));
        StreamableHttpPostResponse::Json(ServerJsonRpcMessage::error(error, Some(self.id.clone())), None)
    }
}

impl Poster {
    pub(super) fn new(
        client: reqwest::Client,
        settings: &HttpSettings,
        headers: Headers,
        inflow: Arc<Inflow>,
    ) -> Poster {
        Poster {
            client,
            headers,
            max: settings.max_response_bytes,
            probe: settings.handshake_timeout / 2,
            waiting: Arc::default(),
            inflow,
            trouble: Trouble::default(),
            sessions: Sessions::default(),
        }
    }

    pub(super) fn trouble(&self) -> Trouble {
        self.trouble.clone()
    }

    /// Adds the headers of every request.
    fn dress(
        &self,
        request: RequestBuilder,
        session: Option<&str>,
        sdk: HashMap<HeaderName, HeaderValue>,
    ) -> RequestBuilder {
        let mut headers: HeaderMap = sdk.into_iter().collect();
        if let Some(value) = session.and_then(|session| self.sessions.show(session)) {
            headers.insert(SESSION, value);
        }
        headers.extend(self.headers.emit());
        request.headers(headers)
    }

    /// Records why a request failed.
    fn fail(
        &self,
        sent: Option<&SentRequest>,
        reason: Reason,
        why: String,
        status: Option<StatusCode>,
    ) -> Failure {
        match sent.and_then(|sent| sent.ticket.as_ref()) {
            Some(ticket) => ticket.fail(reason, why.clone()),
            None => {
                let mut fault = Fault::new(reason, why.clone());
                fault.http_status = status.map(|status| status.as_u16());
                self.trouble.set(fault);
            }
        }
        StreamableHttpError::Client(SendError(why))
    }

    async fn post(
        &self,
        uri: &str,
        message: &ClientJsonRpcMessage,
        sent: Option<&SentRequest>,
        session: Option<&str>,
        sdk: HashMap<HeaderName, HeaderValue>,
    ) -> Result<StreamableHttpPostResponse, Failure> {
        if let Some(sent) = sent {
            self.waiting.expect(sent.id.clone(), sent.ticket.as_ref());
            if let Some(ticket) = &sent.ticket {
                ticket.again();
            }
        }
        let body = serde_json::to_vec(message).map_err(StreamableHttpError::Deserialize)?;
        let accept = format!("{JSON}, {EVENTS}");
        let send = || {
            let request = self.client.post(uri).header(ACCEPT, &accept).header(CONTENT_TYPE, JSON);
            self.dress(request.body(body.clone()), session, sdk.clone()).send()
        };
        let version = self.headers.version();
        let mut response = send().await;
        let is_refused =
            response.as_ref().is_ok_and(|response| response.status() == StatusCode::UNAUTHORIZED);
        // A refused request was not executed, so sending it again causes nothing to happen twice.
        if is_refused && self.headers.are_newer_than(version).await {
            response = send().await;
        }
        let response = match response {
            Ok(response) => response,
            Err(error) => {
                let why = format!("cannot be reached: {}", ptc_web::why(error));
                return Err(self.fail(sent, Reason::UpstreamUnavailable, why, None));
            }
        };
        let status = response.status();
        if let Some(ticket) = sent.and_then(|sent| sent.ticket.as_ref()) {
            ticket.status(status.as_u16());
        }
        if !status.is_success() {
            return self.refused(response, sent, session.is_some()).await;
        }
        let Some(sent) = sent else {
            // Messages other than requests get no reply.
            return Ok(StreamableHttpPostResponse::Accepted);
        };
        let session = response.headers().get(SESSION).and_then(|id| id.to_str().ok());
        let session = session.map(|id| self.sessions.hide(id));
        match content_type(&response).as_str() {
            _ if matches!(status, StatusCode::ACCEPTED | StatusCode::NO_CONTENT) => {
                Ok(StreamableHttpPostResponse::Accepted)
            }
            EVENTS => {
                let owner = Owner::Request { id: sent.id.clone(), ticket: sent.ticket.clone() };
                Ok(StreamableHttpPostResponse::Sse(
                    events(response, self.max, owner, self.waiting.clone(), self.inflow.clone()),
                    session,
                ))
            }
            JSON => self.answered(response, sent, session).await,
            other => {
                let why = format!("answered with content of type '{}', which is not MCP", cut(other));
                Err(self.fail(Some(sent), Reason::UpstreamError, why, Some(status)))
            }
        }
    }

    /// Handles a reply that is a single JSON body.
    async fn answered(
        &self,
        response: Response,
        sent: &SentRequest,
        session: Option<String>,
    ) -> Result<StreamableHttpPostResponse, Failure> {
        let status = Some(response.status());
        let max = sent.ticket.as_ref().map_or(self.max, |ticket| ticket.max_bytes);
        let body = match whole(response, max, sent.ticket.clone()).await {
            Ok(body) => body,
            Err(BodyError::TooLarge) => {
                if let Some(ticket) = &sent.ticket {
                    ticket.too_large();
                }
                let why = format!("answered with more than {max} bytes (max_response_bytes)");
                return Err(self.fail(Some(sent), Reason::ResponseTooLarge, why, status));
            }
            Err(BodyError::Connection(why)) => {
                let why = format!("the connection was lost: {why}");
                return Err(self.fail(Some(sent), Reason::UpstreamUnavailable, why, status));
            }
        };
        let sorter = Sorter { waiting: &self.waiting, inflow: &self.inflow, wire_bytes: 0, only: None };
        let sorted = match executor::heavy(body.len(), || sorter.sort(&body)) {
            Ok(sorted) => sorted,
            Err(error) => {
                let why = format!("the reply is not valid JSON: {error}");
                return Err(self.fail(Some(sent), Reason::UpstreamError, why, status));
            }
        };
        let answer = sorted.messages.into_iter().find(|message| {
            matches!(message, ServerJsonRpcMessage::Response(_) | ServerJsonRpcMessage::Error(_))
        });
        match answer {
            Some(answer) => Ok(StreamableHttpPostResponse::Json(answer, session)),
            None => {
                let why = "the reply does not belong to the request".to_string();
                let failure = self.fail(Some(sent), Reason::UpstreamError, why, status);
                match self.waiting.take(&sent.id) {
                    // Where the SDK has no way to fail, it needs a reply to continue.
                    Some(_) if sent.ticket.is_some() => {
                        Ok(StreamableHttpPostResponse::Json(failed(sent.id.clone(), "no answer"), session))
                    }
                    _ => Err(failure),
                }
            }
        }
    }

    /// Handles an error status.
    async fn refused(
        &self,
        response: Response,
        sent: Option<&SentRequest>,
        in_session: bool,
    ) -> Result<StreamableHttpPostResponse, Failure> {
        let status = response.status();
        let retry_after = ptc_web::retry_after(response.headers());
        let body = ptc_web::start(response, MAX_ERROR_BODY).await;
        let error = serde_json::from_slice::<Value>(&body)
            .ok()
            .and_then(|body| serde_json::from_value::<ErrorData>(body.get("error")?.clone()).ok());
        let said = match &error {
            Some(error) => format!("{status}, error {}: {}", error.code.0, cut(&error.message)),
            None => status.to_string(),
        };
        if in_session && (status == StatusCode::NOT_FOUND || unknown_session(status, error.as_ref())) {
            let why = format!("no longer knows the session ({said})");
            self.fail(sent, Reason::UpstreamError, why, Some(status));
            return Err(StreamableHttpError::SessionExpired);
        }
        let (reason, why) = match status.as_u16() {
            401 => (Reason::AuthFailed, format!("rejected the credential ({said})")),
            429 => match retry_after {
                Some(wait) => (
                    Reason::RateLimited,
                    format!("limits the rate of calls; retry in {} s ({said})", wait.as_secs()),
                ),
                None => (Reason::RateLimited, format!("limits the rate of calls; retry later ({said})")),
            },
            500.. => (Reason::UpstreamUnavailable, format!("cannot answer ({said})")),
            300..=399 => (Reason::UpstreamError, format!("sent a redirect, which is not followed ({said})")),
            403 => (Reason::UpstreamError, format!("denied access ({said})")),
            _ => match sent {
                Some(sent) if sent.discovers => return Ok(sent.unknown(error)),
                _ => (Reason::UpstreamError, format!("refused the request ({said})")),
            },
        };
        Err(self.fail(sent, reason, why, Some(status)))
    }
}

/// Returns whether an error means an unknown session: some servers say so in the message instead of sending 404.
fn unknown_session(status: StatusCode, error: Option<&ErrorData>) -> bool {
    status == StatusCode::BAD_REQUEST
        && error.is_some_and(|error| error.message.to_ascii_lowercase().contains("session"))
}

/// Returns the content type without parameters, in lower case.
fn content_type(response: &Response) -> String {
    let text = response.headers().get(CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    text.split(';').next().unwrap_or_default().trim().to_ascii_lowercase()
}

impl StreamableHttpClient for Poster {
    type Error = SendError;

    async fn post_message(
        &self,
        uri: Arc<str>,
        message: ClientJsonRpcMessage,
        session_id: Option<Arc<str>>,
        _: Option<String>,
        custom_headers: HashMap<HeaderName, HeaderValue>,
    ) -> Result<StreamableHttpPostResponse, Failure> {
        let sent = SentRequest::of(&message);
        let posting = self.post(&uri, &message, sent.as_ref(), session_id.as_deref(), custom_headers);
        match &sent {
            Some(sent) if sent.discovers => match tokio::time::timeout(self.probe, posting).await {
                Ok(answer) => answer,
                Err(_) => Ok(sent.unknown(None)),
            },
            _ => posting.await,
        }
    }

    async fn delete_session(
        &self,
        uri: Arc<str>,
        session_id: Arc<str>,
        _: Option<String>,
        custom_headers: HashMap<HeaderName, HeaderValue>,
    ) -> Result<(), Failure> {
        let request =
            self.dress(self.client.delete(&*uri).timeout(GOODBYE), Some(&session_id), custom_headers);
        // Some servers do not support ending a session.
        let _ = request.send().await;
        Ok(())
    }

    async fn get_stream(
        &self,
        uri: Arc<str>,
        session_id: Option<Arc<str>>,
        last_event_id: Option<String>,
        _: Option<String>,
        custom_headers: HashMap<HeaderName, HeaderValue>,
    ) -> Result<BoxStream<'static, Result<Sse, SseError>>, Failure> {
        let mut request = self.client.get(&*uri).header(ACCEPT, EVENTS);
        if let Some(last) = last_event_id.and_then(|last| HeaderValue::from_str(&last).ok()) {
            request = request.header(LAST_EVENT, last);
        }
        let sent = self.dress(request, session_id.as_deref(), custom_headers).send().await;
        let response = sent.map_err(|error| StreamableHttpError::Client(SendError(ptc_web::why(error))))?;
        if !response.status().is_success() || content_type(&response) != EVENTS {
            return Err(StreamableHttpError::ServerDoesNotSupportSse);
        }
        let stream: Events =
            events(response, self.max, Owner::Nobody, self.waiting.clone(), self.inflow.clone());
        Ok(stream)
    }
}
