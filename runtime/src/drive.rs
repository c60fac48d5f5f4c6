//! Drivers, which take a run to its end by making its tool calls. All of them use the same run; a host that wants to
//! make them by hand uses [`Run`] directly.

use crate::call::{CallId, PendingCall};
use crate::effects::{Answer, Question, Waiting};
use crate::run::{Failure, Outcome, Run, Step};
use crate::schedule::{Computed, Schedule, Work};
use crate::tools::{
    AsyncBody, Body, Refusal, ToolAnswer, ToolArgs, ToolError, ToolFuture, Tools, unknown_tool,
};
use crate::watch::Cancel;
use futures_channel::oneshot;
use futures_util::future::{Either, select};
use futures_util::stream::FuturesUnordered;
use futures_util::{FutureExt, StreamExt, TryFutureExt};
use pollster::block_on;
use ptc_bytecode::Code;
use ptc_vm::{Fault, Frozen};
use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::{Pin, pin};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

/// Dispatcher of the calls of a run: [`Tools`], or hosts that handle every call themselves.
///
/// ```
/// use ptc_runtime::{CallFuture, Dispatch, PendingCall, Runtime, ToolAnswer, asynchronous};
/// struct Seven;
/// impl Dispatch for Seven {
///     fn call(&self, call: PendingCall) -> CallFuture<'_> {
///         Box::pin(async { (call, ToolAnswer::from_serialize(&7).map_err(Into::into)) })
///     }
/// }
/// # pollster::block_on(async {
/// let runtime = Runtime::with_core(ptc_preludes::core())?;
/// let program = runtime.compile("(inc (tool/lucky {}))")?;
/// let outcome = asynchronous(runtime.start(&program)?, &Seven).await.map_err(|failed| failed.failure)?;
/// assert_eq!(outcome.print()?, "8");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # }).unwrap();
/// ```
pub trait Dispatch: Sync {
    /// Makes one call. Each call of a run is passed in once, in the order in which the run makes them; many may be in progress.
    fn call(&self, call: PendingCall) -> CallFuture<'_>;
}

/// A call in progress, which resolves to its result or refusal.
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
    /// Failure that ended it.
    pub failure: Failure,
    run: Option<Run>,
}

impl FailedRun {
    /// Returns the definitions the run had made before it failed.
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
    /// Runs to the end on this thread; the tools of its runtime carry out its calls. Several in flight (under `pmap`)
    /// run at the same time, each on its own thread; so does any call of a run that can be cancelled, which then
    /// ends without waiting for it.
    pub fn finish(mut self) -> Result<Outcome, Failure> {
        let tools = &*self.tools.clone();
        // Calls that a person may be asked about are left to the driver below, which waits for the answer.
        while self.watch.cancel().is_none() && self.approver().is_none() {
            match self.step() {
                Step::Done(outcome) => return outcome,
                Step::NeedsTools(calls) => match &calls[..] {
                    [call] => settle(&mut self, call, call_blocking(tools, call))?,
                    _ => break,
                },
            }
        }
        Ok(block_on(asking(self, tools, Computes::Here))?)
    }

    /// Runs to the end as a future that works under any executor; the tools of its runtime carry out its calls, any
    /// number of them at the same time. See [`asynchronous`] for where the work is done.
    pub async fn finish_async(self) -> Result<Outcome, Failure> {
        let tools = self.tools.clone();
        Ok(asynchronous(self, &*tools).await?)
    }
}

/// Runs to the end as a future that works under any executor, with `dispatch` carrying out calls. Computing happens on
/// the rayon pool, never on the polling thread; any number of calls are in flight without holding a thread.
/// Dropping the future cancels the calls in flight, and so does the run's [`Cancel`]: no call begins after it, and
/// the run ends without waiting for calls that have begun.
pub async fn asynchronous(run: Run, dispatch: &dyn Dispatch) -> Result<Outcome, Box<FailedRun>> {
    asking(run, dispatch, Computes::Elsewhere).await
}

/// Runs to the end, and asks whoever approves the calls of the run when nothing else is left to do: so the questions of
/// branches come together.
async fn asking(
    mut run: Run,
    dispatch: &dyn Dispatch,
    computes: Computes,
) -> Result<Outcome, Box<FailedRun>> {
    loop {
        let (approver, cancel) = (run.approver(), run.watch.cancel().cloned());
        let held = match drive(run, dispatch, Vec::new(), approver.is_some(), computes).await? {
            Driven::Done(outcome) => return Ok(outcome),
            Driven::Held(waiting, held) => {
                run = waiting;
                held
            }
        };
        let Some((approver, approvals)) = approver.zip(run.approvals()) else {
            return Err(waits_for_nothing(run));
        };
        let mut questions = Vec::new();
        for Held { call, question } in held {
            match Question::of(&question) {
                Some(question) => questions.push(question),
                // A tool asks its host, which does not hold runs.
                None => {
                    let answered = run.answer(&call.id, Err(ToolError::hold(question)));
                    answered.map_err(|failure| Box::new(FailedRun { failure, run: None }))?;
                }
            }
        }
        let earlier = approvals.earlier();
        let answers = approver.ask(&questions, &earlier);
        // A run that is cancelled meanwhile ends in the next round.
        let answers = match select(pin!(answers), pin!(cancelled(cancel.as_ref()))).await {
            Either::Left((answers, _)) => answers,
            Either::Right(_) => Vec::new(),
        };
        let unanswered =
            || Answer::Denied("there was no answer to the question whether the call may be made".to_string());
        let answers = answers.into_iter().map(Some).chain(std::iter::repeat(None));
        for (question, answer) in questions.iter().zip(answers) {
            approvals.answer(question, answer.unwrap_or_else(unanswered));
        }
    }
}

/// A call that its tool has put on hold until a decision is made.
#[derive(Clone, Debug)]
pub struct Held {
    /// The call, which still waits for a result.
    pub call: PendingCall,
    /// Question passed to [`ToolError::hold`](crate::ToolError::hold).
    pub question: serde_json::Value,
}

/// The state a driver left a run in.
#[derive(Debug)]
pub enum Driven {
    /// The run has ended.
    Done(Outcome),
    /// The run waits for decisions only. It may be written to bytes until they are made.
    Held(Run, Vec<Held>),
}

/// Runs as [`Run::finish_async`] does, until it ends or waits only for calls that tools have put on hold. `given`
/// supplies the results of calls that already wait: those of a run that was held before.
///
/// ```
/// use ptc_runtime::{Driven, Grants, Runtime, ToolAnswer, ToolError, ToolFuture, Tools, until_held};
/// # pollster::block_on(async {
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
    Ok(drive(run, tools, given.collect(), true, Computes::Elsewhere).await?)
}

/// The place where a run computes.
#[derive(Clone, Copy)]
enum Computes {
    /// On the polling thread.
    Here,
    /// On a thread that the run's schedule chooses, or on the rayon pool.
    Elsewhere,
}

async fn drive<'d>(
    mut run: Run,
    dispatch: &'d dyn Dispatch,
    given: Vec<(CallId, CallFuture<'d>)>,
    is_holding: bool,
    computes: Computes,
) -> Result<Driven, Box<FailedRun>> {
    let cancel = run.watch.cancel().cloned();
    let cancel = cancel.as_ref();
    let (mut asked, given): (Vec<CallId>, Vec<_>) = given.into_iter().unzip();
    let mut in_flight: FuturesUnordered<CallFuture<'_>> =
        given.into_iter().map(|call| unless_cancelled(cancel, call)).collect();
    let mut held: Vec<Held> = Vec::new();
    let schedule = run.watch.schedule().cloned();
    loop {
        let step;
        (run, step) = match computes {
            // The host may have stepped it before.
            _ if run.is_waiting() && !is_set(cancel) => {
                let calls = run.pending();
                (run, Some(Step::NeedsTools(calls)))
            }
            Computes::Here => {
                let step = run.step();
                (run, Some(step))
            }
            Computes::Elsewhere => step_in_slice(run, cancel, schedule.as_deref()).await?,
        };
        let calls = match step {
            Some(Step::Done(Ok(outcome))) => return Ok(Driven::Done(outcome)),
            Some(Step::Done(Err(failure))) => return Err(Box::new(FailedRun { failure, run: Some(run) })),
            Some(Step::NeedsTools(calls)) => calls,
            None => continue,
        };
        for call in calls {
            if !asked.contains(&call.id) {
                asked.push(call.id.clone());
                in_flight.push(unless_cancelled(cancel, async move { dispatch.call(call).await }));
            }
        }
        // All results that are ready go back in one step. A call on hold stays open.
        let mut is_answered = false;
        loop {
            let next = match is_answered {
                true => in_flight.next().now_or_never().flatten(),
                false => match select(pin!(cancelled(cancel)), in_flight.next()).await {
                    Either::Left(_) => break,
                    Either::Right((next, _)) => next,
                },
            };
            match next {
                None if is_answered => break,
                None if held.is_empty() => return Err(waits_for_nothing(run)),
                None => return Ok(Driven::Held(run, held)),
                Some((call, Err(Refusal::Error(error)))) if is_holding && error.question().is_some() => {
                    let question = error.question().cloned().unwrap_or_default();
                    held.push(Held { call, question });
                }
                // The run no longer waits for it: a branch before its own has failed.
                Some((call, _)) if !run.waits_for(&call.id) => asked.retain(|id| *id != call.id),
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

/// Wraps a call so that it does not begin once the run is cancelled: earlier calls begin first, and one of them may
/// cancel it.
fn unless_cancelled<'c>(
    cancel: Option<&'c Cancel>,
    call: impl Future<Output = (PendingCall, Result<ToolAnswer, Refusal>)> + Send + 'c,
) -> CallFuture<'c> {
    Box::pin(async move {
        if is_set(cancel) {
            std::future::pending::<()>().await;
        }
        call.await
    })
}

fn is_set(cancel: Option<&Cancel>) -> bool {
    cancel.is_some_and(Cancel::is_cancelled)
}

/// Waits until the run is cancelled; for ever if it cannot be.
async fn cancelled(cancel: Option<&Cancel>) {
    match cancel {
        Some(cancel) => cancel.cancelled().await,
        None => std::future::pending().await,
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
    match tools.get(&call.name) {
        None | Some(Body::Elsewhere) => Err(unknown_tool(&call.name, tools).into()),
        // A tool that panics is the host's bug, but it must not take the session with it.
        Some(Body::Blocking(tool)) => {
            let body = async {
                let called = catch_unwind(AssertUnwindSafe(|| tool(tools.args(call))));
                called.unwrap_or_else(|panic| Err(panicked(&*panic)))
            };
            block_on(tools.once(call, body.map_err(Refusal::from)))
        }
        Some(Body::Async(tool)) => block_on(tools.once(call, awaited(&**tool, tools.args(call)))),
    }
}

/// Awaits an async tool and turns a panic into an error: a panic is the host's bug, but must not take the caller's
/// task with it.
async fn awaited(tool: &AsyncBody, args: ToolArgs) -> Result<ToolAnswer, Refusal> {
    let called = AssertUnwindSafe(async { tool(args).await }).catch_unwind().await;
    called.unwrap_or_else(|panic| Err(panicked(&*panic))).map_err(Refusal::from)
}

/// Supplies the result of a call from a future given by the host.
async fn given_async(
    tools: &Tools,
    call: PendingCall,
    answer: ToolFuture,
) -> (PendingCall, Result<ToolAnswer, Refusal>) {
    let since = Instant::now();
    let answer = tools.once(&call, answer.map_err(Refusal::from)).await;
    tools.tell(&call, &answer, since);
    (call, answer)
}

async fn call_async(tools: &Tools, call: PendingCall) -> (PendingCall, Result<ToolAnswer, Refusal>) {
    let since = Instant::now();
    let answer = match tools.get(&call.name) {
        None | Some(Body::Elsewhere) => Err(unknown_tool(&call.name, tools).into()),
        Some(Body::Async(tool)) => match tools.authorize(&call) {
            Ok(()) => tools.once(&call, awaited(&**tool, tools.args(&call))).await,
            Err(fault) => Err(fault.into()),
        },
        // A blocking tool gets its own thread: neither the executor nor the pool may block.
        Some(Body::Blocking(_)) => {
            let (done, wait) = oneshot::channel();
            let (tools, asked) = (tools.clone(), call.clone());
            let started =
                std::thread::Builder::new().spawn(move || done.send(answer_blocking(&tools, &asked)));
            // The thread goes on if the call is dropped.
            let mut waiting = Waiting(call.slot.clone());
            let answer = match started {
                Ok(_) => {
                    wait.await.unwrap_or_else(|_| Err(ToolError::new("it ended without a result").into()))
                }
                Err(error) => {
                    Err(ToolError::new(format!("no thread can be started for the call: {error}")).into())
                }
            };
            waiting.0 = None;
            answer
        }
    };
    // A call on hold has not been made yet.
    if !matches!(&answer, Err(Refusal::Error(error)) if error.question().is_some()) {
        tools.tell(&call, &answer, since);
    }
    (call, answer)
}

fn waits_for_nothing(run: Run) -> Box<FailedRun> {
    let fault = Fault::new(Code::Internal, "the run waits for nothing");
    Box::new(FailedRun { failure: Failure::of(fault, None, run.program().clone()), run: Some(run) })
}

/// Nobody knows how far a tool got that panicked.
fn panicked(panic: &(dyn Any + Send)) -> ToolError {
    ToolError::unanswered(format!("it panicked: {}", panic_text(panic)))
}

/// Returns the message of a caught panic.
///
/// ```
/// let caught = std::panic::catch_unwind(|| panic!("no such luck")).unwrap_err();
/// assert_eq!(ptc_runtime::panic_text(&*caught), "no such luck");
/// ```
pub fn panic_text(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("no message")
}

/// Steps a run for one slice of time; None if it paused and could continue. A cancelled run does not wait for its turn.
async fn step_in_slice(
    run: Run,
    cancel: Option<&Cancel>,
    schedule: Option<&dyn Schedule>,
) -> Result<(Run, Option<Step>), Box<FailedRun>> {
    let program = run.program().clone();
    let waiting = Arc::new(Mutex::new(Some(run)));
    let take = |waiting: &Mutex<Option<Run>>| waiting.lock().unwrap_or_else(PoisonError::into_inner).take();
    let step = |mut run: Run| {
        let step = run.slice();
        (run, step)
    };
    let (done, wait) = oneshot::channel();
    let mine = waiting.clone();
    let work: Work = Box::new(move || {
        let stepped = take(&mine).map(step);
        // If the run was taken back, nothing waits for a result.
        Computed::new(move || {
            if let Some(stepped) = stepped {
                let _ = done.send(stepped);
            }
        })
    });
    let mut waits = match schedule {
        Some(schedule) => schedule.run(work),
        None => {
            rayon::spawn(move || drop(work()));
            Box::pin(std::future::ready(()))
        }
    };
    let stepped = async {
        (&mut waits).await;
        wait.await
    };
    let stepped = match select(pin!(stepped), pin!(cancelled(cancel))).await {
        Either::Left((stepped, _)) => stepped,
        Either::Right(((), stepped)) => match take(&waiting) {
            Some(run) => Ok(step(run)),
            None => stepped.await,
        },
    };
    stepped.map_err(|_| {
        let fault = Fault::new(Code::Internal, "the run was dropped where it computed");
        Box::new(FailedRun { failure: Failure::of(fault, None, program), run: None })
    })
}
