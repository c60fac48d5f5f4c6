//! Runs: programs under way, which suspend at tool calls.

use crate::compute;
use crate::diagnostic;
use crate::outcome::PyOutcome;
use crate::tools::{self, Answered, PyTable, Table};
use crate::value;
use ptc::binding::{Slices, When};
use ptc::runtime::{CallId, PendingCall, Refusal, Run, Step, ToolAnswer};
use ptc::{Cancel, Outcome, Tools};
use pyo3::exceptions::{PyBaseException, PyRuntimeError, PyTypeError};
use pyo3::gc::{PyTraverseError, PyVisit};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyString};
use std::collections::HashSet;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// A tool call that waits for a result.
#[pyclass(frozen, module = "ptc", name = "Call")]
pub struct PyCall {
    call: PendingCall,
}

#[pymethods]
impl PyCall {
    /// Id of the call in its run. It stays the same when the run is saved and loaded.
    #[getter]
    fn id(&self) -> String {
        self.call.id.to_string()
    }

    /// Name of the tool.
    #[getter]
    fn name(&self) -> &str {
        &self.call.name
    }

    /// Arguments of the call, by name.
    #[getter]
    fn args<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        value::python(py, &self.call.args)
    }

    /// Function of a prelude that makes the call, as `ns/name`; `None` for the program itself.
    #[getter]
    fn origin(&self) -> Option<&str> {
        self.call.origin.as_deref()
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        Ok(format!("<Call {} {}>", self.call.name, self.args(py)?.repr()?))
    }
}

/// The parts of a run that change.
struct State {
    /// The run; None while a thread computes it, and once it has ended.
    run: Option<Run>,
    /// Calls in flight that the driver of an async run was told of.
    asked: HashSet<CallId>,
    /// Calls that it was not told of yet.
    fresh: Vec<PendingCall>,
    /// Exceptions of tools, with the message of the fault that each became.
    raised: Vec<(String, Py<PyBaseException>)>,
    ended: Option<Result<Py<PyOutcome>, Py<PyBaseException>>>,
}

/// Exceptions kept of tools that failed: a program may catch any number, and each keeps the frames it went through.
const MAX_RAISED: usize = 256;

/// A program under way. It suspends at tool calls, and can be saved as bytes until they have results.
#[pyclass(frozen, module = "ptc", name = "Run")]
pub struct PyRun {
    state: Mutex<State>,
    tools: Arc<Tools>,
    table: Py<PyTable>,
    cancel: Cancel,
    slices: Arc<Slices>,
    /// Keeps the run's servers open.
    _keep: Option<Arc<dyn std::any::Any + Send + Sync>>,
}

impl PyRun {
    pub fn new(
        run: Run,
        tools: &Arc<Tools>,
        table: Py<PyTable>,
        cancel: Cancel,
        keep: Option<Arc<dyn std::any::Any + Send + Sync>>,
    ) -> PyRun {
        let slices = Arc::new(Slices::default());
        let state = State {
            run: Some(run.scheduled(slices.clone())),
            asked: HashSet::new(),
            fresh: Vec::new(),
            raised: Vec::new(),
            ended: None,
        };
        PyRun { state: Mutex::new(state), tools: tools.clone(), table, cancel, slices, _keep: keep }
    }

    /// Locks the state. Nothing that waits, and no Python code, is done under the lock.
    fn state(&self) -> std::sync::MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes the run out to compute it.
    fn take(&self) -> PyResult<Run> {
        let mut state = self.state();
        match state.run.take() {
            Some(run) => Ok(run),
            None if state.ended.is_some() => Err(PyRuntimeError::new_err("the run has ended")),
            None => Err(PyRuntimeError::new_err("the run is computed by another thread")),
        }
    }

    fn put(&self, run: Run) {
        self.state().run = Some(run);
    }

    /// Does something with the run while it waits.
    fn with<T>(&self, work: impl FnOnce(&mut Run) -> T) -> PyResult<T> {
        let state = &mut *self.state();
        match &mut state.run {
            Some(run) => Ok(work(run)),
            None if state.ended.is_some() => Err(PyRuntimeError::new_err("the run has ended")),
            None => Err(PyRuntimeError::new_err("the run is computed by another thread")),
        }
    }

    /// Keeps the result of a run that has ended.
    fn end(&self, py: Python<'_>, outcome: Result<Outcome, ptc::Failure>) -> PyResult<()> {
        let ended = match outcome {
            Ok(outcome) => Ok(Py::new(py, PyOutcome { outcome: Arc::new(outcome) })?),
            Err(failure) => {
                // The fault of a tool is known by its whole text, behind that of the branch it was in. The last of equal
                // ones counts: the program went on after those before it.
                let message = &failure.diagnostic().message;
                let raised = std::mem::take(&mut self.state().raised);
                let cause = raised.into_iter().rfind(|(text, _)| message.ends_with(text));
                let when = if cause.is_some() { When::InTool } else { When::Running };
                let error = diagnostic::error(py, &failure, when);
                if let Some((_, cause)) = cause {
                    error.set_cause(py, Some(PyErr::from_value(cause.into_bound(py).into_any())));
                }
                Err(error.into_value(py))
            }
        };
        let mut state = self.state();
        state.ended = Some(ended);
        let raised = std::mem::take(&mut state.raised);
        // Python code may run when exceptions go.
        drop(state);
        drop(raised);
        Ok(())
    }

    /// Computes until the run ends, waits or was interrupted.
    fn compute(&self, py: Python<'_>, run: &mut Run) -> PyResult<Step> {
        loop {
            if let Some(step) = compute::slice(py, run)? {
                return Ok(step);
            }
            py.check_signals()?;
        }
    }

    /// Gives a call its answer. An exception that is no error of a tool ends the run.
    fn settle(&self, py: Python<'_>, run: &mut Run, call: &PendingCall, answered: Answered) -> PyResult<()> {
        match answered {
            Answered::Value(answer) => run
                .answer(&call.id, Ok(answer))
                .map_err(|failure| diagnostic::error(py, &failure, When::Running)),
            Answered::Failed(error, raised) => {
                let fault = error.to_fault(&call.name);
                self.keep_raised(fault.parts().message.clone(), raised.into_value(py));
                run.refuse(&call.id, fault);
                Ok(())
            }
            Answered::Refused(fault) => {
                run.refuse(&call.id, fault);
                Ok(())
            }
            Answered::Interrupted(error) => Err(error),
        }
    }

    /// Keeps the exception of a tool as the cause of the failure that it may become.
    fn keep_raised(&self, message: String, raised: Py<PyBaseException>) {
        let mut state = self.state();
        let oldest = (state.raised.len() == MAX_RAISED).then(|| state.raised.remove(0));
        state.raised.push((message, raised));
        drop(state);
        drop(oldest);
    }

    /// Calls the tool of a call.
    fn invoke(&self, py: Python<'_>, table: &Table, call: &PendingCall) -> Answered {
        match table.get(&call.name) {
            Some(tool) => tools::answer(py, &self.tools, tool, call),
            None => dispatched(tools::dispatch(py, &self.tools, call.clone())),
        }
    }

    /// Calls the tools of these calls, on this thread or on several.
    fn invoke_all(
        &self,
        py: Python<'_>,
        run: &mut Run,
        table: &Table,
        calls: &[PendingCall],
        threads: usize,
    ) -> PyResult<()> {
        if threads <= 1 || calls.len() == 1 {
            for call in calls {
                let answered = self.invoke(py, table, call);
                self.settle(py, run, call, answered)?;
            }
            return Ok(());
        }
        let (next, done) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
        let work = || {
            while let Some(call) = calls.get(next.fetch_add(1, Ordering::Relaxed)) {
                let answered = Python::attach(|py| self.invoke(py, table, call));
                done.lock().unwrap_or_else(PoisonError::into_inner).push((call, answered));
            }
        };
        py.detach(|| {
            std::thread::scope(|scope| {
                for _ in 1..threads.min(calls.len()) {
                    // If no more threads can be started, those that were do the work.
                    let _ = std::thread::Builder::new().spawn_scoped(scope, work);
                }
                work();
            });
        });
        for (call, answered) in done.into_inner().unwrap_or_else(PoisonError::into_inner) {
            self.settle(py, run, call, answered)?;
        }
        Ok(())
    }

    fn drive(
        &self,
        py: Python<'_>,
        run: &mut Run,
        threads: usize,
    ) -> PyResult<Result<Outcome, ptc::Failure>> {
        let table = self.table.get().table();
        loop {
            match self.compute(py, run)? {
                Step::Done(outcome) => return Ok(outcome),
                Step::NeedsTools(calls) => self.invoke_all(py, run, &table, &calls, threads)?,
            }
        }
    }

    /// Finds a pending call by its id, or by the object that stands for it.
    fn find(&self, call: &Bound<'_, PyAny>) -> PyResult<PendingCall> {
        let found = match (call.cast::<PyCall>(), call.cast::<PyString>()) {
            (Ok(call), _) => {
                let call = &call.get().call;
                self.with(|run| run.waits_for(&call.id))?.then(|| call.clone()).ok_or(call.id.to_string())
            }
            (_, Ok(id)) => {
                let id = id.to_str()?;
                let pending = self.with(|run| run.pending())?;
                pending.into_iter().find(|call| call.id.to_string() == id).ok_or(id.to_string())
            }
            _ => return Err(PyTypeError::new_err("name a call by its object or by its id")),
        };
        found.map_err(|id| PyRuntimeError::new_err(format!("the call `{id}` is not waiting for a result")))
    }
}

/// Result of a call that was made by the engine's own tools.
fn dispatched(answer: Result<ToolAnswer, Refusal>) -> Answered {
    match answer {
        Ok(answer) => Answered::Value(answer),
        Err(Refusal::Fault(fault)) => Answered::Refused(fault),
        Err(Refusal::Error(error)) => {
            let raised = PyRuntimeError::new_err(error.to_string());
            Answered::Failed(error, raised)
        }
    }
}

#[pymethods]
impl PyRun {
    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        visit.call(&self.table)?;
        // What is not visited is kept.
        let Ok(state) = self.state.try_lock() else { return Ok(()) };
        state.raised.iter().try_for_each(|(_, raised)| visit.call(raised))?;
        match &state.ended {
            Some(Err(error)) => visit.call(error),
            _ => Ok(()),
        }
    }

    fn __clear__(&self) {
        let mut state = self.state();
        let cleared = (std::mem::take(&mut state.raised), state.ended.take());
        // Python code may run when exceptions go.
        drop(state);
        drop(cleared);
    }

    /// Loads a run that `to_bytes` wrote, perhaps in another process. `grants` is the data that the run was started
    /// with, and `preludes` are its preludes. Damaged or forged bytes are refused.
    #[staticmethod]
    #[pyo3(signature = (data, **options))]
    fn from_bytes<'py>(
        py: Python<'py>,
        data: &Bound<'py, PyBytes>,
        options: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        // Tools and data are read in Python.
        py.import("ptc._run")?.getattr("load_run")?.call((data,), options)
    }

    /// Runs until the program ends or everything in it waits for tools, and returns the calls that wait. An empty
    /// list means that the run has ended: `outcome` is its result.
    fn step(&self, py: Python<'_>) -> PyResult<Vec<PyCall>> {
        let mut run = self.take()?;
        let step = self.compute(py, &mut run);
        match step {
            Ok(Step::NeedsTools(calls)) => {
                self.put(run);
                Ok(calls.into_iter().map(|call| PyCall { call }).collect())
            }
            Ok(Step::Done(outcome)) => self.end(py, outcome).map(|()| Vec::new()),
            Err(error) => {
                self.put(run);
                Err(error)
            }
        }
    }

    /// Calls that wait for results.
    #[getter]
    fn calls(&self) -> PyResult<Vec<PyCall>> {
        if self.done() {
            return Ok(Vec::new());
        }
        let pending = self.with(|run| run.pending())?;
        Ok(pending.into_iter().map(|call| PyCall { call }).collect())
    }

    /// Supplies the result of a call that waits; `step` or `finish` then continues.
    fn answer(&self, py: Python<'_>, call: &Bound<'_, PyAny>, value: Bound<'_, PyAny>) -> PyResult<()> {
        let call = self.find(call)?;
        match tools::answered(py, Ok(value)) {
            // It was the caller who gave this value, not a tool that failed.
            Answered::Failed(_, error) | Answered::Interrupted(error) => Err(error),
            answered => {
                let mut run = self.take()?;
                let settled = self.settle(py, &mut run, &call, answered);
                self.put(run);
                settled
            }
        }
    }

    /// Makes a call that waits fail with an exception or a message, which the program may catch.
    fn fail(&self, py: Python<'_>, call: &Bound<'_, PyAny>, error: Bound<'_, PyAny>) -> PyResult<()> {
        let call = self.find(call)?;
        let raised = match error.cast::<PyString>() {
            Ok(text) => {
                let class = py.import("ptc._errors")?.getattr("ToolError")?;
                PyErr::from_value(class.call1((text,))?)
            }
            Err(_) => PyErr::from_value(error),
        };
        let answered = tools::answered(py, Err(raised));
        let mut run = self.take()?;
        let settled = self.settle(py, &mut run, &call, answered);
        self.put(run);
        settled
    }

    /// Runs to the end, calling tools, and returns the outcome. `threads` is the number of tool calls under `pmap`
    /// that are made at the same time.
    #[pyo3(signature = (*, threads=1))]
    fn finish(&self, py: Python<'_>, threads: usize) -> PyResult<Py<PyOutcome>> {
        if self.done() {
            return self.outcome(py);
        }
        let mut run = self.take()?;
        match self.drive(py, &mut run, threads) {
            Ok(outcome) => {
                self.end(py, outcome)?;
                self.outcome(py)
            }
            Err(error) => {
                // Whoever catches an interrupt may continue.
                self.put(run);
                Err(error)
            }
        }
    }

    /// True once the run has ended.
    #[getter]
    fn done(&self) -> bool {
        self.state().ended.is_some()
    }

    /// Result of a run that has ended; raises its error if it failed.
    #[getter]
    fn outcome(&self, py: Python<'_>) -> PyResult<Py<PyOutcome>> {
        match &self.state().ended {
            Some(Ok(outcome)) => Ok(outcome.clone_ref(py)),
            Some(Err(error)) => Err(PyErr::from_value(error.bind(py).clone().into_any())),
            None => Err(PyRuntimeError::new_err("the run has not ended; `step()` or `finish()` it")),
        }
    }

    /// Fuel spent so far.
    #[getter]
    fn fuel(&self) -> PyResult<u64> {
        self.with(|run| run.fuel())
    }

    /// Writes the run to bytes, to continue it later or in another process with `Run.from_bytes`.
    fn to_bytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let bytes = self.with(|run| run.snapshot())?;
        let bytes = bytes.map_err(|failure| diagnostic::error(py, &failure, When::Running))?;
        Ok(PyBytes::new(py, &bytes))
    }

    /// Ends the run: what computes it raises `ptc.Cancelled`.
    fn cancel(&self) {
        self.cancel.cancel();
    }

    fn __repr__(&self) -> String {
        let state = self.state();
        let what = match (&state.ended, &state.run) {
            (Some(Ok(_)), _) => "ended".to_string(),
            (Some(Err(_)), _) => "failed".to_string(),
            (None, Some(run)) => format!("waiting for {} calls", run.pending().len()),
            (None, None) => "computing".to_string(),
        };
        format!("<Run {what}>")
    }

    // For the driver of async runs, which is in Python: it knows event loops best.

    /// Computes for one slice: a short one on the thread of an event loop, or a long one elsewhere. Returns whether the
    /// run has ended (0), waits for calls (1) or could continue (2).
    fn _advance(&self, py: Python<'_>, is_short: bool) -> PyResult<u8> {
        let mut run = self.take()?;
        self.slices.set_short(is_short);
        match compute::slice(py, &mut run) {
            Ok(Some(Step::Done(outcome))) => self.end(py, outcome).map(|()| 0),
            Ok(Some(Step::NeedsTools(calls))) => {
                let state = &mut *self.state();
                state.fresh.extend(calls.into_iter().filter(|call| state.asked.insert(call.id.clone())));
                state.run = Some(run);
                Ok(1)
            }
            Ok(None) => {
                self.put(run);
                Ok(2)
            }
            Err(error) => {
                self.put(run);
                Err(error)
            }
        }
    }

    /// Returns the calls that the driver has not seen yet, each with the callable of its tool, if it has one, and
    /// whether that is async.
    #[allow(clippy::type_complexity)]
    fn _new_calls(&self, py: Python<'_>) -> Vec<(PyCall, Option<Py<PyAny>>, bool)> {
        let new = std::mem::take(&mut self.state().fresh);
        let table = self.table.get().table();
        let with_tool = |call: PendingCall| {
            let tool = table.get(&call.name);
            let callable = tool.map(|tool| tool.call.clone_ref(py));
            (PyCall { call }, callable, tool.is_some_and(|tool| tool.is_async))
        };
        new.into_iter().map(with_tool).collect()
    }

    /// Checks that a call may be made, and refuses it otherwise; returns its keyword arguments if it may.
    fn _arguments<'py>(&self, py: Python<'py>, call: &PyCall) -> PyResult<Option<Bound<'py, PyAny>>> {
        match self.tools.authorize(&call.call) {
            Ok(()) => Ok(Some(tools::arguments(py, self.tools.args(&call.call).datum())?.into_any())),
            Err(fault) => self.with(|run| run.refuse(&call.call.id, fault)).map(|()| None),
        }
    }

    /// Supplies what a tool returned.
    fn _returned(&self, py: Python<'_>, call: &PyCall, value: Bound<'_, PyAny>) -> PyResult<()> {
        self.supply(py, call, Ok(value))
    }

    /// Supplies the exception that a tool raised.
    fn _raised(&self, py: Python<'_>, call: &PyCall, error: Bound<'_, PyAny>) -> PyResult<()> {
        self.supply(py, call, Err(PyErr::from_value(error)))
    }

    /// Makes a call that no Python code answers, and supplies its result; blocks.
    fn _dispatch(&self, py: Python<'_>, call: &PyCall) -> PyDispatched {
        PyDispatched { answer: Mutex::new(Some(tools::dispatch(py, &self.tools, call.call.clone()))) }
    }

    /// Supplies what `_dispatch` returned.
    fn _dispatched(&self, py: Python<'_>, call: &PyCall, answer: &PyDispatched) -> PyResult<()> {
        let answer = answer.answer.lock().unwrap_or_else(PoisonError::into_inner).take();
        let Some(answer) = answer else { return Ok(()) };
        self.finish_call(py, call, dispatched(answer))
    }
}

impl PyRun {
    fn supply(&self, py: Python<'_>, call: &PyCall, result: PyResult<Bound<'_, PyAny>>) -> PyResult<()> {
        let answered = tools::answered(py, result);
        if let Answered::Value(answer) = &answered {
            self.tools.learn(&call.call.name, answer);
        }
        self.finish_call(py, call, answered)
    }

    fn finish_call(&self, py: Python<'_>, call: &PyCall, answered: Answered) -> PyResult<()> {
        let mut run = self.take()?;
        // The run no longer waits for it: a branch before its own has failed.
        let settled = match run.waits_for(&call.call.id) {
            true => self.settle(py, &mut run, &call.call, answered),
            false => Ok(()),
        };
        self.state().asked.remove(&call.call.id);
        self.put(run);
        settled
    }
}

/// The answer of a call that no Python code made.
#[pyclass(frozen, module = "ptc._ptc", name = "Dispatched")]
pub struct PyDispatched {
    answer: Mutex<Option<Result<ToolAnswer, Refusal>>>,
}
