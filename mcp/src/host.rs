//! What every program of the server runs with: a runtime, the prelude of the start, and upstream servers.

use crate::held::{Around, Parked};
use crate::reply::Payload;
use crate::settings::Settings;
use crate::task::Planner;
use futures_util::future::{Either, select};
use ptc_runtime::{
    Attach, CallId, Cancel, Driven, Failure, Grants, Outcome, Prelude, Run, Runtime, Session, ToolFuture,
    Tools, until_held,
};
use ptc_upstream::{Attachment, Upstream, Verdict, Wish};
use serde_json::Value;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// What programs run with. Cheap to clone.
#[derive(Clone)]
pub struct Host {
    runtime: Runtime,
    upstream: Option<Upstream>,
    timeout: Duration,
    prelude: Option<Prelude>,
    planner: Option<Planner>,
}

impl Host {
    /// Programs run under this runtime, within the limits of the settings, and may call these servers.
    pub fn new(runtime: &Runtime, settings: &Settings, upstream: Option<Upstream>) -> Host {
        let has_upstreams = upstream.is_some();
        let timeout_ms = settings.program_timeout(has_upstreams);
        let limits = ptc_runtime::Limits {
            timeout_ms,
            memory_bytes: settings.program_memory(has_upstreams),
            source_bytes: settings.max_program_bytes,
            ..*runtime.current_limits()
        };
        // A missing `data/x` is an error: what a client forgot to send is no nil.
        let runtime = runtime.clone().limits(limits).strict_data(true);
        let timeout = Duration::from_millis(timeout_ms);
        Host { runtime, upstream, timeout, prelude: None, planner: None }
    }

    /// With a prelude, whose requirements are checked against the servers now.
    pub fn prelude(mut self, prelude: &Prelude) -> Result<Host, Failure> {
        let attached = self.begin();
        let attach = Attach::to(&attached.tools);
        let attach = match &attached.servers {
            Some(servers) => attach.upstream(servers.discovery()),
            None => attach,
        };
        self.runtime = self.runtime.attach(prelude, &attach)?;
        self.prelude = Some(prelude.clone());
        Ok(self)
    }

    /// With somebody who does tasks.
    #[must_use]
    pub fn planner(mut self, planner: Planner) -> Host {
        self.planner = Some(planner);
        self
    }

    /// Who does tasks, if anybody does.
    pub fn tasks(&self) -> Option<&Planner> {
        self.planner.as_ref()
    }

    /// The prelude that was attached.
    pub fn attached(&self) -> Option<&Prelude> {
        self.prelude.as_ref()
    }

    /// The runtime.
    pub fn runtime(&self) -> &Runtime {
        &self.runtime
    }

    /// The servers.
    pub fn upstream(&self) -> Option<&Upstream> {
        self.upstream.as_ref()
    }

    /// How long one program may take, waiting for servers included.
    pub fn timeout(&self) -> Duration {
        self.timeout
    }

    /// What one run is given: its own budget of calls, and its own record of them.
    pub fn begin(&self) -> Granted {
        let deadline = Instant::now() + self.timeout;
        Granted::of(self.upstream.as_ref().map(|upstream| upstream.attach(Some(deadline)).holding()))
    }

    /// What the runs of one session are given, one after the other: see [`Granted::renew`]. Definitions outlive the run
    /// that made them, so what servers answer comes without secrets.
    pub fn begin_session(&self) -> Granted {
        Granted::of(self.upstream.as_ref().map(|upstream| upstream.attach(None).scrubbing().holding()))
    }
}

/// What one run is given. Dropped, it is over: whatever was kept of it calls nothing any more.
pub struct Granted {
    /// The tools.
    pub tools: Tools,
    servers: Option<Attachment>,
}

impl Granted {
    fn of(servers: Option<Attachment>) -> Granted {
        let tools = match &servers {
            Some(servers) => servers.grant(Tools::new()),
            None => Tools::new(),
        };
        Granted { tools, servers }
    }

    /// Begins the next run of a session: its budget is whole again, and its record empty.
    pub fn renew(&self, host: &Host) {
        if let Some(servers) = &self.servers {
            servers.next(Some(Instant::now() + host.timeout));
        }
    }

    /// The run begins: it belongs to a trace, and whoever asks may see what it calls.
    pub fn note(&self, around: &Around) {
        if let Some(servers) = &self.servers {
            around.note(servers);
        }
    }

    /// What discovery looks into.
    pub fn discovery(&self) -> Option<Arc<dyn ptc_runtime::Upstream>> {
        self.servers.as_ref().map(Attachment::discovery)
    }

    /// The runtime that looks into the servers of this run.
    pub fn runtime(&self, host: &Host) -> Runtime {
        match &self.servers {
            Some(servers) => host.runtime.clone().with_upstream(servers.discovery()),
            None => host.runtime.clone(),
        }
    }

    /// Runs a program on this thread, until it ends or waits for somebody's decision. Who cancels does not wait for servers
    /// that still work.
    pub fn eval(&self, session: &mut Session, program: &str, cancel: &Cancel, within: Duration) -> Ran {
        if self.servers.is_none() {
            return Ran::Ended(session.eval(program));
        }
        match session.start(program) {
            Ok(run) => self.drive(session, run, Vec::new(), cancel, within),
            Err(failure) => Ran::Ended(Err(failure)),
        }
    }

    /// Goes on with a program, now that all it waited for is decided. It sees the same data as before.
    pub fn resume(
        &self,
        session: &Session,
        grants: &Grants,
        parked: Parked,
        verdicts: Vec<Verdict>,
        cancel: &Cancel,
    ) -> Ran {
        let Some(servers) = &self.servers else { return Ran::Cancelled };
        servers.context().set_deadline(Instant::now() + parked.left);
        let run = match session.runtime().load(&parked.snapshot, grants) {
            Ok(run) => run,
            Err(failure) => return Ran::Ended(Err(failure)),
        };
        let waiting = run.pending();
        let decided = parked.wishes.into_iter().zip(verdicts).filter_map(|((id, _), verdict)| {
            let call = waiting.iter().find(|call| call.id == id)?;
            let answer = servers.call_after(session.tools().args(call), verdict);
            Some((id, Box::pin(answer) as ToolFuture))
        });
        self.drive(session, run, decided.collect(), cancel, parked.left)
    }

    fn drive(
        &self,
        session: &Session,
        run: Run,
        given: Vec<(CallId, ToolFuture)>,
        cancel: &Cancel,
        within: Duration,
    ) -> Ran {
        let since = Instant::now();
        let run = std::pin::pin!(until_held(run, session.tools(), given));
        let stop = std::pin::pin!(cancel.cancelled());
        let (run, held) = match futures_executor::block_on(select(run, stop)) {
            Either::Left((Ok(Driven::Done(outcome)), _)) => return Ran::Ended(Ok(outcome)),
            Either::Left((Ok(Driven::Held(run, held)), _)) => (run, held),
            Either::Left((Err(failure), _)) => return Ran::Ended(Err(failure)),
            // Calls under way are dropped with the future; a program that computes sees the flag itself.
            Either::Right(_) => return Ran::Cancelled,
        };
        let wishes = held.iter().filter_map(|held| Some((held.call.id.clone(), Wish::of(held)?)));
        match run.snapshot() {
            Ok(snapshot) => {
                let left = within.saturating_sub(since.elapsed());
                Ran::Held(Parked { snapshot, wishes: wishes.collect(), left })
            }
            Err(failure) => Ran::Ended(Err(failure)),
        }
    }

    /// Adds to a payload what was called, and takes secrets out of all of it.
    pub fn account(&self, mut payload: Payload, host: &Host) -> Payload {
        let (Some(servers), Some(upstream)) = (&self.servers, &host.upstream) else { return payload };
        let context = servers.context();
        payload.scrub(upstream.redactor());
        payload.metrics =
            context.metrics(payload.result.as_deref().filter(|_| !payload.is_error()), &payload.prints);
        payload.upstream_calls = items(context.upstream_calls());
        payload.upstream_results = items(context.upstream_results());
        payload
    }
}

/// How far a program went.
#[derive(Debug)]
pub enum Ran {
    /// To its end.
    Ended(Result<Outcome, Failure>),
    /// It waits for somebody's decision.
    Held(Parked),
    /// It was cancelled first.
    Cancelled,
}

impl Drop for Granted {
    fn drop(&mut self) {
        if let Some(servers) = &self.servers {
            servers.context().close();
        }
    }
}

/// The items of a list.
pub(crate) fn items(value: Value) -> Vec<Value> {
    match value {
        Value::Array(items) => items,
        _ => Vec::new(),
    }
}
