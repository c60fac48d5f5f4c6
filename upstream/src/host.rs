//! Host of programs with servers, shared by commands, the prompt and the MCP server.

use crate::approval::{ApprovalRequest, Verdict};
use crate::context::RunContext;
use crate::redact::Redactor;
use crate::running::{Attachment, Upstream};
use futures_util::future::{Either, select};
use ptc_runtime::{
    Attach, CallId, Cancel, Driven, Failure, Grants, Outcome, Prelude, Run, Runtime, Schedule, Session, Step,
    ToolFuture, Tools, until_held,
};
use serde_json::Value;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Runs programs that may call servers, if there are any. Dropping it closes the run: functions kept from it
/// can make no calls.
#[derive(Debug)]
pub struct ProgramHost {
    servers: Option<Attachment>,
}

impl ProgramHost {
    /// Creates a host with these servers, or none.
    pub fn new(servers: Option<Attachment>) -> ProgramHost {
        ProgramHost { servers }
    }

    /// Returns the servers.
    pub fn servers(&self) -> Option<&Attachment> {
        self.servers.as_ref()
    }

    /// Returns the current run, if there are servers.
    pub fn context(&self) -> Option<Arc<RunContext>> {
        self.servers.as_ref().map(Attachment::context)
    }

    /// Adds `call` to the tools, if there are servers.
    #[must_use]
    pub fn tools(&self, tools: Tools) -> Tools {
        match &self.servers {
            Some(servers) => servers.grant(tools),
            None => tools,
        }
    }

    /// Returns the catalogue for discovery.
    pub fn discovery(&self) -> Option<Arc<dyn ptc_runtime::Upstream>> {
        self.servers.as_ref().map(Attachment::discovery)
    }

    /// Adds the servers to a runtime: its programs can call them and discover their tools. Preludes attached to
    /// it later are checked against both.
    #[must_use]
    pub fn runtime(&self, runtime: Runtime) -> Runtime {
        match &self.servers {
            Some(servers) => {
                let tools = servers.grant(Tools::clone(runtime.tools()));
                runtime.with_tools(tools).with_upstream(servers.discovery())
            }
            None => runtime,
        }
    }

    /// Begins the next run of a session, with a full call budget and an empty record.
    pub fn begin(&self, within: Duration) {
        if let Some(servers) = &self.servers {
            servers.next(Some(Instant::now() + within));
        }
    }

    /// Starts a program and runs it for one time slice, where computing is allowed. If it has not ended then,
    /// continue it with [`ProgramHost::proceed`].
    pub fn start(
        &self,
        session: &mut Session,
        program: &str,
        schedule: Option<&Arc<dyn Schedule>>,
    ) -> Result<Begun, Failure> {
        let mut run = session.start(program)?;
        if let Some(schedule) = schedule {
            run = run.scheduled(schedule.clone());
            self.servers.iter().for_each(|servers| servers.context().set_schedule(schedule));
        }
        Ok(match run.slice() {
            Some(Step::Done(done)) => Begun::Ended(done?),
            _ => {
                Begun::UnderWay(Box::new(UnderWay { run, decided: Vec::new(), schedule: schedule.cloned() }))
            }
        })
    }

    /// Continues a program until it ends or waits for an approval. Cancelling does not wait for servers that
    /// are still working.
    pub async fn proceed(&self, run: UnderWay, cancel: &Cancel, within: Duration) -> RunOutcome {
        let waited = {
            let schedule = run.schedule.clone();
            move || schedule.as_ref().map_or(Duration::ZERO, |schedule| schedule.waited())
        };
        let (since, before) = (Instant::now(), waited());
        let stop = std::pin::pin!(cancel.cancelled());
        let driven = match select(std::pin::pin!(until_held(run.run, run.decided)), stop).await {
            Either::Left((driven, _)) => driven,
            // Dropping the future drops calls in flight; a computing program sees the flag itself.
            Either::Right(_) => return RunOutcome::Cancelled,
        };
        match driven {
            Ok(Driven::Done(outcome)) => RunOutcome::Ended(Ok(outcome)),
            Ok(Driven::Held(run, held)) => {
                let requests =
                    held.iter().filter_map(|held| Some((held.call.id.clone(), ApprovalRequest::of(held)?)));
                let spent = since.elapsed().saturating_sub(waited().saturating_sub(before));
                let left = within.saturating_sub(spent);
                RunOutcome::Held(HeldRun { requests: requests.collect(), run, left })
            }
            Err(failure) => RunOutcome::Ended(Err(failure)),
        }
    }

    /// Resumes a suspended program once all its approvals are decided. It sees the same data as before.
    pub fn resume(
        &self,
        session: &Session,
        grants: &Grants,
        suspended: Suspension,
        verdicts: Vec<Verdict>,
        schedule: Option<&Arc<dyn Schedule>>,
    ) -> Result<UnderWay, Failure> {
        let mut run = session.runtime().load(&suspended.snapshot, grants)?;
        if let Some(schedule) = schedule {
            run = run.scheduled(schedule.clone());
        }
        let schedule = schedule.cloned();
        let Some(servers) = &self.servers else { return Ok(UnderWay { run, decided: Vec::new(), schedule }) };
        let context = servers.context();
        let waited = schedule.as_ref().map_or(Duration::ZERO, |schedule| schedule.waited());
        // The deadline is extended by everything the schedule has waited, of which this much is already over.
        context
            .set_deadline((Instant::now() + suspended.left).checked_sub(waited).unwrap_or_else(Instant::now));
        schedule.iter().for_each(|schedule| context.set_schedule(schedule));
        let waiting = run.pending();
        let decided = suspended.requests.into_iter().zip(verdicts).filter_map(|((id, _), verdict)| {
            let call = waiting.iter().find(|call| call.id == id)?;
            let answer = servers.call_after(session.tools().args(call), verdict);
            Some((id, Box::pin(answer) as ToolFuture))
        });
        let decided = decided.collect();
        Ok(UnderWay { run, decided, schedule })
    }
}

impl Drop for ProgramHost {
    fn drop(&mut self) {
        if let Some(servers) = &self.servers {
            servers.context().close();
        }
    }
}

/// A program that has been started.
pub enum Begun {
    /// Ended within its first time slice.
    Ended(Outcome),
    /// Not ended yet.
    UnderWay(Box<UnderWay>),
}

/// A program that computes or waits for servers, with the calls that a person has decided on.
pub struct UnderWay {
    run: Run,
    decided: Vec<(CallId, ToolFuture)>,
    schedule: Option<Arc<dyn Schedule>>,
}

/// A program waiting for approvals.
#[derive(Debug)]
pub struct HeldRun {
    run: Run,
    requests: Vec<(CallId, ApprovalRequest)>,
    left: Duration,
}

impl HeldRun {
    /// Serializes the program until the approvals are decided. Slow if the program holds much data.
    pub fn suspend(self) -> Result<Suspension, Failure> {
        let snapshot = self.run.snapshot()?;
        Ok(Suspension { snapshot, requests: self.requests, left: self.left })
    }
}

/// A suspended run, with the calls it waits for.
#[derive(Debug)]
pub struct Suspension {
    /// Snapshot of the machine.
    pub snapshot: Vec<u8>,
    /// Calls that need approval, and what they would do.
    pub requests: Vec<(CallId, ApprovalRequest)>,
    /// Remaining time of the run.
    pub left: Duration,
}

/// Outcome of continuing a program.
#[derive(Debug)]
pub enum RunOutcome {
    /// The program ended.
    Ended(Result<Outcome, Failure>),
    /// The program waits for approvals.
    Held(HeldRun),
    /// The program was cancelled.
    Cancelled,
}

/// Options of a program in addition to servers.
#[derive(Clone, Default)]
pub struct ProgramOptions {
    /// Data and a cancel flag.
    pub grants: Grants,
    /// Tools of the host.
    pub tools: Tools,
    /// Prelude, whose requirements are checked against the servers before the run.
    pub prelude: Option<Prelude>,
    /// Trace the run belongs to (W3C `traceparent`), passed on to servers.
    pub traceparent: Option<String>,
}

/// A finished run of a program.
pub struct ProgramRun {
    /// Outcome for the host. Replies of servers were scrubbed of credentials before the program saw them; data
    /// and tools of the host were not.
    pub outcome: Result<Outcome, Failure>,
    /// Context of the run, with its calls.
    pub context: Arc<RunContext>,
    redactor: Arc<Redactor>,
}

impl ProgramRun {
    /// Returns the value as scrubbed text that may leave the process; None if the run failed.
    pub fn result(&self) -> Option<String> {
        let printed = self.outcome.as_ref().ok()?.print().ok()?;
        Some(self.redactor.scrub(&printed).into_owned())
    }

    /// Returns the error as scrubbed text that may leave the process.
    pub fn error(&self) -> Option<String> {
        let failure = self.outcome.as_ref().err()?;
        Some(self.redactor.scrub(&failure.to_string()).into_owned())
    }

    /// `ptc_metrics`; None if there were no calls.
    pub fn metrics(&self) -> Option<Value> {
        let prints: &[String] = match &self.outcome {
            Ok(outcome) => &outcome.prints,
            Err(failure) => &failure.prints,
        };
        self.context.metrics(self.result().map(|text| text.len() as u64), prints)
    }
}

impl Upstream {
    /// Runs one program to its end, blocking. `(tool/call …)` calls the servers, and discovery looks them up.
    ///
    /// ```
    /// use ptc_runtime::Runtime;
    /// use ptc_upstream::{Options, ProgramOptions, Upstream, redact::Redactor};
    /// let upstream = Upstream::of_clients([], Redactor::new().into(), Options::default())?;
    /// let runtime = Runtime::with_core(ptc_preludes::core())?;
    /// let program = r#"(tool/call {:server "crm" :tool "find" :args {}})"#;
    /// let run = upstream.run(&runtime, program, &ProgramOptions::default());
    /// assert!(run.error().unwrap().contains("no upstream 'crm' configured"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn run(&self, runtime: &Runtime, program: &str, options: &ProgramOptions) -> ProgramRun {
        let within = Duration::from_millis(runtime.current_limits().timeout_ms);
        let attachment = self.attach(Some(Instant::now() + within));
        let context = attachment.context();
        if let Some(traceparent) = &options.traceparent {
            context.set_traceparent(traceparent);
        }
        let host = ProgramHost::new(Some(attachment));
        let runtime = host.runtime(runtime.clone().with_tools(options.tools.clone()));
        let runtime = match &options.prelude {
            Some(prelude) => runtime.attach(prelude, &Attach::new()),
            None => Ok(runtime),
        };
        let outcome = runtime.and_then(|runtime| runtime.eval(program, &options.grants));
        ProgramRun { outcome, context, redactor: self.redactor().clone() }
    }
}
