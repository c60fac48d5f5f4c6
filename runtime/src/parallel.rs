//! Advances a run with its branches: computing branches share a pool of threads, and branches that wait for tools hold
//! none.

use crate::call::CallId;
use crate::prelude::Surroundings;
use crate::turn::TurnHost;
use ptc_bytecode::{Code, Datum, Span};
use ptc_vm::{Branches, Ending, Event, Fault, Frozen, ToolCall, Vm};
use rayon::prelude::*;
use std::sync::{Mutex, PoisonError};

/// The state a run got to.
pub(crate) enum Progress {
    /// The run ended.
    Ended(Result<Ending, Fault>),
    /// The run, or some of its branches, wait for tools; nothing else can continue.
    Waiting,
    /// The slice of time is over, and the run could continue.
    Paused,
}

/// Runs until the run has ended, everything in it waits for tools, or its slice of time is over.
pub(crate) fn advance(vm: &mut Vm) -> Progress {
    loop {
        if vm.pending_call().is_some() {
            return Progress::Waiting;
        }
        if let Some(branches) = vm.forked() {
            match advance_branches(vm) {
                Ok(Rest::Ended) => {
                    tell(vm, vm.forked(), |host, branches| host.branches_end(branches));
                    if let Err(fault) = vm.join() {
                        return Progress::Ended(Err(fault));
                    }
                }
                Ok(Rest::Waiting) => return Progress::Waiting,
                Ok(Rest::Paused) => return Progress::Paused,
                Err(fault) => {
                    tell(vm, Some(branches), |host, branches| host.branches_end(branches));
                    return Progress::Ended(Err(fault));
                }
            }
        }
        match vm.run() {
            Ok(Event::Done(ending)) => return Progress::Ended(Ok(ending)),
            Ok(Event::Tool) => {}
            Ok(Event::Paused) => return Progress::Paused,
            Ok(Event::Fork) => tell(vm, vm.forked(), |host, branches| host.branches_start(branches)),
            Err(fault) => return Progress::Ended(Err(fault)),
        }
    }
}

/// Reports the branches of a program to the mission's host. Branches of branches are not reported: they run side by
/// side in no fixed order.
fn tell(vm: &Vm, branches: Option<Branches>, told: impl FnOnce(&dyn TurnHost, &Branches)) {
    if vm.is_branch() {
        return;
    }
    let host = vm.context::<Surroundings>().and_then(|surroundings| surroundings.turn.as_deref());
    if let (Some(host), Some(branches)) = (host, branches) {
        told(host, &branches);
    }
}

/// The state in which all branches of a run rest.
enum Rest {
    Ended,
    Waiting,
    Paused,
}

/// Runs all branches that can run. They are started in batches, so that a `pmap` over a million items never holds
/// more machines than may be in flight.
fn advance_branches(vm: &mut Vm) -> Result<Rest, Fault> {
    let most = vm.limits().parallel_in_flight.max(1) as usize;
    loop {
        // If waiting branches received more data than allowed, no more begin; one always does.
        let most = if vm.held().granted > vm.limits().granted_bytes { 1 } else { most };
        vm.start_branches(most.saturating_sub(vm.branches_running()))?;
        let ready = vm.take_branches();
        if ready.is_empty() {
            return Ok(if vm.branches_done() { Rest::Ended } else { Rest::Waiting });
        }
        // Resting branches keep their data until all rest. If that would be too much, the others do not even begin:
        // either some of it is garbage, or the run has to end. The first continues whatever those after it hold:
        // they began too early, and do not count.
        let limits = *vm.limits();
        // Includes the memory of branches that were paused while computing.
        let held =
            Mutex::new(ready.iter().fold(vm.held(), |held, (_, branch)| held.plus(branch.held_as_branch())));
        let first = ready.first().map(|(index, _)| *index);
        let step = |(index, mut branch): (usize, Box<Vm>)| {
            let before = *held.lock().unwrap_or_else(PoisonError::into_inner);
            let is_full = before.bytes > limits.memory_bytes
                || before.granted > limits.granted_bytes
                || before.stack > limits.stack_bytes;
            if is_full && Some(index) != first {
                return (index, branch, None);
            }
            let at_first = branch.held_as_branch();
            let mut progress = advance(&mut branch);
            branch.settle(match &mut progress {
                Progress::Ended(Ok(ending)) => Some(ending),
                _ => None,
            });
            let mine = branch.held_as_branch();
            let mut held = held.lock().unwrap_or_else(PoisonError::into_inner);
            *held = held.plus(mine).minus(at_first);
            (index, branch, Some(progress))
        };
        let results: Vec<_> = if ready.len() == 1 {
            ready.into_iter().map(step).collect()
        } else {
            // In order, so that the branches begun are those one thread would have begun, and a few more.
            ready.into_iter().par_bridge().map(step).collect()
        };
        let mut is_paused = false;
        for (index, branch, progress) in results {
            is_paused |= matches!(progress, Some(Progress::Paused));
            match progress {
                Some(Progress::Ended(outcome)) => vm.end_branch(index, branch, outcome),
                Some(Progress::Waiting | Progress::Paused) | None => vm.put_branch(index, branch),
            }
        }
        if is_paused {
            // A branch that is still computing holds more than it will at rest, so it is not judged yet; if all
            // together hold too much, only the first continues.
            return Ok(Rest::Paused);
        }
        vm.check_branches()?;
    }
}

/// A tool call in flight.
pub(crate) struct InFlight<'a> {
    pub id: CallId,
    /// Name of the call that is the same whenever this program is run with the same data and answers: for each split into
    /// branches its number and the branch, then the number of the call.
    pub key: String,
    pub call: &'a ToolCall,
    /// Export of a prelude that makes the call.
    pub origin: Option<&'a str>,
    /// Place in the program itself from which the call comes, also if code of a prelude makes it.
    pub span: Option<Span>,
}

/// The branches that lead to a machine.
#[derive(Default)]
pub(crate) struct Trail {
    path: Vec<u32>,
    /// Number of the split that each branch comes from.
    forks: Vec<u64>,
}

impl Trail {
    fn key(&self, vm: &Vm) -> String {
        let steps = self.forks.iter().zip(&self.path).map(|(fork, index)| format!("{fork}:{index}."));
        steps.chain([vm.tool_calls().to_string()]).collect()
    }
}

/// Returns all tool calls in flight, outermost first, with the path that leads to each.
pub(crate) fn pending<'a>(
    vm: &'a Vm,
    trail: &mut Trail,
    outside: Option<&'a str>,
    within: Option<Span>,
    found: &mut Vec<InFlight<'a>>,
) {
    let origin = vm.active_export(outside);
    let span = vm.user_span().or(within);
    if let Some(call) = vm.pending_call() {
        found.push(InFlight { id: CallId::new(&trail.path), key: trail.key(vm), call, origin, span });
    }
    for (index, branch) in vm.branches() {
        trail.path.push(index as u32);
        trail.forks.push(vm.forks());
        pending(branch, trail, origin, span, found);
        trail.path.pop();
        trail.forks.pop();
    }
}

/// Returns the call that the machine at `path` waits for, if there is such a machine.
pub(crate) fn call_at<'a>(vm: &'a Vm, path: &[u32]) -> Option<&'a ToolCall> {
    match path.split_first() {
        None => vm.pending_call(),
        Some((index, rest)) => call_at(vm.branch_at(*index as usize)?, rest),
    }
}

/// A result to the call at `path`.
pub(crate) enum Reply {
    Datum(Datum),
    Frozen(Frozen),
    /// The unknown answer of a planned write, by its number.
    Unknown(u64),
    Fault(Fault),
}

/// Delivers a result to the machine at `path`. An error ends that branch, or the whole run, once the run continues.
pub(crate) fn deliver(vm: &mut Vm, path: &[u32], reply: Reply) -> Result<(), Fault> {
    match path.split_first() {
        Some((index, rest)) => match vm.branch_mut(*index as usize) {
            Some(branch) => deliver(branch, rest, reply),
            None => Err(Fault::new(Code::Internal, "no call with this id waits for a result")),
        },
        None if vm.pending_call().is_none() => {
            Err(Fault::new(Code::Internal, "no call with this id waits for a result"))
        }
        None => match reply {
            Reply::Datum(datum) => vm.resume(&datum),
            Reply::Frozen(frozen) => vm.resume_frozen(&frozen),
            Reply::Unknown(write) => vm.resume_unknown(write),
            Reply::Fault(fault) => {
                vm.refuse(fault);
                Ok(())
            }
        },
    }
}
