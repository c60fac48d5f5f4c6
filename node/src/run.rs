//! Runs: programs under way, which suspend at tool calls.

use crate::ask::ToolFailure;
use crate::diagnostic::{JsFailure, Told};
use crate::frozen::JsFrozen;
use crate::outcome::JsOutcome;
use crate::packed::{Packed, pack};
use crate::reader;
use crate::tools::Table;
use napi::bindgen_prelude::{AsyncTask, Buffer, Either};
use napi::{Env, Task};
use napi_derive::napi;
use ptc::binding::{Slices, When};
use ptc::runtime::{Dispatch, PendingCall, Refusal, Run, Step, ToolAnswer};
use ptc::upstream::ProgramHost;
use ptc::{Cancel, Failure, Outcome, Tools};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// A tool call that waits for a result.
#[napi(object, js_name = "CallParts")]
pub struct JsCall {
    /// Id of the call in its run. It stays the same when the run is saved and loaded.
    pub id: String,
    pub name: String,
    pub args: Packed,
    /// Function of a prelude that makes the call.
    pub origin: Option<String>,
}

/// A call for the driver.
#[napi(object)]
pub struct NewCall {
    pub id: String,
    pub name: String,
    /// Arguments; nothing if no function of JavaScript answers it.
    pub args: Option<Packed>,
}

impl JsCall {
    fn new(call: &PendingCall) -> JsCall {
        JsCall {
            id: call.id.to_string(),
            name: call.name.clone(),
            args: pack(&call.args),
            origin: call.origin.as_ref().map(ToString::to_string),
        }
    }
}

/// State of a run that was computed for a while.
#[napi]
pub enum Advanced {
    Ended,
    Waits,
    /// It could continue.
    Computes,
}

/// The parts of a run that change.
struct State {
    /// The run; None while a thread computes it, and once it has ended.
    run: Option<Run>,
    /// Calls that the driver was told of.
    asked: HashMap<String, PendingCall>,
    /// Messages of the faults that errors of tools became, with the numbers that JavaScript gave them.
    raised: Vec<(String, u32)>,
    ended: Option<Result<Arc<Outcome>, Failed>>,
}

/// How a run failed.
struct Failed {
    failure: Failure,
    when: When,
    /// Number of the error of a tool that ended the run.
    cause: Option<u32>,
}

impl State {
    /// Keeps the result of a run that has ended.
    fn end(&mut self, outcome: Result<Outcome, Failure>) {
        self.ended = Some(outcome.map(Arc::new).map_err(|failure| {
            // The fault of a tool is known by its whole text, behind that of the branch it was in. The last of equal
            // ones counts: the program went on after those before it.
            let message = &failure.diagnostic().message;
            let cause =
                self.raised.iter().rfind(|(text, _)| message.ends_with(text)).map(|(_, number)| *number);
            let when = if cause.is_some() { When::InTool } else { When::Running };
            Failed { failure, when, cause }
        }));
    }

    /// Takes what a slice gave.
    fn advanced(&mut self, run: Run, step: Option<Step>) -> Advanced {
        match step {
            Some(Step::Done(outcome)) => {
                self.end(outcome);
                Advanced::Ended
            }
            Some(Step::NeedsTools(_)) => {
                self.run = Some(run);
                Advanced::Waits
            }
            None => {
                self.run = Some(run);
                Advanced::Computes
            }
        }
    }
}

/// A program under way.
#[napi(js_name = "RunCore")]
pub struct JsRun {
    state: Arc<Mutex<State>>,
    tools: Arc<Tools>,
    table: Arc<Table>,
    cancel: Cancel,
    slices: Arc<Slices>,
    /// Keeps the run's servers open.
    _host: Option<Arc<ProgramHost>>,
}

impl JsRun {
    pub fn new(
        run: Run,
        tools: &Arc<Tools>,
        table: &Arc<Table>,
        cancel: &Cancel,
        host: Option<Arc<ProgramHost>>,
    ) -> JsRun {
        let slices = Arc::new(Slices::default());
        let run = Some(run.scheduled(slices.clone()));
        let state = State { run, asked: HashMap::new(), raised: Vec::new(), ended: None };
        JsRun {
            state: Arc::new(Mutex::new(state)),
            tools: tools.clone(),
            table: table.clone(),
            cancel: cancel.clone(),
            slices,
            _host: host,
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        lock(&self.state)
    }

    /// Does something with the run while it waits.
    fn with<T>(&self, work: impl FnOnce(&mut Run) -> T) -> napi::Result<T> {
        let state = &mut *self.state();
        state.run.as_mut().map(work).ok_or_else(|| unavailable(state.ended.is_some()))
    }

    fn take(&self) -> napi::Result<Run> {
        let mut state = self.state();
        let taken = state.run.take();
        taken.ok_or_else(|| unavailable(state.ended.is_some()))
    }

    /// Gives a call its answer, unless the run no longer waits for it: a branch before its own may have failed.
    fn settle(
        &self,
        id: &str,
        answer: Result<ToolAnswer, Refusal>,
        number: Option<u32>,
    ) -> napi::Result<Option<JsFailure>> {
        let mut state = self.state();
        let Some(call) = state.asked.remove(id) else { return Ok(None) };
        let State { run, raised, ended, .. } = &mut *state;
        let Some(run) = run else { return Err(unavailable(ended.is_some())) };
        if !run.waits_for(&call.id) {
            return Ok(None);
        }
        match answer {
            Ok(answer) => {
                let answered = run.answer(&call.id, Ok(answer));
                return Ok(answered.err().map(|failure| JsFailure::new(&failure, When::Running)));
            }
            Err(Refusal::Fault(fault)) => run.refuse(&call.id, fault),
            Err(Refusal::Error(error)) => {
                let fault = error.to_fault(&call.name);
                raised.extend(number.map(|number| (fault.parts().message.clone(), number)));
                run.refuse(&call.id, fault);
            }
        }
        Ok(None)
    }

    /// Finds a call, which the driver may not have been told of.
    fn find(&self, id: &str) -> napi::Result<PendingCall> {
        if let Some(call) = self.state().asked.get(id) {
            return Ok(call.clone());
        }
        let pending = self.with(|run| run.pending())?;
        let found = pending.into_iter().find(|call| call.id.to_string() == id);
        let found = found.ok_or_else(|| {
            napi::Error::from_reason(format!("the call `{id}` is not waiting for a result"))
        })?;
        self.state().asked.insert(id.to_string(), found.clone());
        Ok(found)
    }

    fn returned(&self, id: &str, answer: ToolAnswer) -> napi::Result<Option<JsFailure>> {
        let call = self.find(id)?;
        self.tools.learn(&call.name, &answer);
        self.settle(id, Ok(answer), None)
    }
}

#[napi]
impl JsRun {
    /// Computes for one short slice on this thread, the thread of the event loop, or for a longer one.
    #[napi]
    pub fn advance(&self, is_short: bool) -> napi::Result<Advanced> {
        let mut run = self.take()?;
        self.slices.set_short(is_short);
        let step = run.slice();
        Ok(self.state().advanced(run, step))
    }

    /// Computes for one slice on a thread of the pool.
    #[napi]
    pub fn advance_later(&self) -> napi::Result<AsyncTask<Slice>> {
        let run = self.take()?;
        self.slices.set_short(false);
        Ok(AsyncTask::new(Slice { state: self.state.clone(), run: Some(run) }))
    }

    /// Returns the calls that the driver has not seen yet, but for those that may not be made, which are refused.
    #[napi]
    pub fn new_calls(&self) -> napi::Result<Vec<NewCall>> {
        let pending = self.with(|run| run.pending())?;
        let mut new = Vec::new();
        for call in pending {
            let id = call.id.to_string();
            if self.state().asked.contains_key(&id) {
                continue;
            }
            self.state().asked.insert(id.clone(), call.clone());
            let is_ours = self.table.names.contains(&call.name);
            match if is_ours { self.tools.authorize(&call) } else { Ok(()) } {
                Ok(()) => {
                    let args = is_ours.then(|| pack(self.tools.args(&call).datum()));
                    new.push(NewCall { id, name: call.name, args });
                }
                Err(fault) => {
                    self.settle(&id, Err(Refusal::Fault(fault)), None)?;
                }
            }
        }
        Ok(new)
    }

    /// Supplies what a tool returned.
    #[napi]
    pub fn returned_data(
        &self,
        id: String,
        numbers: &[f64],
        text: String,
    ) -> napi::Result<Option<JsFailure>> {
        self.returned(&id, ToolAnswer::Frozen(reader::frozen(numbers, &text)?))
    }

    /// Supplies frozen data that a tool returned.
    #[napi]
    pub fn returned_frozen(&self, id: String, value: &JsFrozen) -> napi::Result<Option<JsFailure>> {
        self.returned(&id, ToolAnswer::Frozen(value.frozen.clone()))
    }

    /// Supplies the error of a tool. A program that fails with it has this number as its cause.
    #[napi]
    pub fn raised(&self, id: String, failure: ToolFailure, number: u32) -> napi::Result<()> {
        self.find(&id)?;
        self.settle(&id, Err(Refusal::Error(failure.error())), Some(number)).map(|_| ())
    }

    /// Makes a call that no function of JavaScript answers, such as one to a server, and supplies its result.
    #[napi]
    pub async fn dispatch(&self, id: String) -> napi::Result<Option<JsFailure>> {
        let call = self.find(&id)?;
        let answer = self.tools.call(call).await.1;
        self.settle(&id, answer, None)
    }

    /// Does the same on this thread.
    #[napi]
    pub fn dispatch_sync(&self, id: String) -> napi::Result<Option<JsFailure>> {
        let call = self.find(&id)?;
        let answer = pollster::block_on(self.tools.call(call)).1;
        self.settle(&id, answer, None)
    }

    /// Calls that wait for results.
    #[napi]
    pub fn calls(&self) -> napi::Result<Vec<JsCall>> {
        if self.done() {
            return Ok(Vec::new());
        }
        Ok(self.with(|run| run.pending())?.iter().map(JsCall::new).collect())
    }

    /// True once the run has ended.
    #[napi(getter)]
    pub fn done(&self) -> bool {
        self.state().ended.is_some()
    }

    /// Result of a run that has ended.
    #[napi]
    pub fn outcome(&self) -> napi::Result<Told<JsOutcome>> {
        match &self.state().ended {
            Some(Ok(outcome)) => Ok(Either::A(JsOutcome { outcome: outcome.clone() })),
            Some(Err(Failed { failure, when, cause })) => {
                Ok(Either::B(JsFailure { cause: *cause, ..JsFailure::new(failure, *when) }))
            }
            None => Err(napi::Error::from_reason("the run has not ended; `step()` or `finish()` it")),
        }
    }

    /// Fuel spent so far.
    #[napi(getter)]
    pub fn fuel(&self) -> napi::Result<f64> {
        self.with(|run| run.fuel() as f64)
    }

    /// Writes the run to bytes.
    #[napi]
    pub fn to_bytes(&self) -> napi::Result<Told<Buffer>> {
        let bytes = self.with(|run| run.snapshot())?;
        Ok(crate::diagnostic::told(bytes.map(Buffer::from), When::Running))
    }

    /// Ends the run: what computes it fails with `Cancelled`.
    #[napi]
    pub fn cancel(&self) {
        self.cancel.cancel();
    }
}

/// A slice on a thread of the pool.
pub struct Slice {
    state: Arc<Mutex<State>>,
    run: Option<Run>,
}

impl Task for Slice {
    type Output = Advanced;
    type JsValue = Advanced;

    fn compute(&mut self) -> napi::Result<Advanced> {
        let Some(mut run) = self.run.take() else { return Err(unavailable(false)) };
        let step = run.slice();
        Ok(lock(&self.state).advanced(run, step))
    }

    fn resolve(&mut self, _: Env, output: Advanced) -> napi::Result<Advanced> {
        Ok(output)
    }
}

/// Locks the state. Nothing that waits is done under the lock.
fn lock(state: &Mutex<State>) -> MutexGuard<'_, State> {
    state.lock().unwrap_or_else(PoisonError::into_inner)
}

fn unavailable(has_ended: bool) -> napi::Error {
    let why = if has_ended { "the run has ended" } else { "the run is being computed" };
    napi::Error::from_reason(why)
}
