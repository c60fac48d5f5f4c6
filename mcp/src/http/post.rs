//! Messages of clients: after a handshake, or self-contained.

use super::clients::{ClientLookup, SESSION};
use super::gate::wants_events;
use super::identity::Identity;
use super::respond::{Refusal, Talk, json, plain, refuse};
use super::{Shared, UnderWay};
use crate::client::OUTBOX;
use crate::connection::Connection;
use crate::frame::{self, Id, Message, Request, RpcError};
use crate::protocol::{META_VERSION, Revision, missing};
use crate::reason::Reason;
use crate::reply::Payload;
use crate::sessions::Owner;
use axum::http::{HeaderMap, StatusCode};
use axum::response::Response;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::Value;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::mpsc;

/// Time after which a reply becomes a stream, so that proxies do not take the request for dead.
const LONG: Duration = Duration::from_secs(5);

const VERSION: &str = "mcp-protocol-version";
const METHOD: &str = "mcp-method";
const NAME: &str = "mcp-name";
const ARGUMENT: &str = "mcp-param-";

/// Returns whether the headers mark a request as self-contained; any session it names is then ignored.
fn is_modern(headers: &HeaderMap) -> bool {
    headers.get(VERSION).is_some_and(|version| version == Revision::V2026_07_28.name())
}

/// Refuses a request that names an unknown session, before its body is read.
pub fn check_session(shared: &Shared, headers: &HeaderMap, identity: &Identity) -> Result<(), Box<Refusal>> {
    if is_modern(headers) || !headers.contains_key(SESSION) {
        return Ok(());
    }
    match shared.clients.find(headers, identity) {
        ClientLookup::Unknown => Err(unknown_session(None)),
        ClientLookup::Unnamed | ClientLookup::Client(_) => Ok(()),
    }
}

fn unknown_session(id: Option<&Id>) -> Box<Refusal> {
    let error = RpcError::new(RpcError::UNAVAILABLE, "session unavailable");
    Box::new(Refusal { status: StatusCode::NOT_FOUND, id: id.cloned(), error })
}

pub async fn message(
    shared: &Arc<Shared>,
    headers: &HeaderMap,
    identity: &Identity,
    body: Vec<u8>,
    under_way: UnderWay,
) -> Response {
    let message = match shared.parser.parse(body).await {
        Ok(message) => message,
        Err((id, error)) => return refuse(Refusal { status: StatusCode::BAD_REQUEST, id, error }),
    };
    let is_modern = is_modern(headers);
    match message {
        Message::Request(request) if is_modern || request.meta(META_VERSION).is_some() => {
            by_itself(shared, headers, identity, request, under_way).await
        }
        Message::Request(request) if request.method == "initialize" => {
            shake_hands(shared, headers, identity, request, under_way).await
        }
        Message::Request(request) => after_handshake(shared, headers, identity, request, under_way).await,
        // Without a handshake, notifications and replies have nothing to refer to.
        Message::Notification { .. } | Message::Response { .. } if is_modern => {
            plain(StatusCode::ACCEPTED, "")
        }
        Message::Notification { method, params } => match session(shared, headers, identity, None) {
            Ok(connection) => {
                shared.service.note(&connection, &method, &params);
                plain(StatusCode::ACCEPTED, "")
            }
            Err(refusal) => refuse(*refusal),
        },
        Message::Response { id, result } => match session(shared, headers, identity, None) {
            Ok(connection) => {
                connection.answered(&id, result);
                plain(StatusCode::ACCEPTED, "")
            }
            Err(refusal) => refuse(*refusal),
        },
    }
}

/// Handles a request that names its own protocol revision.
async fn by_itself(
    shared: &Arc<Shared>,
    headers: &HeaderMap,
    identity: &Identity,
    request: Request,
    under_way: UnderWay,
) -> Response {
    if let Err(error) = same_in_headers(headers, &request, &shared.service.headers(&request)) {
        return refuse(Refusal { status: StatusCode::BAD_REQUEST, id: Some(request.id), error });
    }
    let connection = Connection::new(Owner::new(identity.0));
    serve(shared, headers, request, &connection, under_way).await
}

/// Checks that the headers match the body: routers that go by the headers must not see another request than the server.
fn same_in_headers(
    headers: &HeaderMap,
    request: &Request,
    arguments: &[(String, Option<String>)],
) -> Result<(), RpcError> {
    let Some(version) = request.meta(META_VERSION).and_then(Value::as_str) else {
        return Err(missing(META_VERSION));
    };
    let named = match request.method.as_str() {
        "tools/call" | "prompts/get" => Some("name"),
        "resources/read" => Some("uri"),
        "tasks/get" | "tasks/update" | "tasks/cancel" => Some("taskId"),
        _ => None,
    };
    let name = named.and_then(|key| request.params.get(key)).and_then(Value::as_str);
    let sent = |header: &str| headers.get(header).map(|value| decoded(value.as_bytes()));
    let mismatch = |header: &str| {
        let message = format!("Header mismatch: {header} does not match the message");
        Err(RpcError::new(RpcError::HEADER_MISMATCH, message))
    };
    for (header, expected) in [(VERSION, Some(version)), (METHOD, Some(&request.method)), (NAME, name)] {
        if expected.is_some_and(|expected| sent(header) != Some(Some(expected.to_string()))) {
            return mismatch(header);
        }
    }
    for (name, expected) in arguments {
        let header = format!("{ARGUMENT}{}", name.to_ascii_lowercase());
        if sent(&header) != expected.clone().map(Some) {
            return mismatch(&header);
        }
    }
    Ok(())
}

/// Decodes a header, which is base64 if it contains characters that headers cannot.
fn decoded(value: &[u8]) -> Option<String> {
    let text = std::str::from_utf8(value).ok()?.trim();
    match text.strip_prefix("=?base64?").and_then(|rest| rest.strip_suffix("?=")) {
        Some(wrapped) => String::from_utf8(STANDARD.decode(wrapped).ok()?).ok(),
        None => Some(text.to_string()),
    }
}

async fn shake_hands(
    shared: &Arc<Shared>,
    headers: &HeaderMap,
    identity: &Identity,
    request: Request,
    under_way: UnderWay,
) -> Response {
    let id = request.id.clone();
    if headers.contains_key(SESSION) {
        let error = RpcError::new(
            RpcError::INVALID_REQUEST,
            "Invalid Request: initialize starts a new session; leave out the Mcp-Session-Id header",
        );
        return refuse(Refusal { status: StatusCode::BAD_REQUEST, id: Some(id), error });
    }
    let (name, connection) = match shared.clients.open(identity, &id) {
        Ok(opened) => opened,
        Err(refusal) => return refuse(*refusal),
    };
    let mut response = serve(shared, headers, request, &connection, under_way).await;
    response.headers_mut().insert(SESSION, name);
    response
}

/// Returns the session that a request of an older revision needs.
fn session(
    shared: &Shared,
    headers: &HeaderMap,
    identity: &Identity,
    id: Option<&Id>,
) -> Result<Arc<Connection>, Box<Refusal>> {
    let refused = |status, code, message: &str| {
        Err(Box::new(Refusal { status, id: id.cloned(), error: RpcError::new(code, message) }))
    };
    let connection = match shared.clients.find(headers, identity) {
        ClientLookup::Client(connection) => connection,
        ClientLookup::Unnamed => {
            let message = "the Mcp-Session-Id header is missing: initialize first";
            return refused(StatusCode::BAD_REQUEST, RpcError::INVALID_REQUEST, message);
        }
        ClientLookup::Unknown => return Err(unknown_session(id)),
    };
    let agreed = connection.agreed().map(Revision::name);
    match headers.get(VERSION) {
        Some(version) if agreed.is_some_and(|agreed| version != agreed) => {
            let message = "the MCP-Protocol-Version header is not the negotiated version";
            refused(StatusCode::BAD_REQUEST, RpcError::INVALID_REQUEST, message)
        }
        _ => Ok(connection),
    }
}

async fn after_handshake(
    shared: &Arc<Shared>,
    headers: &HeaderMap,
    identity: &Identity,
    request: Request,
    under_way: UnderWay,
) -> Response {
    let connection = match session(shared, headers, identity, Some(&request.id)) {
        Ok(connection) => connection,
        Err(refusal) => return refuse(*refusal),
    };
    let settings = shared.service.settings();
    if request.method == "tools/call"
        && connection.in_flight() as u64 >= settings.http_max_in_flight_per_session
    {
        let most = settings.http_max_in_flight_per_session;
        let message = format!(
            "this session already has {most} requests in progress, the maximum; wait a little and retry"
        );
        let reply = Payload::error(Reason::Busy, message).reply(settings.profile());
        return json(StatusCode::OK, &frame::answer(&request.id, reply.to_json()));
    }
    serve(shared, headers, request, &connection, under_way).await
}

/// Replies with one object; or with a stream, if the client can read one and either there is a message before
/// the reply or the reply takes long.
async fn serve(
    shared: &Arc<Shared>,
    headers: &HeaderMap,
    request: Request,
    connection: &Arc<Connection>,
    under_way: UnderWay,
) -> Response {
    let (is_modern, id) = (request.meta(META_VERSION).is_some(), request.id.clone());
    let (out, mut told) = mpsc::channel(OUTBOX);
    let is_streaming = wants_events(headers);
    let flight = match connection.begin(&id, is_streaming.then_some(out)) {
        Ok(flight) => flight,
        Err(error) => return refuse(Refusal { status: StatusCode::BAD_REQUEST, id: Some(id), error }),
    };
    let service = shared.service.clone();
    let mut answered = Box::pin(async move { service.answer(request, &flight).await });
    let (first, done) = tokio::select! {
        biased;
        Some(first) = told.recv() => (Some(first), None),
        done = &mut answered => match (told.try_recv(), done) {
            // Sent while the reply was computed, after `recv` had found nothing: it still comes before the reply.
            (Ok(first), done) => (Some(first), Some(done)),
            (Err(_), Ok(result)) => return json(StatusCode::OK, &frame::answer(&id, result)),
            (Err(_), Err(error)) => return json(status(&error, is_modern), &error.answer(Some(&id))),
        },
        () = tokio::time::sleep(LONG), if is_streaming => (None, None),
    };
    let answer = Box::pin(async move {
        let _under_way = under_way;
        let done = match done {
            Some(done) => done,
            None => answered.await,
        };
        match done {
            Ok(result) => frame::answer(&id, result),
            Err(error) => error.answer(Some(&id)),
        }
    });
    Talk::new(first, told, answer).stream()
}

fn status(error: &RpcError, is_modern: bool) -> StatusCode {
    match error.code {
        RpcError::UNSUPPORTED_VERSION | RpcError::MISSING_CAPABILITY | RpcError::HEADER_MISMATCH => {
            StatusCode::BAD_REQUEST
        }
        RpcError::NO_METHOD if is_modern => StatusCode::NOT_FOUND,
        RpcError::INVALID_PARAMS if is_modern => StatusCode::BAD_REQUEST,
        _ => StatusCode::OK,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::http::HeaderValue;
    use serde_json::json;

    /// Returns whether a call with this argument is accepted with these headers.
    fn is_same(argument: Option<&str>, sent: &[(&'static str, &'static str)]) -> bool {
        let meta = json!({META_VERSION: "2026-07-28"});
        let params = json!({"name": "report", "_meta": meta}).as_object().cloned().unwrap();
        let request = Request {
            id: Id::Text("1".to_string()),
            method: "tools/call".to_string(),
            params,
            exact_context: None,
        };
        let standard = [(VERSION, "2026-07-28"), (METHOD, "tools/call"), (NAME, "report")];
        let headers: HeaderMap = standard
            .iter()
            .chain(sent)
            .map(|(name, value)| (name.parse().unwrap(), HeaderValue::from_static(value)))
            .collect();
        let argument = argument.map(str::to_string);
        same_in_headers(&headers, &request, &[("Region".to_string(), argument)]).is_ok()
    }

    #[test]
    fn an_argument_in_a_header_is_the_argument() {
        let header = "mcp-param-region";
        assert!(is_same(Some("north"), &[(header, "north")]));
        assert!(is_same(Some("Hello"), &[(header, "=?base64?SGVsbG8=?=")]));
        assert!(is_same(Some("SGVsbG8="), &[(header, "SGVsbG8=")]));
        assert!(is_same(None, &[]));
        assert!(!is_same(Some("north"), &[]));
        assert!(!is_same(Some("north"), &[(header, "south")]));
        assert!(!is_same(None, &[(header, "north")]));
        assert!(!is_same(Some("Hello"), &[(header, "=?base64?SGVsbG8?=")]));
        assert!(!is_same(Some("Hello"), &[(header, "=?base64?SGVs!!!bG8=?=")]));
    }
}
