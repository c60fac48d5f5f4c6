//! Servers that speak MCP over Streamable HTTP.
//!
//! The SDK keeps the session: it performs the handshake, numbers requests, resumes streams, and starts a new
//! session once when the old one has expired. Our code handles requests and bodies: headers, size limits, and
//! the meaning of a status.
//!
//! ```
//! use ptc_upstream::config::HttpSettings;
//! use ptc_upstream::credentials::Headers;
//! use ptc_upstream::{Health, transport::mcp_http};
//! use std::time::Duration;
//! let settings = HttpSettings {
//!     url: "https://mcp.example.org/mcp".parse()?,
//!     connect_timeout: Duration::from_secs(5),
//!     request_timeout: Duration::from_secs(30),
//!     handshake_timeout: Duration::from_secs(10),
//!     max_response_bytes: 2 << 20,
//!     max_concurrency: 16,
//!     ca_file: None,
//! };
//! let web = mcp_http::connect("web", settings, Headers::new());
//! assert_eq!(web.health(), Health::Cold); // nothing is asked before it is needed
//! # Ok::<(), url::ParseError>(())
//! ```

mod body;
mod post;
mod stream;

use super::inflow::Inflow;
use super::session::{Era, Life, Session};
use super::supervisor::{Bounds, Connector, Supervisor};
use super::web;
use crate::client::Client;
use crate::config::HttpSettings;
use crate::credentials::Headers;
use crate::executor::{self, Standalone};
use crate::fault::{Fault, Reason};
use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use post::Poster;
use reqwest::redirect::{Attempt, Policy};
use rmcp::transport::StreamableHttpClientTransport;
use rmcp::transport::streamable_http_client::StreamableHttpClientTransportConfig;
use std::sync::Arc;

/// Creates a client that connects on first use, for any thread and executor.
pub fn connect(name: &str, settings: HttpSettings, headers: Headers) -> Arc<dyn Client> {
    Arc::new(Standalone { name: name.to_string(), client: client(name, settings, headers) })
}

/// Creates a client for callers on the executor. It logs nothing from the server; code that passes its faults
/// on must scrub them.
pub(crate) fn client(name: &str, settings: HttpSettings, headers: Headers) -> Arc<dyn Client> {
    let bounds = Bounds {
        handshake_timeout: settings.handshake_timeout,
        request_timeout: Some(settings.request_timeout),
        max_response_bytes: settings.max_response_bytes,
        max_concurrency: settings.max_concurrency,
        crashes: false,
    };
    let client = web::client(settings.connect_timeout, settings.ca_file.as_deref(), redirects(&headers));
    Arc::new(Supervisor::new(name, bounds, Http { settings, headers, client }))
}

/// Maximum number of redirects followed within one server.
const MAX_REDIRECTS: usize = 5;

/// Builds the policy for redirects.
fn redirects(headers: &Headers) -> Policy {
    // A redirect would carry credentials to another address; and only these two statuses keep method and body.
    let may_redirect = headers.names().next().is_none();
    Policy::custom(move |attempt: Attempt<'_>| {
        let from = attempt.previous().last().map(|url| url.origin());
        let keeps = matches!(attempt.status().as_u16(), 307 | 308);
        match may_redirect
            && keeps
            && from == Some(attempt.url().origin())
            && attempt.previous().len() <= MAX_REDIRECTS
        {
            true => attempt.follow(),
            false => attempt.stop(),
        }
    })
}

struct Http {
    settings: HttpSettings,
    headers: Headers,
    client: Result<reqwest::Client, String>,
}

impl Connector for Http {
    fn connect(&self, era: Option<Era>, inflow: Arc<Inflow>) -> BoxFuture<'_, Result<Session, Fault>> {
        async move {
            match self.attempt(era, inflow.clone()).await {
                // A server that fails on the modern handshake may know the older one.
                Err(fault) if era.is_none() && stumbled(&fault) => {
                    self.attempt(Some(Era::Legacy), inflow).await
                }
                other => other,
            }
        }
        .boxed()
    }
}

fn stumbled(fault: &Fault) -> bool {
    match fault.reason {
        Reason::UpstreamError => true,
        Reason::UpstreamUnavailable => fault.http_status.is_some(),
        _ => false,
    }
}

impl Http {
    async fn attempt(&self, era: Option<Era>, inflow: Arc<Inflow>) -> Result<Session, Fault> {
        let client = self.client.clone().map_err(|why| Fault::new(Reason::UpstreamUnavailable, why))?;
        let poster = Poster::new(client, &self.settings, self.headers.clone(), inflow);
        let trouble = poster.trouble();
        let mut config = StreamableHttpClientTransportConfig::with_uri(self.settings.url.as_str());
        config.allow_stateless = true;
        config.reinit_on_expired_session = true;
        // One more than the calls, for listing tools.
        config.max_concurrent_requests = self.settings.max_concurrency.saturating_add(1);
        config.max_sse_event_size = usize::try_from(self.settings.max_response_bytes).unwrap_or(usize::MAX);
        let transport = StreamableHttpClientTransport::with_client(poster, config);
        let life = Life::default();
        let guard = life.stop.clone().drop_guard();
        match Session::open(transport, era, life.clone()).await {
            Ok(session) => {
                guard.disarm();
                executor::spawn(async move {
                    life.released.cancelled().await;
                    life.dead.cancel();
                    life.ended.cancel();
                });
                Ok(session)
            }
            Err(error) => Err(trouble.take().unwrap_or_else(|| Fault::new(Reason::UpstreamError, error.why))),
        }
    }
}
