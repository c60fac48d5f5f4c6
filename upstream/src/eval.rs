//! Runs a program or an agent against servers.

use crate::context::RunContext;
use crate::ledger::Call;
use crate::redact::Redactor;
use crate::running::{Attachment, Upstream};
use ptc_agent::mission::{Guard, GuardFn};
use ptc_agent::tools::{Body, Tool, ToolKind};
use ptc_agent::{Agent, Fail, RunOptions, Step};
use ptc_bytecode::{Effects, ToolName};
use ptc_runtime::{Attach, Failure, Grants, Known, Outcome, Prelude, Runtime, Tools};
use serde_json::{Value, json};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// What a program is given besides servers.
#[derive(Clone, Default)]
pub struct LispOptions {
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
pub struct Evaluated {
    /// What came of it, as the host may use it. Not scrubbed: what servers answered is the program's to see.
    pub outcome: Result<Outcome, Failure>,
    /// What it called.
    pub context: Arc<RunContext>,
    redactor: Arc<Redactor>,
}

impl Evaluated {
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

/// Runs one program. `(tool/call …)` calls the servers, and discovery looks into them.
///
/// ```
/// use ptc_runtime::Runtime;
/// use ptc_upstream::{LispOptions, Options, Upstream, redact::Redactor, run_lisp};
/// let upstream = Upstream::of_clients([], Redactor::new().into(), Options::default())?;
/// let runtime = Runtime::with_core(ptc_preludes::core())?;
/// let program = r#"(tool/call {:server "crm" :tool "find" :args {}})"#;
/// let run = run_lisp(&upstream, &runtime, program, &LispOptions::default());
/// assert!(run.error().unwrap().contains("no upstream 'crm' configured"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn run_lisp(upstream: &Upstream, runtime: &Runtime, program: &str, options: &LispOptions) -> Evaluated {
    futures_executor::block_on(run_lisp_async(upstream, runtime, program, options))
}

/// The same as a future, for any executor. Dropping it gives up what is under way.
pub async fn run_lisp_async(
    upstream: &Upstream,
    runtime: &Runtime,
    program: &str,
    options: &LispOptions,
) -> Evaluated {
    let within = Duration::from_millis(runtime.current_limits().timeout_ms);
    let attachment = upstream.attach(Some(Instant::now() + within));
    if let Some(traceparent) = &options.traceparent {
        attachment.context().set_traceparent(traceparent);
    }
    let close = CloseOnDrop(attachment.context());
    let outcome = run_attached(&attachment, runtime, program, options).await;
    drop(close);
    Evaluated { outcome, context: attachment.context(), redactor: upstream.redactor().clone() }
}

async fn run_attached(
    attachment: &Attachment,
    runtime: &Runtime,
    program: &str,
    options: &LispOptions,
) -> Result<Outcome, Failure> {
    let tools = attachment.grant(options.tools.clone());
    let mut runtime = runtime.clone().with_upstream(attachment.discovery());
    if let Some(prelude) = &options.prelude {
        runtime = runtime.attach(prelude, &Attach::to(&tools).upstream(attachment.discovery()))?;
    }
    runtime.eval_async(program, &options.grants, &tools).await
}

impl Attachment {
    /// The tools with `call` among them.
    #[must_use]
    pub fn grant(&self, tools: Tools) -> Tools {
        let attachment = self.clone();
        tools
            .with_async_answer(ToolName::CALL, move |args| {
                let call = attachment.call(args);
                Box::pin(call)
            })
            .verbatim()
    }
}

impl Attachment {
    /// A mission that has run with these servers: what its last program looked up is put into its step.
    pub fn finished(&self, mut step: Result<Step, Box<Step>>) -> SubagentRun {
        let context = self.context();
        context.close();
        match &mut step {
            Ok(step) => step.catalog_ops = context.catalog_ops(),
            Err(step) => step.catalog_ops = context.catalog_ops(),
        }
        SubagentRun { step, context }
    }
}

struct CloseOnDrop(Arc<RunContext>);

impl Drop for CloseOnDrop {
    fn drop(&mut self) {
        self.0.close();
    }
}

/// A mission that has run.
#[derive(Debug)]
pub struct SubagentRun {
    /// What came of it.
    pub step: Result<Step, Box<Step>>,
    /// What it called.
    pub context: Arc<RunContext>,
}

/// Runs an agent of many turns. All of them share one budget of calls; a turn that wrote to a server, or may have,
/// ends the mission unless the host brings a guard of its own.
pub fn run_subagent(upstream: &Upstream, agent: &Agent, options: &RunOptions) -> SubagentRun {
    let (attachment, options) = with_servers(upstream, agent, options);
    let step = ptc_agent::run(agent, &options);
    attachment.finished(step)
}

/// The same as a future.
pub async fn run_subagent_async(upstream: &Upstream, agent: &Agent, options: &RunOptions) -> SubagentRun {
    let (attachment, options) = with_servers(upstream, agent, options);
    let close = CloseOnDrop(attachment.context());
    let step = ptc_agent::run_async(agent, &options).await;
    drop(close);
    attachment.finished(step)
}

/// The options of a run that has servers.
pub fn with_servers(upstream: &Upstream, agent: &Agent, options: &RunOptions) -> (Attachment, RunOptions) {
    // Whatever a mission sees goes to a model: not even what servers answer may hold a secret.
    let attachment = upstream.attach(None).scrubbing();
    let options = attachment.mission(agent, options);
    (attachment, options)
}

impl Attachment {
    /// The options of a mission that has these servers: the tool `call`, and the end of the mission after a turn that
    /// wrote, unless the host brings a guard of its own.
    pub fn mission(&self, agent: &Agent, options: &RunOptions) -> RunOptions {
        let calls = self.clone();
        let body = Body::waiting(move |args, _| {
            let call = calls.call(args);
            Box::pin(call)
        });
        let about = self.upstream().render();
        let tool = Tool::of(ToolName::CALL, ToolKind::Plain(body)).verbatim().description(about);
        let mut options = options.clone();
        let before = options.changes.take();
        options.changes = Some(Arc::new(move |builder| {
            let builder = match &before {
                Some(before) => before(builder),
                None => builder,
            };
            builder.tool(tool.clone())
        }));
        let guard = options.continuation_guard.take().unwrap_or_else(|| stop_after_writes(self));
        options.continuation_guard = Some(still_granted(agent, self, guard));
        options.upstream = Some(self.discovery());
        options
    }
}

/// The calls that wrote, or may have: who and what, no argument and no answer.
pub fn matched_calls<'c>(calls: impl IntoIterator<Item = &'c Call>) -> Vec<Value> {
    let told = |call: &Call| {
        let effect = call.effect.map(Effects::name);
        json!({"server": call.server, "tool": call.tool, "effect": effect})
    };
    calls.into_iter().filter(|call| call.may_have_written()).map(told).collect()
}

/// Ends a mission after a turn that called what writes, or what nobody knows of. What is told of it holds no argument
/// and no answer.
fn stop_after_writes(attachment: &Attachment) -> GuardFn {
    let (seen, attachment) = (AtomicUsize::new(0), attachment.clone());
    Arc::new(move |_, _| {
        let calls = attachment.context().calls();
        let from = seen.swap(calls.len(), Ordering::SeqCst);
        let matched = matched_calls(calls.iter().skip(from));
        if matched.is_empty() {
            return Guard::Continue;
        }
        let message = "the turn wrote to a server, or may have, and did not end the mission";
        Guard::Stop(
            Err(Fail::new("partial_side_effects", message).details(json!({"matched_calls": matched}))),
        )
    })
}

/// Before every further turn: are the operations the prelude needs still there? Then the host's guard.
fn still_granted(agent: &Agent, attachment: &Attachment, guard: GuardFn) -> GuardFn {
    let needed: Vec<(String, String)> = agent
        .prelude()
        .into_iter()
        .flat_map(|prelude| prelude.exports())
        .flat_map(|export| &export.requires)
        .filter_map(|id| id.strip_prefix("upstream:")?.split_once('/'))
        .map(|(server, tool)| (server.to_string(), tool.to_string()))
        .collect();
    let attachment = attachment.clone();
    Arc::new(move |turn, standing| {
        let view = attachment.discovery();
        let gone = |(server, tool): &&(String, String)| {
            matches!(view.operation(server, tool), Known::NoServer | Known::NoTool)
        };
        let decided = match needed.iter().find(gone) {
            Some((server, tool)) => {
                let message =
                    format!("prelude attach failed: upstream:{server}/{tool} is not there any more");
                Guard::Stop(Err(Fail::new("prelude_attach_failed", message)))
            }
            None => guard(turn, standing),
        };
        let is_last = standing.work_left == 0 && standing.retry_left == 0;
        if matches!(decided, Guard::Continue) && !is_last {
            attachment.context().next_program();
        }
        decided
    })
}
