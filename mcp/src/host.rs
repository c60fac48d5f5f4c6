//! Environment of all programs of the server: a runtime, the preludes of the start, and upstream servers.

use crate::effects::{Counted, EffectCounts};
use crate::reply::Payload;
use crate::settings::Settings;
use crate::task::Planner;
use ptc_runtime::effects::Ledger;
use ptc_runtime::{Attach, Failure, Prelude, Runtime};
use ptc_upstream::{Attachment, ProgramHost, Upstream};
use serde_json::Value;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Environment of programs. Cheap to clone.
#[derive(Clone)]
pub struct Host {
    runtime: Runtime,
    upstream: Option<Upstream>,
    timeout: Duration,
    is_read_only: bool,
    preludes: Vec<Prelude>,
    planner: Option<Planner>,
    effects: Option<Arc<Counted>>,
}

impl Host {
    /// Creates a host with this runtime, the limits of the settings, and these servers.
    pub fn new(runtime: &Runtime, settings: &Settings, upstream: Option<Upstream>) -> Host {
        let has_upstreams = upstream.is_some();
        let timeout_ms = settings.program_timeout(has_upstreams);
        let limits = ptc_runtime::Limits {
            timeout_ms,
            memory_bytes: settings.program_memory(has_upstreams),
            source_bytes: settings.max_program_bytes,
            ..*runtime.current_limits()
        };
        // A missing `data/x` is an error: data that a client forgot to send must not become nil.
        let runtime = runtime.clone().limits(limits).strict_data(true);
        let timeout = Duration::from_millis(timeout_ms);
        let is_read_only = settings.aggregator_read_only;
        Host { runtime, upstream, timeout, is_read_only, preludes: Vec::new(), planner: None, effects: None }
    }

    /// Attaches one more prelude, whose requirements are checked against the servers now.
    pub fn prelude(mut self, prelude: &Prelude) -> Result<Host, Failure> {
        let host = self.begin();
        self.runtime = host.runtime(self.runtime).attach(prelude, &Attach::new())?;
        self.preludes.push(prelude.clone());
        Ok(self)
    }

    /// Sets the planner, which carries out tasks.
    #[must_use]
    pub fn planner(mut self, planner: Planner) -> Host {
        self.planner = Some(planner);
        self
    }

    /// Writes the effects of all programs to this ledger.
    #[must_use]
    pub fn recorded(mut self, ledger: Arc<dyn Ledger>) -> Host {
        self.effects = Some(Arc::new(Counted { ledger, counts: Arc::default() }));
        self
    }

    /// Returns the ledger of effects, if there is one.
    pub fn effects(&self) -> Option<Arc<dyn Ledger>> {
        self.effects.clone().map(|ledger| ledger as Arc<dyn Ledger>)
    }

    /// Returns the counts of effects, if there is a ledger.
    pub fn effect_counts(&self) -> Option<&EffectCounts> {
        self.effects.as_ref().map(|ledger| &*ledger.counts)
    }

    /// Returns the planner for tasks, if there is one.
    pub fn tasks(&self) -> Option<&Planner> {
        self.planner.as_ref()
    }

    /// Returns the attached preludes.
    pub fn preludes(&self) -> &[Prelude] {
        &self.preludes
    }

    /// Returns the runtime.
    pub fn runtime(&self) -> &Runtime {
        &self.runtime
    }

    /// Returns the servers.
    pub fn upstream(&self) -> Option<&Upstream> {
        self.upstream.as_ref()
    }

    /// Returns the time limit of one program, including waiting for servers.
    pub fn timeout(&self) -> Duration {
        self.timeout
    }

    /// Begins one run, with its own call budget and record.
    pub fn begin(&self) -> ProgramHost {
        let deadline = Instant::now() + self.timeout;
        ProgramHost::new(self.attach(Some(deadline)).map(Attachment::holding))
    }

    /// Begins the runs of one session; each of them starts with [`ProgramHost::begin`].
    pub fn begin_session(&self) -> ProgramHost {
        ProgramHost::new(self.attach(None).map(|servers| servers.holding()))
    }

    /// Attaches the servers to one run or session. The read-only setting is enforced here, for every program: clients
    /// approve calls by the hints they were given about the tools.
    pub fn attach(&self, deadline: Option<Instant>) -> Option<Attachment> {
        let servers = self.upstream.as_ref()?.attach(deadline);
        Some(if self.is_read_only { servers.read_only() } else { servers })
    }

    /// Returns the metrics of a program: how much of what it fetched is in the value that it returned, whatever part of
    /// the value the reply has room for. A program that failed returned nothing.
    pub(crate) fn metrics(&self, payload: &Payload, host: &ProgramHost) -> Option<Value> {
        host.context()?.metrics(Some(payload.returned_bytes()), &payload.prints)
    }

    /// Adds the calls to a payload and removes secrets from all of it.
    pub fn account(&self, mut payload: Payload, host: &ProgramHost) -> Payload {
        let (Some(context), Some(upstream)) = (host.context(), &self.upstream) else { return payload };
        payload.scrub(upstream.redactor());
        payload.metrics = self.metrics(&payload, host);
        payload.upstream_calls = items(context.upstream_calls());
        payload.upstream_results = items(context.upstream_results());
        payload
    }
}

/// Returns the items of a JSON array; none for other values.
pub(crate) fn items(value: Value) -> Vec<Value> {
    match value {
        Value::Array(items) => items,
        _ => Vec::new(),
    }
}
