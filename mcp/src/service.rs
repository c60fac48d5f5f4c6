//! Interface between transports and the server.

use crate::connection::{Connection, Flight};
use crate::effects::EffectCounts;
use crate::frame::{Id, Request, RpcError};
use crate::settings::Settings;
use futures_util::future::BoxFuture;
use prometheus_client::registry::Registry;
use serde_json::{Map, Value};

/// Outcome of a request.
pub type Answered = Result<Value, RpcError>;

/// A service that answers requests over any transport. Implemented by the server ([`Server`](crate::Server))
/// and in tests.
///
/// ```
/// use ptc_mcp::connection::Flight;
/// use ptc_mcp::frame::Request;
/// use ptc_mcp::service::{Answered, Service};
/// use ptc_mcp::{Settings, sessions::Owner};
/// use futures_util::future::{BoxFuture, FutureExt};
///
/// #[derive(Clone, Default)]
/// struct Echo(Settings);
/// impl Service for Echo {
///     fn settings(&self) -> &Settings {
///         &self.0
///     }
///     fn answer<'a>(&'a self, request: Request, flight: &'a Flight) -> BoxFuture<'a, Answered> {
///         async move {
///             flight.client().tell("notifications/message", serde_json::json!({"level": "info", "data": "hm"}));
///             Ok(serde_json::json!({"method": request.method}))
///         }
///         .boxed()
///     }
/// }
///
/// # tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
/// let input = &b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"x\"}\n"[..];
/// let (mut client, out) = tokio::io::duplex(4096);
/// ptc_mcp::stdio::serve(&Echo::default(), Owner::new("me"), input, out).await;
/// let mut said = String::new();
/// tokio::io::AsyncReadExt::read_to_string(&mut client, &mut said).await.unwrap();
/// let said: Vec<&str> = said.lines().collect();
/// assert!(said[0].contains("notifications/message"));
/// assert_eq!(said[1], r#"{"id":1,"jsonrpc":"2.0","result":{"method":"x"}}"#);
/// # });
/// ```
pub trait Service: Send + Sync + 'static {
    /// Returns the settings for transports: sizes, addresses, tokens.
    fn settings(&self) -> &Settings;

    /// Answers a request. Dropping the future cancels the request.
    fn answer<'a>(&'a self, request: Request, flight: &'a Flight) -> BoxFuture<'a, Answered>;

    /// Handles a notification.
    fn note(&self, connection: &Connection, method: &str, params: &Map<String, Value>) {
        if method == "notifications/cancelled"
            && let Some(id) = params.get("requestId").and_then(Id::read)
        {
            connection.cancel(&id);
        }
    }

    /// Returns the arguments that HTTP clients must repeat in headers (`Mcp-Param-…`), so that requests can be
    /// routed by them: the name of each and its value in the message. None means that both message and header
    /// must leave it out.
    fn headers(&self, request: &Request) -> Vec<(String, Option<String>)> {
        let _ = request;
        Vec::new()
    }

    /// Refuses further calls; those in progress continue.
    fn drain(&self) {}

    /// Returns whether further calls are refused.
    fn is_draining(&self) -> bool {
        false
    }

    /// Returns whether another call could not be accepted now.
    fn is_saturated(&self) -> bool {
        false
    }

    /// Returns the state of the server and of the servers that its programs call, for operators.
    fn health(&self) -> Value {
        Value::Null
    }

    /// Returns counts for Prometheus, in addition to those of the transport.
    fn metrics(&self) -> Option<&Registry> {
        None
    }

    /// Returns the number of running programs.
    fn running(&self) -> usize {
        0
    }

    /// Returns the counts of effects, if there is a ledger.
    fn effects(&self) -> Option<&EffectCounts> {
        None
    }

    /// Handles a client's final disconnect: its own resources may be freed.
    fn left(&self, connection: &Connection) {
        let _ = connection;
    }

    /// Performs maintenance while polled.
    fn tend(&self) -> BoxFuture<'_, ()> {
        Box::pin(std::future::pending())
    }
}
