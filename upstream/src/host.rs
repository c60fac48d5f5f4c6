//! Programs and what they run with: one host for commands, the prompt and the MCP server.

use crate::approval::{Verdict, Wish};
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

/// Runs programs that may call servers, if there are any. Dropped, it is over: whatever was kept of a run calls nothing
/// any more.
#[derive(Debug)]
pub struct ProgramHost {
    servers: Option<Attachment>,
}

impl ProgramHost {
    /// A host with these servers, or none.
    pub fn new(servers: Option<Attachment>) -> ProgramHost {
        ProgramHost { servers }
    }

    /// The servers.
    pub fn servers(&self) -> Option<&Attachment> {
        self.servers.as_ref()
    }

    /// The run that is under way, where there are servers.
    pub fn context(&self) -> Option<Arc<RunContext>> {
        self.servers.as_ref().map(Attachment::context)
    }

    /// The tools with `call` among them, where there are servers.
    #[must_use]
    pub fn tools(&self, tools: Tools) -> Tools {
        match &self.servers {
            Some(servers) => servers.grant(tools),
            None => tools,
        }
    }

    /// The catalogue that discovery looks into.
    pub fn discovery(&self) -> Option<Arc<dyn ptc_runtime::Upstream>> {
        self.servers.as_ref().map(Attachment::discovery)
    }

    /// The runtime whose programs call these servers, beside the tools it has, and look into their catalogue. Preludes
    /// that are attached to it are checked against both.
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

    /// Begins the next run of a session: its budget of calls is whole again, and its record empty.
    pub fn begin(&self, within: Duration) {
        if let Some(servers) = &self.servers {
            servers.next(Some(Instant::now() + within));
        }
    }

    /// Begins with a program and goes on with it for one slice of time, where computing is allowed. What is not over then
    /// goes on with [`ProgramHost::proceed`].
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

    /// Goes on with a program until it ends or waits for somebody's decision. Who cancels does not wait for servers that
    /// still work.
    pub async fn proceed(&self, run: UnderWay, cancel: &Cancel, within: Duration) -> RunOutcome {
        let waited = {
            let schedule = run.schedule.clone();
            move || schedule.as_ref().map_or(Duration::ZERO, |schedule| schedule.waited())
        };
        let (since, before) = (Instant::now(), waited());
        let stop = std::pin::pin!(cancel.cancelled());
        let driven = match select(std::pin::pin!(until_held(run.run, run.decided)), stop).await {
            Either::Left((driven, _)) => driven,
            // Calls under way are dropped with the future; a program that computes sees the flag itself.
            Either::Right(_) => return RunOutcome::Cancelled,
        };
        match driven {
            Ok(Driven::Done(outcome)) => RunOutcome::Ended(Ok(outcome)),
            Ok(Driven::Held(run, held)) => {
                let wishes = held.iter().filter_map(|held| Some((held.call.id.clone(), Wish::of(held)?)));
                let spent = since.elapsed().saturating_sub(waited().saturating_sub(before));
                let left = within.saturating_sub(spent);
                RunOutcome::Held(HeldRun { wishes: wishes.collect(), run, left })
            }
            Err(failure) => RunOutcome::Ended(Err(failure)),
        }
    }

    /// A program as it was, now that all it waited for is decided. It sees the same data as before.
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
        // It is put off by all that the schedule has waited, of which this much is over.
        context
            .set_deadline((Instant::now() + suspended.left).checked_sub(waited).unwrap_or_else(Instant::now));
        schedule.iter().for_each(|schedule| context.set_schedule(schedule));
        let waiting = run.pending();
        let decided = suspended.wishes.into_iter().zip(verdicts).filter_map(|((id, _), verdict)| {
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

/// A program that has begun.
pub enum Begun {
    /// And ended.
    Ended(Outcome),
    /// It goes on.
    UnderWay(Box<UnderWay>),
}

/// A program that computes or waits for servers, and the calls that somebody has decided about.
pub struct UnderWay {
    run: Run,
    decided: Vec<(CallId, ToolFuture)>,
    schedule: Option<Arc<dyn Schedule>>,
}

/// A program that waits for somebody's decision.
#[derive(Debug)]
pub struct HeldRun {
    run: Run,
    wishes: Vec<(CallId, Wish)>,
    left: Duration,
}

impl HeldRun {
    /// The program as bytes, to be kept until it is decided. This takes a while for one that holds much.
    pub fn suspend(self) -> Result<Suspension, Failure> {
        let snapshot = self.run.snapshot()?;
        Ok(Suspension { snapshot, wishes: self.wishes, left: self.left })
    }
}

/// A suspended run, and the calls it waits for.
#[derive(Debug)]
pub struct Suspension {
    /// The machine as bytes.
    pub snapshot: Vec<u8>,
    /// Which calls, and what they would do.
    pub wishes: Vec<(CallId, Wish)>,
    /// How much of its time is left.
    pub left: Duration,
}

/// How far a program went.
#[derive(Debug)]
pub enum RunOutcome {
    /// To its end.
    Ended(Result<Outcome, Failure>),
    /// It waits for somebody's decision.
    Held(HeldRun),
    /// It was cancelled first.
    Cancelled,
}

/// What a program is given besides servers.
#[derive(Clone, Default)]
pub struct ProgramOptions {
    /// Data, and a way to cancel.
    pub grants: Grants,
    /// Tools of the host.
    pub tools: Tools,
    /// A prelude, whose requirements are checked against the servers before anything runs.
    pub prelude: Option<Prelude>,
    /// The trace the run belongs to (W3C `traceparent`), which servers are told.
    pub traceparent: Option<String>,
}

/// A program that has run.
pub struct ProgramRun {
    /// What came of it, as the host may use it. What servers answered was scrubbed of credentials before the program
    /// saw it; data and tools of the host were not.
    pub outcome: Result<Outcome, Failure>,
    /// What it called.
    pub context: Arc<RunContext>,
    redactor: Arc<Redactor>,
}

impl ProgramRun {
    /// The value as text that may leave the process; None if there is none.
    pub fn result(&self) -> Option<String> {
        let printed = self.outcome.as_ref().ok()?.print().ok()?;
        Some(self.redactor.scrub(&printed).into_owned())
    }

    /// What went wrong, as text that may leave the process.
    pub fn error(&self) -> Option<String> {
        let failure = self.outcome.as_ref().err()?;
        Some(self.redactor.scrub(&failure.to_string()).into_owned())
    }

    /// `ptc_metrics`; None if nothing was called.
    pub fn metrics(&self) -> Option<Value> {
        let prints: &[String] = match &self.outcome {
            Ok(outcome) => &outcome.prints,
            Err(failure) => &failure.prints,
        };
        self.context.metrics(self.result().as_deref(), prints)
    }
}

impl Upstream {
    /// Runs one program to its end, blocking. `(tool/call …)` calls the servers, and discovery looks into them.
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
