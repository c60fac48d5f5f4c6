//! Exports spans to an OpenTelemetry collector (OTLP over HTTP), in batches and in the background: a slow or
//! missing collector costs spans, but never a reply.
//!
//! Headers and batch limits come from the standard OpenTelemetry variables (`OTEL_EXPORTER_OTLP_HEADERS`,
//! `OTEL_BSP_…`, `OTEL_RESOURCE_ATTRIBUTES`).

use crate::protocol::SERVER_NAME;
use opentelemetry::KeyValue;
use opentelemetry::propagation::TextMapPropagator;
use opentelemetry::trace::{TraceContextExt, TracerProvider};
use opentelemetry_http::{Bytes, HttpClient, HttpError, Request, Response};
use opentelemetry_otlp::{Protocol, SpanExporter, WithExportConfig, WithHttpConfig};
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::propagation::TraceContextPropagator;
use opentelemetry_sdk::trace::SdkTracerProvider;
use reqwest::Client;
use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use tokio::runtime::Handle;
use tracing::{Span, Subscriber};
use tracing_opentelemetry::OpenTelemetrySpanExt;
use tracing_subscriber::Layer;
use tracing_subscriber::filter::filter_fn;
use tracing_subscriber::registry::LookupSpan;

/// Time limit for sending one batch.
const TIMEOUT: Duration = Duration::from_secs(10);

/// Time limit for the last batch when the server stops.
const LAST: Duration = Duration::from_secs(2);

/// Maximum number of bytes read of a collector's response, which is not used.
const MAX_ANSWER: usize = 64 * 1024;

/// Exporter that collects spans and sends them. Stopping it sends the remaining ones.
pub struct Exporter(SdkTracerProvider);

impl Exporter {
    /// Starts an exporter to this address, below which the collector has `/v1/traces`. Requests are made on
    /// `executor`. The error is for the process that starts the server.
    ///
    /// ```
    /// # let executor = tokio::runtime::Runtime::new().unwrap();
    /// use ptc_mcp::otlp::Exporter;
    /// assert!(Exporter::start("nowhere", "1.0", executor.handle()).is_err());
    /// let exporter = Exporter::start("http://127.0.0.1:4318", "1.0", executor.handle()).unwrap();
    /// # exporter.stop();
    /// ```
    pub fn start(endpoint: &str, version: &str, executor: &Handle) -> Result<Exporter, String> {
        let wrong = |why: String| format!("--otlp-endpoint: {why}");
        let mut url = ptc_web::address(endpoint).map_err(wrong)?;
        let client = ptc_web::client(&url).map_err(|error| wrong(error.to_string()))?;
        let base = url.path().trim_end_matches('/');
        if !base.ends_with("/v1/traces") {
            let path = format!("{base}/v1/traces");
            url.set_path(&path);
        }
        let sender = Sender { client, executor: executor.clone(), is_failing: AtomicBool::new(false) };
        let exporter = SpanExporter::builder()
            .with_http()
            .with_http_client(sender)
            .with_protocol(Protocol::HttpBinary)
            .with_endpoint(url)
            .with_timeout(TIMEOUT)
            .build()
            .map_err(|error| wrong(error.to_string()))?;
        let about = Resource::builder()
            .with_service_name(SERVER_NAME)
            .with_attribute(KeyValue::new("service.version", version.to_string()))
            .build();
        Ok(Exporter(SdkTracerProvider::builder().with_batch_exporter(exporter).with_resource(about).build()))
    }

    /// Returns the layer that passes on this project's spans and no others: spans of libraries may contain addresses.
    pub fn layer<S>(&self) -> impl Layer<S> + Send + Sync + use<S>
    where
        S: Subscriber + for<'span> LookupSpan<'span> + Send + Sync,
    {
        tracing_opentelemetry::layer()
            .with_tracer(self.0.tracer(SERVER_NAME))
            .with_location(false)
            .with_target(false)
            .with_threads(false)
            .with_tracked_inactivity(false)
            .with_filter(filter_fn(|about| about.is_span() && about.target().starts_with("ptc_")))
    }

    /// Sends the remaining spans. The executor must run until then.
    pub fn stop(self) {
        // There is nobody left to report a failure to.
        let _ = self.0.shutdown_with_timeout(LAST);
    }
}

const TRACEPARENT: &str = "traceparent";

/// Returns the W3C `traceparent` of a span, for other processes.
pub fn name_of(span: &Span) -> Option<String> {
    let mut carried = HashMap::new();
    TraceContextPropagator::new().inject_context(&span.context(), &mut carried);
    carried.remove(TRACEPARENT)
}

/// Makes a span the child of another process's span.
pub fn adopt(span: &Span, traceparent: Option<&str>) {
    let Some(text) = traceparent.filter(|_| !span.is_disabled()) else { return };
    let carried = HashMap::from([(TRACEPARENT.to_string(), text.to_string())]);
    let parent = TraceContextPropagator::new().extract(&carried);
    if parent.has_active_span() {
        // Fails only for a span that has started, which this one has not.
        let _ = span.set_parent(parent);
    }
}

/// Sends batches, called on a thread outside the executor.
#[derive(Debug)]
struct Sender {
    client: Client,
    executor: Handle,
    is_failing: AtomicBool,
}

#[async_trait::async_trait]
impl HttpClient for Sender {
    async fn send_bytes(&self, request: Request<Bytes>) -> Result<Response<Bytes>, HttpError> {
        let client = self.client.clone();
        let sent = self.executor.spawn(async move {
            let asked = reqwest::Request::try_from(request).map_err(|error| error.to_string())?;
            let response = client.execute(asked).await.map_err(ptc_web::why)?;
            let status = response.status();
            let body = ptc_web::start(response, MAX_ANSWER).await;
            let mut answer = Response::new(Bytes::from(body));
            *answer.status_mut() = status;
            Ok(answer)
        });
        let answer = sent.await.map_err(|error| error.to_string()).and_then(|answer| answer);
        let problem = match &answer {
            Ok(answer) if answer.status().is_success() => None,
            Ok(answer) => Some(format!("answered {}", answer.status().as_u16())),
            Err(why) => Some(why.clone()),
        };
        // Logged once when failures begin and once when they end, not for every batch.
        match (&problem, self.is_failing.swap(problem.is_some(), Ordering::Relaxed)) {
            (Some(why), false) => tracing::warn!(why, "otlp.failing"),
            (None, true) => tracing::info!("otlp.works_again"),
            _ => {}
        }
        answer.map_err(Into::into)
    }
}
