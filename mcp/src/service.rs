//! What a transport serves: anything that answers requests.

use crate::connection::{Connection, Flight};
use crate::frame::{Id, Request, RpcError};
use crate::settings::Settings;
use futures_util::future::BoxFuture;
use serde_json::{Map, Value};

/// What came of a request.
pub type Answered = Result<Value, RpcError>;

/// Answers requests, whatever carries them. The server of programs is one ([`Server`](crate::Server)); tests have another.
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
    /// What transports keep to: sizes, addresses, tokens.
    fn settings(&self) -> &Settings;

    /// Answers a request. Dropping the future gives the request up.
    fn answer<'a>(&'a self, request: Request, flight: &'a Flight) -> BoxFuture<'a, Answered>;

    /// Takes note of a notification.
    fn note(&self, connection: &Connection, method: &str, params: &Map<String, Value>) {
        if method == "notifications/cancelled"
            && let Some(id) = params.get("requestId").and_then(Id::read)
        {
            connection.cancel(&id);
        }
    }

    /// Arguments that a client over HTTP says in headers, too (`Mcp-Param-…`), so that requests can be routed by them: the name
    /// of each, and what the message says; None where it says nothing, and the header must not, either.
    fn headers(&self, request: &Request) -> Vec<(String, Option<String>)> {
        let _ = request;
        Vec::new()
    }

    /// Takes no further calls; those under way go on.
    fn drain(&self) {}

    /// Whether it takes no further calls.
    fn is_draining(&self) -> bool {
        false
    }

    /// Whether it could not take another call now.
    fn is_saturated(&self) -> bool {
        false
    }

    /// How many programs run.
    fn running(&self) -> usize {
        0
    }

    /// A client has gone for good: what was its own may go, too.
    fn left(&self, connection: &Connection) {
        let _ = connection;
    }

    /// Looks after what has to be looked after, for as long as it is polled.
    fn tend(&self) -> BoxFuture<'_, ()> {
        Box::pin(std::future::pending())
    }
}
