//! Connections to servers: child processes over pipes, and servers over HTTP.
//!
//! A connection is made on first use, shared by all calls, and made again after it is lost. `supervisor` does
//! that for all transports; `session` sends requests over one connection; the rest is the wire.

mod handler;
mod inbound;
mod inflow;
mod listing;
#[cfg(feature = "http")]
pub mod mcp_http;
pub mod mcp_stdio;
#[cfg(feature = "http")]
pub mod openapi;
mod recovery;
mod scan;
mod session;
mod supervisor;
mod ticket;
#[cfg(feature = "http")]
mod web;

use crate::client::Client;
use crate::config::{Connect, Transport};
use crate::redact::Redactor;
use std::sync::Arc;

/// Creates a client; nothing is started before it is needed.
pub(crate) fn connect(name: &str, server: Connect, redactor: &Arc<Redactor>) -> Arc<dyn Client> {
    match server.transport {
        Transport::Stdio(settings) => mcp_stdio::client(name, settings, redactor.clone()),
        #[cfg(feature = "http")]
        Transport::Http(settings) => mcp_http::client(name, settings, server.headers),
        #[cfg(feature = "http")]
        Transport::OpenApi(settings) => openapi::client(name, *settings, server.headers),
        // Parsing the configuration has already refused these.
        #[cfg(not(feature = "http"))]
        Transport::Http(_) | Transport::OpenApi(_) => Arc::new(Without),
    }
}

/// Client for servers whose transport is not compiled in.
#[cfg(not(feature = "http"))]
struct Without;

#[cfg(not(feature = "http"))]
impl Client for Without {
    fn tools(&self) -> futures_util::future::BoxFuture<'_, Result<Vec<crate::Tool>, crate::Fault>> {
        Box::pin(async { Err(without()) })
    }

    fn call(
        &self,
        _: crate::Request,
    ) -> futures_util::future::BoxFuture<'_, Result<crate::Reply, crate::Fault>> {
        Box::pin(async { Err(without()) })
    }

    fn health(&self) -> crate::Health {
        crate::Health::Failed
    }

    fn stop(&self) -> futures_util::future::BoxFuture<'_, ()> {
        Box::pin(async {})
    }
}

#[cfg(not(feature = "http"))]
fn without() -> crate::Fault {
    crate::Fault::new(crate::Reason::UpstreamUnavailable, "this program was built without the feature `http`")
}
