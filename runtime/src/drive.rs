//! Drivers: they take a run to its end by answering its tool calls. The run itself is the same for
//! all of them; a host that wants to answer by hand uses [`Run`] directly.

use crate::run::{CallId, Failure, Outcome, PendingCall, Run, Step};
use crate::tools::{Body, ToolAnswer, ToolError, ToolFuture, Tools, unknown_tool};
use futures_channel::oneshot;
use futures_util::stream::FuturesUnordered;
use futures_util::{FutureExt, StreamExt};
use ptc_bytecode::Code;
use ptc_vm::Fault;
use std::time::Instant;

/// Runs to the end on this thread. Several calls in flight (under `pmap`) are made at the same
/// time, each on a thread of its own.
pub fn blocking(mut run: Run, tools: &Tools) -> Result<Outcome, Failure> {
    loop {
        let calls = match run.step() {
            Step::Done(outcome) => return outcome,
            Step::NeedsTools(calls) if calls.is_empty() => return Err(waits_for_nothing(&run)),
            Step::NeedsTools(calls) => calls,
        };
        let answers: Vec<_> = match &calls[..] {
            [call] => vec![call_blocking(tools, call)],
            _ => std::thread::scope(|scope| {
                let threads: Vec<_> =
                    calls.iter().map(|call| scope.spawn(|| call_blocking(tools, call))).collect();
                threads.into_iter().map(|thread| thread.join().unwrap_or_else(|_| Err(panicked()))).collect()
            }),
        };
        for (call, answer) in calls.iter().zip(answers) {
            settle(&mut run, call, answer)?;
        }
    }
}

/// Runs to the end as a future that works under any executor. Computing happens on the rayon pool,
/// never on the thread that polls; any number of calls are in flight without holding a thread.
/// Dropping the future cancels the calls in flight.
pub async fn asynchronous(run: Run, tools: &Tools) -> Result<Outcome, Failure> {
    match drive(run, tools, Vec::new(), false).await? {
        Driven::Done(outcome) => Ok(outcome),
        Driven::Held(run, _) => Err(waits_for_nothing(&run)),
    }
}

/// A call that its tool has put off: somebody has to decide first.
#[derive(Clone, Debug)]
pub struct Held {
    /// The call. It still waits for an answer.
    pub call: PendingCall,
    /// What the tool said to [`ToolError::hold`].
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

/// Runs as [`asynchronous`] does, until it ends or all it waits for are calls that tools have put off. `given` answers calls
/// that wait already: those of a run that was held before.
///
/// ```
/// use ptc_runtime::{Driven, Grants, Node, Datum, Runtime, ToolError, Tools, until_held};
/// # futures_executor::block_on(async {
/// let runtime = Runtime::with_core(ptc_preludes::core())?;
/// let tools = Tools::new().with("pay", |_| Err::<(), _>(ToolError::hold(serde_json::json!("may it?"))));
/// let run = runtime.start(&runtime.compile("(str \"paid \" (tool/pay {:eur 900}))")?)?;
/// let Driven::Held(run, held) = until_held(run, &tools, Vec::new()).await? else { panic!("it asks first") };
/// assert_eq!(held[0].question, "may it?");
/// let parked = run.snapshot()?;
///
/// let run = runtime.load(&parked, &Grants::new())?;
/// let yes = Box::pin(async { Ok(Datum::scalar(Node::Int(900)).into()) });
/// let given = vec![(held[0].call.id.clone(), yes as ptc_runtime::ToolFuture)];
/// let Driven::Done(outcome) = until_held(run, &tools, given).await? else { panic!("it has its answer") };
/// assert_eq!(outcome.print()?, "\"paid 900\"");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # }).unwrap();
/// ```
pub async fn until_held(
    run: Run,
    tools: &Tools,
    given: Vec<(CallId, ToolFuture)>,
) -> Result<Driven, Failure> {
    drive(run, tools, given, true).await
}

async fn drive(
    mut run: Run,
    tools: &Tools,
    given: Vec<(CallId, ToolFuture)>,
    is_holding: bool,
) -> Result<Driven, Failure> {
    let mut in_flight = FuturesUnordered::new();
    let mut asked: Vec<CallId> = Vec::new();
    let mut held: Vec<Held> = Vec::new();
    if !given.is_empty() {
        let waiting = run.pending();
        for (id, answer) in given {
            if let Some(call) = waiting.iter().find(|call| call.id == id) {
                asked.push(id);
                in_flight.push(given_async(tools, call.clone(), answer).left_future());
            }
        }
    }
    loop {
        let (stepped, step) = step_on_pool(run).await?;
        run = stepped;
        let calls = match step {
            Step::Done(outcome) => return outcome.map(Driven::Done),
            Step::NeedsTools(calls) => calls,
        };
        for call in calls {
            if !asked.contains(&call.id) {
                asked.push(call.id.clone());
                in_flight.push(call_async(tools, call).right_future());
            }
        }
        // Whoever is put off stays asked; the others go on meanwhile.
        loop {
            let Some((call, answer)) = in_flight.next().await else {
                return match held.is_empty() {
                    true => Err(waits_for_nothing(&run)),
                    false => Ok(Driven::Held(run, held)),
                };
            };
            match answer {
                Ok(Err(error)) if is_holding && error.question().is_some() => {
                    let question = error.question().cloned().unwrap_or_default();
                    held.push(Held { call, question });
                }
                answer => {
                    asked.retain(|id| *id != call.id);
                    settle(&mut run, &call, answer)?;
                    break;
                }
            }
        }
    }
}

/// What came of a call: an answer, the tool's own error, or a fault of ours.
type Called = Result<Result<ToolAnswer, ToolError>, Fault>;

fn settle(run: &mut Run, call: &PendingCall, answer: Called) -> Result<(), Failure> {
    match answer {
        Ok(answer) => run.resume(&call.id, answer),
        Err(fault) => {
            run.refuse(&call.id, fault);
            Ok(())
        }
    }
}

fn call_blocking(tools: &Tools, call: &PendingCall) -> Called {
    let since = Instant::now();
    let called = answer_blocking(tools, call);
    tools.tell(call, &called, since);
    called
}

fn answer_blocking(tools: &Tools, call: &PendingCall) -> Called {
    tools.authorize(call)?;
    let args = tools.args(call);
    match tools.get(&call.name) {
        None => Err(unknown_tool(&call.name, tools)),
        Some(Body::Blocking(tool)) => {
            // A tool that panics is the host's bug, but it must not take the session with it.
            let called = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| tool(args)));
            called.map_err(|_| panicked())
        }
        Some(Body::Async(tool)) => Ok(futures_executor::block_on(tool(args))),
    }
}

/// A call that somebody else answers.
async fn given_async(tools: &Tools, call: PendingCall, answer: ToolFuture) -> (PendingCall, Called) {
    let since = Instant::now();
    let answer = Ok(answer.await);
    tools.tell(&call, &answer, since);
    (call, answer)
}

async fn call_async(tools: &Tools, call: PendingCall) -> (PendingCall, Called) {
    let since = Instant::now();
    let answer = match tools.get(&call.name) {
        None => Err(unknown_tool(&call.name, tools)),
        Some(Body::Async(tool)) => match tools.authorize(&call) {
            Ok(()) => Ok(tool(tools.args(&call)).await),
            Err(fault) => Err(fault),
        },
        // A tool that blocks gets a thread of its own: neither the executor nor the pool may wait.
        Some(Body::Blocking(_)) => {
            let (done, wait) = oneshot::channel();
            let (tools, asked) = (tools.clone(), call.clone());
            std::thread::spawn(move || done.send(answer_blocking(&tools, &asked)));
            wait.await.unwrap_or_else(|_| Err(panicked()))
        }
    };
    // One that is put off has not been made yet.
    if !matches!(&answer, Ok(Err(error)) if error.question().is_some()) {
        tools.tell(&call, &answer, since);
    }
    (call, answer)
}

fn waits_for_nothing(run: &Run) -> Failure {
    Failure::of(Fault::new(Code::Internal, "the run waits for nothing"), None, run.program().clone())
}

fn panicked() -> Fault {
    Fault::new(Code::ToolError, "the tool panicked")
}

/// One step of a run on the compute pool: for a host that answers its calls itself and must not block.
pub async fn step_on_pool(run: Run) -> Result<(Run, Step), Failure> {
    let program = run.program().clone();
    let (done, wait) = oneshot::channel();
    rayon::spawn(move || {
        let mut run = run;
        let step = run.step();
        let _ = done.send((run, step));
    });
    wait.await.map_err(|_| {
        Failure::of(Fault::new(Code::Internal, "the compute pool dropped the run"), None, program)
    })
}
