//! Counts of calls for Prometheus, by tool, upstream server and owner: names and numbers, no content.

use crate::reply::{Payload, Reply};
use crate::sessions::Owner;
use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::registry::Registry;
use serde_json::Value;
use std::collections::HashSet;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// Maximum number of different owners, and of different tools, with counts of their own; others are `other`. Each takes
/// memory for good, here and in Prometheus.
const MAX_OWNERS: usize = 200;
const MAX_TOOLS: usize = 1_000;

/// Upper bounds of the durations, in seconds.
const SECONDS: [f64; 12] = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0];

#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
struct CallLabels {
    tool: &'static str,
    owner: String,
    /// `ok`, or the reason of the failure.
    status: &'static str,
}

#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
struct ToolLabels {
    tool: &'static str,
}

#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
struct TrafficLabels {
    tool: &'static str,
    owner: String,
}

#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
struct UpstreamLabels {
    upstream: String,
    tool: String,
}

#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
struct UpstreamCallLabels {
    upstream: String,
    tool: String,
    owner: String,
    status: String,
}

/// Counts of the server's calls and of those that its programs make.
pub(crate) struct CallMetrics {
    registry: Registry,
    owners: Names,
    tools: Names,
    calls: Family<CallLabels, Counter>,
    durations: Family<ToolLabels, Histogram>,
    received: Family<TrafficLabels, Counter>,
    sent: Family<TrafficLabels, Counter>,
    saved: Family<TrafficLabels, Counter>,
    upstream_calls: Family<UpstreamCallLabels, Counter>,
    upstream_durations: Family<UpstreamLabels, Histogram>,
    upstream_received: Family<UpstreamLabels, Counter>,
}

fn histogram() -> Histogram {
    Histogram::new(SECONDS)
}

impl CallMetrics {
    /// Creates the counts, labelled with the name of this instance.
    pub fn new(instance: String) -> CallMetrics {
        let labels = [("instance".into(), instance.into())];
        let mut registry = Registry::with_prefix_and_labels("ptc_mcp", labels.into_iter());
        let metrics = CallMetrics {
            registry: Registry::default(),
            owners: Names::new(MAX_OWNERS),
            tools: Names::new(MAX_TOOLS),
            calls: Family::default(),
            durations: Family::new_with_constructor(histogram),
            received: Family::default(),
            sent: Family::default(),
            saved: Family::default(),
            upstream_calls: Family::default(),
            upstream_durations: Family::new_with_constructor(histogram),
            upstream_received: Family::default(),
        };
        registry.register("tool_calls", "Calls of the server's tools", metrics.calls.clone());
        registry.register("tool_duration_seconds", "Durations of these calls", metrics.durations.clone());
        registry.register("tool_request_bytes", "Bytes of their arguments", metrics.received.clone());
        registry.register("tool_reply_bytes", "Bytes of their replies", metrics.sent.clone());
        let saved = "Bytes of upstream servers' replies that programs read instead of the client";
        registry.register("saved_bytes", saved, metrics.saved.clone());
        let calls = "Calls of upstream servers, by programs and tasks";
        registry.register("upstream_calls", calls, metrics.upstream_calls.clone());
        let durations = "Durations of calls of upstream servers";
        registry.register("upstream_duration_seconds", durations, metrics.upstream_durations.clone());
        let received = "Bytes received from upstream servers";
        registry.register("upstream_reply_bytes", received, metrics.upstream_received.clone());
        CallMetrics { registry, ..metrics }
    }

    pub fn registry(&self) -> &Registry {
        &self.registry
    }

    /// Counts a call that has ended, and the calls that its program made.
    pub fn observe(&self, call: &ObservedCall<'_>, payload: &Payload, reply: &Reply) {
        let owner = self.owners.known(&call.owner.label());
        let tool = call.tool;
        let status = payload.reason.map_or("ok", |reason| reason.name());
        self.calls.get_or_create(&CallLabels { tool, owner: owner.clone(), status }).inc();
        self.durations.get_or_create(&ToolLabels { tool }).observe(call.took.as_secs_f64());
        let traffic = TrafficLabels { tool, owner: owner.clone() };
        self.received.get_or_create(&traffic).inc_by(call.argument_bytes);
        let blocks: u64 = reply.blocks.iter().map(ptc_upstream::json_bytes).sum();
        let structured = reply.structured.as_ref().map_or(0, ptc_upstream::json_bytes);
        self.sent.get_or_create(&traffic).inc_by(reply.text.len() as u64 + structured + blocks);
        let of = |key: &str| payload.metrics.as_ref().and_then(|metrics| metrics[key].as_u64()).unwrap_or(0);
        if !payload.is_error() {
            let saved = of("upstream_result_bytes").saturating_sub(of("final_result_bytes"));
            self.saved.get_or_create(&traffic).inc_by(saved);
        }
        payload.upstream_calls.iter().for_each(|call| self.observe_upstream(call, &owner));
    }

    fn observe_upstream(&self, call: &Value, owner: &str) {
        let text = |key: &str| call[key].as_str().unwrap_or("other").to_string();
        let number = |key: &str| call[key].as_u64().unwrap_or(0);
        let (server, tool) = (text("server"), text("tool"));
        // Programs can name servers and tools that do not exist.
        let (upstream, tool) = match self.tools.has_room_for(&format!("{server}/{tool}")) {
            true => (server, tool),
            false => ("other".to_string(), "other".to_string()),
        };
        let status = if call["status"] == "ok" { "ok".to_string() } else { text("reason") };
        let labels = UpstreamLabels { upstream: upstream.clone(), tool: tool.clone() };
        let seconds = Duration::from_millis(number("duration_ms")).as_secs_f64();
        self.upstream_durations.get_or_create(&labels).observe(seconds);
        self.upstream_received.get_or_create(&labels).inc_by(number("wire_bytes"));
        let labels = UpstreamCallLabels { upstream, tool, owner: owner.to_string(), status };
        self.upstream_calls.get_or_create(&labels).inc();
    }
}

/// A call of one of the server's tools that has ended.
pub(crate) struct ObservedCall<'c> {
    pub tool: &'static str,
    pub owner: &'c Owner,
    pub took: Duration,
    pub argument_bytes: u64,
}

/// Names with counts of their own, up to a maximum.
struct Names {
    most: usize,
    known: Mutex<HashSet<String>>,
}

impl Names {
    fn new(most: usize) -> Names {
        Names { most, known: Mutex::default() }
    }

    fn has_room_for(&self, name: &str) -> bool {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        known.contains(name) || (known.len() < self.most && known.insert(name.to_string()))
    }

    /// Returns the name, or `other` if there are too many.
    fn known(&self, name: &str) -> String {
        if self.has_room_for(name) { name.to_string() } else { "other".to_string() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_beyond_the_limit_share_one() {
        let names = Names::new(2);
        assert_eq!(["a", "b", "c", "a"].map(|name| names.known(name)), ["a", "b", "other", "a"]);
    }
}
