//! Replacement for builds without the feature `otlp`: starting an exporter fails with that reason, and
//! everything else does nothing.

use tokio::runtime::Handle;
use tracing::{Span, Subscriber};
use tracing_subscriber::Layer;
use tracing_subscriber::layer::Identity;

/// Exporter, of which there is none in this build.
pub enum Exporter {}

impl Exporter {
    /// Refuses to start; the error is for the process that starts the server.
    pub fn start(_endpoint: &str, _version: &str, _executor: &Handle) -> Result<Exporter, String> {
        Err("--otlp-endpoint: this program was built without the feature `otlp`".to_string())
    }

    /// Returns a layer that does nothing.
    pub fn layer<S: Subscriber>(&self) -> impl Layer<S> + Send + Sync + use<S> {
        Identity::new()
    }

    /// Does nothing, because there are no exporters.
    pub fn stop(self) {
        match self {}
    }
}

/// Returns None: without an exporter, spans have no name outside the process.
pub fn name_of(_span: &Span) -> Option<String> {
    None
}

/// Does nothing, because spans are not exported.
pub fn adopt(_span: &Span, _traceparent: Option<&str>) {}
