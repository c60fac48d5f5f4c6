//! From what the configuration says of a server to a client of it.

use crate::client::Client;
use crate::config::Connect;
use crate::redact::Redactor;
use crate::transport;
use std::sync::Arc;

/// A client; nothing is started before it is needed.
pub(crate) fn connect(name: &str, connect: Connect, redactor: &Arc<Redactor>) -> Arc<dyn Client> {
    match connect {
        Connect::Stdio(settings) => transport::mcp_stdio::client(name, settings, redactor.clone()),
        #[cfg(feature = "http")]
        Connect::Http(settings, headers) => transport::mcp_http::client(name, settings, headers),
        #[cfg(feature = "http")]
        Connect::OpenApi(settings, headers) => transport::openapi::client(name, settings, headers),
        // Reading the configuration refused these already.
        #[cfg(not(feature = "http"))]
        Connect::Http(..) | Connect::OpenApi(..) => Arc::new(Without),
    }
}

/// A server this program was built without.
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
