//! Programs and what they run with: one host for commands, the prompt and the MCP server.

use crate::approval::{Verdict, Wish};
use crate::context::RunContext;
use crate::redact::Redactor;
use crate::running::{Attachment, Upstream};
use futures_util::future::{Either, select};
use ptc_runtime::{
    Attach, CallId, Cancel, Driven, Failure, Grants, Outcome, Prelude, Run, Runtime, Session, ToolFuture,
    Tools, until_held,
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

    /// Runs a program on this thread, until it ends or waits for somebody's decision. Who cancels does not wait for servers
    /// that still work.
    pub fn eval(
        &self,
        session: &mut Session,
        program: &str,
        cancel: &Cancel,
        within: Duration,
    ) -> RunOutcome {
        if self.servers.is_none() {
            return RunOutcome::Ended(session.eval(program));
        }
        match session.start(program) {
            Ok(run) => self.drive(run, Vec::new(), cancel, within),
            Err(failure) => RunOutcome::Ended(Err(failure)),
        }
    }

    /// Goes on with a program, now that all it waited for is decided. It sees the same data as before.
    pub fn resume(
        &self,
        session: &Session,
        grants: &Grants,
        suspended: Suspension,
        verdicts: Vec<Verdict>,
        cancel: &Cancel,
    ) -> RunOutcome {
        let Some(servers) = &self.servers else { return RunOutcome::Cancelled };
        servers.context().set_deadline(Instant::now() + suspended.left);
        let run = match session.runtime().load(&suspended.snapshot, grants) {
            Ok(run) => run,
            Err(failure) => return RunOutcome::Ended(Err(failure)),
        };
        let waiting = run.pending();
        let decided = suspended.wishes.into_iter().zip(verdicts).filter_map(|((id, _), verdict)| {
            let call = waiting.iter().find(|call| call.id == id)?;
            let answer = servers.call_after(session.tools().args(call), verdict);
            Some((id, Box::pin(answer) as ToolFuture))
        });
        self.drive(run, decided.collect(), cancel, suspended.left)
    }

    fn drive(
        &self,
        run: Run,
        given: Vec<(CallId, ToolFuture)>,
        cancel: &Cancel,
        within: Duration,
    ) -> RunOutcome {
        let since = Instant::now();
        let run = std::pin::pin!(until_held(run, given));
        let stop = std::pin::pin!(cancel.cancelled());
        let (run, held) = match pollster::block_on(select(run, stop)) {
            Either::Left((Ok(Driven::Done(outcome)), _)) => return RunOutcome::Ended(Ok(outcome)),
            Either::Left((Ok(Driven::Held(run, held)), _)) => (run, held),
            Either::Left((Err(failure), _)) => return RunOutcome::Ended(Err(failure)),
            // Calls under way are dropped with the future; a program that computes sees the flag itself.
            Either::Right(_) => return RunOutcome::Cancelled,
        };
        let wishes = held.iter().filter_map(|held| Some((held.call.id.clone(), Wish::of(held)?)));
        match run.snapshot() {
            Ok(snapshot) => {
                let left = within.saturating_sub(since.elapsed());
                RunOutcome::Suspended(Suspension { snapshot, wishes: wishes.collect(), left })
            }
            Err(failure) => RunOutcome::Ended(Err(failure)),
        }
    }
}

impl Drop for ProgramHost {
    fn drop(&mut self) {
        if let Some(servers) = &self.servers {
            servers.context().close();
        }
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
    Suspended(Suspension),
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
