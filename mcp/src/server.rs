//! The server: handles one request and returns one reply, over any transport.

mod approve;
mod call;
mod calling;
mod effects;
mod open_calls;
mod schedule;
mod slots;
mod work;

pub(crate) use calling::Level;

use crate::client::Capabilities;
use crate::connection::{Connection, Flight};
use crate::debug::Debug;
use crate::effects::EffectCounts;
use crate::eval::Evaluator;
use crate::frame::{Request, RpcError};
use crate::host::Host;
use crate::listing::Listing;
use crate::metrics::CallMetrics;
use crate::protocol::{About, Build, Revision};
use crate::service::{Answered, Service};
use crate::sessions::{Owner, Sessions};
use crate::settings::Settings;
use crate::shares::Shares;
use crate::tool::Parts;
use crate::trace::Traces;
use approve::Parking;
use effects::RunningKeys;
use futures_util::future::BoxFuture;
use open_calls::OpenCalls;
use prometheus_client::registry::Registry;
use serde_json::{Map, Value, json};
use slots::Slots;
use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

/// Interval of session maintenance.
const TEND: Duration = Duration::from_secs(1);

/// The MCP server. Cheap to clone; all transports share one.
#[derive(Clone)]
pub struct Server(Arc<Shared>);

struct Shared {
    parts: Parts,
    listing: Listing,
    about: About,
    traces: Option<Traces>,
    /// Counts of calls, if anybody can read them.
    metrics: Option<CallMetrics>,
    /// Programs waiting for a person, whom the client asks.
    parking: Parking,
    slots: Slots,
    /// Memory budget of all programs.
    memory: Shares<Owner>,
    open: OpenCalls,
    /// Number of open calls that wait for a person asked on the call's own stream.
    asked: AtomicUsize,
    is_draining: AtomicBool,
    /// Requests with keys that are running.
    running: RunningKeys,
}

impl Server {
    /// Creates a server for a host. The error is for the process that starts the server.
    pub fn new(
        host: Host,
        settings: &Settings,
        sessions: Option<Sessions>,
        build: Build,
    ) -> Result<Server, String> {
        let redactor = host.upstream().map(|upstream| upstream.redactor().clone());
        let listing = Listing::new(settings, &host);
        let about = About {
            build,
            instructions: instructions(&listing, &host),
            is_public: !settings.http || settings.http_disable_auth,
            has_log: settings.client_log,
        };
        let memory = Shares::new(settings.max_all_programs_bytes);
        let (most, needed) = (memory.most_of_one(), settings.program_memory(host.upstream().is_some()));
        if most < needed {
            return Err(format!(
                "--max-all-programs-bytes={} leaves {most} bytes for the programs of one client, but a \
                 single program may use {needed} (--program-memory-limit-bytes)",
                settings.max_all_programs_bytes
            ));
        }
        let preludes = host.runtime().prelude_trace().map_or(Vec::new(), |trace| trace.identities());
        Ok(Server(Arc::new(Shared {
            parking: Parking::default(),
            slots: Slots::new(
                settings.concurrent_calls(),
                usize::try_from(settings.max_queued_calls).unwrap_or(usize::MAX),
            ),
            memory,
            open: OpenCalls::new(settings.max_open_calls),
            asked: AtomicUsize::new(0),
            traces: Traces::new(settings, redactor.clone(), preludes)?,
            metrics: settings.http_metrics.then(|| CallMetrics::new(settings.instance_label())),
            parts: Parts {
                evaluator: Evaluator::of(host.clone(), settings),
                debug: settings.debug_tool.then(|| Debug::new(settings, redactor)),
                settings: settings.clone(),
                host,
                sessions,
            },
            listing,
            about,
            is_draining: AtomicBool::new(false),
            running: RunningKeys::default(),
        })))
    }

    /// Returns the sessions, if enabled.
    pub fn sessions(&self) -> Option<&Sessions> {
        self.0.parts.sessions.as_ref()
    }

    /// Returns the environment of programs.
    pub fn host(&self) -> &Host {
        &self.0.parts.host
    }

    /// Returns the traces, if enabled.
    pub fn traces(&self) -> Option<&Traces> {
        self.0.traces.as_ref()
    }

    async fn answered(&self, request: Request, flight: &Flight) -> Answered {
        let connection = flight.connection();
        let revision = Revision::of(&request, connection.agreed())?;
        let about = &self.0.about;
        let result = match request.method.as_str() {
            "initialize" if !revision.is_modern() => {
                let asked = request.params.get("protocolVersion").and_then(Value::as_str).unwrap_or_default();
                let agreed = Revision::negotiate(asked);
                connection.agree(agreed, Capabilities::read(request.params.get("capabilities")));
                return Ok(about.initialize(agreed));
            }
            // Revisions without connections have nothing to keep alive.
            "ping" if !revision.is_modern() => Map::new(),
            "server/discover" => about.discover(),
            "tools/list" => about.tools(self.0.listing.to_json(revision).clone(), revision),
            "tools/call" => self.call(request, revision, flight).await?,
            "logging/setLevel" if about.has_log && !revision.is_modern() => {
                let level = request.params.get("level").and_then(Value::as_str).and_then(Level::from_name);
                let Some(level) = level else {
                    let message = "Invalid params: `level` must be one of RFC 5424, such as `info`";
                    return Err(RpcError::new(RpcError::INVALID_PARAMS, message));
                };
                connection.set_log_level(level);
                Map::new()
            }
            "shutdown" => {
                self.drain();
                return Ok(Value::Null);
            }
            other => {
                let shown = crate::cut::chars(other, 80).0;
                return Err(RpcError::new(RpcError::NO_METHOD, format!("Method not found: {shown}")));
            }
        };
        Ok(about.complete(result, revision))
    }
}

impl Service for Server {
    fn settings(&self) -> &Settings {
        &self.0.parts.settings
    }

    fn answer<'a>(&'a self, request: Request, flight: &'a Flight) -> BoxFuture<'a, Answered> {
        Box::pin(self.answered(request, flight))
    }

    fn drain(&self) {
        self.0.is_draining.store(true, Ordering::SeqCst);
    }

    fn is_draining(&self) -> bool {
        self.0.is_draining.load(Ordering::SeqCst)
    }

    fn is_saturated(&self) -> bool {
        self.0.slots.is_full() || self.0.open.is_full()
    }

    fn health(&self) -> Value {
        let catalogue = self.0.parts.host.upstream().map(|upstream| upstream.catalogue());
        let upstreams: Vec<Value> = catalogue
            .into_iter()
            .flat_map(|all| all.servers())
            .map(|server| {
                let tools = server.listing().map(|listing| listing.tools.len());
                json!({"name": server.name, "healthy": server.is_healthy(), "tools": tools})
            })
            .collect();
        json!({"programs": self.running(), "sessions": self.0.parts.sessions.is_some(), "upstreams": upstreams})
    }

    fn metrics(&self) -> Option<&Registry> {
        self.0.metrics.as_ref().map(CallMetrics::registry)
    }

    fn running(&self) -> usize {
        self.0.open.count().saturating_sub(self.0.asked.load(Ordering::Relaxed))
    }

    fn effects(&self) -> Option<&EffectCounts> {
        self.0.parts.host.effect_counts()
    }

    fn left(&self, connection: &Connection) {
        if let Some(sessions) = &self.0.parts.sessions {
            sessions.close_owner(connection.owner());
        }
    }

    fn tend(&self) -> BoxFuture<'_, ()> {
        Box::pin(async {
            loop {
                tokio::time::sleep(TEND).await;
                self.0.parking.sweep();
                if let Some(sessions) = &self.0.parts.sessions {
                    sessions.sweep();
                }
            }
        })
    }
}

/// Builds the instructions for the model, in two or three sentences.
fn instructions(listing: &Listing, host: &Host) -> String {
    let names: Vec<&str> = listing.names().collect();
    let mut text = format!(
        "Write one PTC-Lisp program instead of many tool calls: it computes over the data you send and gives back only its value. Tools: {}.",
        names.join(", ")
    );
    let namespaces: BTreeSet<&str> =
        host.runtime().exports().map(|offered| offered.export.namespace.as_str()).collect();
    if !namespaces.is_empty() {
        let namespaces: Vec<&str> = namespaces.into_iter().collect();
        text.push_str(&format!(
            " Programs can call functions of this server's libraries: {}; (dir 'name) lists those of one.",
            namespaces.join(", ")
        ));
    }
    text
}
