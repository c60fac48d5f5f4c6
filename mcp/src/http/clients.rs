//! Clients that performed the handshake: each has a protocol session, named by a header.

use super::identity::Identity;
use super::respond::{Refusal, events, plain};
use crate::connection::Connection;
use crate::frame::{Id, RpcError};
use crate::service::Service;
use crate::sessions::Owner;
use crate::settings::Settings;
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::Response;
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use futures_util::stream;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Name of the session header.
pub const SESSION: &str = "mcp-session-id";

pub struct Clients {
    most: usize,
    most_per_owner: usize,
    ttl: Duration,
    idle: Duration,
    /// True if sessions survive the process: they then belong to the sender of the token, who can come back.
    is_kept: bool,
    known: Mutex<HashMap<String, Client>>,
}

struct Client {
    identity: Identity,
    connection: Arc<Connection>,
    began: Instant,
    used: Instant,
}

/// Result of looking up a request's session.
pub enum ClientLookup {
    /// The request has no session header.
    Unnamed,
    /// No such session, or somebody else's; callers cannot tell which.
    Unknown,
    Client(Arc<Connection>),
}

impl Clients {
    pub fn new(settings: &Settings) -> Clients {
        let count = |number: u64| usize::try_from(number).unwrap_or(usize::MAX);
        Clients {
            most: count(settings.http_max_sessions),
            most_per_owner: count(settings.http_max_sessions_per_owner),
            ttl: Duration::from_millis(settings.http_session_ttl_ms),
            idle: Duration::from_millis(settings.http_session_idle_timeout_ms),
            is_kept: settings.session_dir.is_some(),
            known: Mutex::default(),
        }
    }

    fn known(&self) -> MutexGuard<'_, HashMap<String, Client>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn len(&self) -> usize {
        self.known().len()
    }

    /// Opens a session for a client that performs the handshake.
    pub fn open(&self, identity: &Identity, id: &Id) -> Result<(HeaderValue, Arc<Connection>), Box<Refusal>> {
        let refused = |status, message: &str| {
            let error = RpcError::new(RpcError::UNAVAILABLE, message);
            Err(Box::new(Refusal { status, id: Some(id.clone()), error }))
        };
        let mut random = [0; 24];
        if getrandom::fill(&mut random).is_err() {
            return refused(StatusCode::SERVICE_UNAVAILABLE, "session unavailable");
        }
        let name = format!("mcp_{}", URL_SAFE_NO_PAD.encode(random));
        let Ok(header) = HeaderValue::from_str(&name) else {
            return refused(StatusCode::SERVICE_UNAVAILABLE, "session unavailable");
        };
        let mut known = self.known();
        if known.len() >= self.most {
            return refused(StatusCode::SERVICE_UNAVAILABLE, "too many sessions are open");
        }
        if known.values().filter(|client| client.identity == *identity).count() >= self.most_per_owner {
            return refused(StatusCode::TOO_MANY_REQUESTS, "this client has too many open sessions");
        }
        let owner = if self.is_kept { Owner::new(identity.0) } else { Owner::new(&name) };
        // Clients without a token are distinguished by session; holders of a token gain nothing by opening many
        // sessions.
        let payer = if identity.is_known() { Owner::new(identity.0) } else { Owner::new(&name) };
        let (connection, now) = (Connection::paid_by(payer, owner), Instant::now());
        let client =
            Client { identity: identity.clone(), connection: connection.clone(), began: now, used: now };
        known.insert(name, client);
        Ok((header, connection))
    }

    /// Finds the session that a request names.
    pub fn find(&self, headers: &HeaderMap, identity: &Identity) -> ClientLookup {
        let Some(name) = headers.get(SESSION) else { return ClientLookup::Unnamed };
        let Ok(name) = name.to_str() else { return ClientLookup::Unknown };
        let now = Instant::now();
        match self.known().get_mut(name) {
            Some(client) if client.identity == *identity && now.duration_since(client.began) < self.ttl => {
                client.used = now;
                ClientLookup::Client(client.connection.clone())
            }
            _ => ClientLookup::Unknown,
        }
    }

    /// Handles `GET`: opens a stream for messages that belong to no request. It ends with the session.
    pub fn listen(&self, headers: &HeaderMap, identity: &Identity) -> Response {
        match self.find(headers, identity) {
            ClientLookup::Unnamed => {
                let mut response = plain(
                    StatusCode::METHOD_NOT_ALLOWED,
                    "a stream needs a session: send the Mcp-Session-Id header",
                );
                response.headers_mut().insert(header::ALLOW, HeaderValue::from_static("POST"));
                response
            }
            ClientLookup::Unknown => plain(StatusCode::NOT_FOUND, "there is no such session"),
            ClientLookup::Client(connection) => match connection.listen() {
                Some(told) => {
                    events(stream::unfold(told, |mut told| async { Some((told.recv().await?, told)) }))
                }
                None => plain(StatusCode::CONFLICT, "the session has too many open streams"),
            },
        }
    }

    /// Handles `DELETE`: ends the session.
    pub fn delete(&self, service: &dyn Service, headers: &HeaderMap, identity: &Identity) -> Response {
        match self.find(headers, identity) {
            ClientLookup::Unnamed => plain(StatusCode::BAD_REQUEST, "the Mcp-Session-Id header is missing"),
            ClientLookup::Unknown => plain(StatusCode::NOT_FOUND, "there is no such session"),
            ClientLookup::Client(connection) => {
                self.known().retain(|_, client| !Arc::ptr_eq(&client.connection, &connection));
                self.close(service, &connection);
                plain(StatusCode::ACCEPTED, "")
            }
        }
    }

    /// Ends sessions that are too old or have been unused for too long.
    pub fn sweep(&self, service: &dyn Service, now: Instant) {
        let mut over = Vec::new();
        self.known().retain(|_, client| {
            let is_idle = client.connection.in_flight() == 0 && now.duration_since(client.used) >= self.idle;
            let is_over = is_idle || now.duration_since(client.began) >= self.ttl;
            if is_over {
                over.push(client.connection.clone());
            }
            !is_over
        });
        over.iter().for_each(|connection| self.close(service, connection));
    }

    /// Ends all sessions.
    pub fn close_all(&self, service: &dyn Service) {
        let all: Vec<Client> = self.known().drain().map(|(_, client)| client).collect();
        all.iter().for_each(|client| self.close(service, &client.connection));
    }

    /// Ends a session, with everything the client has begun unless that is kept.
    fn close(&self, service: &dyn Service, connection: &Connection) {
        connection.cancel_all();
        connection.hang_up();
        if !self.is_kept {
            service.left(connection);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whoever_opens_many_sessions_pays_as_one() {
        let clients = Clients::new(&Settings::default());
        let open = |identity: &Identity| clients.open(identity, &Id::Number(1.into())).ok().unwrap().1;
        let ada = Identity([1; 32]);
        let (first, second) = (open(&ada), open(&ada));
        assert_eq!(first.payer(), second.payer());
        assert_ne!(first.owner(), second.owner(), "each has sessions of its own");
        assert_ne!(first.payer(), open(&Identity([2; 32])).payer());
        assert_ne!(open(&Identity::STRANGER).payer(), open(&Identity::STRANGER).payer());
    }
}
