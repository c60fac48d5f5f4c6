//! Drivers: they take a run to its end by answering its tool calls. The run itself is the same for
//! all of them; a host that wants to answer by hand uses [`Run`] directly.

use crate::run::{Failure, Outcome, PendingCall, Run, Step};
use crate::tools::{Body, ToolAnswer, ToolError, Tools, unknown_tool};
use futures_channel::oneshot;
use futures_util::StreamExt;
use futures_util::stream::FuturesUnordered;
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
    let mut run = run;
    let mut in_flight = FuturesUnordered::new();
    let mut asked: Vec<crate::CallId> = Vec::new();
    loop {
        let (stepped, step) = step_on_pool(run).await?;
        run = stepped;
        let calls = match step {
            Step::Done(outcome) => return outcome,
            Step::NeedsTools(calls) => calls,
        };
        for call in calls {
            if !asked.contains(&call.id) {
                asked.push(call.id.clone());
                in_flight.push(call_async(tools, call));
            }
        }
        let Some((call, answer)) = in_flight.next().await else {
            return Err(waits_for_nothing(&run));
        };
        asked.retain(|id| *id != call.id);
        settle(&mut run, &call, answer)?;
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
    tools.tell(&call, &answer, since);
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
