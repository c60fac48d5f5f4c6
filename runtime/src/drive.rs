//! Drivers: they take a run to its end by answering its tool calls. The run itself is the same for
//! all of them; a host that wants to answer by hand uses [`Run`] directly.

use crate::call::{CallId, PendingCall};
use crate::run::{Failure, Outcome, Run, Step};
use crate::tools::{Body, Refusal, ToolAnswer, ToolFuture, Tools, unknown_tool};
use futures_channel::oneshot;
use futures_util::stream::FuturesUnordered;
use futures_util::{FutureExt, StreamExt};
use ptc_bytecode::Code;
use ptc_vm::{Fault, Frozen};
use std::pin::Pin;
use std::time::Instant;

/// Answers the calls of a run: [`Tools`] do, and hosts that look at every call themselves.
///
/// ```
/// use ptc_runtime::{CallFuture, Dispatch, PendingCall, Runtime, ToolAnswer, asynchronous};
/// struct Seven;
/// impl Dispatch for Seven {
///     fn call(&self, call: PendingCall) -> CallFuture<'_> {
///         Box::pin(async { (call, ToolAnswer::from_serialize(&7).map_err(Into::into)) })
///     }
/// }
/// # futures_executor::block_on(async {
/// let runtime = Runtime::with_core(ptc_preludes::core())?;
/// let program = runtime.compile("(inc (tool/lucky {}))")?;
/// let outcome = asynchronous(runtime.start(&program)?, &Seven).await.map_err(|failed| failed.failure)?;
/// assert_eq!(outcome.print()?, "8");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # }).unwrap();
/// ```
pub trait Dispatch: Sync {
    /// Makes one call. Each call of a run is given once, in the order the run makes them; many may be under way.
    fn call(&self, call: PendingCall) -> CallFuture<'_>;
}

/// A call that is under way, and comes back with what became of it.
pub type CallFuture<'a> =
    Pin<Box<dyn Future<Output = (PendingCall, Result<ToolAnswer, Refusal>)> + Send + 'a>>;

impl Dispatch for Tools {
    fn call(&self, call: PendingCall) -> CallFuture<'_> {
        Box::pin(call_async(self, call))
    }
}

/// A run that failed.
#[derive(Debug)]
pub struct FailedRun {
    /// What went wrong.
    pub failure: Failure,
    run: Option<Run>,
}

impl FailedRun {
    /// What the run had defined until then.
    pub fn definitions(&self) -> Vec<(String, Frozen)> {
        self.run.as_ref().map(Run::left_definitions).unwrap_or_default()
    }
}

impl From<Box<FailedRun>> for Failure {
    fn from(failed: Box<FailedRun>) -> Failure {
        failed.failure
    }
}

impl Run {
    /// Runs to the end on this thread: the tools of its runtime answer its calls. Several in flight (under `pmap`)
    /// are made at the same time, each on a thread of its own.
    pub fn finish(mut self) -> Result<Outcome, Failure> {
        let tools = &*self.tools.clone();
        loop {
            let calls = match self.step() {
                Step::Done(outcome) => return outcome,
                Step::NeedsTools(calls) if calls.is_empty() => return Err(waits_for_nothing(self).into()),
                Step::NeedsTools(calls) => calls,
            };
            let answers: Vec<_> = match &calls[..] {
                [call] => vec![call_blocking(tools, call)],
                _ => std::thread::scope(|scope| {
                    let threads: Vec<_> =
                        calls.iter().map(|call| scope.spawn(|| call_blocking(tools, call))).collect();
                    threads
                        .into_iter()
                        .map(|thread| thread.join().unwrap_or_else(|_| Err(panicked().into())))
                        .collect()
                }),
            };
            for (call, answer) in calls.iter().zip(answers) {
                settle(&mut self, call, answer)?;
            }
        }
    }

    /// Runs to the end as a future that works under any executor: the tools of its runtime answer its calls, any
    /// number of them at the same time. See [`asynchronous`] for where the work is done.
    pub async fn finish_async(self) -> Result<Outcome, Failure> {
        let tools = self.tools.clone();
        Ok(asynchronous(self, &*tools).await?)
    }
}

/// Runs to the end as a future that works under any executor, with calls answered by `dispatch`. Computing happens on the rayon pool,
/// never on the thread that polls; any number of calls are in flight without holding a thread.
/// Dropping the future cancels the calls in flight.
pub async fn asynchronous(run: Run, dispatch: &dyn Dispatch) -> Result<Outcome, Box<FailedRun>> {
    match drive(run, dispatch, Vec::new(), false).await? {
        Driven::Done(outcome) => Ok(outcome),
        Driven::Held(run, _) => Err(waits_for_nothing(run)),
    }
}

/// A call that its tool has put off: somebody has to decide first.
#[derive(Clone, Debug)]
pub struct Held {
    /// The call. It still waits for an answer.
    pub call: PendingCall,
    /// What the tool said to [`ToolError::hold`](crate::ToolError::hold).
    pub question: serde_json::Value,
}

/// How far a run went.
#[derive(Debug)]
pub enum Driven {
    /// To its end.
    Done(Outcome),
    /// Until nothing but decisions was waited for. The run may be written to bytes until they are made.
    Held(Run, Vec<Held>),
}

/// Runs as [`Run::finish_async`] does, until it ends or all it waits for are calls that tools have put off. `given` answers
/// calls that wait already: those of a run that was held before.
///
/// ```
/// use ptc_runtime::{Driven, Grants, Runtime, ToolAnswer, ToolError, ToolFuture, Tools, until_held};
/// # futures_executor::block_on(async {
/// let tools = Tools::new().with("pay", |_| Err::<(), _>(ToolError::hold(serde_json::json!("may it?"))));
/// let runtime = Runtime::with_core(ptc_preludes::core())?.with_tools(tools);
/// let run = runtime.start(&runtime.compile("(str \"paid \" (tool/pay {:eur 900}))")?)?;
/// let Driven::Held(run, held) = until_held(run, Vec::new()).await? else { panic!("it asks first") };
/// assert_eq!(held[0].question, "may it?");
/// let parked = run.snapshot()?;
///
/// let run = runtime.load(&parked, &Grants::new())?;
/// let yes: ToolFuture = Box::pin(async { ToolAnswer::from_serialize(&900) });
/// let given = vec![(held[0].call.id.clone(), yes)];
/// let Driven::Done(outcome) = until_held(run, given).await? else { panic!("it has its answer") };
/// assert_eq!(outcome.print()?, "\"paid 900\"");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # }).unwrap();
/// ```
pub async fn until_held(run: Run, given: Vec<(CallId, ToolFuture)>) -> Result<Driven, Failure> {
    let tools = &*run.tools.clone();
    let waiting = if given.is_empty() { Vec::new() } else { run.pending() };
    let given = given.into_iter().filter_map(|(id, answer)| {
        let call = waiting.iter().find(|call| call.id == id)?.clone();
        Some((id, Box::pin(given_async(tools, call, answer)) as CallFuture<'_>))
    });
    Ok(drive(run, tools, given.collect(), true).await?)
}

async fn drive<'d>(
    mut run: Run,
    dispatch: &'d dyn Dispatch,
    given: Vec<(CallId, CallFuture<'d>)>,
    is_holding: bool,
) -> Result<Driven, Box<FailedRun>> {
    let (mut asked, given): (Vec<CallId>, Vec<_>) = given.into_iter().unzip();
    let mut in_flight: FuturesUnordered<CallFuture<'_>> = given.into_iter().collect();
    let mut held: Vec<Held> = Vec::new();
    loop {
        let (stepped, step) = step_on_pool(run).await?;
        run = stepped;
        let calls = match step {
            Step::Done(Ok(outcome)) => return Ok(Driven::Done(outcome)),
            Step::Done(Err(failure)) => return Err(Box::new(FailedRun { failure, run: Some(run) })),
            Step::NeedsTools(calls) => calls,
        };
        for call in calls {
            if !asked.contains(&call.id) {
                asked.push(call.id.clone());
                in_flight.push(dispatch.call(call));
            }
        }
        // All answers that are there by now go back in one step. A call that was put off stays open.
        let mut is_answered = false;
        loop {
            let next = match is_answered {
                true => in_flight.next().now_or_never().flatten(),
                false => in_flight.next().await,
            };
            match next {
                None if is_answered => break,
                None if held.is_empty() => return Err(waits_for_nothing(run)),
                None => return Ok(Driven::Held(run, held)),
                Some((call, Err(Refusal::Error(error)))) if is_holding && error.question().is_some() => {
                    let question = error.question().cloned().unwrap_or_default();
                    held.push(Held { call, question });
                }
                Some((call, answer)) => {
                    asked.retain(|id| *id != call.id);
                    if let Err(failure) = settle(&mut run, &call, answer) {
                        return Err(Box::new(FailedRun { failure, run: Some(run) }));
                    }
                    is_answered = true;
                }
            }
        }
    }
}

fn settle(run: &mut Run, call: &PendingCall, answer: Result<ToolAnswer, Refusal>) -> Result<(), Failure> {
    match answer {
        Ok(answer) => run.answer(&call.id, Ok(answer)),
        Err(Refusal::Error(error)) => run.answer(&call.id, Err(error)),
        Err(Refusal::Fault(fault)) => {
            run.refuse(&call.id, fault);
            Ok(())
        }
    }
}

fn call_blocking(tools: &Tools, call: &PendingCall) -> Result<ToolAnswer, Refusal> {
    let since = Instant::now();
    let called = answer_blocking(tools, call);
    tools.tell(call, &called, since);
    called
}

fn answer_blocking(tools: &Tools, call: &PendingCall) -> Result<ToolAnswer, Refusal> {
    tools.authorize(call)?;
    let args = tools.args(call);
    match tools.get(&call.name) {
        None | Some(Body::Elsewhere) => Err(unknown_tool(&call.name, tools).into()),
        Some(Body::Blocking(tool)) => {
            // A tool that panics is the host's bug, but it must not take the session with it.
            let called = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| tool(args)));
            Ok(called.map_err(|_| panicked())??)
        }
        Some(Body::Async(tool)) => Ok(futures_executor::block_on(tool(args))?),
    }
}

/// A call that somebody else answers.
async fn given_async(
    tools: &Tools,
    call: PendingCall,
    answer: ToolFuture,
) -> (PendingCall, Result<ToolAnswer, Refusal>) {
    let since = Instant::now();
    let answer = answer.await.map_err(Refusal::Error);
    tools.tell(&call, &answer, since);
    (call, answer)
}

async fn call_async(tools: &Tools, call: PendingCall) -> (PendingCall, Result<ToolAnswer, Refusal>) {
    let since = Instant::now();
    let answer = match tools.get(&call.name) {
        None | Some(Body::Elsewhere) => Err(unknown_tool(&call.name, tools).into()),
        Some(Body::Async(tool)) => match tools.authorize(&call) {
            Ok(()) => tool(tools.args(&call)).await.map_err(Refusal::Error),
            Err(fault) => Err(fault.into()),
        },
        // A tool that blocks gets a thread of its own: neither the executor nor the pool may wait.
        Some(Body::Blocking(_)) => {
            let (done, wait) = oneshot::channel();
            let (tools, asked) = (tools.clone(), call.clone());
            std::thread::spawn(move || done.send(answer_blocking(&tools, &asked)));
            wait.await.unwrap_or_else(|_| Err(panicked().into()))
        }
    };
    // One that is put off has not been made yet.
    if !matches!(&answer, Err(Refusal::Error(error)) if error.question().is_some()) {
        tools.tell(&call, &answer, since);
    }
    (call, answer)
}

fn waits_for_nothing(run: Run) -> Box<FailedRun> {
    let fault = Fault::new(Code::Internal, "the run waits for nothing");
    Box::new(FailedRun { failure: Failure::of(fault, None, run.program().clone()), run: Some(run) })
}

fn panicked() -> Fault {
    Fault::new(Code::ToolError, "the tool panicked")
}

/// One step of a run on the compute pool.
async fn step_on_pool(run: Run) -> Result<(Run, Step), Box<FailedRun>> {
    let program = run.program().clone();
    let (done, wait) = oneshot::channel();
    rayon::spawn(move || {
        let mut run = run;
        let step = run.step();
        let _ = done.send((run, step));
    });
    wait.await.map_err(|_| {
        let fault = Fault::new(Code::Internal, "the compute pool dropped the run");
        Box::new(FailedRun { failure: Failure::of(fault, None, program), run: None })
    })
}
