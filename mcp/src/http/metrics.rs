//! Metrics for Prometheus: counts only, no content of requests.

use super::respond::plain;
use crate::effects::EffectCounts;
use crate::service::Service;
use crate::settings::Settings;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::Response;
use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::encoding::text::{encode_eof, encode_registry};
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::registry::Registry;
use std::borrow::Cow;
use std::sync::atomic::Ordering;

#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
struct Status {
    status: u16,
}

pub struct Metrics {
    registry: Registry,
    in_flight: Gauge,
    answered: Family<Status, Counter>,
    refused: Counter,
    clients: Gauge,
    programs: Gauge,
    effects: Family<What, Counter>,
}

/// What the ledger said of a call, or what came of it.
#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
struct What {
    what: &'static str,
}

impl Metrics {
    pub fn new(settings: &Settings) -> Metrics {
        let mut registry = Registry::with_prefix_and_labels(
            "ptc_mcp",
            [(Cow::from("instance"), Cow::from(settings.instance_label()))].into_iter(),
        );
        let metrics = Metrics {
            in_flight: Gauge::default(),
            answered: Family::default(),
            refused: Counter::default(),
            clients: Gauge::default(),
            programs: Gauge::default(),
            effects: Family::default(),
            registry: Registry::default(),
        };
        registry.register("http_in_flight", "Requests in progress", metrics.in_flight.clone());
        registry.register("http_requests", "Requests answered", metrics.answered.clone());
        registry.register("http_auth_failures", "Requests without a valid token", metrics.refused.clone());
        registry.register("http_sessions", "Clients that completed the handshake", metrics.clients.clone());
        registry.register("programs_running", "Programs running now", metrics.programs.clone());
        registry.register("effects", "Calls that may change something", metrics.effects.clone());
        Metrics { registry, ..metrics }
    }

    pub fn begin(&self) {
        self.in_flight.inc();
    }

    pub fn end(&self) {
        self.in_flight.dec();
    }

    /// Returns the number of requests in progress.
    pub fn in_flight(&self) -> i64 {
        self.in_flight.get()
    }

    pub fn answered(&self, status: StatusCode) {
        self.answered.get_or_create(&Status { status: status.as_u16() }).inc();
    }

    pub fn refused(&self) {
        self.refused.inc();
    }

    /// Renders all metrics as text.
    pub fn render(&self, service: &dyn Service, clients: usize) -> Response {
        self.clients.set(i64::try_from(clients).unwrap_or(i64::MAX));
        self.programs.set(i64::try_from(service.running()).unwrap_or(i64::MAX));
        for (what, count) in service.effects().into_iter().flat_map(EffectCounts::all) {
            self.effects.get_or_create(&What { what }).inner().store(count, Ordering::Relaxed);
        }
        let mut text = String::new();
        let mut encoded = encode_registry(&mut text, &self.registry);
        if let Some(calls) = service.metrics() {
            encoded = encoded.and_then(|()| encode_registry(&mut text, calls));
        }
        if encoded.and_then(|()| encode_eof(&mut text)).is_err() {
            return plain(StatusCode::INTERNAL_SERVER_ERROR, "the metrics could not be written");
        }
        let mut response = plain(StatusCode::OK, &text);
        let kind = HeaderValue::from_static("application/openmetrics-text; version=1.0.0; charset=utf-8");
        response.headers_mut().insert(header::CONTENT_TYPE, kind);
        response
    }
}
